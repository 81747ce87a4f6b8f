/**
 * Counts that are asked for again and again, as every page of a list does, and that take a look at all of an owner's
 * memories. They are kept until something of that owner changes here, and for a moment at most, because another process
 * may change it too.
 */
import type { OwnerId } from '../../domain/ids.ts'
import type { Scope } from '../../domain/scope.ts'
import type { Clock } from '../../lib/clock.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import type { Change, MemoryCounts, MemoryFilter, Store } from '../store.ts'

const FRESH_MS = 2_000
const KEPT_MAX = 1_000
const KEPT_PER_OWNER_MAX = 20

export class CountCache {
  readonly #store: Store
  readonly #clock: Clock
  readonly #kept = new LruCache<OwnerId, LruCache<string, Promise<MemoryCounts>>>({
    entriesMax: KEPT_MAX,
  })

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  async count(scope: Scope, where: MemoryFilter): Promise<MemoryCounts> {
    // Now is different each time; what has ended within the last moments may still be counted.
    const { validAt: unendedAt, ...lasting } = where
    const name = JSON.stringify([scope, lasting, unendedAt !== undefined])
    const known = this.#kept.get(scope.owner)?.get(name)
    if (known !== undefined) return known
    // Kept before it is done, so that two who ask at once wait for one count.
    const tally = this.#store.countMemories(scope, where)
    this.#keep(scope.owner, name, tally)
    tally.catch(() => this.#kept.delete(scope.owner))
    return tally
  }

  onCommit(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.op === 'put' && change.table === 'memory') {
        this.#kept.delete(change.row.place.owner)
      }
      if (change.op === 'remove' && change.table === 'memory') this.#kept.delete(change.scope.owner)
    }
  }

  invalidate(owners: readonly OwnerId[] | 'any'): void {
    if (owners === 'any') this.#kept.clear()
    else for (const owner of owners) this.#kept.delete(owner)
  }

  #keep(owner: OwnerId, name: string, tally: Promise<MemoryCounts>): void {
    const now = () => this.#clock.now()
    const options = { entriesMax: KEPT_PER_OWNER_MAX, ttlMs: FRESH_MS, now }
    this.#kept.getOrCreate(owner, () => new LruCache(options)).set(name, tally)
  }
}
