/**
 * Fills the vector cache through batches. Texts left over are embedded as usual: a failed batch costs time, never
 * vectors.
 *
 * A batch enters the ledger as soon as it has a name and leaves it when its vectors are cached, so a process that ends
 * meanwhile hands it to the next one.
 */
import { NEVER_ABORTED, raceAbort, throwIfAborted } from '../../../lib/abort.ts'
import type { CircuitBreaker } from '../../../lib/circuit-breaker.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError, toAppError } from '../../../lib/errors.ts'
import { sha256 } from '../../../lib/hash.ts'
import { addMs, DAY_MS, HOUR_MS, type Instant } from '../../../lib/time.ts'
import type { EmbeddingModel } from '../../embedder.ts'
import { truncateToTokens } from '../billed-tokens.ts'
import type { CacheEntry, EmbeddingCache } from '../embedding-cache.ts'
import { computeCacheKey, type EmbeddingCacheScope } from '../embedding-cache-key.ts'
import { normalizeVectors } from '../embedding-validation.ts'
import type { BatchHandle, BatchLedger } from './batch-ledger.ts'
import type { BatchItem, BatchState, EmbeddingBatches } from './embedding-batches.ts'

/** Must equal the scope of the embedder's own cache. */
export type EmbedderIdentity = {
  readonly model: EmbeddingModel
  readonly account: string
  readonly isPurposeSpecific: boolean
}

export type BatchingLimits = {
  /** Below this number of texts, a batch is not worthwhile. */
  readonly textsMin: number
  readonly textsMax: number
  /** Maximum size of one batch, which is built in memory. */
  readonly charactersMax: number
  readonly concurrency: number
  readonly pollMs: number
  /** Wait per batch; an expired wait is repeated once. */
  readonly timeoutMs: number
}

export const BATCHING_LIMITS: BatchingLimits = {
  textsMin: 500,
  textsMax: 50_000,
  charactersMax: 32_000_000,
  concurrency: 2,
  pollMs: 2_000,
  timeoutMs: HOUR_MS,
}

export type PrefillProgress = { readonly done: number; readonly total: number }

export type CachePrefillOptions = {
  /** Documents exactly as they will be embedded. */
  readonly texts: readonly string[]
  readonly identity: EmbedderIdentity
  readonly cache: EmbeddingCache
  readonly batches: EmbeddingBatches
  readonly ledger: BatchLedger
  /** Shared by the whole process. */
  readonly breaker: CircuitBreaker
  readonly clock: Clock
  readonly limits?: Partial<BatchingLimits>
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: PrefillProgress) => void
}

export type PrefillReport = {
  /** Distinct texts, and how many of them were cached before. */
  readonly texts: number
  readonly cached: number
  /** Vectors from new and resumed batches, and texts left for regular calls. */
  readonly filled: number
  readonly remaining: number
  /** Reason for the texts left over; null when there are none. */
  readonly stopReason: string | null
}

const TEXT_TOKENS_MAX = 8_000
const CACHE_KEYS_AT_ONCE = 500

/** No service retains results for longer. */
const FORGOTTEN_MS = 30 * DAY_MS

/** Consecutive failed polls before the batch is left to another process. */
const POLL_FAULTS_MAX = 10

/** Throws only when aborted; the batches continue and the next call collects them. */
export async function prefillCache(parts: CachePrefillOptions): Promise<PrefillReport> {
  return new PrefillRun(parts).run()
}

/** Cancels running batches and discards their partial results. */
export async function cancelBatches({
  batches,
  ledger,
  signal,
}: Pick<CachePrefillOptions, 'batches' | 'ledger' | 'signal'>): Promise<number> {
  const mine = (await ledger.list()).filter(({ source }) => source === batches.source)
  for (const handle of mine) {
    await batches.cancel(handle.batchId, signal).catch(() => {}) // it may have ended already
    await ledger.remove(handle)
  }
  return mine.length
}

class PrefillRun {
  readonly #parts: CachePrefillOptions
  readonly #limits: BatchingLimits
  readonly #origin: string
  readonly #textOf: ReadonlyMap<string, string>
  readonly #missing = new Set<string>()
  readonly #running = new Map<string, number>()
  #filled = 0
  #because: string | null = null

