/**
 * Reads tables straight from the pages of a database file, without SQLite: it refuses a whole table when one page
 * on the way is broken, while the rows themselves lie on pages that are mostly fine.
 *
 * Everything here expects damage. Nothing throws, nothing loops; what makes no sense is null.
 * Names and offsets follow https://www.sqlite.org/fileformat2.html.
 */
import type { SqlValue } from '../connection/sqlite-driver.ts'

export type DatabasePages = {
  readonly bytes: Buffer
  readonly pageBytes: number
  /** Without what the cipher keeps for itself at the end of each page. */
  readonly usableBytes: number
  readonly count: number
}

export type BtreeRow = { readonly rowid: number; readonly values: readonly SqlValue[] }

export type LeafPage = { readonly rows: readonly BtreeRow[]; readonly brokenRows: number }

const TABLE_LEAF = 0x0d
const TABLE_INTERIOR = 0x05
const INDEX_LEAF = 0x0a
const INDEX_INTERIOR = 0x02
const FILE_HEADER_BYTES = 100
/** A row of ours is far below; a length beyond it is damage, not data. */
const PAYLOAD_BYTES_MAX = 1 << 26

export function parsePages(bytes: Buffer, pageBytes: number, reservedBytes: number): DatabasePages {
  const usableBytes = pageBytes - reservedBytes
  return { bytes, pageBytes, usableBytes, count: Math.floor(bytes.length / pageBytes) }
}

/** The page with this number, counted from 1. */
export function readPage(pages: DatabasePages, number: number): Buffer | null {
  if (number < 1 || number > pages.count) return null
  return pages.bytes.subarray((number - 1) * pages.pageBytes, number * pages.pageBytes)
}

/** The rows on a page of a table; null when it is no such page. */
export function readLeafRows(pages: DatabasePages, number: number): LeafPage | null {
  const rows: BtreeRow[] = []
  const cells = cellsOf(pages, number, TABLE_LEAF)
  if (cells === null) return null
  for (const { page, at } of cells.list) {
    const size = varint(page, at)
    const rowid = size && varint(page, size.next)
    const values = size && rowid && record(pages, page, rowid.next, size.value, TABLE_LEAF)
    if (rowid && values) rows.push({ rowid: rowid.value, values })
  }
  return { rows, brokenRows: cells.expected - rows.length }
}

/**
 * The entries on a page of an index: the indexed columns, then the rowid. A table without rowid is stored like that
 * too: the columns of its key, then the others. Null when it is no such page.
 */
export function readIndexEntries(
  pages: DatabasePages,
  number: number,
): readonly (readonly SqlValue[])[] | null {
  const leaf = cellsOf(pages, number, INDEX_LEAF)
  const cells = leaf ?? cellsOf(pages, number, INDEX_INTERIOR)
  if (cells === null) return null
  return cells.list.flatMap(({ page, at }) => {
    const size = varint(page, leaf === null ? at + 4 : at)
    const values = size && record(pages, page, size.next, size.value, INDEX_LEAF)
    return values ? [values] : []
  })
}

/** The pages below an inner page of a table or an index; null when it is no such page. */
export function readChildPages(pages: DatabasePages, number: number): readonly number[] | null {
  const cells = cellsOf(pages, number, TABLE_INTERIOR) ?? cellsOf(pages, number, INDEX_INTERIOR)
  if (cells === null) return null
  const rightmost = cells.page.readUInt32BE(cells.start + 8)
  return [...cells.list.map(({ page, at }) => page.readUInt32BE(at)), rightmost]
}

/** The pages that hold nothing any more; what stands on them was deleted. Empty when the list of them is damaged. */
export function readFreePages(pages: DatabasePages): ReadonlySet<number> {
  const free = new Set<number>()
  const first = readPage(pages, 1)
  let trunk = first?.readUInt32BE(32) ?? 0
  while (trunk !== 0 && !free.has(trunk)) {
    const page = readPage(pages, trunk)
    if (page === null) break
    free.add(trunk)
    const leaves = Math.min(page.readUInt32BE(4), pages.usableBytes / 4 - 2)
    for (let index = 0; index < leaves; index++) free.add(page.readUInt32BE(8 + index * 4))
    trunk = page.readUInt32BE(0)
  }
  return free.size === first?.readUInt32BE(36) ? free : new Set()
}

