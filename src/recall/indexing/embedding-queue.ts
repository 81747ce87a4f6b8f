/**
 * Documents that wait for their vectors, by whose they are, and those that are getting them. Memories go before turns:
 * they are few, short, and what a question waits for.
 */
import type { MemoryId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { isTurnId, type SearchDocument, toTurnDocument } from '../../domain/search-document.ts'
import { isVectorUnchanged } from '../../storage/access/commit-hook.ts'
import type { Change } from '../../storage/store.ts'

/** Whose memories are looked at together. */
export type QueueKey = {
  readonly owner: Memory['place']['owner']
  readonly user: Memory['place']['user']
}

export type QueuedDocuments = { readonly home: QueueKey; readonly ids: readonly MemoryId[] }

/** More than this are not remembered one by one; who they belong to is compared with the index again instead. */
const WAITING_MAX = 10_000

type QueuedOwner = {
  readonly home: QueueKey
  readonly memories: Set<MemoryId>
  readonly turns: Set<MemoryId>
}

export class EmbeddingQueue {
  readonly #waiting = new Map<string, QueuedOwner>()
  readonly #underWay = new Set<QueuedDocuments>()
  /** Those with more than there is room for. */
  readonly #overflowing = new Map<string, QueueKey>()
  #count = 0

  /** How many wait. */
  get count(): number {
    return this.#count
  }

  get isEmpty(): boolean {
    return this.#count === 0 && this.#overflowing.size === 0
  }

  add(home: QueueKey, id: MemoryId): void {
    if (this.#count >= WAITING_MAX) {
      this.overflow(home)
      return
    }
    const name = encodeQueueKey(home)
    const waiting = this.#waiting.get(name) ?? { home, memories: new Set(), turns: new Set() }
    this.#waiting.set(name, waiting)
    const ids = isTurnId(id) ? waiting.turns : waiting.memories
    if (!ids.has(id)) this.#count++
    ids.add(id)
  }

  takeOut(home: QueueKey, ids: Iterable<MemoryId>): void {
    const waiting = this.#waiting.get(encodeQueueKey(home))
    if (waiting === undefined) return
    for (const id of ids) {
      if (waiting.memories.delete(id) || waiting.turns.delete(id)) this.#count--
    }
    if (countIds(waiting) === 0) this.#waiting.delete(encodeQueueKey(home))
  }

  /**
   * The next ones, all of one home, are out of the line while they get their vectors: one that is changed meanwhile
   * waits again, and must stay so. When that fails, they wait again.
   */
  async next(limit: number, work: (batch: QueuedDocuments) => Promise<void>): Promise<void> {
    const [first] = this.#waiting.values()
    const waiting = [...this.#waiting.values()].find(({ memories }) => memories.size > 0) ?? first
    if (waiting === undefined) return
    const { home } = waiting
    const batch = { home, ids: takeFirst(waiting, limit) }
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
    return this.#of(scope).reduce((sum, waiting) => sum + countIds(waiting), 0)
  }

  /** How many memories of a scope wait. */
  memoriesWaiting(scope: Scope): number {
    return this.#of(scope).reduce((sum, { memories }) => sum + memories.size, 0)
  }

  /** Those of a scope that have no vector yet, waiting or under way. */
  unserved(scope: Scope): ReadonlySet<MemoryId> {
    const waiting = this.#of(scope).flatMap(({ memories, turns }) => [...memories, ...turns])
    const underWay = [...this.#underWay].flatMap(({ home, ids }) =>
      isSameQueue(scope, home) ? [...ids] : [],
    )
    return new Set([...waiting, ...underWay])
  }

  /** Memories among them. */
  unservedMemories(scope: Scope): ReadonlySet<MemoryId> {
    return new Set([...this.unserved(scope)].filter((id) => !isTurnId(id)))
  }

  #of(scope: Scope): readonly QueuedOwner[] {
    return [...this.#waiting.values()].filter(({ home }) => isSameQueue(scope, home))
  }

  /** Whether one of these still has no vector. */
  holdsAny(ids: ReadonlySet<MemoryId>): boolean {
    const isAwaited = [...this.#waiting.values()].some(({ memories, turns }) =>
      [...ids].some((id) => memories.has(id) || turns.has(id)),
    )
    return isAwaited || [...this.#underWay].some((batch) => batch.ids.some((id) => ids.has(id)))
  }

  overflow(home: QueueKey): void {
    this.#overflowing.set(encodeQueueKey(home), home)
  }

  isOverflowing(home: QueueKey): boolean {
    return this.#overflowing.has(encodeQueueKey(home))
  }

  /** Whoever has more than there was room for. Each is to be taken out before it is compared with the index. */
  overflowing(): readonly QueueKey[] {
    return [...this.#overflowing.values()]
  }

  subside(home: QueueKey): void {
    this.#overflowing.delete(encodeQueueKey(home))
  }
}

function countIds({ memories, turns }: QueuedOwner): number {
  return memories.size + turns.size
}

function takeFirst({ memories, turns }: QueuedOwner, limit: number): readonly MemoryId[] {
  const first: MemoryId[] = []
  for (const ids of [memories, turns]) {
    for (const id of ids) {
      if (first.length === limit) return first
      first.push(id)
    }
  }
  return first
}

export function isSameQueue({ owner, user }: Scope, home: QueueKey): boolean {
  return owner === home.owner && (user === undefined || user === home.user)
}

/** Names hold no line breaks, so the two can't run into each other; an owner alone has none. */
export function encodeQueueKey({ owner, user }: QueueKey): string {
  return `${owner}\n${user ?? ''}`
}

/**
 * Those that were written and need their vector made: new ones, and those of which something has changed that is kept
 * beside a vector. To have others go through the model again would cost time, or money, for the same numbers: fading,
 * merging and forgetting change a great many memories, and none of their words.
 */
export function listDocumentsToEmbed(changes: readonly Change[]): readonly SearchDocument[] {
  const before = new Map<Memory['id'], Memory>()
  for (const change of changes) {
    if (change.op === 'put' && change.table === 'revision') {
      before.set(change.row.memory.id, change.row.memory)
    }
  }
  return changes.flatMap((change) => {
    if (change.op === 'put' && change.table === 'turn') return [toTurnDocument(change.row)]
    if (change.op !== 'put' || change.table !== 'memory') return []
    const { row, expect } = change
    const previous = before.get(row.id)
    // Only what this very row replaces tells: an import brings revisions along of memories that are new here.
    const isReplaced = typeof expect === 'object' && previous?.version === expect.version
    return isReplaced && isVectorUnchanged(previous, row) ? [] : [row]
  })
}
