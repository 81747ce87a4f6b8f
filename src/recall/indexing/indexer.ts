/**
 * Keeps the vector index in sync with the store. The indexer is its only writer.
 *
 * Whatever the cause (a new memory, an edit, an import, a failed embedder, a restored backup, another model), the task is
 * the same: some documents lack a vector in the space of the current model and get one. New documents are embedded in the
 * background after their commit. Older ones are found by comparing the store with the index, when recall first needs the
 * vectors of an owner and on request. Nothing waits for the indexer: keyword search finds documents without a vector.
 */
import {
  buildSpaceSignature,
  hashEmbeddingText,
  renderEmbeddingText,
  VECTOR_ENCODINGS,
} from '../../domain/embedding-text.ts'
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { type Scope, toUserScope, type UserScope } from '../../domain/scope.ts'
import { DOCUMENT_TYPES, type SearchDocument } from '../../domain/search-document.ts'
import { raceAbort, throwIfAborted } from '../../lib/abort.ts'
import { DelayedTask } from '../../lib/delayed-task.ts'
import { toAppError } from '../../lib/errors.ts'
import { yieldToEventLoop } from '../../lib/event-loop.ts'
import { MINUTE_MS, SECOND_MS } from '../../lib/time.ts'
import type { Embedder, EmbeddingModel } from '../../models/embedder.ts'
import type { Store } from '../../storage/store.ts'
import type { VectorEntry, VectorIndex, VectorSpace } from '../../storage/vector-index.ts'
import type { SimilarityCalibration } from '../ranking/similarity-threshold.ts'
import type { RecallDependencies } from '../types.ts'
import { getCalibration } from './calibration.ts'
import { EmbeddingQueue, encodePlace, isInScope } from './embedding-queue.ts'

export type IndexProgress = { readonly done: number; readonly total: number }

export type IndexStatus = {
  /** The signature of the space that serves searches. */
  readonly space: string | null
  /** The signature of a new space while it is being filled. */
  readonly buildingSpace: string | null
  readonly memories: number
  readonly turns: number
  readonly vectors: number
  /** The number of memories and turns without a vector. */
  readonly withoutVector: number
  /** Why vectors are missing, if there is a problem. */
  readonly reason: string | null
  /** The number of documents waiting to be embedded. */
  readonly queued: number
}

export type ReindexOptions = {
  /** Default: all owners. */
  readonly owner?: OwnerId
  readonly force?: boolean
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: IndexProgress) => void
}

/** A vector space with its model. */
type ActiveSpace = {
  readonly space: VectorSpace
  readonly embedder: Embedder
  readonly model: EmbeddingModel
  readonly calibration: SimilarityCalibration
}

/** Small, so that a question never waits behind many documents. */
const BATCH_DOCUMENTS = 8

/** Recall waits for new memories, but not for a longer backlog. */
const SETTLE_MEMORIES_MAX = 64

/** A command that writes one memory and exits should not load a model for it. */
const START_DELAY_MS = 250

/** Other processes write, too: after this time an owner is compared with the index again. */
const COMPARISON_TTL_MS = MINUTE_MS
const RETRY_MS_MIN = SECOND_MS
const RETRY_MS_MAX = MINUTE_MS

type StorePlaces = Awaited<ReturnType<Store['listPlaces']>>

type IndexerDependencies = RecallDependencies & {
  readonly embedder: Embedder
  readonly vectors: VectorIndex
}

export class Indexer {
  readonly #deps: IndexerDependencies
  readonly #store: Store
  readonly #embedder: Embedder
  readonly #vectors: VectorIndex
  readonly #queue = new EmbeddingQueue()
  /** Recent comparisons with the index, by owner, or by owner and user. */
  readonly #comparisons = new Map<string, { readonly at: number; readonly done: Promise<void> }>()
  /** The errors of documents whose text the model rejects. */
  readonly #rejected = new Map<MemoryId, string>()
  readonly #reindexing = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  readonly #delayedStart = new DelayedTask(() => this.#start())
  /** The space of the current model. */
  #opening: Promise<ActiveSpace> | undefined
  #target: ActiveSpace | null = null
  /** The space of an earlier model, which serves searches while the target is incomplete. */
  #openingFormer: Promise<ActiveSpace | null> | undefined
  #former: ActiveSpace | null = null
  /** Whether the target had a vector for every document. */
  #isComplete = false
  #work: Promise<void> | undefined
  #batch: Promise<void> | undefined
  #failures = 0
  #failureReason: string | null = null

