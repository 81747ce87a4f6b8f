/**
 * Salvages a damaged database: what is readable goes into a new file, the old one goes into quarantine.
 *
 * The old file is only ever copied and moved, never written to. A row is taken over only if it is sound: a memory
 * whose text no longer has its fingerprint says something that nobody said, and is worse than one that is missing.
 */
import { copyFileSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ENTRY_KINDS } from '../../../domain/entries/entry.ts'
import { JOB_STATUSES } from '../../../domain/job-row.ts'
import { MEMORY_CATEGORIES, MEMORY_STATUSES, TRUST_LEVELS } from '../../../domain/memory.ts'
import { DOCUMENT_TYPES } from '../../../domain/search-document.ts'
import { SIGNAL_STATUSES } from '../../../domain/signal.ts'
import { getBlockingTombstoneIds } from '../../../domain/tombstone.ts'
import { TURN_ROLES } from '../../../domain/turn.ts'
import { readFileIdentity, syncFile } from '../../../lib/atomic-file.ts'
import { AppError } from '../../../lib/errors.ts'
import { quoteIdentifier } from '../../../lib/sql.ts'
import { computeFingerprint } from '../../../text/fingerprint.ts'
import { fromStorable } from '../../../text/storable-text.ts'
import { LEGACY_ENTRY_KINDS } from '../../entry-upgrade.ts'
import { detectFileKind, isOpenInProcess } from '../connection/database-file.ts'
import { listSiblingFiles, readFileHeader, toFileError } from '../connection/file-system.ts'
import { SqliteDatabase } from '../connection/sqlite-database.ts'
import {
  type DatabaseKey,
  openConnection,
  type SqliteConnection,
  type SqliteStatement,
  type SqlRow,
  type SqlValue,
} from '../connection/sqlite-driver.ts'
import { isMatchingKey, readKeyVerifier, writeKeyVerifier } from '../encryption/key-verifier.ts'
import {
  type CopyProgressListener,
  countRows,
  createSchema,
  enableWalMode,
  runInTransaction,
} from '../maintenance/database-copy.ts'
import { checkStoreIntegrity, rebuildDerivedData } from '../maintenance/integrity-check.ts'
import { migrateEntries } from '../schema/entry-migration.ts'
import { toMemory } from '../store/row-codec.ts'
import { type DatabasePages, readFreePages, readIndexEntries, readLeafRows } from './btree-pages.ts'
import {
  type RecoveredRow,
  readTableSchemas,
  recoverRows,
  type TableSchema,
} from './page-recovery.ts'
import { quarantineDatabase } from './quarantine.ts'
import { type ReadablePages, readReadablePages } from './readable-pages.ts'

export type RecoveryOptions = {
  readonly path: string
  /** Needed for an encrypted database; the new one is encrypted with it too. */
  readonly key: DatabaseKey | null
  readonly now: () => number
  /** Memories expected when known, else rows found so far. */
  readonly onProgress?: CopyProgressListener
}

export type RecoveryReport = {
  /** Rows in the new database, by table. */
  readonly copied: Readonly<Record<string, number>>
  readonly lost: {
    /** Memories that the old database counted and the new one lacks; null when its count is lost too. */
    readonly memories: number | null
    /** Rows that were found but are damaged, by table. */
    readonly rows: Readonly<Record<string, number>>
    /** Pages of tables that could not be read at all. */
    readonly pages: readonly number[]
    /** The last writes were still beside the file and could not be added. */
    readonly recentWrites: boolean
  }
  /** Owners and users whose names are lost; their rows are kept under names that begin with `salvaged-`. */
  readonly unnamedPlaces: number
  /** The folder that holds the old files. */
  readonly quarantined: string
}

const WORK = '.salvaging-'
const PROGRESS_ROWS = 200

