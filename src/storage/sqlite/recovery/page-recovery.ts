/**
 * Finds the rows of our tables on the pages of a damaged database.
 *
 * Tables are followed from their roots as far as that goes: what is reached is in use. Pages that are no longer
 * reached, because one above them is broken, are recognised by the shape of their rows; only tables that are
 * damaged get any, so that deleted rows on left-over pages don't return.
 */

import type { SqliteConnection, SqlRow, SqlValue } from '../connection/sqlite-driver.ts'
import { hasRowId, listCanonicalTables } from '../maintenance/database-copy.ts'
import {
  type BtreeRow,
  type DatabasePages,
  type LeafPage,
  readChildPages,
  readFreePages,
  readIndexEntries,
  readLeafRows,
} from './btree-pages.ts'

export type TableColumn = {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  /** Its values stand in the rowid, and NULL in its place. */
  readonly isRowid: boolean
}
export type TableSchema = {
  readonly table: string
  readonly columns: readonly TableColumn[]
  /** Whether rows have numbers of their own. Those of other tables are only found from the root. */
  readonly hasRowid: boolean
}

export type RecoveredRow = {
  readonly table: string
  readonly row: SqlRow
  /** Reached from the table's root, so certainly in use. */
  readonly isLinked: boolean
}

export type RecoveredRows = {
  readonly rows: Iterable<RecoveredRow>
  /** Pages that should have held part of a table and don't. Complete when `rows` has been read. */
  readonly unreadablePages: readonly number[]
  /** Rows that stand on readable pages and make no sense, by table. Complete when `rows` has been read. */
  readonly brokenRows: ReadonlyMap<string, number>
  /** How many memories the database itself counted; null when that is lost. */
  readonly expectedMemories: number | null
}

/** The shapes of all tables that hold what cannot be derived. Vectors can: they are made again from the memories. */
export function readTableSchemas(connection: SqliteConnection): readonly TableSchema[] {
  return listCanonicalTables(connection)
    .filter((table) => table !== 'migration' && !/^vector(?:_|$)/.test(table))
    .map((table) => toShape(table, columnsOf(connection, table), hasRowId(connection, table)))
}

/** Without rowid, the columns of the key are stored first. We declare them first, in their order. */
function toShape(table: string, columns: readonly TableColumn[], isNumbered: boolean): TableSchema {
  const unnumbered = columns.map((column) => ({ ...column, isRowid: false }))
  return { table, columns: isNumbered ? columns : unnumbered, hasRowid: isNumbered }
}

function columnsOf(connection: SqliteConnection, table: string): readonly TableColumn[] {
  const columns = connection.prepare('SELECT * FROM pragma_table_info(?) ORDER BY cid').all(table)
  const keys = columns.filter((column) => Number(column.pk) > 0)
  return columns.map((column) => {
    const isRowid = keys.length === 1 && column === keys[0] && column.type === 'INTEGER'
    return {
      name: String(column.name),
      type: String(column.type),
      isRequired: column.notnull === 1 && column.dflt_value === null,
      isRowid,
    }
  })
}

export function recoverRows(
  pages: DatabasePages,
  shapes: readonly TableSchema[],
  hasFirstPage: boolean,
): RecoveredRows {
  const unreadablePages: number[] = []
  const brokenRows = new Map<string, number>()
  const noteBroken = (table: string, count: number) => {
    if (count > 0) brokenRows.set(table, (brokenRows.get(table) ?? 0) + count)
  }
  const seen = new Set<number>()
  const schema = hasFirstPage ? followTable(pages, 1, seen) : null
  if (schema !== null) unreadablePages.push(...schema.unreadable)
  const roots = schema === null ? new Map<string, number>() : rootsOf(schema.pages, pages)
  const corpus = roots.get('corpus')

  function* rows(): Generator<RecoveredRow> {
    const damaged: TableSchema[] = []
    for (const shape of shapes) {
      const root = roots.get(shape.table)
      const found = root === undefined ? null : followTable(pages, root, seen)
      if (found === null || found.unreadable.length > 0) damaged.push(shape)
      unreadablePages.push(...(found?.unreadable ?? []))
      for (const page of found?.pages ?? []) {
        const leaf = shape.hasRowid ? readLeafRows(pages, page) : unnumberedRows(pages, page)
        const fitting = leaf?.rows.filter((row) => matchesSchema(shape, row)) ?? []
        noteBroken(shape.table, (leaf?.rows.length ?? 0) - fitting.length + (leaf?.brokenRows ?? 0))
        for (const row of fitting) yield toFound(shape, row, true)
      }
    }
    // The pages of other tables are in use as well: none of theirs may be taken for a lost page.
    for (const root of roots.values()) if (!seen.has(root)) followTable(pages, root, seen)
    const numbered = damaged.filter((shape) => shape.hasRowid)
    if (numbered.length > 0) yield* orphans(pages, numbered, seen, noteBroken)
  }

  return {
    rows: rows(),
    unreadablePages,
    brokenRows,
    expectedMemories: corpus === undefined ? null : readExpectedMemories(pages, corpus),
  }
}

