/**
 * A few memories of each user that are needed with every message, kept at hand. What changes here is heard at once, and so
 * is what other processes change where the store hears them. It is also seen by looking again: what is known every few
 * seconds, for what is new once a minute, because finding that there is nothing new takes a look at all memories of the
 * owner.
 */
import type { OwnerId, UserId } from '../../domain/ids.ts'
import { type Memory, TRUSTED_LEVELS } from '../../domain/memory.ts'
import { isWithinScope, type Scope } from '../../domain/scope.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import { type Instant, MINUTE_MS } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { Change, MemoryFilter } from '../../storage/store.ts'

/** A user of an owner, or nobody in particular: never all of them. */
export type UserScope = { readonly owner: OwnerId; readonly user: UserId | null }

/** Which ones: of one category, in use and believed. The newest, where there are more. */
export type CachedMemoryQuery = {
  readonly category: Memory['category']
  readonly limit: number
  readonly where?: (now: Instant) => MemoryFilter
}

type CachedMemories = {
  readonly home: UserScope
  readonly rows: Promise<readonly Memory[]>
  /** Null until they are read. */
  ids: ReadonlySet<string> | null
  readonly lookedAt: Instant
  readonly checkedAt: Instant
}

const LOOK_MS = MINUTE_MS
const CHECK_MS = 2_000
const HOMES_MAX = 5_000

export class UserMemoryCache {
  readonly #ports: MemoryDependencies
  readonly #wanted: CachedMemoryQuery
  readonly #kept = new LruCache<string, CachedMemories>({ entriesMax: HOMES_MAX })

  constructor(ports: MemoryDependencies, wanted: CachedMemoryQuery) {
    this.#ports = ports
    this.#wanted = wanted
  }

  /** Some may have ended since they were read. */
  of(home: UserScope): Promise<readonly Memory[]> {
    const now = this.#ports.clock.now()
    const known = this.#kept.get(buildCacheKey(home))
    if (known === undefined || !isWithin(LOOK_MS, known.lookedAt, now)) return this.#look(home, now)
    const hasNothing = known.ids === null || known.ids.size === 0
    if (hasNothing || isWithin(CHECK_MS, known.checkedAt, now)) return known.rows
    return this.#check(known, now)
  }

  /** Is to hear every commit. */
  changed(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.op === 'put' && change.table === 'memory') this.#changedTo(change.row)
      if (change.op === 'remove' && change.table === 'memory') this.#gone(change.scope, change.id)
    }
  }

  clear(): void {
    this.#kept.clear()
  }

  forget(owners: readonly OwnerId[] | 'any'): void {
    if (owners === 'any') this.clear()
    const changed = new Set<OwnerId>(owners === 'any' ? [] : owners)
    this.#kept.deleteWhere((_, { home }) => changed.has(home.owner))
  }

  #changedTo({ id, place, category }: Memory): void {
    const name = buildCacheKey(place)
    const known = this.#kept.get(name)
    if (known === undefined) return
    if (category === this.#wanted.category || isRelevantChange(known, id)) this.#kept.delete(name)
  }

  #gone(scope: Scope, id: string): void {
    this.#kept.deleteWhere((_, known) => {
      const isMeant = isWithinScope({ ...scope, session: null }, { ...known.home, session: null })
      return isMeant && isRelevantChange(known, id)
    })
  }

  #look(home: UserScope, now: Instant): Promise<readonly Memory[]> {
    const { limit } = this.#wanted
    const find = async () =>
      (await this.#ports.store.find('memory', home, { where: this.#where(now), limit })).rows
    return this.#keep(home, find, now, now)
  }

  #check({ home, rows, lookedAt }: CachedMemories, now: Instant): Promise<readonly Memory[]> {
    const findAgain = async () => {
      const ids = (await rows).map(({ id }) => id)
      const where = { ...this.#where(now), ids }
      return (await this.#ports.store.find('memory', home, { where, limit: ids.length })).rows
    }
    return this.#keep(home, findAgain, lookedAt, now)
  }

  #where(now: Instant): MemoryFilter {
    const { category, where } = this.#wanted
    const inUse = { statuses: ['active'], trusts: TRUSTED_LEVELS, validAt: now } as const
    return { ...inUse, categories: [category], ...where?.(now) }
  }

  /** Kept before it is read, so that all who ask at once wait for one look. */
  #keep(
    home: UserScope,
    read: () => Promise<readonly Memory[]>,
    lookedAt: Instant,
    checkedAt: Instant,
  ): Promise<readonly Memory[]> {
    const name = buildCacheKey(home)
    const rows = read()
    const kept: CachedMemories = { home, rows, ids: null, lookedAt, checkedAt }
    this.#kept.set(name, kept)
    rows.then(
      (read) => {
        kept.ids = new Set(read.map(({ id }) => id))
      },
      () => {
        if (this.#kept.peek(name) === kept) this.#kept.delete(name)
      },
    )
    return rows
  }
}

/** What is being read at the moment may be about anything. */
function isRelevantChange({ ids }: CachedMemories, id: string): boolean {
  return ids === null || ids.has(id)
}

/** A clock that was set back makes nothing fresh. */
function isWithin(ms: number, since: Instant, now: Instant): boolean {
  return now >= since && now < since + ms
}

function buildCacheKey({ owner, user }: UserScope): string {
  return JSON.stringify([owner, user])
}
