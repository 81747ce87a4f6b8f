/**
 * Copies rows into the target store. Each commit also advances the cursor in the marker, so that a killed migration
 * resumes where it stopped, and two concurrent ones notice each other.
 */

import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { toDocumentId } from '../../domain/search-document.ts'
import { compareText } from '../../lib/compare.ts'
import { AppError } from '../../lib/errors.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { ChangedRow } from '../../storage/migration-source.ts'
import { type Change, type Store, TABLES, type Table, type TableRow } from '../../storage/store.ts'
import {
  buildMarkerEntry,
  type CopyCursor,
  type MigrationMarker,
  readMarker,
} from './migration-marker.ts'
import {
  buildPut,
  buildRemoval,
  getPageSize,
  getRowOwner,
  hashRow,
  isStoreInternal,
  listAllOwners,
  PAGE_ROWS,
  readRow,
} from './row-comparison.ts'
import type { VectorCopy } from './vector-copy.ts'

type CopyState = Extract<MigrationMarker, { state: 'filling' }>
const CONCURRENT_READS = 20

export type StoreCopyOptions = {
  readonly source: Store
  readonly target: Store
  readonly vectors: VectorCopy
  readonly now: () => number
  readonly throwIfAborted: () => void
  readonly onCopied: (rows: number) => void
}

export class StoreCopy {
  readonly #options: StoreCopyOptions
  #marker: CopyState
  #version: number

  private constructor(options: StoreCopyOptions, marker: CopyState, version: number) {
    this.#options = options
    this.#marker = marker
    this.#version = version
  }

  /** Opens an empty target or resumes a target of the same migration. */
  static async open(options: StoreCopyOptions, initial: CopyState): Promise<StoreCopy> {
    const stored = await readMarker(options.target)
    if (stored?.marker.state === 'filling' && stored.marker.move === initial.move) {
      return new StoreCopy(options, stored.marker, stored.version)
    }
    const copy = new StoreCopy(options, initial, 0)
    await copy.#commit([], 'start')
    return copy
  }

  /** Copies all rows after the cursor; with `restart`, all rows. */
  async copyAll({ restart }: { readonly restart: boolean }): Promise<void> {
    const { source, vectors } = this.#options
    const cursor = restart ? 'start' : this.#marker.cursor
    if (cursor === 'end') return
    await vectors.refreshSpaces()
    for (const owner of await listAllOwners(source)) {
      if (cursor !== 'start' && compareText(owner, cursor.owner) < 0) continue
      for (const table of TABLES) await this.#copyTable(owner, table, cursor)
      await vectors.copyOwner(owner)
    }
    await this.#commit([], 'end')
  }

