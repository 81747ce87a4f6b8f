/**
 * Keeps vectors in step with the memories: the only writer of the vector index.
 *
 * Whatever happened (a new memory, an edit, an import, a failed embedder, a restored backup, another model), the case
 * is the same: some memories lack a vector in the space of the present model, and get one. New ones are embedded in
 * the background right after their commit; anything older is found by comparing the store with the index, which
 * happens when recall needs the vectors of an owner for the first time, and on request. Nothing waits for it: a memory
 * without a vector is still found by its words.
 */
import { embeddingText, embeddingTextHash, spaceSignature } from '../core/embedding.ts'
import { toAppError } from '../core/errors.ts'
import type { MemoryId, Scope } from '../core/ids.ts'
import type { Memory } from '../core/memory.ts'
import type { Calibration } from '../core/ranking/floor.ts'
import type { Embedder, EmbeddingModel } from '../ports/embedder.ts'
import type { Store } from '../ports/store.ts'
import type { VectorIndex, VectorSpace } from '../ports/vector-index.ts'
import { calibrationOf } from './calibration.ts'
import type { EnginePorts } from './ports.ts'

export type IndexProgress = { readonly done: number; readonly total: number }

export type IndexStatus = {
  /** The space in use and, while another one is being filled, that one. */
  readonly space: string | null
  readonly filling: string | null
  readonly memories: number
  readonly vectors: number
  /** How many memories lack a vector, and why, when something is wrong. */
  readonly missing: number
  readonly because: string | null
}

/** Where a question is compared: the vectors of one model, and what is known about that. */
export type ActiveSpace = {
  readonly space: VectorSpace
  readonly embedder: Embedder
  readonly model: EmbeddingModel
  readonly calibration: Calibration
}

/** Small, so that a question never waits behind many documents. */
const BATCH_MEMORIES = 8
/** More changes than this are not remembered one by one; the owners are compared instead. */
const QUEUE_MAX = 10_000
/** A command that writes one memory and ends should not load a model for it. */
const START_DELAY_MS = 250
const RETRY_MS_MIN = 1_000
const RETRY_MS_MAX = 60_000
const PAGE = 500

type Place = { readonly owner: Memory['place']['owner']; readonly user: Memory['place']['user'] }

export class Indexer {
  readonly #store: Store
  readonly #embedder: Embedder
  readonly #vectors: VectorIndex
  readonly #ports: EnginePorts
  /** Memories to embed, by place. */
  readonly #queue = new Map<string, { place: Place; ids: Set<MemoryId> }>()
  #queued = 0
  /** Places that were compared with the index since this engine started. */
  readonly #compared = new Set<string>()
  readonly #underWay = new Set<{ readonly place: Place }>()
  readonly #closing = new AbortController()
  #target: Promise<ActiveSpace> | undefined
  #former: Promise<ActiveSpace | null> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #work: Promise<void> | undefined
  #failures = 0
  #because: string | null = null

  constructor(ports: EnginePorts & { embedder: Embedder; vectors: VectorIndex }) {
    this.#ports = ports
    this.#store = ports.store
    this.#embedder = ports.embedder
    this.#vectors = ports.vectors
  }

  /** Notes that these memories were written, and sees to their vectors soon. */
  changed(memories: readonly Memory[]): void {
    for (const { id, place } of memories)
      this.#enqueue({ owner: place.owner, user: place.user }, id)
    if (memories.length > 0) this.#schedule(START_DELAY_MS)
  }

