/**
 * Writing into the new store. Each commit also says in the store itself how far it has come, so that a move that was
 * killed goes on where it was, and two that are at it at once notice each other.
 */

import type { CopyCursor } from '../../domain/entries/access-entries.ts'
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { toDocumentId } from '../../domain/search-document.ts'
import { compareText } from '../../lib/compare.ts'
import { AppError } from '../../lib/errors.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { ChangedRow } from '../../storage/migration-source.ts'
import { type Change, type Store, TABLES, type Table, type TableRow } from '../../storage/store.ts'
import { buildMarkerEntry, type MigrationMarker, readMarker } from './migration-marker.ts'
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
const READ_AT_ONCE = 20

export type StoreCopyOptions = {
  readonly source: Store
  readonly target: Store
  readonly vectors: VectorCopy
  readonly now: () => number
  readonly throwIfStopped: () => void
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

  /** For an empty store, or one that was being filled by the same move. */
  static async open(options: StoreCopyOptions, fresh: CopyState): Promise<StoreCopy> {
    const known = await readMarker(options.target)
    if (known !== null && known.marker.state === 'filling' && known.marker.move === fresh.move) {
      return new StoreCopy(options, known.marker, known.version)
    }
    const filler = new StoreCopy(options, fresh, 0)
    await filler.#commit([], 'start')
    return filler
  }

  /** Copies everything that comes after the cursor. `anew`: from the start, whatever was copied before. */
  async copyAll({ anew }: { readonly anew: boolean }): Promise<void> {
    const { source, vectors } = this.#options
    const cursor = anew ? 'start' : this.#marker.cursor
    if (cursor === 'end') return
    await vectors.look()
    for (const owner of await listAllOwners(source)) {
      if (cursor !== 'start' && compareText(owner, cursor.owner) < 0) continue
      for (const table of TABLES) await this.#copyTable(owner, table, cursor)
      await vectors.copyOwner(owner)
    }
    await this.#commit([], 'end')
  }

  async #copyTable(owner: OwnerId, table: Table, cursor: CopyCursor | 'start'): Promise<void> {
    const { source, onCopied, throwIfStopped } = this.#options
    const isPast =
      cursor !== 'start' &&
      cursor.owner === owner &&
      TABLES.indexOf(table) < TABLES.findIndex((each) => each === cursor.table)
    if (isPast) return
    const isHere = cursor !== 'start' && cursor.owner === owner && cursor.table === table
    const query = { where: {}, order: 'oldest' as const, limit: getPageSize(table) }
    const from = isHere ? { ...query, after: cursor.after } : query
    for await (const page of pages(source, table, { owner }, from)) {
      throwIfStopped()
      const rows = page.filter(({ id }) => !isStoreInternal(table, id))
      const changes = rows.map((row) => buildPut({ table, row } as TableRow)) // of this table
      const after = page.at(-1)?.id ?? ''
      await this.#commit(changes, { owner, table, after })
      onCopied(rows.length)
    }
  }

  /** Makes rows of the new store what they are in the old one. */
  async bringOver(rows: readonly ChangedRow[]): Promise<void> {
    const { source, vectors } = this.#options
    const moved = rows.filter(({ table, id }) => !isStoreInternal(table, id))
    const found: (TableRow | null)[] = []
    for (let at = 0; at < moved.length; at += READ_AT_ONCE) {
      const some = moved.slice(at, at + READ_AT_ONCE)
      found.push(...(await Promise.all(some.map((row) => readRow(source, row)))))
    }
    // What is gone goes first: it may hold a key, or an id, that something else has now.
    const gone = moved.filter((_, index) => found[index] === null)
    const renewed = await this.#begunAnew(found)
    const changes = [
      ...[...gone, ...renewed].map(buildRemoval),
      ...found.flatMap((row) => (row ? [buildPut(row)] : [])),
    ]
    for (let at = 0; at < changes.length; at += PAGE_ROWS) {
      await this.#commit(changes.slice(at, at + PAGE_ROWS), this.#marker.cursor)
    }
    await vectors.look()
    for (const [owner, ids] of groupDocumentsByOwner(found)) await vectors.copyDocuments(owner, ids)
  }

  /** Memories that were removed and made again with fewer uses: a put alone never lowers those. */
  async #begunAnew(rows: readonly (TableRow | null)[]): Promise<readonly ChangedRow[]> {
    const renewed: ChangedRow[] = []
    for (const found of rows) {
      if (found?.table !== 'memory') continue
      const { id, place, useCount, lastUsedAt } = found.row
      const there = await this.#options.target.get('memory', { owner: place.owner }, id)
      if (there === null) continue
      const isUsedLess =
        useCount < there.useCount || (lastUsedAt ?? -Infinity) < (there.lastUsedAt ?? -Infinity)
      if (isUsedLess) renewed.push({ table: 'memory', owner: place.owner, id })
    }
    return renewed
  }

  /** Those of the rows that are not the same at both ends. */
  async differing(rows: readonly ChangedRow[]): Promise<readonly ChangedRow[]> {
    const { source, target } = this.#options
    const differing: ChangedRow[] = []
    for (let at = 0; at < rows.length; at += READ_AT_ONCE) {
      const some = rows
        .slice(at, at + READ_AT_ONCE)
        .filter(({ table, id }) => !isStoreInternal(table, id))
      const pairs = await Promise.all(
        some.map(async (row) => [await readRow(source, row), await readRow(target, row)] as const),
      )
      differing.push(...some.filter((_, index) => !isSame(pairs[index])))
    }
    return differing
  }

  async #commit(changes: readonly Change[], cursor: CopyState['cursor']): Promise<void> {
    const marker = { ...this.#marker, cursor }
    const entry = buildMarkerEntry(marker, this.#version + 1, this.#options.now())
    const expect = this.#version === 0 ? ('absent' as const) : { version: this.#version }
    const noting: Change = { op: 'put', table: 'entry', row: entry, expect }
    const outcome = await this.#options.target.commit([noting, ...changes])
    if (outcome.kind === 'conflict') {
      if (outcome.table === 'entry' && outcome.id === entry.id)
        throw createConcurrentMigrationError()
      return this.#commitOneByOne(changes, cursor)
    }
    this.#version++
    this.#marker = marker
  }

  /**
   * A row that was copied earlier holds a key that another one has meanwhile, or belongs to another user now. It makes
   * room: it has changed since it was copied, so it was noted and comes again.
   */
  async #commitOneByOne(changes: readonly Change[], cursor: CopyState['cursor']): Promise<void> {
    const { target } = this.#options
    for (const change of changes) {
      const outcome = await target.commit([change])
      // What can't be removed is another owner's by now.
      if (outcome.kind === 'committed' || change.op === 'remove') continue
      const inTheWay = await this.#inTheWay(change)
      const again = await target.commit([...inTheWay.map(buildRemoval), change])
      if (again.kind === 'conflict') {
        throw new AppError('internal', `A row of the table ${again.table} can't be copied.`, {
          id: again.id,
          reason: again.reason,
        })
      }
    }
    await this.#commit([], cursor)
  }

  async #inTheWay(change: Change): Promise<readonly ChangedRow[]> {
    if (change.op !== 'put') return []
    const given = { table: change.table, row: change.row } as TableRow // of the same table
    const owner = getRowOwner(given)
    const same = await this.#withId(given)
    if (given.table !== 'memory' || given.row.key === null) return same
    const { rows } = await this.#options.target.find(
      'memory',
      { owner, user: given.row.place.user },
      { where: { key: given.row.key, statuses: ['active', 'disabled'] }, limit: PAGE_ROWS },
    )
    return [...same, ...rows.map(({ id }) => ({ table: 'memory' as const, owner, id }))]
  }

  /** Whoever has the id: it may have been given to another owner. */
  async #withId({ table, row }: TableRow): Promise<readonly ChangedRow[]> {
    const { target } = this.#options
    for (const owner of await listAllOwners(target)) {
      const held = { table, owner, id: row.id } as ChangedRow // of the same table
      if ((await readRow(target, held)) !== null) return [held]
    }
    return []
  }
}

/** Memories and turns: both have vectors. */
function groupDocumentsByOwner(
  rows: readonly (TableRow | null)[],
): ReadonlyMap<OwnerId, readonly MemoryId[]> {
  const ids = new Map<OwnerId, MemoryId[]>()
  for (const found of rows) {
    if (found?.table !== 'memory' && found?.table !== 'turn') continue
    const { owner } = found.row.place
    const id = found.table === 'turn' ? toDocumentId(found.row.id) : found.row.id
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
    'Another process goes on with this move. Let it finish, or stop it first.',
  )
}