  constructor(parts: CachePrefillOptions) {
    const { model, account, isPurposeSpecific: purposeMatters } = parts.identity
    const origin: EmbeddingCacheScope = {
      model,
      account,
      purpose: purposeMatters ? 'document' : null,
    }
    this.#parts = parts
    this.#limits = { ...BATCHING_LIMITS, ...parts.limits }
    this.#origin = sha256(JSON.stringify(origin))
    this.#textOf = new Map(parts.texts.map((text) => [computeCacheKey(origin, text), text]))
  }

  async run(): Promise<PrefillReport> {
    try {
      await this.#lookUp()
    } catch (error) {
      throwIfAborted(this.#parts.signal)
      // Without a readable cache, nothing could be stored either.
      const { size: texts } = this.#textOf
      return {
        texts,
        cached: 0,
        filled: 0,
        remaining: texts,
        stopReason: toAppError(error).message,
      }
    }
    const total = this.#missing.size
    const begun = await this.#begun()
    const underWay = new Set(begun.flatMap(({ keys }) => keys))
    const items = [...this.#missing].flatMap((key) => (underWay.has(key) ? [] : this.#item(key)))
    const isWorth = items.length >= this.#limits.textsMin
    if (!isWorth && items.length > 0) this.#because = 'Too few texts for a batch.'
    const jobs = [
      ...begun.map((handle) => () => this.#follow(handle)),
      ...(isWorth
        ? splitIntoBatches(items, this.#limits).map((piece) => () => this.#submit(piece))
        : []),
    ]
    await this.#work(jobs)
    const left = this.#missing.size
    return {
      texts: this.#textOf.size,
      cached: this.#textOf.size - total,
      filled: total - left,
      remaining: left,
      stopReason: left === 0 ? null : (this.#parts.breaker.openReason ?? this.#because),
    }
  }

  async #lookUp(): Promise<void> {
    for (const key of this.#textOf.keys()) this.#missing.add(key)
    const keys = [...this.#textOf.keys()]
    for (let from = 0; from < keys.length; from += CACHE_KEYS_AT_ONCE) {
      throwIfAborted(this.#parts.signal)
      const found = await this.#parts.cache.get(keys.slice(from, from + CACHE_KEYS_AT_ONCE))
      for (const key of found.keys()) this.#missing.delete(key)
    }
  }

  async #begun(): Promise<readonly BatchHandle[]> {
    const { ledger, batches, clock } = this.#parts
    const all = await ledger.list()
    // Batches of other models and accounts stay until they expire.
    for (const handle of all) {
      if (clock.now() - handle.expiresAt > FORGOTTEN_MS) await ledger.remove(handle)
    }
    return all.filter(({ source, origin }) => source === batches.source && origin === this.#origin)
  }

  #item(key: string): BatchItem {
    return { id: key, text: truncateToTokens(this.#textOf.get(key) ?? '', TEXT_TOKENS_MAX) }
  }

  /** Some at a time; none is begun once batches are given up. */
  async #work(jobs: readonly (() => Promise<void>)[]): Promise<void> {
    const { breaker, signal } = this.#parts
    const waiting = [...jobs]
    const worker = async () => {
      for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
        if (breaker.openReason !== null) return
        try {
          await job()
          breaker.recordSuccess()
        } catch (error) {
          throwIfAborted(signal)
          this.#noteFailure(toAppError(error))
        }
      }
    }
    const workers = Array.from({ length: this.#limits.concurrency }, worker)
    const ended = await Promise.allSettled(workers)
    for (const each of ended) if (each.status === 'rejected') throw each.reason
  }

  #noteFailure({ message }: AppError): void {
    this.#because = message
    this.#parts.breaker.recordFailure(message)
  }

  async #submit(items: readonly BatchItem[]): Promise<void> {
    const { batches, ledger, breaker, clock, signal } = this.#parts
    let batch: string
    try {
      batch = await batches.submit(items, signal)
    } catch (error) {
      // A service without a batch API will not gain one while this process runs.
      if (error instanceof AppError && error.facts.status === 404) breaker.trip(error.message)
      throw error
    }
    const handle: BatchHandle = {
      ...{ source: batches.source, batchId: batch, origin: this.#origin },
      keys: items.map(({ id }) => id),
      expiresAt: this.#later(clock.now()),
      timeouts: 0,
    }
    try {
      await ledger.put(handle)
    } catch (error) {
      await batches.cancel(batch, signal).catch(() => {}) // nothing would ever collect it
      throw error
    }
    await this.#follow(handle)
  }

  #later(from: Instant): Instant {
    return addMs(from, this.#limits.timeoutMs)
  }

  async #follow(submitted: BatchHandle): Promise<void> {
    const { clock, signal } = this.#parts
    let handle = submitted
    let faults = 0
    try {
      for (;;) {
        const state = await this.#poll(handle, faults)
        faults = state === null ? faults + 1 : 0
        if (state?.kind === 'ended') return await this.#settle(handle, state)
        if (state !== null) this.#tell(handle, state.done)
        if (clock.now() >= handle.expiresAt) handle = await this.#timedOut(handle)
        await raceAbort(clock.sleep(this.#limits.pollMs, signal ?? NEVER_ABORTED), signal)
      }
    } finally {
      this.#running.delete(handle.batchId)
    }
  }

  /** Null when it could not be asked for now. */
  async #poll(handle: BatchHandle, faults: number): Promise<BatchState | null> {
    const { batches, ledger, signal } = this.#parts
    try {
      return await batches.poll(handle.batchId, signal)
    } catch (thrown) {
      const { code, facts } = toAppError(thrown)
      if (facts.status === 404) await ledger.remove(handle) // the batch no longer exists
      const isPassing = code === 'unavailable' && facts.retryable !== false
      if (!isPassing || faults >= POLL_FAULTS_MAX) throw thrown
      return null
    }
  }

  /** It was paid for, so it is waited for once more before it is given up. */
  async #timedOut(handle: BatchHandle): Promise<BatchHandle> {
    const { batches, ledger, clock, signal } = this.#parts
    if (handle.timeouts === 0) {
      const again = { ...handle, timeouts: 1, expiresAt: this.#later(clock.now()) }
      await ledger.put(again)
      return again
    }
    await batches.cancel(handle.batchId, signal).catch(() => {}) // it may have ended already
    await ledger.remove(handle)
    throw new AppError('unavailable', `A batch at ${handle.source} missed its deadline.`)
  }

  async #settle(handle: BatchHandle, state: BatchState & { kind: 'ended' }): Promise<void> {
    const { batches, ledger, signal } = this.#parts
    const absent = new Set(handle.keys)
    let entries: CacheEntry[] = []
    const keep = async () => {
      await this.#keep(entries)
      entries = []
    }
    await state.results(async ({ id, vector }) => {
      const unit = absent.has(id) ? this.#unit(vector) : null
      if (unit === null) return
      absent.delete(id)
      entries.push({ key: id, vector: unit })
      if (entries.length === CACHE_KEYS_AT_ONCE) await keep()
    }, signal)
    await keep()
    await ledger.remove(handle)
    await batches.discard(state.files, signal).catch(() => {}) // the service removes them eventually
    if (state.failure !== null) throw new AppError('unavailable', state.failure)
    if (absent.size === 0) return
    const count = `${absent.size} of ${handle.keys.length} texts`
    throw new AppError('unavailable', `${handle.source} gave no vectors for ${count} of a batch.`)
  }

  /** Null for what is no vector of the model. */
  #unit(vector: unknown): Float32Array | null {
    const { source, dimensions } = this.#parts.identity.model
    try {
      return normalizeVectors([vector], 1, dimensions, source)[0] ?? null
    } catch {
      return null
    }
  }

  async #keep(entries: readonly CacheEntry[]): Promise<void> {
    if (entries.length === 0) return
    await this.#parts.cache.put(entries)
    for (const { key } of entries) if (this.#missing.delete(key)) this.#filled++
    this.#tellAll()
  }

  #tell({ batchId: batch }: BatchHandle, done: number): void {
    this.#running.set(batch, done)
    this.#tellAll()
  }

  #tellAll(): void {
    const total = this.#filled + this.#missing.size
    const underWay = [...this.#running.values()].reduce((sum, done) => sum + done, 0)
    this.#parts.onProgress?.({ done: Math.min(total, this.#filled + underWay), total })
  }
}

function splitIntoBatches(
  items: readonly BatchItem[],
  { textsMax, charactersMax }: BatchingLimits,
): readonly (readonly BatchItem[])[] {
  const pieces: BatchItem[][] = []
  let current: BatchItem[] = []
  let characters = 0
  for (const item of items) {
    const isFull = current.length === textsMax || characters + item.text.length > charactersMax
    if (isFull && current.length > 0) {
      pieces.push(current)
      current = []
      characters = 0
    }
    current.push(item)
    characters += item.text.length
  }
  if (current.length > 0) pieces.push(current)
  return pieces
}