  async #copyTable(owner: OwnerId, table: Table, cursor: CopyCursor | 'start'): Promise<void> {
    const { source, onCopied, throwIfAborted } = this.#options
    const isPast =
      cursor !== 'start' &&
      cursor.owner === owner &&
      TABLES.indexOf(table) < TABLES.indexOf(cursor.table)
    if (isPast) return
    const isHere = cursor !== 'start' && cursor.owner === owner && cursor.table === table
    const query = { where: {}, order: 'oldest' as const, limit: getPageSize(table) }
    const from = isHere ? { ...query, after: cursor.after } : query
    for await (const page of pages(source, table, { owner }, from)) {
      throwIfAborted()
      const rows = page.filter(({ id }) => !isStoreInternal(table, id))
      const changes = rows.map((row) => buildPut({ table, row } as TableRow)) // rows of this table
      const after = page.at(-1)?.id ?? ''
      await this.#commit(changes, { owner, table, after })
      onCopied(rows.length)
    }
  }

  /** Applies the current state of the source rows to the target. */
  async syncRows(rows: readonly ChangedRow[]): Promise<void> {
    const { source, vectors } = this.#options
    const changed = rows.filter(({ table, id }) => !isStoreInternal(table, id))
    const current: (TableRow | null)[] = []
    for (let at = 0; at < changed.length; at += CONCURRENT_READS) {
      const batch = changed.slice(at, at + CONCURRENT_READS)
      current.push(...(await Promise.all(batch.map((row) => readRow(source, row)))))
    }
    // Removals come first, because a removed row may hold a key or an id that another row has now.
    const removed = changed.filter((_, index) => current[index] === null)
    const recreated = await this.#findRecreatedMemories(current)
    const changes = [
      ...[...removed, ...recreated].map(buildRemoval),
      ...current.flatMap((row) => (row ? [buildPut(row)] : [])),
    ]
    for (let at = 0; at < changes.length; at += PAGE_ROWS) {
      await this.#commit(changes.slice(at, at + PAGE_ROWS), this.#marker.cursor)
    }
    await vectors.refreshSpaces()
    for (const [owner, ids] of groupDocumentsByOwner(current))
      await vectors.copyDocuments(owner, ids)
  }

  /** Memories that were removed and recreated with a lower use count, which a put alone never decreases. */
  async #findRecreatedMemories(rows: readonly (TableRow | null)[]): Promise<readonly ChangedRow[]> {
    const recreated: ChangedRow[] = []
    for (const entry of rows) {
      if (entry?.table !== 'memory') continue
      const { id, place, useCount, lastUsedAt } = entry.row
      const there = await this.#options.target.get('memory', { owner: place.owner }, id)
      if (there === null) continue
      const isUsedLess =
        useCount < there.useCount || (lastUsedAt ?? -Infinity) < (there.lastUsedAt ?? -Infinity)
      if (isUsedLess) recreated.push({ table: 'memory', owner: place.owner, id })
    }
    return recreated
  }

  /** The rows that differ between source and target. */
  async findDifferences(rows: readonly ChangedRow[]): Promise<readonly ChangedRow[]> {
    const { source, target } = this.#options
    const differing: ChangedRow[] = []
    for (let at = 0; at < rows.length; at += CONCURRENT_READS) {
      const batch = rows
        .slice(at, at + CONCURRENT_READS)
        .filter(({ table, id }) => !isStoreInternal(table, id))
      const pairs = await Promise.all(
        batch.map(async (row) => [await readRow(source, row), await readRow(target, row)] as const),
      )
      differing.push(...batch.filter((_, index) => !isSame(pairs[index])))
    }
    return differing
  }

  async #commit(changes: readonly Change[], cursor: CopyState['cursor']): Promise<void> {
    const marker = { ...this.#marker, cursor }
    const entry = buildMarkerEntry(marker, this.#version + 1, this.#options.now())
    const expect = this.#version === 0 ? ('absent' as const) : { version: this.#version }
    const markerChange: Change = { op: 'put', table: 'entry', row: entry, expect }
    const outcome = await this.#options.target.commit([markerChange, ...changes])
    if (outcome.kind === 'conflict') {
      if (outcome.table === 'entry' && outcome.id === entry.id)
        throw createConcurrentMigrationError()
      return this.#commitOneByOne(changes, cursor)
    }
    this.#version++
    this.#marker = marker
  }

  /**
   * Resolves a conflict with a row that was copied earlier and whose key or owner changed since. That row is removed; the
   * change log holds it, so it is copied again.
   */
  async #commitOneByOne(changes: readonly Change[], cursor: CopyState['cursor']): Promise<void> {
    const { target } = this.#options
    for (const change of changes) {
      const outcome = await target.commit([change])
      // A row that cannot be removed belongs to another owner by now.
      if (outcome.kind === 'committed' || change.op === 'remove') continue
      const obstacles = await this.#findConflictingRows(change)
      const again = await target.commit([...obstacles.map(buildRemoval), change])
      if (again.kind === 'conflict') {
        throw new AppError(
          'internal',
          `Row ${again.id} of table ${again.table} cannot be copied to the target store.`,
          {
            id: again.id,
            because: again.because,
          },
        )
      }
    }
    await this.#commit([], cursor)
  }

  async #findConflictingRows(change: Change): Promise<readonly ChangedRow[]> {
    if (change.op !== 'put') return []
    const entry = { table: change.table, row: change.row } as TableRow // table and row belong together
    const owner = getRowOwner(entry)
    const sameId = await this.#findById(entry)
    if (entry.table !== 'memory' || entry.row.key === null) return sameId
    const { rows } = await this.#options.target.find(
      'memory',
      { owner, user: entry.row.place.user },
      { where: { key: entry.row.key, statuses: ['active', 'disabled'] }, limit: PAGE_ROWS },
    )
    return [...sameId, ...rows.map(({ id }) => ({ table: 'memory' as const, owner, id }))]
  }

  /** Finds the row with this id under any owner. */
  async #findById({ table, row }: TableRow): Promise<readonly ChangedRow[]> {
    const { target } = this.#options
    for (const owner of await listAllOwners(target)) {
      const candidate = { table, owner, id: row.id } as ChangedRow // table and row belong together
      if ((await readRow(target, candidate)) !== null) return [candidate]
    }
    return []
  }
}

/** Groups memories and turns, the rows that have vectors. */
function groupDocumentsByOwner(
  rows: readonly (TableRow | null)[],
): ReadonlyMap<OwnerId, readonly MemoryId[]> {
  const ids = new Map<OwnerId, MemoryId[]>()
  for (const entry of rows) {
    if (entry?.table !== 'memory' && entry?.table !== 'turn') continue
    const { owner } = entry.row.place
    const id = entry.table === 'turn' ? toDocumentId(entry.row.id) : entry.row.id
    ids.set(owner, [...(ids.get(owner) ?? []), id])
  }
  return ids
}

function isSame(pair: readonly [TableRow | null, TableRow | null] | undefined): boolean {
  const [here, there] = pair ?? [null, null]
  if (here === null || there === null) return here === there
  return hashRow(here.row) === hashRow(there.row)
}

function createConcurrentMigrationError(): AppError {
  return new AppError(
    'busy',
    'Another process is running this migration. Let it finish, or stop it first.',
  )
}
