/**
 * Keeps vectors in step with the memories: the only writer of the vector index.
 *
 * Whatever happened (a new memory, an edit, an import, a failed embedder, a restored backup, another model), the case
 * is the same: some memories lack a vector in the space of the present model, and get one. New ones are embedded in
 * the background right after their commit; anything older is found by comparing the store with the index, which
 * happens when recall needs the vectors of an owner for the first time, and on request. Nothing waits for it: a memory
 * without a vector is still found by its words.
 */
import { buildSpaceSignature, VECTOR_ENCODINGS } from '../../domain/embedding-text.ts'
import type { MemoryId } from '../../domain/ids.ts'
import type { Scope } from '../../domain/scope.ts'
import { DOCUMENT_TYPES, type SearchDocument } from '../../domain/search-document.ts'
import { raceAbort, throwIfAborted } from '../../lib/abort.ts'
import { DelayedTask } from '../../lib/delayed-task.ts'
import { toAppError } from '../../lib/errors.ts'
import { exponentialBackoffMs } from '../../lib/retry.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import { resolvesWithin } from '../../lib/timeout.ts'
import type { Embedder, EmbeddingModel } from '../../models/embedder.ts'
import type { Store } from '../../storage/store.ts'
import type { VectorIndex, VectorSpace } from '../../storage/vector-index.ts'
import type { SimilarityCalibration } from '../ranking/similarity-threshold.ts'
import type { RecallDependencies } from '../types.ts'
import { getCalibration } from './calibration.ts'
import { embedDocuments } from './document-embedding.ts'
import { EmbeddingQueue, encodeQueueKey, isSameQueue, type QueueKey } from './embedding-queue.ts'
import { diffIndex } from './index-diff.ts'

export type IndexProgress = { readonly done: number; readonly total: number }

export type IndexStatus = {
  /** The space in use and, while another one is being filled, that one. */
  readonly space: string | null
  readonly buildingSpace: string | null
  readonly memories: number
  readonly turns: number
  readonly vectors: number
  /** How many memories and turns lack a vector, and why, when something is wrong. */
  readonly withoutVector: number
  readonly reason: string | null
  /** How many are in line for their vector. */
  readonly queued: number
}

/** Where a question is compared: the vectors of one model, and what is known about that. */
export type ActiveSpace = {
  readonly space: VectorSpace
  readonly embedder: Embedder
  readonly model: EmbeddingModel
  readonly calibration: SimilarityCalibration
}

/** Small, so that a question never waits behind many documents. */
const BATCH_MEMORIES = 8

/** A question waits for what was just written, never for a long backlog. */
const SETTLE_MEMORIES_MAX = 64

/** A command that writes one memory and ends should not load a model for it. */
const START_DELAY_MS = 250

/** Other processes write too: after this, an owner who asks is compared with the index again. */
const COMPARED_MS = MINUTE_MS
const RETRY_MS_MIN = 1_000
const RETRY_MS_MAX = MINUTE_MS

export type ReindexOptions = {
  /** Only theirs; default: everybody's. */
  readonly owner?: QueueKey['owner']
  readonly force?: boolean
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: IndexProgress) => void
}

type StorePlaces = Awaited<ReturnType<Store['listPlaces']>>

type IndexerPorts = RecallDependencies & {
  readonly embedder: Embedder
  readonly vectors: VectorIndex
}

export class Indexer {
  readonly #store: Store
  readonly #embedder: Embedder
  readonly #vectors: VectorIndex
  readonly #ports: IndexerPorts
  readonly #line = new EmbeddingQueue()
  /** What was compared with the index lately: owners by name, homes by theirs. */
  readonly #compared = new Map<string, { readonly at: number; readonly done: Promise<void> }>()
  /** Memories whose text the model refuses, and what it says about it. */
  readonly #refused = new Map<MemoryId, string>()
  readonly #reindexing = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  #opening: Promise<ActiveSpace> | undefined
  #target: ActiveSpace | null = null
  #seeking: Promise<ActiveSpace | null> | undefined
  #former: ActiveSpace | null = null
  /** The space of the present model had a vector of every memory. */
  #isComplete = false
  readonly #delayedStart = new DelayedTask(() => this.#start())
  #work: Promise<void> | undefined
  #failures = 0
  #because: string | null = null

  constructor(ports: IndexerPorts) {
    this.#ports = ports
    this.#store = ports.store
    this.#embedder = ports.embedder
    this.#vectors = ports.vectors
  }

