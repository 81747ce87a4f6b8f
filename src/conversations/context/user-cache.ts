/**
 * Caches a few memories of each user that every request needs. Commits of this process and, where the store reports
 * them, of other processes invalidate an entry at once. In addition, known memories are checked every few seconds, and
 * new ones are looked for once a minute: finding that there are none takes a query over all memories of the owner.
 */
import type { OwnerId, UserId } from '../../domain/ids.ts'
import { type Memory, TRUSTED_LEVELS } from '../../domain/memory.ts'
import { isWithinScope, type Scope } from '../../domain/scope.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import { type Instant, MINUTE_MS } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { Change, MemoryFilter } from '../../storage/store.ts'

/** One user of an owner, or no user; never all of them. */
export type UserScope = { readonly owner: OwnerId; readonly user: UserId | null }

/** The active and trusted memories of one category, the newest if there are more than `limit`. */
type CachedMemoryQuery = {
  readonly category: Memory['category']
  readonly limit: number
  readonly where?: (now: Instant) => MemoryFilter
}

type CachedMemories = {
  readonly scope: UserScope
  readonly rows: Promise<readonly Memory[]>
  /** Null until the rows are loaded. */
  ids: ReadonlySet<string> | null
  readonly loadedAt: Instant
  readonly checkedAt: Instant
}

const LOAD_INTERVAL_MS = MINUTE_MS
const CHECK_INTERVAL_MS = 2_000
const ENTRIES_MAX = 5_000

export class UserMemoryCache {
  readonly #ports: MemoryDependencies
  readonly #query: CachedMemoryQuery
  readonly #entries = new LruCache<string, CachedMemories>({ entriesMax: ENTRIES_MAX })

  constructor(ports: MemoryDependencies, query: CachedMemoryQuery) {
    this.#ports = ports
    this.#query = query
  }

  /** The memories of a user. Some may have expired since they were loaded. */
  load(scope: UserScope): Promise<readonly Memory[]> {
    const now = this.#ports.clock.now()
    const entry = this.#entries.get(buildCacheKey(scope))
    if (entry === undefined || !isWithin(LOAD_INTERVAL_MS, entry.loadedAt, now)) {
      return this.#add(scope, () => this.#find(scope, now), now, now)
    }
    const isEmpty = entry.ids === null || entry.ids.size === 0
    if (isEmpty || isWithin(CHECK_INTERVAL_MS, entry.checkedAt, now)) return entry.rows
    const check = async () => {
      const ids = (await entry.rows).map(({ id }) => id)
      return this.#find(scope, now, ids)
    }
    return this.#add(scope, check, entry.loadedAt, now)
  }

  /** Must receive every commit. */
  onCommit(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.op === 'put' && change.table === 'memory') this.#onPut(change.row)
      if (change.op === 'remove' && change.table === 'memory') {
        this.#onRemove(change.scope, change.id)
      }
    }
  }

  clear(): void {
    this.#entries.clear()
  }

  forget(owners: readonly OwnerId[] | 'any'): void {
    if (owners === 'any') this.clear()
    const changed = new Set<OwnerId>(owners === 'any' ? [] : owners)
    this.#entries.deleteWhere((_, { scope }) => changed.has(scope.owner))
  }

  #onPut({ id, place, category }: Memory): void {
    const key = buildCacheKey(place)
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    if (category === this.#query.category || mayContain(entry, id)) this.#entries.delete(key)
  }

  #onRemove(scope: Scope, id: string): void {
    this.#entries.deleteWhere(
      (_, entry) =>
        isWithinScope({ ...scope, session: null }, { ...entry.scope, session: null }) &&
        mayContain(entry, id),
    )
  }

  async #find(
    scope: UserScope,
    now: Instant,
    ids?: readonly Memory['id'][],
  ): Promise<readonly Memory[]> {
    const { category, limit, where } = this.#query
    const active = { statuses: ['active'], trusts: TRUSTED_LEVELS, validAt: now } as const
    const { rows } = await this.#ports.store.find('memory', scope, {
      where: { ...active, categories: [category], ...where?.(now), ...(ids && { ids }) },
      limit: ids?.length ?? limit,
    })
    return rows
  }

  /** Adds the entry before it is loaded, so that concurrent callers share one query. */
  #add(
    scope: UserScope,
    load: () => Promise<readonly Memory[]>,
    loadedAt: Instant,
    checkedAt: Instant,
  ): Promise<readonly Memory[]> {
    const key = buildCacheKey(scope)
    const rows = load()
    const entry: CachedMemories = { scope, rows, ids: null, loadedAt, checkedAt }
    this.#entries.set(key, entry)
    rows.then(
      (loaded) => {
        entry.ids = new Set(loaded.map(({ id }) => id))
      },
      () => {
        if (this.#entries.peek(key) === entry) this.#entries.delete(key)
      },
    )
    return rows
  }
}

/** An entry that is still loading may contain anything. */
function mayContain({ ids }: CachedMemories, id: string): boolean {
  return ids === null || ids.has(id)
}

/** False when the clock was set back. */
function isWithin(ms: number, since: Instant, now: Instant): boolean {
  return now >= since && now < since + ms
}

function buildCacheKey({ owner, user }: UserScope): string {
  return JSON.stringify([owner, user])
}
