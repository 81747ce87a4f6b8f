/** Memories that wait for their vectors, by whose they are, and those that are getting them. */
import type { MemoryId, Scope } from '../core/ids.ts'
import type { Memory } from '../core/memory.ts'

/** Whose memories are looked at together. */
export type Home = {
  readonly owner: Memory['place']['owner']
  readonly user: Memory['place']['user']
}

export type Batch = { readonly home: Home; readonly ids: readonly MemoryId[] }

/** More than this are not remembered one by one; who they belong to is compared with the index again instead. */
const WAITING_MAX = 10_000

export class InLine {
  readonly #waiting = new Map<string, { readonly home: Home; readonly ids: Set<MemoryId> }>()
  readonly #underWay = new Set<Batch>()
  /** Those with more than there is room for. */
  readonly #overflowing = new Map<string, Home>()
  #count = 0

  /** How many wait. */
  get count(): number {
    return this.#count
  }

  get isEmpty(): boolean {
    return this.#count === 0 && this.#overflowing.size === 0
  }

  add(home: Home, id: MemoryId): void {
    if (this.#count >= WAITING_MAX) {
      this.overflow(home)
      return
    }
    const name = nameOf(home)
    const waiting = this.#waiting.get(name) ?? { home, ids: new Set() }
    this.#waiting.set(name, waiting)
    if (!waiting.ids.has(id)) this.#count++
    waiting.ids.add(id)
  }

  takeOut(home: Home, ids: Iterable<MemoryId>): void {
    const waiting = this.#waiting.get(nameOf(home))
    for (const id of ids) if (waiting?.ids.delete(id)) this.#count--
    if (waiting?.ids.size === 0) this.#waiting.delete(nameOf(home))
  }

  /**
   * The next ones, all of one home, are out of the line while they get their vectors: one that is changed meanwhile
   * waits again, and must stay so. When that fails, they wait again.
   */
  async next(limit: number, work: (batch: Batch) => Promise<void>): Promise<void> {
    const [waiting] = this.#waiting.values()
    if (waiting === undefined) return
    const { home } = waiting
    const batch = { home, ids: [...waiting.ids].slice(0, limit) }
    this.takeOut(home, batch.ids)
    this.#underWay.add(batch)
    try {
      await work(batch)
    } catch (error) {
      for (const id of batch.ids) this.add(home, id)
      throw error
    } finally {
      this.#underWay.delete(batch)
    }
  }

  /** How many of a scope wait. */
  waiting(scope: Scope): number {
    return [...this.#waiting.values()]
      .filter(({ home }) => isHomeOf(scope, home))
      .reduce((sum, { ids }) => sum + ids.size, 0)
  }

  /** Those of a scope that have no vector yet, waiting or under way. */
  unserved(scope: Scope): ReadonlySet<MemoryId> {
    const all = [...this.#waiting.values(), ...this.#underWay]
    return new Set(all.flatMap(({ home, ids }) => (isHomeOf(scope, home) ? [...ids] : [])))
  }

  /** Whether one of these still has no vector. */
  holdsAny(ids: ReadonlySet<MemoryId>): boolean {
    const isAwaited = [...this.#waiting.values()].some(({ ids: waiting }) =>
      [...ids].some((id) => waiting.has(id)),
    )
    return isAwaited || [...this.#underWay].some((batch) => batch.ids.some((id) => ids.has(id)))
  }

  overflow(home: Home): void {
    this.#overflowing.set(nameOf(home), home)
  }

  isOverflowing(home: Home): boolean {
    return this.#overflowing.has(nameOf(home))
  }

  /** Whoever has more than there was room for. Each is to be taken out before it is compared with the index. */
  overflowing(): readonly Home[] {
    return [...this.#overflowing.values()]
  }

  subside(home: Home): void {
    this.#overflowing.delete(nameOf(home))
  }
}

export function isHomeOf({ owner, user }: Scope, home: Home): boolean {
  return owner === home.owner && (user === undefined || user === home.user)
}

/** Names hold no line breaks, so the two can't run into each other; an owner alone has none. */
export function nameOf({ owner, user }: Home): string {
  return `${owner}\n${user ?? ''}`
}
