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
  /** The text of each of its pieces. */
  readonly lines: readonly string[]
  readonly expiresAt: Instant
}

/** Other servers may cite the same memories at the same time. */
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

type LineCitation = CitedLine & { readonly piece: ReceiptCitation }

async function planCommit(
  store: Store,
  receipts: readonly NewReceipt[],
  now: Instant,
): Promise<readonly Change[]> {
  const citations = receipts.map(listCitations)
  const cited = citations.flat()
  const known = await loadLineRows(
    store,
    cited.map(({ piece }) => piece),
  )
  const outdated = cited.filter((each) => {
    const texts = parseLines(known.get(getRowId(each.piece)))
    return citeLine(texts, each, now).texts !== texts
  })
  const existing = await loadCited(store, outdated)
  const drafts = new Map<EntryId, readonly CitedLine[]>()
  const keyOf = (citation: LineCitation): string | null => {
    const row = getRowId(citation.piece)
    const before = drafts.get(row) ?? parseLines(known.get(row))
    const { texts, key } = citeLine(before, citation, now)
    if (texts === before) return key
    if (existing.get(row)?.has(citation.piece.version) !== true) return null
    drafts.set(row, texts)
    return key
  }
  const puts = receipts.map((receipt, index) => {
    const pieces = citations[index] ?? []
    return buildReceiptChange(
      receipt,
      pieces.map((citation) => ({ ...citation.piece, lineKey: keyOf(citation) })),
    )
  })
  const texts = [...drafts].flatMap(([row, lines]): readonly Change[] => {
    const document = existing.get(row)
    return document === undefined
      ? []
      : [document.check, buildLineChange(known.get(row), row, document.place, lines, now)]
  })
  return [...texts, ...puts]
}

function listCitations({ receipt, lines, expiresAt }: NewReceipt): readonly LineCitation[] {
  return receipt.lines.flatMap((piece, index) => {
    const text = lines[index]
    const key = `${receipt.id}.${index}`
    return text === undefined ? [] : [{ key, text, expiresAt, piece }]
  })
}

function getRowId({ owner, id }: ReceiptCitation): EntryId {
  return buildReceiptLinesId(owner, id)
}

async function loadLineRows(
  store: Store,
  pieces: readonly ReceiptCitation[],
): Promise<ReadonlyMap<EntryId, Entry>> {
  const found = new Map<EntryId, Entry>()
  for (const [owner, own] of groupByOwner(pieces)) {
    const ids = [...new Set(own.map(getRowId))]
    const where = { ids, kinds: ['receipt-text'] } as const
    const { rows } = await store.find('entry', { owner }, { where, limit: ids.length })
    for (const row of rows) found.set(row.id, row)
  }
  return found
}

function groupByOwner(
  pieces: readonly ReceiptCitation[],
): ReadonlyMap<OwnerId, readonly ReceiptCitation[]> {
  const grouped = new Map<OwnerId, ReceiptCitation[]>()
  for (const piece of pieces) {
    const own = grouped.get(piece.owner)
    if (own === undefined) grouped.set(piece.owner, [piece])
    else own.push(piece)
  }
  return grouped
}

/** A memory or turn whose lines may be stored. */
type CitedDocument = {
  readonly place: Place
  /** Refuses the commit when it has changed or is gone. */
  readonly check: Change
  /** Whether this version of it still exists. */
  has(version: number): boolean
}

async function loadCited(
  store: Store,
  citations: readonly LineCitation[],
): Promise<ReadonlyMap<EntryId, CitedDocument>> {
  const found = new Map<EntryId, CitedDocument>()
  for (const [owner, pieces] of groupByOwner(citations.map(({ piece }) => piece))) {
    const ids = [...new Set(pieces.map(({ id }) => id as MemoryId))] // documents of turns go by the id of the turn
    for (const document of await findDocuments(store, owner, ids)) {
      const wanted = pieces.filter(({ id }) => id === document.id).map(({ version }) => version)
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
 * Where the history of a memory was erased, its lines must not outlive it. Turns have no history; a disabled one may have been
 * so since the request because the fact that it states was erased.
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
    ? { op: 'check', table: 'turn', id: id as string as TurnId, ...expected } // see `documentId`
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

/** The same receipt again changes nothing, whatever became of an earlier attempt. */
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
    const ids = [...new Set(own.map(({ id }) => id as MemoryId))] // documents of turns go by the id of the turn
    for (const document of await findDocuments(store, owner, ids)) {
      documents.set(document.id, document)
    }
  }
  const lines = cited.map(({ lineKey, ...piece }): ReceiptLine => {
    const document = documents.get(piece.id)
    if (document === undefined) return { ...piece, text: null, redaction: 'erased' }
    if (document.status === 'forgotten') return { ...piece, text: null, redaction: 'forgotten' }
    const row = rows.get(buildReceiptLinesId(piece.owner, piece.id))
    const text = parseLines(row).find((each) => each.key === lineKey)?.text
    return text === undefined
      ? { ...piece, text: null, redaction: 'not-stored' }
      : { ...piece, text, redaction: null }
  })
  const texts = lines.map(({ text, redaction }) => text ?? placeholderLine(redaction))
  return { ...rest, lines, block: frame === null ? null : insertLines(frame, texts) }
}

function placeholderLine(reason: RedactionReason | null): string {
  return `- [${(reason ?? 'not-stored').replace('-', ' ')}]`
}
