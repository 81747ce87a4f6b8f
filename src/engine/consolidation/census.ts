/**
 * What consolidation keeps in mind of each memory while it works: enough to decide, and so little that an owner's
 * hundred thousand take tens of megabytes. Whoever acts reads the memory itself again.
 */
import type { Candidate } from '../../core/consolidation/leaving.ts'
import { isMergeable } from '../../core/consolidation/merging.ts'
import { lastMomentOf } from '../../core/consolidation/salience.ts'
import { WordSets, wordNumbers } from '../../core/consolidation/word-sets.ts'
import type { Instant, MemoryId, Place, Scope } from '../../core/ids.ts'
import type { Memory } from '../../core/memory.ts'
import { pages } from '../paging.ts'
import type { EnginePorts } from '../ports.ts'

/** So few that others are answered between two pages. */
const PAGE_ROWS = 200
const NO_WORDS = new Uint32Array(0)

const PINNED = 1
const EPISODE = 2
const IDENTITY = 4
const SUSPECT = 8
const MERGEABLE = 16
const GONE = 32

export class Census {
  readonly words = new WordSets()
  readonly #ids: MemoryId[] = []
  readonly #groups: number[] = []
  readonly #flags: number[] = []
  readonly #salience: number[] = []
  readonly #lastMoment: number[] = []
  readonly #groupNumbers = new Map<string, number>()
  /** When the last digest of each session was made; a pinned one is never too old. */
  readonly #sessions = new Map<string, number>()
  readonly #episodes: { readonly index: number; readonly at: Instant }[] = []

  get count(): number {
    return this.#ids.length
  }

  add(memory: Memory, now: Instant): void {
    const { id, salience, category, trust } = memory
    const canMerge = isMergeable(memory, now)
    this.words.add(canMerge ? wordNumbers(memory.content) : NO_WORDS)
    this.#groups.push(this.#groupOf(memory))
    this.#salience.push(salience)
    this.#lastMoment.push(lastMomentOf(memory))
    this.#flags.push(
      (memory.pinned ? PINNED : 0) |
        (category === 'episode' ? EPISODE : 0) |
        (category === 'identity' ? IDENTITY : 0) |
        (trust === 'suspect' ? SUSPECT : 0) |
        (canMerge ? MERGEABLE : 0),
    )
    if (category === 'episode') {
      this.#episodes.push({ index: this.count, at: memory.createdAt })
      this.#noteSession(memory)
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
  candidateAt(index: number): Candidate {
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

  /** The newest episodes that are still there, made at this instant or later. */
  recentEpisodes(from: Instant, limit: number): readonly MemoryId[] {
    return this.#episodes
      .filter(({ index, at }) => at >= from && !this.isGone(index))
      .sort((a, b) => b.at - a.at)
      .slice(0, limit)
      .map(({ index }) => this.idAt(index))
  }

  /** Whether there is a digest of the conversation that this place belongs to, made at this instant or later. */
  hasEpisodeOf(place: Place, from: Instant): boolean {
    return (this.#sessions.get(sessionName(place)) ?? Number.NEGATIVE_INFINITY) >= from
  }

  #noteSession({ place, pinned, createdAt }: Memory): void {
    if (place.session === null) return
    const madeAt = pinned ? Number.POSITIVE_INFINITY : createdAt
    const name = sessionName(place)
    this.#sessions.set(name, Math.max(madeAt, this.#sessions.get(name) ?? madeAt))
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

function sessionName({ user, session }: Place): string {
  return JSON.stringify([user, session])
}

/** Reads every active memory once. */
export async function takeCensus(
  { store }: EnginePorts,
  scope: Scope,
  now: Instant,
  onPage: (count: number) => void,
): Promise<Census> {
  const census = new Census()
  const where = { statuses: ['active'] } as const
  const query = { where, order: 'oldest', limit: PAGE_ROWS } as const
  for await (const page of pages(store, 'memory', scope, query)) {
    for (const memory of page) census.add(memory, now)
    onPage(census.count)
  }
  return census
}
