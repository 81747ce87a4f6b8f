/**
 * The queue of documents without vectors, by owner and user. Memories are embedded before turns: they are few and short,
 * and recall waits for them.
 */
import type { MemoryId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Scope, UserScope } from '../../domain/scope.ts'
import { isTurnId, type SearchDocument, toTurnDocument } from '../../domain/search-document.ts'
import { isVectorUnchanged } from '../../storage/access/commit-hook.ts'
import type { Change } from '../../storage/store.ts'

type QueuedDocuments = { readonly place: UserScope; readonly ids: readonly MemoryId[] }

/** When the queue is full, only the owner and user of further documents are noted, and compared with the index later. */
const QUEUED_MAX = 10_000

type QueuedPlace = {
  readonly place: UserScope
  readonly memories: Set<MemoryId>
  readonly turns: Set<MemoryId>
}

export class EmbeddingQueue {
  readonly #queued = new Map<string, QueuedPlace>()
  readonly #running = new Set<QueuedDocuments>()
  /** Owners and users with documents that did not fit. */
  readonly #overflowing = new Map<string, UserScope>()
  #count = 0

  /** The number of queued documents. */
  get count(): number {
    return this.#count
  }

  get isEmpty(): boolean {
    return this.#count === 0 && this.#overflowing.size === 0
  }

  add(place: UserScope, id: MemoryId): void {
    if (this.#count >= QUEUED_MAX) {
      this.markOverflowing(place)
      return
    }
    const key = encodePlace(place)
    const queued = this.#queued.get(key) ?? { place, memories: new Set(), turns: new Set() }
    this.#queued.set(key, queued)
    const ids = isTurnId(id) ? queued.turns : queued.memories
    if (!ids.has(id)) this.#count++
    ids.add(id)
  }

  remove(place: UserScope, ids: Iterable<MemoryId>): void {
    const queued = this.#queued.get(encodePlace(place))
    if (queued === undefined) return
    for (const id of ids) {
      if (queued.memories.delete(id) || queued.turns.delete(id)) this.#count--
    }
    if (countIds(queued) === 0) this.#queued.delete(encodePlace(place))
  }

  /**
   * Processes the next batch, all of one owner and user. The documents leave the queue first, so that a document that
   * changes meanwhile is queued again. A failed batch returns to the queue.
   */
  async processNext(
    limit: number,
    process: (batch: QueuedDocuments) => Promise<void>,
  ): Promise<void> {
    const [first] = this.#queued.values()
    const queued = [...this.#queued.values()].find(({ memories }) => memories.size > 0) ?? first
    if (queued === undefined) return
    const { place } = queued
    const batch = { place, ids: selectFirst(queued, limit) }
    this.remove(place, batch.ids)
    this.#running.add(batch)
    try {
      await process(batch)
    } catch (error) {
      for (const id of batch.ids) this.add(place, id)
      throw error
    } finally {
      this.#running.delete(batch)
    }
  }

  /** The number of queued documents in a scope. */
  countIn(scope: Scope): number {
    return this.#select(scope).reduce((sum, queued) => sum + countIds(queued), 0)
  }

  /** The number of queued memories in a scope. */
  countMemoriesIn(scope: Scope): number {
    return this.#select(scope).reduce((sum, { memories }) => sum + memories.size, 0)
  }

  /** Documents of a scope without a vector, queued or being embedded. */
  listPending(scope: Scope): ReadonlySet<MemoryId> {
    const queued = this.#select(scope).flatMap(({ memories, turns }) => [...memories, ...turns])
    const running = [...this.#running].flatMap(({ place, ids }) =>
      isInScope(place, scope) ? [...ids] : [],
    )
    return new Set([...queued, ...running])
  }

  listPendingMemories(scope: Scope): ReadonlySet<MemoryId> {
    return new Set([...this.listPending(scope)].filter((id) => !isTurnId(id)))
  }

  /** Whether any of the documents is queued or being embedded. */
  hasPending(ids: ReadonlySet<MemoryId>): boolean {
    const isQueued = [...this.#queued.values()].some(({ memories, turns }) =>
      [...ids].some((id) => memories.has(id) || turns.has(id)),
    )
    return isQueued || [...this.#running].some((batch) => batch.ids.some((id) => ids.has(id)))
  }

  markOverflowing(place: UserScope): void {
    this.#overflowing.set(encodePlace(place), place)
  }

  isOverflowing(place: UserScope): boolean {
    return this.#overflowing.has(encodePlace(place))
  }

  /** Owners and users with documents that did not fit. Unmark each before it is compared with the index. */
  listOverflowing(): readonly UserScope[] {
    return [...this.#overflowing.values()]
  }

  unmarkOverflowing(place: UserScope): void {
    this.#overflowing.delete(encodePlace(place))
  }

  #select(scope: Scope): readonly QueuedPlace[] {
    return [...this.#queued.values()].filter(({ place }) => isInScope(place, scope))
  }
}

function countIds({ memories, turns }: QueuedPlace): number {
  return memories.size + turns.size
}

function selectFirst({ memories, turns }: QueuedPlace, limit: number): readonly MemoryId[] {
  const first: MemoryId[] = []
  for (const ids of [memories, turns]) {
    for (const id of ids) {
      if (first.length === limit) return first
      first.push(id)
    }
  }
  return first
}

export function isInScope(place: UserScope, { owner, user }: Scope): boolean {
  return owner === place.owner && (user === undefined || user === place.user)
}

/** Names contain no line breaks, so keys are unique. */
export function encodePlace({ owner, user }: UserScope): string {
  return `${owner}\n${user ?? ''}`
}

/**
 * The documents of a commit that must be embedded: new ones, and those of which the text or a field of the index has
 * changed. Decay, merging and forgetting change many memories without their text; embedding those again would cost time or
 * money for the same vectors.
 */
export function listDocumentsToEmbed(changes: readonly Change[]): readonly SearchDocument[] {
  const previousVersions = new Map<MemoryId, Memory>()
  for (const change of changes) {
    if (change.op === 'put' && change.table === 'revision') {
      previousVersions.set(change.row.memory.id, change.row.memory)
    }
  }
  return changes.flatMap((change) => {
    if (change.op === 'put' && change.table === 'turn') return [toTurnDocument(change.row)]
    if (change.op !== 'put' || change.table !== 'memory') return []
    const { row, expect } = change
    const previous = previousVersions.get(row.id)
    // Only the version that this row replaces counts: imports also bring revisions of new memories.
    const isReplacement = typeof expect === 'object' && previous?.version === expect.version
    return isReplacement && isVectorUnchanged(previous, row) ? [] : [row]
  })
}
