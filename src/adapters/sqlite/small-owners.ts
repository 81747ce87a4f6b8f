/**
 * The memories of owners that have few, as they were read: finding some of a hundred rows by statements takes longer than
 * looking at all of them, and a service has many such owners.
 *
 * What is kept is given up as soon as anything of the owner's memories or vectors is written here, and altogether when
 * another process has written anything: SQLite tells that at each look. So an answer never says what is no longer so.
 */
import { inverseDocumentFrequency } from '../../core/bm25.ts'
import { compareText, covers, type MemoryId, type Scope } from '../../core/ids.ts'
import type { Memory } from '../../core/memory.ts'
import { matchesMemory } from '../../ports/matching.ts'
import type { MemoryFilter, Surroundings } from '../../ports/store.ts'
import type { SqlRow } from './driver.ts'
import { MEMORY_SELECTION, ownerToken, toMemory } from './rows.ts'
import type { SqliteSession } from './session.ts'
import { count, MEMORY_INDEX, type Search, scoreCandidate, sizeOf } from './text-search.ts'

/** An owner with more memories, or longer ones, is not small. */
export const SMALL_OWNER_ROWS = 300
const SMALL_OWNER_TERMS = 30_000
/** Of all that are kept together; those of the owner that was not asked about for longest go first. */
const ROWS_MAX = 20_000
const TERMS_MAX = 2_000_000

type SmallRow = {
  readonly row: SqlRow
  /** For looking at only: what is given out is read anew, because others may change what they get. */
  readonly memory: Memory
  /** With a space around each term. */
  readonly terms: string
  readonly length: number
}

export class SmallOwners {
  readonly #session: SqliteSession
  readonly #rowsMax: number
  /** Least recently asked first. Null for owners that are not small. */
  readonly #owners = new Map<number, SmallOwner | null>()
  #dataVersion = Number.NaN
  #rows = 0
  #terms = 0

  /** `rowsMax`: how many memories a small owner has at most. */
  constructor(session: SqliteSession, rowsMax = SMALL_OWNER_ROWS) {
    this.#session = session
    this.#rowsMax = rowsMax
  }

