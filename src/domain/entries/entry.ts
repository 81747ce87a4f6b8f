/**
 * Entries: small records of the system beside memories, turns, jobs and signals. They share a table, because they are
 * found by id or listed by kind, and are never searched by words. Each kind has a body of its own type.
 */
import { AppError } from '../../lib/errors.ts'
import type { Json, JsonObject } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import type { EntryId, OwnerId } from '../ids.ts'
import type { Place } from '../scope.ts'
import {
  apiKeyBody,
  auditBody,
  idempotencyBody,
  loginBody,
  secretBody,
  settingBody,
  storeMigrationBody,
} from './access-entries.ts'
import { UnexpectedValueError } from './body-codec.ts'
import {
  openSessionBody,
  receiptBody,
  receiptLineBody,
  responseOwnerBody,
  sessionLinkBody,
  turnSuppressionBody,
} from './conversation-entries.ts'
import {
  fileBody,
  fileIndexGenerationBody,
  fileRootBody,
  fileScanLogBody,
  memoryFileBody,
} from './file-entries.ts'
import {
  consolidationReportBody,
  importedIdBody,
  modelBudgetBody,
  ownerLockBody,
} from './learning-entries.ts'

/** The codec of each kind. A kind is a name in the database: to rename one takes a schema migration. */
const BODY_CODECS = {
  key: apiKeyBody,
  login: loginBody,
  secret: secretBody,
  setting: settingBody,
  audit: auditBody,
  idempotency: idempotencyBody,
  receipt: receiptBody,
  'receipt-line': receiptLineBody,
  'turn-suppression': turnSuppressionBody,
  'session-link': sessionLinkBody,
  'open-session': openSessionBody,
  'response-owner': responseOwnerBody,
  'consolidation-report': consolidationReportBody,
  'owner-lock': ownerLockBody,
  'model-budget': modelBudgetBody,
  'imported-id': importedIdBody,
  'file-root': fileRootBody,
  'file-scan-log': fileScanLogBody,
  file: fileBody,
  'file-index-generation': fileIndexGenerationBody,
  'memory-file': memoryFileBody,
  'store-migration': storeMigrationBody,
} as const satisfies { readonly [kind: string]: (body: JsonObject) => object }

export type EntryKind = keyof typeof BODY_CODECS

export const ENTRY_KINDS = Object.keys(BODY_CODECS) as readonly EntryKind[] // its own keys

export type EntryBody<Kind extends EntryKind> = ReturnType<(typeof BODY_CODECS)[Kind]>

export type EntryOf<Kind extends EntryKind> = {
  readonly id: EntryId
  readonly place: Place
  readonly kind: Kind
  /** The owner the entry is about; null: nobody in particular. */
  readonly about: OwnerId | null
  /** When it happened. */
  readonly at: Instant
  readonly expiresAt: Instant | null
  readonly version: number
  readonly body: EntryBody<Kind>
}

export type Entry = { readonly [Kind in EntryKind]: EntryOf<Kind> }[EntryKind]

/** The entry with its body checked; null when there is none of this kind. Throws `damaged` for a body of another form. */
export function parseEntry<Kind extends EntryKind>(
  kind: Kind,
  entry: Entry | null | undefined,
): EntryOf<Kind> | null {
  return entry?.kind === kind ? checkBody(kind, entry) : null
}

/** Those of the entries that are of this kind, with their bodies checked. */
export function parseEntries<Kind extends EntryKind>(
  kind: Kind,
  entries: readonly Entry[],
): readonly EntryOf<Kind>[] {
  return entries.flatMap((entry) => parseEntry(kind, entry) ?? [])
}

function checkBody<Kind extends EntryKind>(kind: Kind, entry: Entry): EntryOf<Kind> {
  // The codec of a kind returns the body of that kind; looking both up apart loses that.
  const parse = BODY_CODECS[kind] as (body: Json) => EntryBody<Kind>
  try {
    return { ...entry, kind, body: parse(entry.body as Json) } // JSON, as it was stored
  } catch (error) {
    if (!(error instanceof UnexpectedValueError)) throw error
    const message = `The stored entry ${entry.id} of kind \`${kind}\` is damaged: ${error.message}.`
    throw new AppError('damaged', message, { id: entry.id, kind }, error)
  }
}
