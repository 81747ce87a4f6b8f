/**
 * Caches counts of memories: every page of a list asks for one, and each scans all memories of the owner. A count is
 * dropped when this process writes a memory of the owner, and after two seconds, because other processes write, too.
 */
import type { OwnerId } from '../../domain/ids.ts'
import type { Scope } from '../../domain/scope.ts'
import type { Clock } from '../../lib/clock.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import type { Change, MemoryCounts, MemoryFilter, Store } from '../store.ts'

const TTL_MS = 2_000
const OWNERS_MAX = 1_000
const COUNTS_PER_OWNER_MAX = 20

export class CountCache {
  readonly #store: Store
  readonly #clock: Clock
  readonly #owners = new LruCache<OwnerId, LruCache<string, Promise<MemoryCounts>>>({
    entriesMax: OWNERS_MAX,
  })

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  async count(scope: Scope, where: MemoryFilter): Promise<MemoryCounts> {
    // `validAt` is the current time, so it is different in each call and must not be part of the key.
    const { validAt, ...filters } = where
    const key = JSON.stringify([scope, filters, validAt !== undefined])
    const cached = this.#owners.get(scope.owner)?.get(key)
    if (cached !== undefined) return cached
    // Cached before it resolves, so that concurrent callers share one query.
    const counts = this.#store.countMemories(scope, where)
    this.#add(scope.owner, key, counts)
    counts.catch(() => this.#owners.delete(scope.owner))
    return counts
  }

  onCommit(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.op === 'put' && change.table === 'memory') {
        this.#owners.delete(change.row.place.owner)
      }
      if (change.op === 'remove' && change.table === 'memory')
        this.#owners.delete(change.scope.owner)
    }
  }

  invalidate(owners: readonly OwnerId[] | 'any'): void {
    if (owners === 'any') this.#owners.clear()
    else for (const owner of owners) this.#owners.delete(owner)
  }

  #add(owner: OwnerId, key: string, counts: Promise<MemoryCounts>): void {
    const now = () => this.#clock.now()
    const options = { entriesMax: COUNTS_PER_OWNER_MAX, ttlMs: TTL_MS, now }
    this.#owners.getOrCreate(owner, () => new LruCache(options)).set(key, counts)
  }
}