  /** Null when the owner is not small. To be asked again after each `await`. */
  of(ownerNumber: number | null): SmallOwner | null {
    if (ownerNumber === null || this.#rowsMax === 0) return null
    // One that has got small since then is still found by statements.
    if (this.#owners.get(ownerNumber) === null) return null
    this.#heedOthers()
    const owner = this.#owners.get(ownerNumber) ?? this.#read(ownerNumber)
    this.#owners.delete(ownerNumber)
    this.#owners.set(ownerNumber, owner)
    return owner
  }

  /** Memories or vectors of the owner are about to be written. */
  forget(ownerNumber: number | null): void {
    const known = ownerNumber === null ? undefined : this.#owners.get(ownerNumber)
    if (ownerNumber === null || !known) return // a large owner does not get small by one change
    this.#owners.delete(ownerNumber)
    this.#rows -= known.rows.length
    this.#terms -= known.terms
  }

  forgetAll(): void {
    this.#owners.clear()
    this.#rows = 0
    this.#terms = 0
  }

  #heedOthers(): void {
    const [row] = this.#session.all('PRAGMA data_version')
    if (row?.data_version === this.#dataVersion) return
    this.#dataVersion = Number(row?.data_version)
    this.forgetAll()
  }

  #read(ownerNumber: number): SmallOwner | null {
    const size = sizeOf(this.#session, MEMORY_INDEX, ownerToken(ownerNumber))
    if (size.documents > this.#rowsMax || size.terms > SMALL_OWNER_TERMS) return null
    const owner = new SmallOwner(this.#session, ownerNumber)
    this.#rows += owner.rows.length
    this.#terms += owner.terms
    for (const oldest of this.#owners.keys()) {
      if (this.#rows <= ROWS_MAX && this.#terms <= TERMS_MAX) break
      this.forget(oldest)
    }
    return owner
  }
}

export class SmallOwner {
  /** In the order of ids. */
  readonly rows: readonly SmallRow[]
  readonly terms: number
  readonly #session: SqliteSession
  readonly #ownerNumber: number
  readonly #byId: ReadonlyMap<MemoryId, SmallRow>
  readonly #byNumber: ReadonlyMap<number, SmallRow>
  /** For each space, the memory of each sequence. */
  readonly #vectors = new Map<number, ReadonlyMap<number, SmallRow>>()
  #courses: ReadonlyMap<MemoryId, Course> | null = null

  constructor(session: SqliteSession, ownerNumber: number) {
    this.#session = session
    this.#ownerNumber = ownerNumber
    this.rows = session
      .packed(
        {
          columns: SMALL_SELECTION,
          from: `FROM memory JOIN place ON place.number = memory.place_number
            WHERE memory.owner_number = ?`,
        },
        [ownerNumber],
      )
      .map(toSmallRow)
      .sort((a, b) => compareText(a.memory.id, b.memory.id))
    this.#byId = new Map(this.rows.map((each) => [each.memory.id, each]))
    this.#byNumber = new Map(this.rows.map((each) => [Number(each.row.number), each]))
    this.terms = this.rows.reduce((sum, { length }) => sum + length, 0)
  }

  /** Those of the ids that pass, the newest first. */
  find(scope: Scope, ids: readonly MemoryId[], where: MemoryFilter): readonly Memory[] {
    return [...new Set(ids)]
      .flatMap((id) => this.#byId.get(id) ?? [])
      .filter(({ memory }) => isPermitted(memory, scope, where))
      .sort((a, b) => compareText(b.memory.id, a.memory.id))
      .map(({ row }) => toMemory(row))
  }

  /** As `search` in `text-search.ts` does it with statements. */
  search(scope: Scope, where: MemoryFilter, terms: readonly string[]): Search {
    const counted = this.rows.map((each) => ({
      ...each,
      counts: terms.map((term) => count(term, each.terms)),
    }))
    const rarities = terms.map((_, position) => {
      const holding = counted.filter(({ counts }) => counts[position] !== 0).length
      return inverseDocumentFrequency(holding, this.rows.length)
    })
    const averageLength = this.rows.length === 0 ? 0 : this.terms / this.rows.length
    return {
      terms: terms.map((text, position) => ({ text, rarity: rarities[position] ?? 0 })),
      averageLength,
      candidates: counted
        .filter(
          ({ memory, counts }) =>
            counts.some((times) => times > 0) && isPermitted(memory, scope, where),
        )
        .map(({ row, counts, length }) =>
          scoreCandidate(row, counts, length, rarities, averageLength),
        ),
    }
  }

  around(
    scope: Scope,
    ids: readonly MemoryId[],
    reach: number,
  ): ReadonlyMap<MemoryId, Surroundings> {
    this.#courses ??= coursesOf(this.rows)
    const found = new Map<MemoryId, Surroundings>()
    for (const id of ids) {
      const course = this.#courses.get(id)
      const memory = this.#byId.get(id)?.memory
      const session = memory?.place.session ?? null
      if (course === undefined || memory === undefined || session === null) continue
      if (!covers(scope, memory.place)) continue
      const { ids: all, at } = course
      found.set(id, {
        session,
        before: all.slice(Math.max(0, at - reach), at).reverse(),
        after: all.slice(at + 1, at + 1 + reach),
      })
    }
    return found
  }

  /** For a sequence of a space: the id of its memory, null when that is not permitted, undefined when there is no vector. */
  permittedBySequence(
    space: number,
    scope: Scope,
    where: MemoryFilter,
  ): (sequence: number) => MemoryId | null | undefined {
    const vectors = this.#vectorsIn(space)
    return (sequence) => {
      const memory = vectors.get(sequence)?.memory
      if (memory === undefined) return undefined
      return isPermitted(memory, scope, where) ? memory.id : null
    }
  }

  #vectorsIn(space: number): ReadonlyMap<number, SmallRow> {
    const known = this.#vectors.get(space)
    if (known !== undefined) return known
    const rows = this.#session.all(
      'SELECT sequence, memory FROM vector WHERE space = ? AND owner_number = ?',
      [space, this.#ownerNumber],
    )
    const vectors = new Map(
      rows.flatMap(({ sequence, memory }) => {
        const row = this.#byNumber.get(Number(memory))
        return row === undefined ? [] : [[Number(sequence), row] as const]
      }),
    )
    this.#vectors.set(space, vectors)
    return vectors
  }
}

const SMALL_SELECTION = {
  ...MEMORY_SELECTION,
  number: 'memory.number',
  terms: 'memory.terms',
  terms_count: 'memory.terms_count',
}

function toSmallRow(row: SqlRow): SmallRow {
  return { row, memory: toMemory(row), terms: ` ${row.terms} `, length: Number(row.terms_count) }
}

function isPermitted(memory: Memory, scope: Scope, where: MemoryFilter): boolean {
  return covers(scope, memory.place) && matchesMemory(memory, where)
}

/** The memories of a session in their order, and where in it one stands. */
type Course = { readonly ids: readonly MemoryId[]; readonly at: number }

function coursesOf(rows: readonly SmallRow[]): ReadonlyMap<MemoryId, Course> {
  const sessions = new Map<string, MemoryId[]>()
  const courses = new Map<MemoryId, Course>()
  for (const { memory } of rows) {
    const { user, session } = memory.place
    if (session === null) continue
    const name = JSON.stringify([user, session])
    const ids = sessions.get(name) ?? []
    sessions.set(name, ids)
    courses.set(memory.id, { ids, at: ids.push(memory.id) - 1 })
  }
  return courses
}