export async function recoverDatabase(options: RecoveryOptions): Promise<RecoveryReport> {
  if (readFileIdentity(options.path) === null) {
    throw new AppError('not_found', `There is no database at ${options.path}.`, {
      path: options.path,
    })
  }
  const path = realpathSync(options.path)
  if (isOpenInProcess(path))
    throw new AppError('busy', `The database at ${path} is in use.`, { path })
  for (const leftover of listSiblingFiles(path, WORK)) rmSync(leftover, { recursive: true })
  const work = `${path}${WORK}${process.pid}`
  try {
    mkdirSync(work, { mode: 0o700 })
    const { found, key } = await readDatabase(path, work, options.key)
    const fresh = join(work, 'new.db')
    const outcome = await writeFresh(fresh, found, key, options)
    await enableWalMode(fresh, key, openConnection)
    syncFile(fresh)
    const header = readFileHeader(fresh, 16)
    const quarantined = quarantineDatabase({ path, now: options.now, replacement: fresh })
    if (key !== null) writeKeyVerifier(path, key, header)
    return { ...outcome, quarantined }
  } catch (error) {
    throw toFileError(error, path)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

type SourceDatabase = { readonly found: ReadablePages; readonly key: DatabaseKey | null }

/** Reads the file as what it looks like; when its beginning is lost, plainly first and then with the key. */
async function readDatabase(
  path: string,
  work: string,
  key: DatabaseKey | null,
): Promise<SourceDatabase> {
  const kind = detectFileKind(path)
  if (kind === 'encrypted') refuseWrongKey(path, key)
  if (kind !== 'encrypted') {
    const found = await readReadablePages(copyInto(work, path), null, null)
    if (kind !== 'unknown' || key === null || holdsTables(found.pages)) return { found, key: null }
  }
  const start = readFileHeader(path, 16).toString('hex')
  const noted = readKeyVerifier(path)?.header
  for (const salt of new Set([noted ?? start, start])) {
    if (key === null) break
    const found = await readReadablePages(copyInto(work, path), key, salt)
    if (holdsTables(found.pages)) return { found, key }
  }
  throw new AppError(
    'locked',
    `Nothing in the database at ${path} can be read with this key: it is the wrong key, or all of the file is damaged.`,
    { path },
  )
}

function refuseWrongKey(path: string, key: DatabaseKey | null): void {
  const check = readKeyVerifier(path)
  if (key !== null && (check === null || isMatchingKey(check, key))) return
  if (key !== null && check?.header !== readFileHeader(path, 16).toString('hex')) return
  const what = key === null ? 'Give its key' : 'Give the right key'
  throw new AppError('locked', `The database at ${path} is encrypted. ${what} to salvage it.`, {
    path,
  })
}

/** Whether the pages make sense as they are. Undecrypted ones don't, whatever their first byte is by chance. */
function holdsTables(pages: DatabasePages): boolean {
  for (let number = 2; number <= pages.count; number++) {
    const leaf = readLeafRows(pages, number)
    if (leaf !== null && leaf.rows.length > 0 && leaf.brokenRows === 0) return true
  }
  return false
}

function copyInto(work: string, path: string): string {
  const copy = join(work, 'old.db')
  for (const part of ['', '-wal', '-journal']) {
    rmSync(copy + part, { force: true })
    if (readFileIdentity(path + part) !== null) copyFileSync(path + part, copy + part)
  }
  rmSync(`${copy}-shm`, { force: true })
  return copy
}

async function writeFresh(
  fresh: string,
  { pages, hasFirstPage, hasWalFrames: hasRecentWrites }: ReadablePages,
  key: DatabaseKey | null,
  options: RecoveryOptions,
): Promise<Omit<RecoveryReport, 'quarantined'>> {
  const target = await openConnection(fresh, key)
  try {
    createSchema(target, options.now())
    const shapes = readTableSchemas(target)
    const carving = recoverRows(pages, shapes, hasFirstPage)
    const broken = new Map<string, number>()
    let namelessPlaces = 0
    runInTransaction(target, () => {
      copyRow(target, shapes, carving, broken, options.onProgress)
      namelessPlaces = recoverPlaceNames(target, shapes, pages)
      migrateEntries(target) // the damaged file may be of an earlier schema
      rebuildDerivedData(new SqliteDatabase(target))
    })
    assertIntegrity(target)
    for (const [table, count] of carving.brokenRows) {
      broken.set(table, (broken.get(table) ?? 0) + count)
    }
    const copied = Object.fromEntries(
      shapes.map(({ table }) => [table, countOwnRows(target, table)] as const),
    )
    const expected = carving.expectedMemories
    return {
      copied,
      lost: {
        memories: expected === null ? null : Math.max(0, expected - (copied.memory ?? 0)),
        rows: Object.fromEntries(broken),
        pages: [...new Set(carving.unreadablePages)].sort((a, b) => a - b),
        recentWrites: !hasRecentWrites,
      },
      unnamedPlaces: namelessPlaces,
    }
  } finally {
    target.close()
  }
}

/** Without the documents of turns, which are derived. */
function countOwnRows(target: SqliteConnection, table: string): number {
  const rows = countRows(target, table)
  if (table !== 'memory') return rows
  const [derived] = target.prepare(`SELECT count(*) AS rows FROM memory WHERE type = 'turn'`).all()
  return rows - Number(derived?.rows)
}

function copyRow(
  target: SqliteConnection,
  shapes: readonly TableSchema[],
  carving: ReturnType<typeof recoverRows>,
  broken: Map<string, number>,
  onProgress: CopyProgressListener | undefined,
): void {
  const put = new Map(shapes.map((shape) => [shape.table, createInserter(target, shape)]))
  let done = 0
  const unreached: RecoveredRow[] = []
  const take = (found: RecoveredRow) => {
    if (!isValidRow(found.table, found.row) || put.get(found.table)?.(found.row) === 'refused') {
      broken.set(found.table, (broken.get(found.table) ?? 0) + 1)
    }
    done++
    const total = Math.max(done, carving.expectedMemories ?? 0)
    if (done % PROGRESS_ROWS === 0) onProgress?.(done, total)
  }
  for (const found of carving.rows) {
    if (found.isLinked) take(found)
    else unreached.push(found)
  }
  // Memories last: whether one was forgotten shows in the places and tombstones.
  for (const found of unreached) if (found.table !== 'memory') take(found)
  for (const found of unreached) {
    const isDerived = found.row.type === 'turn'
    if (found.table === 'memory' && !isDerived && !isForgotten(target, found.row)) take(found)
  }
  onProgress?.(done, done)
}

/** Writes rows into a table. Of two versions of a row the later is kept. */
function createInserter(
  target: SqliteConnection,
  { table, columns }: TableSchema,
): (row: SqlRow) => 'put' | 'refused' {
  const kept = columns.filter((column) => !column.isRowid && column.name !== 'id')
  const replacing = kept
    .map(({ name }) => `${quoteIdentifier(name)} = excluded.${quoteIdentifier(name)}`)
    .join(', ')
  const onConflict = kept.some((column) => column.name === 'version')
    ? `(id) DO UPDATE SET ${replacing} WHERE excluded.version > ${quoteIdentifier(table)}.version`
    : 'DO NOTHING'
  const statements = new Map<number, SqliteStatement>()
  const statementFor = (names: readonly string[]) => {
    const known = statements.get(names.length)
    if (known !== undefined) return known
    const statement = target.prepare(
      `INSERT INTO ${quoteIdentifier(table)} (${names.map(quoteIdentifier).join(', ')})
       VALUES (${names.map(() => '?').join(', ')}) ON CONFLICT ${onConflict}`,
    )
    statements.set(names.length, statement)
    return statement
  }
  return (row) => {
    try {
      statementFor(Object.keys(row)).run(...Object.values(row))
      return 'put'
    } catch (error) {
      if (error instanceof AppError || !isRefusal(error)) throw error
      return 'refused'
    }
  }
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof Error && /constraint failed|cannot store|datatype mismatch/.test(error.message)
  )
}

/** A row on a page that is no longer reached may be an old one that was deleted since. */
function isForgotten(target: SqliteConnection, row: SqlRow): boolean {
  const [place] = target
    .prepare('SELECT owner, user FROM place WHERE number = ?')
    .all(row.place_number ?? null)
  if (place === undefined || !isValidRow('memory', row)) return false
  const memory = toMemory({ ...row, ...place })
  return getBlockingTombstoneIds(memory.place, memory).some((id) => {
    const [tombstone] = target.prepare('SELECT forgotten_at FROM tombstone WHERE id = ?').all(id)
    return tombstone !== undefined && Number(tombstone.forgotten_at) >= memory.updatedAt
  })
}

function assertIntegrity(target: SqliteConnection): void {
  const [fault] = checkStoreIntegrity(new SqliteDatabase(target), false)
  if (fault === undefined) return
  throw new AppError(
    'internal',
    `The salvaged database is not sound: ${fault.description}. Nothing was changed.`,
  )
}

/** Tables without a rule here are held only to their columns' types. */
export function isValidRow(table: string, row: SqlRow): boolean {
  return RULES[table]?.(row) ?? true
}

const RULES: Readonly<Record<string, (row: SqlRow) => boolean>> = {
  memory: (row) =>
    isOneOf(DOCUMENT_TYPES, row.type) &&
    isOneOf(MEMORY_CATEGORIES, row.category) &&
    isOneOf(MEMORY_STATUSES, row.status) &&
    isOneOf(TRUST_LEVELS, row.trust) &&
    isObject(parsed(row.provenance)) &&
    Array.isArray(parsed(row.entities)) &&
    isObject(parsed(row.metadata)) &&
    (row.type === 'turn' ||
      computeFingerprint(fromStorable(String(row.content))) === row.fingerprint),
  revision: (row) => {
    const snapshot = parsed(row.snapshot)
    return isObject(snapshot) && snapshot.id === row.memory
  },
  entry: (row) =>
    isOneOf([...ENTRY_KINDS, ...LEGACY_ENTRY_KINDS], row.kind) && isObject(parsed(row.body)),
  job: (row) =>
    isOneOf(JOB_STATUSES, row.status) &&
    isObject(parsed(row.input)) &&
    (row.outcome === null || isObject(parsed(row.outcome))),
  signal: (row) => isOneOf(SIGNAL_STATUSES, row.status) && Array.isArray(parsed(row.turns)),
  turn: (row) => isOneOf(TURN_ROLES, row.role),
}

function isOneOf(words: readonly string[], value: SqlValue | undefined): boolean {
  return words.includes(String(value))
}

function parsed(value: SqlValue | undefined): unknown {
  try {
    return JSON.parse(String(value))
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Gives every place that rows point at a name: its own from the index of places, or a made-up one. */
export function recoverPlaceNames(
  target: SqliteConnection,
  shapes: readonly TableSchema[],
  pages: DatabasePages,
): number {
  const homes = shapes
    .filter(({ columns }) => columns.some((column) => column.name === 'place_number'))
    .map(({ table }) => `SELECT place_number, owner_number FROM ${quoteIdentifier(table)}`)
  const lost = target
    .prepare(
      `SELECT DISTINCT place_number AS number, owner_number AS owner FROM (${homes.join(' UNION ')})
       WHERE place_number NOT IN (SELECT number FROM place)`,
    )
    .all()
  if (lost.length === 0) return 0
  const indexed = placesFromIndex(pages)
  const insert = target.prepare(
    'INSERT INTO place (number, owner, user, owner_number) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  let nameless = 0
  for (const { number = null, owner = null } of lost) {
    const known = indexed.get(Number(number))
    if (known !== undefined) {
      if (insert.run(number, known.owner, known.user, owner).changes === 1) continue
    }
    nameless++
    const [twin] = target.prepare('SELECT owner FROM place WHERE owner_number = ?').all(owner)
    insert.run(number, twin?.owner ?? `salvaged-owner-${owner}`, `salvaged-user-${number}`, owner)
  }
  return nameless
}

/** Owners and users by the number of their place, as the index of places has them. */
function placesFromIndex(
  pages: DatabasePages,
): ReadonlyMap<number, { readonly owner: string; readonly user: string }> {
  const places = new Map<number, { readonly owner: string; readonly user: string }>()
  const free = readFreePages(pages)
  for (let number = 1; number <= pages.count; number++) {
    if (free.has(number)) continue
    for (const values of readIndexEntries(pages, number) ?? []) {
      const [owner, user, place] = values
      if (values.length !== 3 || typeof owner !== 'string' || typeof user !== 'string') continue
      if (typeof place === 'number') places.set(place, { owner, user })
    }
  }
  return places
}
