/**
 * What consolidation keeps in mind of each memory while it works: enough to decide, and so little that an owner's
 * hundred thousand take tens of megabytes. Whoever acts reads the memory itself again.
 */

import type { MemoryId, UserId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import type { Instant } from '../../lib/time.ts'
import {
  countIdleDays,
  getLastActivity,
  isExemptFromDecay,
  SALIENCE_HALF_LIFE_DAYS,
} from '../../memory/salience-decay.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { pages } from '../../storage/access/row-pages.ts'
import { FACT_IMPORTANCE_MIN } from '../identity/narrative.ts'
import type { EvictionCandidate } from './eviction/eviction-policy.ts'
import { isMergeable } from './merging/merge-decision.ts'
import { encodeWords, WordSetIndex } from './merging/word-sets.ts'

/** So few that others are answered between two pages. */
const PAGE_ROWS = 100
const NO_WORDS = new Uint32Array(0)

const PINNED = 1
const EPISODE = 2
const IDENTITY = 4
const SUSPECT = 8
const MERGEABLE = 16
const GONE = 32

export type StatisticsTimes = {
  readonly now: Instant
  readonly trashedBefore: number
  /** Null when digests are kept for good. */
  readonly madeBefore: Instant | null
}

export class MemoryStatistics {
  readonly words = new WordSetIndex()
  /** How many have lost half of their salience or more to time. */
  decayed = 0
  /** What was put into the bin before this. */
  readonly oldBin: MemoryId[] = []
  /** What tells who somebody is, in use or disabled; of each user, what is important and what is pinned. Oldest first. */
  readonly identities: MemoryId[] = []
  readonly #important = new Map<UserId | null, MemoryId[]>()
  readonly #pinned = new Map<UserId | null, MemoryId[]>()
  readonly #oldEpisodes: MemoryId[] = []
  /** Digests that are part of another one: of which, and whether they are still within their time. */
  readonly #absorbed = new Map<MemoryId, { readonly into: MemoryId; readonly isYoung: boolean }>()
  readonly #ids: MemoryId[] = []
  readonly #groups: number[] = []
  readonly #flags: number[] = []
  readonly #salience: number[] = []
  readonly #lastMoment: number[] = []
  readonly #groupNumbers = new Map<string, number>()
  readonly #episodes: { readonly index: number; readonly at: Instant }[] = []

  get count(): number {
    return this.#ids.length
  }

  add(memory: Memory, { now, trashedBefore: binnedBefore, madeBefore }: StatisticsTimes): void {
    if (memory.status === 'forgotten') {
      if (memory.updatedAt <= binnedBefore) this.oldBin.push(memory.id)
      return
    }
    const isOld = madeBefore !== null && memory.createdAt < madeBefore
    this.#addTelling(memory)
    if (memory.category === 'episode') this.#addEpisode(memory, isOld)
    if (memory.status === 'active') this.#addActive(memory, isOld, now)
  }

  #addTelling({ id, place, category, status, importance, pinned }: Memory): void {
    const isActive = status === 'active'
    if (category === 'identity' && (isActive || status === 'disabled')) this.identities.push(id)
    if (!isActive) return
    if (importance >= FACT_IMPORTANCE_MIN) listed(this.#important, place.user).push(id)
    if (pinned) listed(this.#pinned, place.user).push(id)
  }

  #addEpisode({ id, pinned, supersededBy }: Memory, isOld: boolean): void {
    if (isOld && !pinned) this.#oldEpisodes.push(id)
    if (supersededBy !== null) this.#absorbed.set(id, { into: supersededBy, isYoung: !isOld })
  }

  #addActive(memory: Memory, isOld: boolean, now: Instant): void {
    const { id, salience, category, trust } = memory
    // A digest that goes today must not take along what a younger one says.
    const canMerge = isMergeable(memory, now) && !(isOld && category === 'episode')
    this.words.add(canMerge ? encodeWords(memory.content) : NO_WORDS)
    this.#groups.push(this.#groupOf(memory))
    this.#salience.push(salience)
    this.#lastMoment.push(getLastActivity(memory))
    this.#flags.push(
      (memory.pinned ? PINNED : 0) |
        (category === 'episode' ? EPISODE : 0) |
        (category === 'identity' ? IDENTITY : 0) |
        (trust === 'suspect' ? SUSPECT : 0) |
        (canMerge ? MERGEABLE : 0),
    )
    if (!isExemptFromDecay(memory) && countIdleDays(memory, now) >= SALIENCE_HALF_LIFE_DAYS)
      this.decayed++
    if (category === 'episode') {
      this.#episodes.push({ index: this.count, at: memory.createdAt })
    }
    this.#ids.push(id)
  }

  idAt(index: number): MemoryId {
    return this.#ids[index] ?? ('' as MemoryId) // every index is below `count`
  }

  /** Whether two can't be one memory, whatever they say. */
  isApart(a: number, b: number): boolean {
    return (
      this.#groups[a] !== this.#groups[b] ||
      !this.#has(a, MERGEABLE) ||
      !this.#has(b, MERGEABLE) ||
      this.isGone(a) ||
      this.isGone(b)
    )
  }

  isGone(index: number): boolean {
    return this.#has(index, GONE)
  }

  isFact(index: number): boolean {
    return !this.#has(index, EPISODE | IDENTITY | PINNED | SUSPECT | GONE)
  }

  /** It is no longer active. */
  leave(index: number): void {
    this.#flags[index] = (this.#flags[index] ?? 0) | GONE
  }

  /** It was changed just now, and is this salient since. */
  touch(index: number, salience: number, now: Instant): void {
    this.#salience[index] = salience
    this.#lastMoment[index] = now
  }

  /** The memory as far as fading goes. */
  candidateAt(index: number): EvictionCandidate {
    return {
      salience: this.#salience[index] ?? 0,
      pinned: this.#has(index, PINNED),
      category: this.#has(index, IDENTITY)
        ? 'identity'
        : this.#has(index, EPISODE)
          ? 'episode'
          : 'general',
      trust: this.#has(index, SUSPECT) ? 'suspect' : 'user',
      status: this.isGone(index) ? 'superseded' : 'active',
      lastUsedAt: null,
      updatedAt: (this.#lastMoment[index] ?? 0) as Instant, // came from one
    }
  }

  /** Of a user, the newest so many that are important, and as many that are pinned. */
  tellingOf(user: UserId | null, limit: number): readonly MemoryId[] {
    const newest = (lists: ReadonlyMap<UserId | null, readonly MemoryId[]>) =>
      (lists.get(user) ?? []).slice(-limit).reverse()
    return [...new Set([...newest(this.#important), ...newest(this.#pinned)])]
  }

  /** The newest episodes that are still there, made between two instants. */
  recentEpisodes(from: Instant, to: Instant, limit: number): readonly MemoryId[] {
    return this.#episodes
      .filter(({ index, at }) => at >= from && at <= to && !this.isGone(index))
      .sort((a, b) => b.at - a.at)
      .slice(0, limit)
      .map(({ index }) => this.idAt(index))
  }

  /** Unpinned digests that are past their time, without those that younger ones became part of. */
  oldEpisodes(): readonly MemoryId[] {
    const needed = new Set<MemoryId>()
    for (const { into, isYoung } of this.#absorbed.values()) {
      let next: MemoryId | undefined = isYoung ? into : undefined
      while (next !== undefined && !needed.has(next)) {
        needed.add(next)
        next = this.#absorbed.get(next)?.into
      }
    }
    return this.#oldEpisodes.filter((id) => !needed.has(id))
  }

  #has(index: number, flag: number): boolean {
    return ((this.#flags[index] ?? 0) & flag) !== 0
  }

  #groupOf({ place, category, provenance }: Memory): number {
    const name = JSON.stringify([place.user, category === 'episode', provenance.speaker])
    const known = this.#groupNumbers.get(name) ?? this.#groupNumbers.size
    this.#groupNumbers.set(name, known)
    return known
  }
}

function listed(lists: Map<UserId | null, MemoryId[]>, user: UserId | null): MemoryId[] {
  const known = lists.get(user) ?? []
  lists.set(user, known)
  return known
}

/** Reads every memory once: looking for the few that are meant would hold others up for as long as reading all of them. */
export async function collectStatistics(
  { store }: MemoryDependencies,
  scope: Scope,
  times: StatisticsTimes,
  onPage: (count: number) => void,
): Promise<MemoryStatistics> {
  const census = new MemoryStatistics()
  const query = { where: {}, order: 'oldest', limit: PAGE_ROWS } as const
  for await (const page of pages(store, 'memory', scope, query)) {
    for (const memory of page) census.add(memory, times)
    onPage(census.count)
  }
  return census
}