type Cells = {
  readonly page: Buffer
  /** Where the page's own header begins. */
  readonly start: number
  readonly expected: number
  readonly list: readonly { readonly page: Buffer; readonly at: number }[]
}

function cellsOf(pages: DatabasePages, number: number, kind: number): Cells | null {
  const page = readPage(pages, number)
  const start = number === 1 ? FILE_HEADER_BYTES : 0
  if (page === null || page[start] !== kind) return null
  const isInterior = kind === TABLE_INTERIOR || kind === INDEX_INTERIOR
  const expected = page.readUInt16BE(start + 3)
  const pointers = start + (isInterior ? 12 : 8)
  if (pointers + expected * 2 > pages.usableBytes) return null
  const list = Array.from({ length: expected }, (_, index) => ({
    page,
    at: page.readUInt16BE(pointers + index * 2),
  })).filter(({ at }) => at >= pointers + expected * 2 && at + 4 <= pages.usableBytes)
  return { page, start, expected, list }
}

/** The values of a record whose payload of `size` bytes begins at `at`, and may go on over other pages. */
function record(
  pages: DatabasePages,
  page: Buffer,
  at: number,
  size: number,
  kind: number,
): readonly SqlValue[] | null {
  if (size < 1 || size > PAYLOAD_BYTES_MAX) return null
  const payload = payloadOf(pages, page, at, size, kind)
  return payload === null ? null : valuesOf(payload)
}

function payloadOf(
  pages: DatabasePages,
  page: Buffer,
  at: number,
  size: number,
  kind: number,
): Buffer | null {
  const usable = pages.usableBytes
  const most = kind === TABLE_LEAF ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23
  if (size <= most) return at + size <= usable ? page.subarray(at, at + size) : null
  const least = Math.floor(((usable - 12) * 32) / 255) - 23
  const fitting = least + ((size - least) % (usable - 4))
  const local = fitting <= most ? fitting : least
  if (at + local + 4 > usable) return null
  const parts = [page.subarray(at, at + local)]
  let next = page.readUInt32BE(at + local)
  for (let missing = size - local; missing > 0; ) {
    const overflow = readPage(pages, next)
    if (overflow === null) return null
    const part = overflow.subarray(4, 4 + Math.min(missing, usable - 4))
    parts.push(part)
    missing -= part.length
    next = overflow.readUInt32BE(0)
  }
  return Buffer.concat(parts)
}

function valuesOf(payload: Buffer): readonly SqlValue[] | null {
  const header = varint(payload, 0)
  if (header === null || header.value > payload.length) return null
  const values: SqlValue[] = []
  let body = header.value
  for (let at = header.next; at < header.value; ) {
    const type = varint(payload, at)
    if (type === null) return null
    at = type.next
    const length = lengthOf(type.value)
    if (length === null || body + length > payload.length) return null
    const value = decoded(payload.subarray(body, body + length), type.value)
    if (value === undefined) return null
    values.push(value)
    body += length
  }
  return body === payload.length ? values : null
}

const LENGTHS = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0] as const

function lengthOf(type: number): number | null {
  return type >= 12 ? (type - 12) >> 1 : (LENGTHS[type] ?? null)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined when the bytes are no such value. */
function decoded(bytes: Buffer, type: number): SqlValue | undefined {
  if (type === 0) return null
  if (type === 7) return bytes.readDoubleBE(0)
  if (type === 8 || type === 9) return type - 8
  if (type >= 12 && type % 2 === 0) return Buffer.from(bytes)
  if (type >= 13) {
    try {
      return utf8.decode(bytes)
    } catch {
      return undefined
    }
  }
  const number = type === 6 ? Number(bytes.readBigInt64BE(0)) : bytes.readIntBE(0, bytes.length)
  return Number.isSafeInteger(number) ? number : undefined
}

function varint(
  bytes: Buffer,
  at: number,
): { readonly value: number; readonly next: number } | null {
  let value = 0
  for (let index = 0; index < 8; index++) {
    const byte = bytes[at + index]
    if (byte === undefined) return null
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return Number.isSafeInteger(value) ? { value, next: at + index + 1 } : null
  }
  return null // nine bytes: larger or more negative than anything of ours
}