  constructor(deps: IndexerDependencies) {
    this.#deps = deps
    this.#store = deps.store
    this.#embedder = deps.embedder
    this.#vectors = deps.vectors
  }

  /** Queues documents that were just written. */
  enqueue(documents: readonly SearchDocument[]): void {
    for (const { id, place } of documents) {
      this.#rejected.delete(id)
      this.#queue.add(toUserScope(place), id)
    }
    if (documents.length > 0) this.#schedule(START_DELAY_MS)
  }

  /** Queues documents that a search of the space found without a vector, whoever wrote them. */
  enqueueMissing(documents: readonly SearchDocument[], space: VectorSpace): void {
    if (space.signature !== this.#target?.space.signature) return
    for (const { id, place } of documents) {
      if (!this.#rejected.has(id)) this.#queue.add(toUserScope(place), id)
    }
    this.#schedule(0)
  }

  /** Waits for the model, so that callers can tell a model that fails from a store that fails. */
  async load(): Promise<void> {
    await this.#openTarget()
  }

  /** The space to search, and starts filling it. Fails without a working embedder. */
  async open(scope: Scope): Promise<ActiveSpace> {
    const target = await this.#openTarget()
    await this.#compare(scope, target)
    this.#schedule(0)
    return (await this.#openFormer(target)) ?? target
  }

  /** Loads the model and queues all documents of all owners that lack a vector. */
  async backfill(): Promise<void> {
    const target = await this.#openTarget()
    const places = await this.#store.listPlaces()
    for (const owner of new Set(places.map((place) => place.owner))) {
      if (this.#closing.signal.aborted) return
      await this.#compare({ owner: owner as OwnerId }, target, places) // as the store returned it
    }
    this.#schedule(0)
  }

  /** The number of documents of a scope that wait for a vector. */
  countQueued(scope: Scope): number {
    return this.#queue.countIn(scope)
  }

  /**
   * Waits until the memories that are queued now have their vectors, at most `timeoutMs`. Later writes are not waited for,
   * or a busy writer would make the wait endless. Turns are never waited for: keyword search finds them until then.
   */
  async settle(scope: Scope, timeoutMs: number): Promise<void> {
    if (this.#queue.countMemoriesIn(scope) > SETTLE_MEMORIES_MAX) return
    const pending = this.#queue.listPendingMemories(scope)
    if (pending.size === 0) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const timeout = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, false)
    })
    this.#schedule(0)
    while (this.#work !== undefined && this.#queue.hasPending(pending)) {
      const batch = this.#embedNextBatch().then(
        () => true,
        () => false, // reported by the background work; this recall goes on without the vectors
      )
      if (!(await Promise.race([batch, timeout]))) break
    }
    clearTimeout(timer)
  }

  /** Embeds all documents that lack a vector. `force` drops the present vectors first. */
  reindex(options: ReindexOptions): Promise<IndexStatus> {
    const work = this.#reindex(options).finally(() => this.#reindexing.delete(work))
    this.#reindexing.add(work)
    return work
  }

  async #reindex({
    owner: onlyOwner,
    force = false,
    signal: callerSignal,
    onProgress,
  }: ReindexOptions): Promise<IndexStatus> {
    const closing = this.#closing.signal
    const signal = callerSignal === undefined ? closing : AbortSignal.any([callerSignal, closing])
    const { space } = await raceAbort(this.#openTarget(), signal)
    if (force) await this.#vectors.drop(space)
    const places = await this.#store.listPlaces(onlyOwner)
    const total = places.reduce((sum, { memories, turns }) => sum + memories + turns, 0)
    let done = 0
    for (const { owner, user } of places) {
      const place = { owner, user } as UserScope // as the store returned it
      await this.#takeOver(place)
      try {
        for await (const { seen, missing } of diffIndex(this.#deps, place, space)) {
          for (let start = 0; start < missing.length; start += BATCH_DOCUMENTS) {
            throwIfAborted(signal, 'Reindexing was aborted.')
            const batch = missing.slice(start, start + BATCH_DOCUMENTS)
            await this.#embed(batch, signal)
            onProgress?.({ done: done + start + batch.length, total })
          }
          done += seen
          onProgress?.({ done, total })
        }
      } catch (error) {
        this.#queue.markOverflowing(place)
        this.#schedule(START_DELAY_MS)
        throw error
      }
    }
    await this.#settleSpaces()
    await this.#dropOtherSpaces()
    return this.status()
  }

  /** Empties the queue of a place and waits for the running batch, so that nothing is embedded twice. */
  async #takeOver(place: UserScope): Promise<void> {
    this.#queue.remove(place, this.#queue.listPending(place))
    await this.#batch?.catch(() => {}) // reported by the background work
  }

  async status(): Promise<IndexStatus> {
    const spaces = await this.#vectors.spaces()
    const { rows } = await this.#store.getReport()
    const [fullest] = [...spaces].sort((a, b) => b.vectors - a.vectors)
    const current = this.#target?.space.signature ?? fullest?.signature ?? null
    const vectors = spaces.find(({ signature }) => signature === current)?.vectors ?? 0
    const withoutVector = Math.max(0, rows.memory + rows.turn - vectors)
    const [rejection] = withoutVector > 0 ? this.#rejected.values() : []
    return {
      space: this.#former?.space.signature ?? current,
      buildingSpace: this.#former === null ? null : current,
      memories: rows.memory,
      turns: rows.turn,
      vectors,
      withoutVector,
      reason: this.#failureReason ?? rejection ?? null,
      queued: this.#queue.count,
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#delayedStart.cancel()
    await this.#work
    await Promise.allSettled([this.#batch, this.#opening, ...this.#reindexing])
    await this.#closeFormer((await this.#openingFormer) ?? null)
  }

  /** Opens the target once for all callers, independent of their signals. A failure is not cached. */
  #openTarget(): Promise<ActiveSpace> {
    this.#opening ??= this.#openSpace(this.#embedder).then(
      (target) => {
        this.#failureReason = null
        this.#target = target
        return target
      },
      (error: unknown) => {
        this.#opening = undefined
        this.#failureReason = toAppError(error).message
        throw error
      },
    )
    return this.#opening
  }

  async #openSpace(embedder: Embedder): Promise<ActiveSpace> {
    const { signal } = this.#closing
    const model = await raceAbort(embedder.describe(signal), signal)
    const signature = buildSpaceSignature(model, this.#deps.vectorEncoding ?? 'float32')
    const calibration = await raceAbort(getCalibration(embedder, model, signal), signal)
    return { space: { signature, dimensions: model.dimensions }, embedder, model, calibration }
  }

  /** The fuller space of an earlier model, while the target is incomplete and the model is available. */
  async #openFormer(target: ActiveSpace): Promise<ActiveSpace | null> {
    if (this.#isComplete) return null
    this.#openingFormer ??= this.#findFormer(target).catch(() => null)
    const former = await this.#openingFormer
    // The target may have been completed meanwhile.
    this.#former = this.#isComplete ? null : former
    return this.#former
  }

  async #findFormer(target: ActiveSpace): Promise<ActiveSpace | null> {
    const { signature } = target.space
    const spaces = await this.#vectors.spaces()
    const filled = spaces.find((space) => space.signature === signature)
    const [former] = spaces
      .filter((space) => space.signature !== signature)
      .sort((a, b) => b.vectors - a.vectors)
    if (former === undefined || former.vectors <= (filled?.vectors ?? 0)) return null
    // The same model with another encoding needs no second embedder.
    if (isSpaceOfModel(former.signature, target.model)) return { ...target, space: former }
    const embedder = this.#deps.getFormerEmbedder?.(former.signature) ?? null
    if (embedder === null) return null
    const opened = await this.#openSpace(embedder).catch(() => null)
    if (opened !== null && isSpaceOfModel(former.signature, opened.model)) {
      return { ...opened, space: former }
    }
    await embedder.close()
    return null
  }

  /** Once the target is complete, it serves searches and the former space is closed. */
  async #settleSpaces(): Promise<void> {
    if (this.#target === null || this.#isComplete) return
    const { signature } = this.#target.space
    const { rows } = await this.#store.getReport()
    const spaces = await this.#vectors.spaces()
    const vectors = spaces.find((space) => space.signature === signature)?.vectors ?? 0
    if (vectors + this.#rejected.size < rows.memory + rows.turn) return
    this.#isComplete = true
    const former = await this.#openingFormer
    this.#former = null
    this.#openingFormer = undefined
    await this.#closeFormer(former ?? null)
  }

  /** Drops the spaces of other models. Only on request: another process may use one, and vectors may have cost money. */
  async #dropOtherSpaces(): Promise<void> {
    if (this.#target === null || !this.#isComplete) return
    const { signature } = this.#target.space
    for (const space of await this.#vectors.spaces()) {
      if (space.signature !== signature) await this.#vectors.drop(space)
    }
  }

  async #closeFormer(former: ActiveSpace | null): Promise<void> {
    if (former !== null && former.embedder !== this.#embedder) await former.embedder.close()
  }

  /** Compares the documents of an owner or user with the index from time to time, and queues those without a vector. */
  async #compare(scope: Scope, target: ActiveSpace, places?: StorePlaces): Promise<void> {
    const { owner, user } = scope
    const key = user === undefined ? owner : encodePlace({ owner, user })
    const now = this.#deps.clock.now()
    const recent = [this.#comparisons.get(owner), this.#comparisons.get(key)].find(
      (comparison) => comparison !== undefined && now - comparison.at < COMPARISON_TTL_MS,
    )
    if (recent !== undefined) return recent.done
    const isFirst = !this.#comparisons.has(key)
    const comparison = this.#comparePlaces(scope, target, places).catch((error: unknown) => {
      this.#comparisons.delete(key)
      throw error
    })
    this.#comparisons.set(key, { at: now, done: isFirst ? comparison : Promise.resolve() })
    if (isFirst) return comparison
    // Later comparisons find only what other processes left, so this recall does not wait.
    void comparison.then(() => this.#schedule(0)).catch(() => {})
  }

  async #comparePlaces(scope: Scope, target: ActiveSpace, places?: StorePlaces): Promise<void> {
    for (const { owner, user, memories, turns } of places ??
      (await this.#store.listPlaces(scope.owner))) {
      const place = { owner, user } as UserScope // as the store returned it
      if (!isInScope(place, scope)) continue
      const vectors = await this.#vectors.count(target.space, place)
      if (vectors < memories + turns) await this.#queueMissing(place, target.space)
    }
  }

  async #queueMissing(place: UserScope, space: VectorSpace): Promise<void> {
    for await (const { missing } of diffIndex(this.#deps, place, space)) {
      for (const { id } of missing) if (!this.#rejected.has(id)) this.#queue.add(place, id)
      if (this.#queue.isOverflowing(place) || this.#closing.signal.aborted) return
    }
  }

  /** Queues documents that did not fit before; false when there are none. */
  async #refill(): Promise<boolean> {
    for (const place of this.#queue.listOverflowing()) {
      if (this.#closing.signal.aborted) return false
      const { space } = await this.#openTarget()
      this.#queue.unmarkOverflowing(place)
      try {
        await this.#queueMissing(place, space)
      } catch (error) {
        this.#queue.markOverflowing(place)
        throw error
      }
    }
    return this.#queue.count > 0
  }

  #schedule(delayMs: number): void {
    if (this.#queue.isEmpty || this.#work !== undefined || this.#closing.signal.aborted) return
    const delay = Math.max(delayMs, this.#failures === 0 ? 0 : this.#getRetryDelay())
    if (delay === 0) this.#start()
    else this.#delayedStart.schedule(delay)
  }

  #getRetryDelay(): number {
    return Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** (this.#failures - 1))
  }

  #start(): void {
    this.#delayedStart.cancel()
    if (this.#work !== undefined || this.#closing.signal.aborted) return
    this.#work = this.#drain()
      .then(
        () => {
          this.#failures = 0
          this.#failureReason = null
        },
        (error: unknown) => {
          this.#failures++
          this.#failureReason = toAppError(error).message
        },
      )
      .finally(() => {
        this.#work = undefined
        this.#schedule(0)
      })
  }

  async #drain(): Promise<void> {
    const { signal } = this.#closing
    do {
      while (this.#queue.count > 0 && !signal.aborted) await this.#embedNextBatch()
    } while (!signal.aborted && (await this.#refill()))
    if (!signal.aborted) await this.#settleSpaces()
  }

  /** One batch at a time; concurrent callers share it. */
  #embedNextBatch(): Promise<void> {
    this.#batch ??= this.#embedQueued().finally(() => {
      this.#batch = undefined
    })
    return this.#batch
  }

  #embedQueued(): Promise<void> {
    return this.#queue.processNext(BATCH_DOCUMENTS, async ({ place, ids }) => {
      const where = { ids, types: DOCUMENT_TYPES }
      const { rows } = await this.#store.findDocuments(place, { where, limit: ids.length })
      await this.#embed(rows, this.#closing.signal)
    })
  }

  async #embed(documents: readonly SearchDocument[], signal: AbortSignal): Promise<void> {
    if (documents.length === 0) return
    const { space, embedder } = await this.#openTarget()
    const { entries, rejected } = await embedDocuments(embedder, documents, signal)
    for (const { id } of documents) this.#rejected.delete(id)
    for (const [id, reason] of rejected) this.#rejected.set(id, reason)
    await this.#vectors.put(space, entries)
  }
}

