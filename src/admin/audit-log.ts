/** The audit log: who did what to which memory. It holds ids, never text, and is kept for a configured time. */
import type { AuditEntry } from '../domain/access.ts'
import { type EntryOf, parseEntries } from '../domain/entries/entry.ts'
import type { ApiKeyId, AuditId } from '../domain/ids.ts'
import { parseScope } from '../domain/scope.ts'
import { addMs, DAY_MS, type Instant } from '../lib/time.ts'
import { parseCursor, parseLimit } from '../storage/access/page-request.ts'
import {
  buildEntryChange,
  removeExpiredEntries,
  SYSTEM_SCOPE,
} from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { Page } from '../storage/store.ts'

export type NewAuditEntry = {
  readonly actor: ApiKeyId | null
  readonly operation: string
  readonly owner: string
  readonly targets: readonly string[]
}

export type AuditQuery = {
  readonly owner?: string
  /** A key, or null for whoever sat at the machine. */
  readonly actor?: string | null
  /** As `memory.forget`, or `memory` for all that is done to memories. */
  readonly operation?: string
  /** What it was done to. */
  readonly target?: string
  readonly from?: number
  readonly before?: number
  readonly limit?: number
  readonly after?: string
}

export interface AuditLog {
  append(note: NewAuditEntry): Promise<void>
  /** Newest first. */
  list(query?: AuditQuery): Promise<Page<AuditEntry>>
}

const LIST_LIMIT = 50
const TARGETS_MAX = 100

/** Old entries are removed with every so many new ones. */
const CLEAN_EVERY = 200

export function createAuditLog(ports: StoreDependencies, days: () => Promise<number>): AuditLog {
  let noted = 0
  return {
    append: async ({ actor, operation, owner, targets }) => {
      const at = ports.clock.now()
      const kept = await days()
      if (kept === 0) return
      const entry = {
        id: ports.ids.next('aud', at),
        kind: 'audit' as const,
        at,
        about: parseScope({ owner }).owner,
        expiresAt: addMs(at, kept * DAY_MS),
        body: {
          actor,
          operation,
          targets: targets.slice(0, TARGETS_MAX),
          targetCount: targets.length,
        },
      }
      await ports.store.commit([buildEntryChange(entry, null).change])
      noted++
      if (noted % CLEAN_EVERY === 0) await removeExpiredEntries(ports, ['audit'])
    },
    list: async (query = {}) => {
      const { owner, from, before, limit, after } = query
      const where = {
        kinds: ['audit' as const],
        ...(owner === undefined ? {} : { about: parseScope({ owner }).owner }),
        ...(from === undefined ? {} : { atFrom: from as Instant }),
        ...(before === undefined ? {} : { atBefore: before as Instant }),
      }
      const pageAfter = async (cursor: string | null, rows: number) => {
        const page = await ports.store.find('entry', SYSTEM_SCOPE, {
          where,
          order: 'newest',
          limit: rows,
          ...(cursor === null ? {} : { after: cursor }),
        })
        return { rows: parseEntries('audit', page.rows).map(toAuditEntry), next: page.next }
      }
      const wanted = parseLimit(limit ?? LIST_LIMIT)
      const cursor = after === undefined ? null : parseCursor('aud', after)
      return isSingleOwnerQuery(query)
        ? filterMatching(query, wanted, cursor, (at) => pageAfter(at, ROWS_AT_ONCE))
        : pageAfter(cursor, wanted)
    },
  }
}

const ROWS_AT_ONCE = 500

/** What nobody waits for longer: beyond this the page ends early, and `next` goes on. */
const LOOKED_AT_MAX = 10_000

function isSingleOwnerQuery({ actor, operation, target }: AuditQuery): boolean {
  return actor !== undefined || operation !== undefined || target !== undefined
}

/** Stores know whom an entry is about and when it was; the rest is looked for in what they answer. */
async function filterMatching(
  query: AuditQuery,
  wanted: number,
  after: string | null,
  pageAfter: (cursor: string | null) => Promise<Page<AuditEntry>>,
): Promise<Page<AuditEntry>> {
  const found: AuditEntry[] = []
  let cursor = after
  for (let lookedAt = 0; lookedAt < LOOKED_AT_MAX; lookedAt += ROWS_AT_ONCE) {
    const { rows, next } = await pageAfter(cursor)
    for (const [index, entry] of rows.entries()) {
      if (!isMatch(entry, query)) continue
      found.push(entry)
      const isLast = next === null && index === rows.length - 1
      if (found.length === wanted) return { rows: found, next: isLast ? null : entry.id }
    }
    if (next === null) return { rows: found, next: null }
    cursor = next
  }
  return { rows: found, next: cursor }
}

function isMatch(entry: AuditEntry, { actor, operation, target }: AuditQuery): boolean {
  return (
    (actor === undefined || entry.actor === actor) &&
    (operation === undefined ||
      entry.operation === operation ||
      entry.operation.startsWith(`${operation}.`)) &&
    (target === undefined || entry.targets.includes(target))
  )
}

function toAuditEntry({ id, at, about, body }: EntryOf<'audit'>): AuditEntry {
  return {
    id: id as string as AuditId, // entries of this kind have such ids
    at,
    owner: parseScope({ owner: about ?? '' }).owner,
    ...body,
  }
}