function* orphans(
  pages: DatabasePages,
  shapes: readonly TableSchema[],
  seen: ReadonlySet<number>,
  noteBroken: (table: string, count: number) => void,
): Generator<RecoveredRow> {
  const free = readFreePages(pages)
  for (let number = 1; number <= pages.count; number++) {
    if (seen.has(number) || free.has(number)) continue
    const leaf = readLeafRows(pages, number)
    const first = leaf?.rows[0]
    if (!leaf || !first) continue
    // A full row says more than one that might lack columns added later.
    const shape =
      shapes.find(
        (one) => one.columns.length === first.values.length && matchesSchema(one, first),
      ) ?? shapes.find((one) => matchesSchema(one, first))
    if (shape === undefined) continue
    const fitting = leaf.rows.filter((row) => matchesSchema(shape, row) && !isSchemaStep(row))
    noteBroken(shape.table, leaf.brokenRows)
    for (const row of fitting) yield toFound(shape, row, false)
  }
}

/** The list of applied schema steps has the same shape as places. Its third column is a SHA-256. */
function isSchemaStep(row: BtreeRow): boolean {
  return row.values.length === 4 && /^[0-9a-f]{64}$/.test(String(row.values[2]))
}

type ReachedPages = { readonly pages: readonly number[]; readonly unreadable: readonly number[] }

/** All pages of a table from its root down. */
function followTable(pages: DatabasePages, root: number, seen: Set<number>): ReachedPages {
  const found: number[] = []
  const unreadable: number[] = []
  const waiting = [root]
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    if (seen.has(number)) continue
    const children = readChildPages(pages, number)
    if (
      children === null &&
      readLeafRows(pages, number) === null &&
      readIndexEntries(pages, number) === null
    ) {
      unreadable.push(number)
      continue
    }
    seen.add(number)
    found.push(number)
    waiting.push(...(children ?? []))
  }
  return { pages: found, unreadable }
}

function unnumberedRows(pages: DatabasePages, number: number): LeafPage | null {
  const entries = readIndexEntries(pages, number)
  return entries && { rows: entries.map((values) => ({ rowid: 0, values })), brokenRows: 0 }
}

/** Where each table begins, from the schema's rows: type, name, table, root page, SQL. */
function rootsOf(schema: readonly number[], pages: DatabasePages): Map<string, number> {
  const roots = new Map<string, number>()
  for (const page of schema) {
    for (const { values } of readLeafRows(pages, page)?.rows ?? []) {
      const [type, name, , root] = values
      if (type === 'table' && typeof root === 'number' && root > 0) roots.set(String(name), root)
    }
  }
  return roots
}

/** The row of `corpus` for the whole store: the empty token, memories, terms. */
function readExpectedMemories(pages: DatabasePages, root: number): number | null {
  for (const page of followTable(pages, root, new Set()).pages) {
    const total = readIndexEntries(pages, page)?.find(([token]) => token === '')
    if (typeof total?.[1] === 'number') return total[1]
  }
  return null
}

function matchesSchema(shape: TableSchema, row: BtreeRow): boolean {
  const { columns } = shape
  if (row.values.length > columns.length) return false
  return columns.every((column, index) => {
    const value = row.values[index] ?? null
    if (column.isRowid) return value === null
    if (value === null) return !column.isRequired
    return isOfType(value, column.type)
  })
}

function isOfType(value: SqlValue, type: string): boolean {
  // Text of ours never holds NUL: see `core/storable-text.ts`. A page that was zeroed does.
  if (type === 'TEXT') return typeof value === 'string' && !value.includes('\0')
  if (type === 'INTEGER' || type === 'INT') return Number.isSafeInteger(value)
  if (type === 'REAL') return typeof value === 'number'
  if (type === 'BLOB') return value instanceof Uint8Array
  return true
}

function toFound(shape: TableSchema, row: BtreeRow, isReached: boolean): RecoveredRow {
  const entries = shape.columns
    .slice(0, row.values.length)
    .map((column, index) => [column.name, column.isRowid ? row.rowid : (row.values[index] ?? null)])
  return { table: shape.table, row: Object.fromEntries(entries), isLinked: isReached }
}