  /** The space to search in, with whatever fills it started. Fails when there is no working embedder. */
  async open(scope: Scope, signal?: AbortSignal): Promise<ActiveSpace> {
    const target = await this.#openTarget(signal)
    await this.#compare(scope, target)
    this.#schedule(0)
    return (await this.#openFormer(target)) ?? target
  }

  /** Waits until the memories of a scope have their vectors, as far as that is possible now, or for `ms`. */
  async settle(scope: Scope, ms: number): Promise<void> {
    const isBusy = () =>
      [...this.#queue.values(), ...this.#underWay].some(
        ({ place }) =>
          place.owner === scope.owner && (scope.user === undefined || scope.user === place.user),
      )
    if (!isBusy()) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    this.#schedule(0)
    while (isBusy() && this.#work !== undefined) {
      const before = this.#failures
      const isLate = await Promise.race([
        this.#nextBatch().then(() => false),
        late.then(() => true),
      ])
      if (isLate || this.#failures > before) break
    }
    clearTimeout(timer)
  }

  /** Gives every memory its vector, to the end. `force` throws the present ones away first. */
  async reindex(options: {
    readonly force?: boolean
    readonly signal?: AbortSignal
    readonly onProgress?: (progress: IndexProgress) => void
  }): Promise<IndexStatus> {
    const { signal, onProgress } = options
    const { space } = await this.#openTarget(signal)
    if (options.force === true) await this.#vectors.drop(space)
    const places = await this.#store.places()
    const total = places.reduce((sum, { memories }) => sum + memories, 0)
    let done = 0
    for (const { owner, user } of places) {
      const place = { owner, user } as Place // as the store told it
      for await (const { seen, missing } of this.#differences(place, space)) {
        for (let start = 0; start < missing.length; start += BATCH_MEMORIES) {
          signal?.throwIfAborted()
          const batch = missing.slice(start, start + BATCH_MEMORIES)
          await this.#embed(batch, signal)
          onProgress?.({ done: done + start + batch.length, total })
        }
        done += seen
        onProgress?.({ done, total })
      }
    }
    await this.#settleSpaces()
    return this.status()
  }

  async status(): Promise<IndexStatus> {
    const spaces = await this.#vectors.spaces()
    const { rows } = await this.#store.report()
    const target = await this.#known(this.#target)
    const former = await this.#known(this.#former)
    const active = former ?? target
    const current = target?.space.signature ?? spaces[0]?.signature ?? null
    const vectors = spaces.find(({ signature }) => signature === current)?.vectors ?? 0
    return {
      space: active?.space.signature ?? current,
      filling: former === null ? null : (target?.space.signature ?? null),
      memories: rows.memory,
      vectors,
      missing: Math.max(0, rows.memory - vectors),
      because: this.#because,
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#timer)
    await this.#work
    const former = await this.#known(this.#former)
    await former?.embedder.close()
  }

  /** What is already there, without waiting for what is not. */
  async #known<Result>(promise: Promise<Result> | undefined): Promise<Result | null> {
    const pending = Symbol('pending')
    const known = await Promise.race([promise?.catch(() => null) ?? null, Promise.resolve(pending)])
    return known === pending ? null : (known as Result | null) // not the symbol, so the result
  }

  /** A failure is not kept: the next call tries again. */
  #openTarget(signal?: AbortSignal): Promise<ActiveSpace> {
    this.#target ??= this.#openSpace(this.#embedder, signal).catch((error: unknown) => {
      this.#target = undefined
      this.#because = toAppError(error).message
      throw error
    })
    return this.#target
  }

  async #openSpace(embedder: Embedder, signal?: AbortSignal): Promise<ActiveSpace> {
    const model = await embedder.describe(signal)
    const signature = spaceSignature(model, this.#ports.vectorForm ?? 'float32')
    const calibration = await calibrationOf(embedder, model, signal)
    this.#because = null
    return { space: { signature, dimensions: model.dimensions }, embedder, model, calibration }
  }

  /** The fuller space of an earlier model, while that of the present one is incomplete and the model can be had. */
  #openFormer(target: ActiveSpace): Promise<ActiveSpace | null> {
    this.#former ??= (async () => {
      const spaces = await this.#vectors.spaces()
      const filled = spaces.find(({ signature }) => signature === target.space.signature)
      const others = spaces
        .filter(({ signature }) => signature !== target.space.signature)
        .sort((a, b) => b.vectors - a.vectors)
      const [former] = others
      if (former === undefined || former.vectors <= (filled?.vectors ?? 0)) return null
      const embedder = this.#ports.formerEmbedder?.(former.signature) ?? null
      if (embedder === null) return null
      const opened = await this.#openSpace(embedder)
      return opened.space.signature === former.signature ? opened : null
    })().catch(() => null)
    return this.#former
  }

  /** Once the space of the present model is complete, those of earlier ones have no use any more. */
  async #settleSpaces(): Promise<void> {
    const target = await this.#known(this.#target)
    if (target === null || this.#queued > 0) return
    const { rows } = await this.#store.report()
    const spaces = await this.#vectors.spaces()
    const filled = spaces.find(({ signature }) => signature === target.space.signature)
    if ((filled?.vectors ?? 0) < rows.memory) return
    const former = await this.#known(this.#former)
    this.#former = Promise.resolve(null)
    await former?.embedder.close()
    for (const space of spaces) {
      if (space.signature !== target.space.signature) await this.#vectors.drop(space)
    }
  }

  #enqueue(place: Place, id: MemoryId): void {
    const name = nameOf(place)
    if (this.#queued >= QUEUE_MAX) {
      // Too many to remember: comparing finds them again.
      this.#compared.delete(name)
      return
    }
    const waiting = this.#queue.get(name) ?? { place, ids: new Set() }
    this.#queue.set(name, waiting)
    if (!waiting.ids.has(id)) this.#queued++
    waiting.ids.add(id)
  }

  /** Compares an owner's memories with the index, once, and queues those without a vector. */
  async #compare(scope: Scope, { space }: ActiveSpace): Promise<void> {
    for (const { owner, user, memories } of await this.#placesOf(scope)) {
      const place = { owner, user } as Place // as the store told it
      if (this.#compared.has(nameOf(place))) continue
      this.#compared.add(nameOf(place))
      if ((await this.#vectors.count(space, place)) >= memories) continue
      for await (const { missing } of this.#differences(place, space)) {
        for (const memory of missing) this.#enqueue(place, memory.id)
        if (this.#queued >= QUEUE_MAX || this.#closing.signal.aborted) return
      }
    }
  }

  async #placesOf(scope: Scope) {
    const isCompared =
      scope.user !== undefined &&
      this.#compared.has(nameOf({ owner: scope.owner, user: scope.user }))
    if (isCompared || this.#compared.has(scope.owner)) return []
    const places = await this.#store.places()
    if (scope.user === undefined) this.#compared.add(scope.owner)
    return places.filter(
      ({ owner, user }) =>
        owner === scope.owner && (scope.user === undefined || scope.user === user),
    )
  }

  /** Page by page: how many memories were looked at, and which of them lack their vector. */
  async *#differences(
    place: Place,
    space: VectorSpace,
  ): AsyncGenerator<{ readonly seen: number; readonly missing: readonly Memory[] }> {
    let after: string | undefined
    do {
      const page = await this.#store.find('memory', place, {
        where: {},
        limit: PAGE,
        order: 'oldest',
        ...(after === undefined ? {} : { after }),
      })
      const known = new Map<MemoryId, string>()
      const listed = await this.#vectors.list(space, place, {
        limit: PAGE,
        ...(after === undefined ? {} : { after: after as MemoryId }), // an id of the page before
      })
      for (const { id, textHash } of listed) known.set(id, textHash)
      const missing = page.rows.filter((row) => known.get(row.id) !== embeddingTextHash(row))
      yield { seen: page.rows.length, missing }
      after = page.next ?? undefined
    } while (after !== undefined)
  }

  #schedule(delayMs: number): void {
    if (this.#queued === 0 || this.#work !== undefined || this.#closing.signal.aborted) return
    clearTimeout(this.#timer)
    const delay = Math.max(delayMs, this.#failures === 0 ? 0 : this.#retryMs())
    if (delay === 0) {
      this.#start()
      return
    }
    this.#timer = setTimeout(() => this.#start(), delay)
    this.#timer.unref()
  }

  #retryMs(): number {
    return Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** (this.#failures - 1))
  }

  #start(): void {
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
    while (this.#queued > 0 && !this.#closing.signal.aborted) await this.#nextBatch()
    await this.#settleSpaces()
  }

  #batch: Promise<void> | undefined

  /** One batch at a time, whoever asks for it. */
  #nextBatch(): Promise<void> {
    this.#batch ??= this.#embedQueued().finally(() => {
      this.#batch = undefined
    })
    return this.#batch
  }

  async #embedQueued(): Promise<void> {
    const [name, waiting] = this.#queue.entries().next().value ?? []
    if (name === undefined || waiting === undefined) return
    const ids = [...waiting.ids].slice(0, BATCH_MEMORIES)
    // Taken out first: one that is changed meanwhile is queued again, and must stay so.
    for (const id of ids) if (waiting.ids.delete(id)) this.#queued--
    if (waiting.ids.size === 0) this.#queue.delete(name)
    this.#underWay.add(waiting)
    try {
      const { rows } = await this.#store.find('memory', waiting.place, {
        where: { ids },
        limit: ids.length,
      })
      await this.#embed(rows, this.#closing.signal)
    } catch (error) {
      for (const id of ids) this.#enqueue(waiting.place, id)
      throw error
    } finally {
      this.#underWay.delete(waiting)
    }
  }

  async #embed(memories: readonly Memory[], signal?: AbortSignal): Promise<void> {
    if (memories.length === 0) return
    const { space, embedder } = await this.#openTarget(signal)
    const vectors = await embedder.embed(memories.map(embeddingText), {
      purpose: 'document',
      ...(signal === undefined ? {} : { signal }),
    })
    await this.#vectors.put(
      space,
      memories.flatMap((memory, position) => {
        const vector = vectors[position]
        const textHash = embeddingTextHash(memory)
        return vector === undefined
          ? []
          : [{ id: memory.id, place: memory.place, vector, textHash }]
      }),
    )
  }
}

/** Names hold no line breaks, so the two can't run into each other; an owner alone has none. */
function nameOf({ owner, user }: Place): string {
  return `${owner}\n${user ?? ''}`
}
