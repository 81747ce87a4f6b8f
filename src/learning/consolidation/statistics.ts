/**
 * A compact in-memory summary of all memories of an owner: enough to find candidates, at tens of megabytes for a hundred
 * thousand memories. Every step reloads a memory before it changes it.
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
import { type EvictionCandidate, isProtectedFromEviction } from './eviction/eviction-policy.ts'
import { isMergeable } from './merging/merge-decision.ts'
import { encodeWords, WordSetIndex } from './merging/word-sets.ts'

/** Small pages let other requests run in between. */
const PAGE_ROWS = 100
const NO_WORDS = new Uint32Array(0)

const PINNED = 1
const EPISODE = 2
const IDENTITY = 4
const SUSPECT = 8
const MERGEABLE = 16
const GONE = 32
const PROTECTED = 64

export type StatisticsTimes = {
  readonly now: Instant
  readonly trashedBefore: number
  /** Null when episodes have no retention limit. */
  readonly madeBefore: Instant | null
}

export class MemoryStatistics {
  readonly words = new WordSetIndex()
  /** Memories that lost at least half of their salience to decay. */
  decayed = 0
  /** Memories that were in the trash before `trashedBefore`. */
  readonly oldTrash: MemoryId[] = []
  /** Active and disabled identity statements, oldest first. */
  readonly identities: MemoryId[] = []
  readonly #important = new Map<UserId | null, MemoryId[]>()
  readonly #pinned = new Map<UserId | null, MemoryId[]>()
  readonly #oldEpisodes: MemoryId[] = []
  /** Merged episodes: the episode that they are part of, and whether they are within their retention. */
  readonly #absorbed = new Map<MemoryId, { readonly into: MemoryId; readonly isYoung: boolean }>()
  readonly #ids: MemoryId[] = []
  readonly #groups: number[] = []
  readonly #flags: number[] = []
  readonly #salience: number[] = []
  readonly #lastActivity: number[] = []
  readonly #groupNumbers = new Map<string, number>()
  readonly #episodes: { readonly index: number; readonly at: Instant }[] = []

  get count(): number {
    return this.#ids.length
  }

  add(memory: Memory, { now, trashedBefore, madeBefore }: StatisticsTimes): void {
    if (memory.status === 'forgotten') {
      if (memory.updatedAt <= trashedBefore) this.oldTrash.push(memory.id)
      return
    }
    const isOld = madeBefore !== null && memory.createdAt < madeBefore
    this.#addSignificant(memory)
    if (memory.category === 'episode') this.#addEpisode(memory, isOld)
    if (memory.status === 'active') this.#addActive(memory, isOld, now)
  }

  #addSignificant({ id, place, category, status, importance, pinned }: Memory): void {
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
    // An episode past its retention must not absorb a younger one.
    const canMerge = isMergeable(memory, now) && !(isOld && category === 'episode')
    this.words.add(canMerge ? encodeWords(memory.content) : NO_WORDS)
    this.#groups.push(this.#groupOf(memory))
    this.#salience.push(salience)
    this.#lastActivity.push(getLastActivity(memory))
    this.#flags.push(
      (memory.pinned ? PINNED : 0) |
        (category === 'episode' ? EPISODE : 0) |
        (category === 'identity' ? IDENTITY : 0) |
        (trust === 'suspect' ? SUSPECT : 0) |
        (canMerge ? MERGEABLE : 0) |
        (isProtectedFromEviction(memory) ? PROTECTED : 0),
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

  /** Whether two memories can never be merged, whatever they state. */
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

  /** Marks a memory as no longer active. */
  remove(index: number): void {
    this.#flags[index] = (this.#flags[index] ?? 0) | GONE
  }

  /** Records a change of the memory by this run. */
  touch(index: number, salience: number, now: Instant): void {
    this.#salience[index] = salience
    this.#lastActivity[index] = now
  }

  /** The fields of the memory that eviction needs. */
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
      isProtected: this.#has(index, PROTECTED),
      lastUsedAt: null,
      updatedAt: (this.#lastActivity[index] ?? 0) as Instant, // stored from one
    }
  }

  /** The newest important and the newest pinned memories of a user, up to `limit` each. */
  significantOf(user: UserId | null, limit: number): readonly MemoryId[] {
    const newest = (lists: ReadonlyMap<UserId | null, readonly MemoryId[]>) =>
      (lists.get(user) ?? []).slice(-limit).reverse()
    return [...new Set([...newest(this.#important), ...newest(this.#pinned)])]
  }

  /** The newest remaining episodes that were created in the period. */
  recentEpisodes(from: Instant, to: Instant, limit: number): readonly MemoryId[] {
    return this.#episodes
      .filter(({ index, at }) => at >= from && at <= to && !this.isGone(index))
      .sort((a, b) => b.at - a.at)
      .slice(0, limit)
      .map(({ index }) => this.idAt(index))
  }

  /** Unpinned episodes past their retention, without those that absorbed younger ones. */
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

/** Reads every memory once; separate queries per step would take as long each. */
export async function collectStatistics(
  { store }: MemoryDependencies,
  scope: Scope,
  times: StatisticsTimes,
  onPage: (count: number) => void,
): Promise<MemoryStatistics> {
  const statistics = new MemoryStatistics()
  const query = { where: {}, order: 'oldest', limit: PAGE_ROWS } as const
  for await (const page of pages(store, 'memory', scope, query)) {
    for (const memory of page) statistics.add(memory, times)
    onPage(statistics.count)
  }
  return statistics
}
