/** Stores receipts together with the lines that they cite, and reads them back. */

import { insertLines } from '../../domain/context-block.ts'
import type { Entry } from '../../domain/entry.ts'
import type { EntryId, MemoryId, OwnerId, TurnId } from '../../domain/ids.ts'
import type { Place } from '../../domain/scope.ts'
import { DOCUMENT_TYPES, type SearchDocument } from '../../domain/search-document.ts'
import type { Instant } from '../../lib/time.ts'
import { buildReceiptLinesId } from '../../memory/deletion/receipt-redaction.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Change, Store } from '../../storage/store.ts'
import { type CitedLine, citeLine, getLatestExpiry } from './line-citations.ts'
import type {
  Receipt,
  ReceiptCitation,
  ReceiptDetail,
  ReceiptLine,
  RedactionReason,
} from './receipt.ts'
import { decodeLines, encodeLines, encodeReceipt } from './receipt-codec.ts'

/** A receipt that is not stored yet. */
export type NewReceipt = {
  readonly receipt: Receipt
  /** The text of each line. */
  readonly lines: readonly string[]
  readonly expiresAt: Instant
}

/** Commits conflict when other servers cite the same memories at the same time. */
const ATTEMPTS_MAX = 8

/**
 * Writes receipts and the lines that they cite in one commit. The commit checks that each memory and turn whose lines it
 * writes still exists, so that a receipt of a request that ends after an erasure brings nothing back.
 */
export async function storeReceipts(
  store: Store,
  receipts: readonly NewReceipt[],
  now: Instant,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const { kind } = await store.commit(await planCommit(store, receipts, now))
    if (kind === 'committed') return
  }
  await store.commit(receipts.map((each) => buildReceiptChange(each, each.receipt.lines)))
}

type CitedText = CitedLine & { readonly citation: ReceiptCitation }

async function planCommit(
  store: Store,
  receipts: readonly NewReceipt[],
  now: Instant,
): Promise<readonly Change[]> {
  const textsByReceipt = receipts.map(listCitedTexts)
  const all = textsByReceipt.flat()
  const rows = await loadLineRows(
    store,
    all.map(({ citation }) => citation),
  )
  const outdated = all.filter((text) => {
    const lines = parseLines(rows.get(getRowId(text.citation)))
    return citeLine(lines, text, now).texts !== lines
  })
  const existing = await loadCitedDocuments(
    store,
    outdated.map(({ citation }) => citation),
  )
  const drafts = new Map<EntryId, readonly CitedLine[]>()
  const addLine = ({ citation, ...text }: CitedText): string | null => {
    const id = getRowId(citation)
    const before = drafts.get(id) ?? parseLines(rows.get(id))
    const { texts, key } = citeLine(before, text, now)
    if (texts === before) return key
    if (existing.get(id)?.has(citation.version) !== true) return null
    drafts.set(id, texts)
    return key
  }
  const receiptChanges = receipts.map((receipt, index) => {
    const texts = textsByReceipt[index] ?? []
    return buildReceiptChange(
      receipt,
      texts.map((text) => ({ ...text.citation, lineKey: addLine(text) })),
    )
  })
  const lineChanges = [...drafts].flatMap(([id, lines]): readonly Change[] => {
    const document = existing.get(id)
    return document === undefined
      ? []
      : [document.check, buildLineChange(rows.get(id), id, document.place, lines, now)]
  })
  return [...lineChanges, ...receiptChanges]
}

function listCitedTexts({ receipt, lines, expiresAt }: NewReceipt): readonly CitedText[] {
  return receipt.lines.flatMap((citation, index) => {
    const text = lines[index]
    const key = `${receipt.id}.${index}`
    return text === undefined ? [] : [{ key, text, expiresAt, citation }]
  })
}

function getRowId({ owner, id }: ReceiptCitation): EntryId {
  return buildReceiptLinesId(owner, id)
}

async function loadLineRows(
  store: Store,
  citations: readonly ReceiptCitation[],
): Promise<ReadonlyMap<EntryId, Entry>> {
  const found = new Map<EntryId, Entry>()
  for (const [owner, own] of groupByOwner(citations)) {
    const ids = [...new Set(own.map(getRowId))]
    const where = { ids, kinds: ['receipt-text'] } as const
    const { rows } = await store.find('entry', { owner }, { where, limit: ids.length })
    for (const row of rows) found.set(row.id, row)
  }
  return found
}

function groupByOwner(
  citations: readonly ReceiptCitation[],
): ReadonlyMap<OwnerId, readonly ReceiptCitation[]> {
  const grouped = new Map<OwnerId, ReceiptCitation[]>()
  for (const citation of citations) {
    const own = grouped.get(citation.owner)
    if (own === undefined) grouped.set(citation.owner, [citation])
    else own.push(citation)
  }
  return grouped
}

/** A memory or turn whose lines can be stored. */
type CitedDocument = {
  readonly place: Place
  /** Fails the commit when the document has changed or is gone. */
  readonly check: Change
  /** Whether a version still exists. */
  has(version: number): boolean
}