  /** Notes that these documents were written, and sees to their vectors soon. */
  changed(documents: readonly SearchDocument[]): void {
    for (const { id, place } of documents) {
      this.#refused.delete(id)
      this.#line.add({ owner: place.owner, user: place.user }, id)
    }
    if (documents.length > 0) this.#schedule(START_DELAY_MS)
  }

  /** Waits for the model alone, so that one that can't be had is told from a store that can't. */
  async load(): Promise<void> {
    await this.#openTarget()
  }

  /** The space to search in, with whatever fills it started. Fails when there is no working embedder. */
  async open(scope: Scope): Promise<ActiveSpace> {
    const target = await this.#openTarget()
    await this.#compare(scope, target)
    this.#schedule(0)
    return (await this.#openFormer(target)) ?? target
  }

  /** Notes memories that a search found without a vector, whoever wrote them. */
  missed(documents: readonly SearchDocument[], space: VectorSpace): void {
    if (space.signature !== this.#target?.space.signature) return
    for (const { id, place } of documents) {
      if (!this.#refused.has(id)) this.#line.add({ owner: place.owner, user: place.user }, id)
    }
    this.#schedule(0)
  }

  /** Loads the model, and begins to give every memory of every owner that lacks one its vector. */
  async catchUp(): Promise<void> {
    const target = await this.#openTarget()
    const places = await this.#store.listPlaces()
    for (const owner of new Set(places.map(({ owner }) => owner))) {
      if (this.#closing.signal.aborted) return
      await this.#compare({ owner: owner as QueueKey['owner'] }, target, places) // as the store told it
    }
    this.#schedule(0)
  }

  /** How many memories of a scope wait for their vectors. */
  waiting(scope: Scope): number {
    return this.#line.waiting(scope)
  }

  /**
   * Waits until the memories of a scope that wait now have their vectors, as far as that is possible, or for `ms`. What
   * is written meanwhile is not waited for: where somebody keeps writing, there would be no end to it. Turns are never
   * waited for: they are found by their words until they are embedded.
   */
  async settle(scope: Scope, ms: number): Promise<void> {
    if (this.#line.memoriesWaiting(scope) > SETTLE_MEMORIES_MAX) return
    const awaited = this.#line.unservedMemories(scope)
    if (awaited.size === 0) return
    const until = performance.now() + ms
    this.#schedule(0)
    while (this.#work !== undefined && this.#line.holdsAny(awaited)) {
      const batch = resolvesWithin(until - performance.now(), this.#batches.run())
      // A failure is reported by whoever fills the index; this question goes on without it.
      if (!(await batch.catch(() => false))) break
    }
  }

  /** Gives every memory its vector, to the end. `force` throws the present ones away first. */
  reindex(options: ReindexOptions): Promise<IndexStatus> {
    const work = this.#reindex(options).finally(() => this.#reindexing.delete(work))
    this.#reindexing.add(work)
    return work
  }

  async #reindex(options: ReindexOptions): Promise<IndexStatus> {
    const { owner: only, force, signal: given, onProgress } = options
    const { signal: closing } = this.#closing
    const signal = given === undefined ? closing : AbortSignal.any([given, closing])
    const { space } = await raceAbort(this.#openTarget(), signal)
    if (force === true) await this.#vectors.drop(space)
    const places = await this.#store.listPlaces(only)
    const total = places.reduce((sum, { memories, turns }) => sum + memories + turns, 0)
    let done = 0
    for (const { owner, user } of places) {
      const home = { owner, user } as QueueKey // as the store told it
      await this.#takeOver(home)
      try {
        for await (const { seen, missing } of diffIndex(this.#ports, home, space)) {
          for (let start = 0; start < missing.length; start += BATCH_MEMORIES) {
            throwIfAborted(signal, 'Indexing was stopped.')
            const batch = missing.slice(start, start + BATCH_MEMORIES)
            await this.#embed(batch, signal)
            onProgress?.({ done: done + start + batch.length, total })
          }
          done += seen
          onProgress?.({ done, total })
        }
      } catch (error) {
        this.#line.overflow(home)
        this.#schedule(START_DELAY_MS)
        throw error
      }
    }
    await this.#settleSpaces()
    await this.#dropOthers()
    return this.status()
  }

  /** What waits is embedded on request instead, and what is being embedded is waited for: nothing is embedded twice. */
  async #takeOver(home: QueueKey): Promise<void> {
    this.#line.takeOut(home, this.#line.unserved(home))
    await this.#batches.running?.catch(() => {}) // told to whoever fills the index
  }

  async status(): Promise<IndexStatus> {
    const spaces = await this.#vectors.spaces()
    const { rows } = await this.#store.getReport()
    const [fullest] = [...spaces].sort((a, b) => b.vectors - a.vectors)
    const current = this.#target?.space.signature ?? fullest?.signature ?? null
    const vectors = spaces.find(({ signature }) => signature === current)?.vectors ?? 0
    const missing = Math.max(0, rows.memory + rows.turn - vectors)
    const [refusal] = missing > 0 ? this.#refused.values() : []
    return {
      space: this.#former?.space.signature ?? current,
      buildingSpace: this.#former === null ? null : current,
      memories: rows.memory,
      turns: rows.turn,
      vectors,
      withoutVector: missing,
      reason: this.#because ?? refusal ?? null,
      queued: this.#line.count,
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#delayedStart.cancel()
    await this.#work
    await Promise.allSettled([this.#batches.running, this.#opening, ...this.#reindexing])
    await this.#closeFormer((await this.#seeking) ?? null)
  }

  /**
   * Whoever comes first has it opened for all, so it ends with the engine rather than with that question. A failure is
   * not kept: the next call tries again.
   */
  #openTarget(): Promise<ActiveSpace> {
    this.#opening ??= this.#openSpace(this.#embedder).then(
      (target) => {
        this.#because = null
        this.#target = target
        return target
      },
      (error: unknown) => {
        this.#opening = undefined
        this.#because = toAppError(error).message
        throw error
      },
    )
    return this.#opening
  }

  async #openSpace(embedder: Embedder): Promise<ActiveSpace> {
    const { signal } = this.#closing
    const model = await raceAbort(embedder.describe(signal), signal)
    const signature = buildSpaceSignature(model, this.#ports.vectorEncoding ?? 'float32')
    const calibration = await raceAbort(getCalibration(embedder, model, signal), signal)
    return { space: { signature, dimensions: model.dimensions }, embedder, model, calibration }
  }

  /** The fuller space of an earlier model, while that of the present one is incomplete and the model can be had. */
  async #openFormer(target: ActiveSpace): Promise<ActiveSpace | null> {
    if (this.#isComplete) return null
    this.#seeking ??= this.#seekFormer(target).catch(() => null)
    const former = await this.#seeking
    // It may have become needless while it was opened.
    this.#former = this.#isComplete ? null : former
    return this.#former
  }

  async #seekFormer(target: ActiveSpace): Promise<ActiveSpace | null> {
    const spaces = await this.#vectors.spaces()
    const filled = spaces.find(({ signature }) => signature === target.space.signature)
    const [former] = spaces
      .filter(({ signature }) => signature !== target.space.signature)
      .sort((a, b) => b.vectors - a.vectors)
    if (former === undefined || former.vectors <= (filled?.vectors ?? 0)) return null
    // The same model in another form needs no second one.
    if (isOfModel(former.signature, target.model)) return { ...target, space: former }
    const embedder = this.#ports.getFormerEmbedder?.(former.signature) ?? null
    if (embedder === null) return null
    const opened = await this.#openSpace(embedder).catch(() => null)
    if (opened !== null && isOfModel(former.signature, opened.model)) {
      return { ...opened, space: former }
    }
    await embedder.close()
    return null
  }

  /** Once the space of the present model is complete, it answers, and that of an earlier one does no longer. */
  async #settleSpaces(): Promise<void> {
    if (this.#target === null || this.#isComplete) return
    const { signature } = this.#target.space
    const { rows } = await this.#store.getReport()
    const spaces = await this.#vectors.spaces()
    const filled = spaces.find((space) => space.signature === signature)?.vectors ?? 0
    if (filled + this.#refused.size < rows.memory + rows.turn) return
    this.#isComplete = true
    const former = await this.#seeking
    this.#former = null
    this.#seeking = undefined
    await this.#closeFormer(former ?? null)
  }

  /**
   * Removes the spaces of other models. Only on request: another process may use one, and its vectors may have cost
   * money.
   */
  async #dropOthers(): Promise<void> {
    if (this.#target === null || !this.#isComplete) return
    const { signature } = this.#target.space
    for (const space of await this.#vectors.spaces()) {
      if (space.signature !== signature) await this.#vectors.drop(space)
    }
  }

  async #closeFormer(former: ActiveSpace | null): Promise<void> {
    if (former !== null && former.embedder !== this.#embedder) await former.embedder.close()
  }

  /** Compares the memories of an owner or user with the index, once in a while, and queues those without a vector. */
  async #compare(scope: Scope, target: ActiveSpace, places?: StorePlaces): Promise<void> {
    const { owner, user } = scope
    const name = user === undefined ? owner : encodeQueueKey({ owner, user })
    const now = this.#ports.clock.now()
    const known = [this.#compared.get(owner), this.#compared.get(name)].find(
      (comparison) => comparison !== undefined && now - comparison.at < COMPARED_MS,
    )
    if (known !== undefined) return known.done
    const isAgain = this.#compared.has(name)
    const comparing = this.#comparePlaces(scope, target, places).catch((error: unknown) => {
      this.#compared.delete(name)
      throw error
    })
    this.#compared.set(name, { at: now, done: isAgain ? Promise.resolve() : comparing })
    if (!isAgain) return comparing
    // It takes long where there is much, and only others can have left something: this question goes on without.
    void comparing.then(() => this.#schedule(0)).catch(() => {})
  }

  async #comparePlaces(scope: Scope, target: ActiveSpace, places?: StorePlaces): Promise<void> {
    for (const { owner, user, memories, turns } of places ??
      (await this.#store.listPlaces(scope.owner))) {
      const home = { owner, user } as QueueKey // as the store told it
      if (!isSameQueue(scope, home)) continue
      const vectors = await this.#vectors.count(target.space, home)
      if (vectors < memories + turns) await this.#queueMissing(home, target.space)
    }
  }

  async #queueMissing(home: QueueKey, space: VectorSpace): Promise<void> {
    for await (const { missing } of diffIndex(this.#ports, home, space)) {
      for (const { id } of missing) if (!this.#refused.has(id)) this.#line.add(home, id)
      if (this.#line.isOverflowing(home) || this.#closing.signal.aborted) return
    }
  }

  /** Queues what there was no room for; false when that is nothing. */
  async #refill(): Promise<boolean> {
    for (const home of this.#line.overflowing()) {
      if (this.#closing.signal.aborted) return false
      const { space } = await this.#openTarget()
      this.#line.subside(home)
      try {
        await this.#queueMissing(home, space)
      } catch (error) {
        this.#line.overflow(home)
        throw error
      }
    }
    return this.#line.count > 0
  }

  #schedule(delayMs: number): void {
    if (this.#line.isEmpty || this.#work !== undefined || this.#closing.signal.aborted) return
    const delay = Math.max(delayMs, this.#failures === 0 ? 0 : this.#retryMs())
    if (delay === 0) {
      this.#start()
      return
    }
    this.#delayedStart.schedule(delay)
  }

  #retryMs(): number {
    const limits = { firstMs: RETRY_MS_MIN, maxMs: RETRY_MS_MAX }
    return exponentialBackoffMs(this.#failures - 1, limits)
  }

  #start(): void {
    this.#delayedStart.cancel()
    if (this.#work !== undefined || this.#closing.signal.aborted) return
    this.#work = this.#drain()
      .then(
        () => {
          this.#failures = 0
          this.#because = null
        },
        (error: unknown) => {
          this.#failures++
          this.#because = toAppError(error).message
        },
      )
      .finally(() => {
        this.#work = undefined
        this.#schedule(0)
      })
  }

  async #drain(): Promise<void> {
    do {
      while (this.#line.count > 0 && !this.#closing.signal.aborted) await this.#batches.run()
    } while (!this.#closing.signal.aborted && (await this.#refill()))
    if (!this.#closing.signal.aborted) await this.#settleSpaces()
  }

  /** One batch at a time, whoever asks for it. */
  readonly #batches = new SingleFlight(() => this.#embedQueued())

  #embedQueued(): Promise<void> {
    return this.#line.next(BATCH_MEMORIES, async ({ home, ids }) => {
      const where = { ids, types: DOCUMENT_TYPES }
      const { rows } = await this.#store.findDocuments(home, { where, limit: ids.length })
      await this.#embed(rows, this.#closing.signal)
    })
  }

  async #embed(documents: readonly SearchDocument[], signal: AbortSignal): Promise<void> {
    if (documents.length === 0) return
    const { space, embedder } = await this.#openTarget()
    const { entries, rejected: refused } = await embedDocuments(embedder, documents, signal)
    for (const { id } of documents) this.#refused.delete(id)
    for (const [id, because] of refused) this.#refused.set(id, because)
    await this.#vectors.put(space, entries)
  }
}

function isOfModel(signature: string, model: EmbeddingModel): boolean {
  return VECTOR_ENCODINGS.some((form) => buildSpaceSignature(model, form) === signature)
}