function isSpaceOfModel(signature: string, model: EmbeddingModel): boolean {
  return VECTOR_ENCODINGS.some((encoding) => buildSpaceSignature(model, encoding) === signature)
}

type EmbeddedDocuments = {
  readonly entries: readonly VectorEntry[]
  /** The errors of documents whose text the model rejects. */
  readonly rejected: ReadonlyMap<MemoryId, string>
}

/** Embeds documents. A rejected text does not fail the others: a rejected batch is repeated one by one. */
async function embedDocuments(
  embedder: Embedder,
  documents: readonly SearchDocument[],
  signal: AbortSignal,
): Promise<EmbeddedDocuments> {
  // With an in-process model and store nothing else would yield between batches.
  await yieldToEventLoop()
  try {
    const texts = documents.map(renderEmbeddingText)
    const embedding = embedder.embed(texts, { purpose: 'document', signal })
    const vectors = await raceAbort(embedding, signal)
    const entries = documents.flatMap((document, position) => {
      const vector = vectors[position]
      const { id, place } = document
      return vector === undefined
        ? []
        : [{ id, place, vector, textHash: hashEmbeddingText(document) }]
    })
    return { entries, rejected: new Map() }
  } catch (error) {
    const { code, message } = toAppError(error)
    if (code !== 'invalid_input') throw error
    const [only] = documents
    if (documents.length === 1 && only !== undefined) {
      return { entries: [], rejected: new Map([[only.id, message]]) }
    }
  }
  const results: EmbeddedDocuments[] = []
  for (const document of documents) {
    results.push(await embedDocuments(embedder, [document], signal))
  }
  return {
    entries: results.flatMap(({ entries }) => entries),
    rejected: new Map(results.flatMap(({ rejected }) => [...rejected])),
  }
}

const DIFF_PAGE_ROWS = 500

/** Compares store and index page by page: the number of documents seen, and those without a current vector. */
async function* diffIndex(
  { store, vectors }: { readonly store: Store; readonly vectors: VectorIndex },
  scope: Scope,
  space: VectorSpace,
): AsyncGenerator<{ readonly seen: number; readonly missing: readonly SearchDocument[] }> {
  let after: string | undefined
  do {
    const page = await store.findDocuments(scope, {
      where: { types: DOCUMENT_TYPES },
      limit: DIFF_PAGE_ROWS,
      order: 'oldest',
      ...(after === undefined ? {} : { after }),
    })
    const entries = await vectors.list(space, scope, {
      limit: DIFF_PAGE_ROWS,
      ...(after === undefined ? {} : { after: after as MemoryId }), // an id of the previous page
    })
    const hashes = new Map(entries.map(({ id, textHash }) => [id, textHash]))
    const missing = page.rows.filter((row) => hashes.get(row.id) !== hashEmbeddingText(row))
    yield { seen: page.rows.length, missing }
    after = page.next ?? undefined
  } while (after !== undefined)
}