async function loadCitedDocuments(
  store: Store,
  citations: readonly ReceiptCitation[],
): Promise<ReadonlyMap<EntryId, CitedDocument>> {
  const found = new Map<EntryId, CitedDocument>()
  for (const [owner, own] of groupByOwner(citations)) {
    const ids = [...new Set(own.map(({ id }) => id as MemoryId))] // documents of turns have the id of the turn
    for (const document of await findDocuments(store, owner, ids)) {
      const wanted = own.filter(({ id }) => id === document.id).map(({ version }) => version)
      const versions = await loadVersions(store, document, wanted)
      found.set(buildReceiptLinesId(owner, document.id), {
        place: document.place,
        check: buildExistenceCheck(document),
        has: (version) => versions.has(version),
      })
    }
  }
  return found
}

async function findDocuments(
  store: Store,
  owner: OwnerId,
  ids: readonly MemoryId[],
): Promise<readonly SearchDocument[]> {
  const where = { ids, types: DOCUMENT_TYPES }
  return (await store.findDocuments({ owner }, { where, limit: ids.length })).rows
}

/**
 * The stored versions of a document. Lines must not outlive the history of a memory. Turns have no history; a turn may
 * have been disabled since the request because the fact that it states was erased.
 */
async function loadVersions(
  store: Store,
  { id, type, status, place: { owner }, version }: SearchDocument,
  wanted: readonly number[],
): Promise<ReadonlySet<number>> {
  if (type === 'turn') return new Set(status === 'disabled' ? [] : wanted)
  const versions = new Set([version])
  if (wanted.every((each) => each === version)) return versions
  const query = { where: { memories: [id] } }
  for await (const page of pages(store, 'revision', { owner }, query)) {
    for (const { memory } of page) versions.add(memory.version)
  }
  return versions
}

function buildExistenceCheck({ id, type, place: { owner }, version }: SearchDocument): Change {
  const expected = { scope: { owner }, expect: { version } }
  return type === 'turn'
    ? { op: 'check', table: 'turn', id: id as string as TurnId, ...expected } // documents of turns have the id of the turn
    : { op: 'check', table: 'memory', id, ...expected }
}

function buildLineChange(
  before: Entry | undefined,
  id: EntryId,
  { owner, user }: Place,
  texts: readonly CitedLine[],
  now: Instant,
): Change {
  const row: Entry = {
    id,
    place: { owner, user, session: null },
    kind: 'receipt-text',
    about: null,
    at: now,
    expiresAt: getLatestExpiry(texts),
    version: (before?.version ?? 0) + 1,
    body: encodeLines(texts),
  }
  const expect = before === undefined ? 'absent' : { version: before.version }
  return { op: 'put', table: 'entry', row, expect }
}

function parseLines(row: Entry | undefined): readonly CitedLine[] {
  return row === undefined ? NO_TEXTS : decodeLines(row)
}
const NO_TEXTS: readonly CitedLine[] = []

/** Idempotent, because an earlier attempt may have taken effect. */
function buildReceiptChange(
  { receipt, expiresAt }: NewReceipt,
  lines: readonly ReceiptCitation[],
): Change {
  const { id, place, at } = receipt
  const row: Entry = {
    ...{ id, place, at, expiresAt },
    kind: 'receipt',
    about: null,
    version: 1,
    body: encodeReceipt(receipt, lines),
  }
  return { op: 'put', table: 'entry', row, expect: 'any' }
}

/** The receipt with the lines that may be shown: those of memories and turns that exist and are not in the trash. */
export async function getReceiptDetail(store: Store, receipt: Receipt): Promise<ReceiptDetail> {
  const { frame, lines: cited, ...rest } = receipt
  const rows = await loadLineRows(store, cited)
  const documents = new Map<string, SearchDocument>()
  for (const [owner, own] of groupByOwner(cited)) {
    const ids = [...new Set(own.map(({ id }) => id as MemoryId))] // documents of turns have the id of the turn
    for (const document of await findDocuments(store, owner, ids)) {
      documents.set(document.id, document)
    }
  }
  const lines = cited.map(({ lineKey, ...citation }): ReceiptLine => {
    const document = documents.get(citation.id)
    if (document === undefined) return { ...citation, text: null, redaction: 'erased' }
    if (document.status === 'forgotten') return { ...citation, text: null, redaction: 'forgotten' }
    const row = rows.get(buildReceiptLinesId(citation.owner, citation.id))
    const text = parseLines(row).find((each) => each.key === lineKey)?.text
    return text === undefined
      ? { ...citation, text: null, redaction: 'not-stored' }
      : { ...citation, text, redaction: null }
  })
  const texts = lines.map(({ text, redaction }) => text ?? placeholderLine(redaction))
  return { ...rest, lines, block: frame === null ? null : insertLines(frame, texts) }
}

function placeholderLine(reason: RedactionReason | null): string {
  return `- [${(reason ?? 'not-stored').replace('-', ' ')}]`
}
