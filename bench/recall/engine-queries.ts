/** Fills a store and queries an engine on it, in two processes, so that the memory of the second one can be measured. */
import { statSync } from 'node:fs'
import { createEngine } from '../../src/app/composition.ts'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import { buildSpaceSignature, hashEmbeddingText } from '../../src/domain/embedding-text.ts'
import type { MemoryId } from '../../src/domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../../src/domain/limits.ts'
import type { Memory } from '../../src/domain/memory.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import type { Embedder, EmbeddingModel } from '../../src/models/embedder.ts'
import { DEFAULT_MODEL } from '../../src/models/embedders/local/local-embedder-options.ts'
import { openSqliteStore, type SqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Store } from '../../src/storage/store.ts'
import type { VectorIndex } from '../../src/storage/vector-index.ts'
import { memory as fakeMemory } from '../../test/fakes/memories.ts'
import { type Timing, timed } from '../harness.ts'
import { Corpus, type CorpusShape, type Question, shareFound, WARM_UP } from './corpus.ts'
import { type Held, measureLoopBlock } from './event-loop.ts'

/** Repetitions of each query. */
const REPETITIONS = 3
const HELD_QUESTIONS = 60
export const HITS = 20
const BATCH = Math.min(COMMIT_CHANGES_MAX, 500)

export type StoreInput = { readonly shape: CorpusShape; readonly path: string }
export type Written = {
  readonly memoriesPerSecond: number
  readonly vectorsPerSecond: number
}
export type Filled = Written & { readonly diskMb: number }

export async function fill(
  { shape, path }: StoreInput,
  progress: (share: number) => void,
): Promise<Filled> {
  const store = await openSqliteStore({ path, now: Date.now })
  const written = await writeCorpus(new Corpus(shape), store, store.vectors, progress)
  await store.close()
  return { ...written, diskMb: Math.round(statSync(path).size / 2 ** 20) }
}

/** Memories and their vectors, batch by batch, as an import does it. */
export async function writeCorpus(
  corpus: Corpus,
  store: Store,
  vectors: VectorIndex,
  progress: (share: number) => void,
): Promise<Written> {
  const { shape } = corpus
  const space = spaceOf(shape)
  let [storeMs, vectorMs, number] = [0, 0, 0]
  const write = async (memories: readonly Memory[]) => {
    const entries = memories.map((memory) => ({
      id: memory.id,
      place: memory.place,
      vector: corpus.vectorOf(numberOf(memory.id)),
      textHash: hashEmbeddingText(memory),
    }))
    const began = performance.now()
    await store.commit(
      memories.map((row) => ({ op: 'put', table: 'memory', row, expect: 'absent' })),
    )
    const stored = performance.now()
    await vectors.put(space, entries)
    storeMs += stored - began
    vectorMs += performance.now() - stored
    progress(number / shape.memories)
  }
  let batch: Memory[] = []
  const now = systemClock.now()
  for (const content of corpus.texts()) {
    const id = idOf(number)
    batch.push(
      fakeMemory({ id, place: corpus.placeOf(number), content, createdAt: now, updatedAt: now }),
    )
    number++
    if (batch.length < BATCH) continue
    await write(batch)
    batch = []
  }
  if (batch.length > 0) await write(batch)
  return {
    memoriesPerSecond: Math.round((shape.memories / storeMs) * 1_000),
    vectorsPerSecond: Math.round((shape.memories / vectorMs) * 1_000),
  }
}

/** Memories with their vectors, one after the other. */
export function writesPerSecond({ memoriesPerSecond, vectorsPerSecond }: Written): number {
  return Math.round(1 / (1 / memoriesPerSecond + 1 / vectorsPerSecond))
}

export type QueryResult = {
  readonly hybrid: Timing
  /** The first question about each owner, for which its vectors are read. */
  readonly first: Timing
  readonly keyword: Timing
  readonly vector: Timing
  readonly hybridHeld: Held
  readonly vectorHeld: Held
  readonly rssMb: number
  /** Null when it was not compared. */
  readonly shareFound: number | null
}

export type QueryInput = StoreInput & { readonly nearest: readonly (readonly number[])[] | null }

export async function measureQueries({ shape, path, nearest }: QueryInput): Promise<QueryResult> {
  const corpus = new Corpus(shape)
  const questions = corpus.questions()
  const store = await openSqliteStore({ path, now: Date.now })
  const engine = createEngineWith({
    store,
    vectors: store.vectors,
    embedder: knowing(modelOf(shape), questions),
    clock: systemClock,
    ids: createIdGenerator(),
    settings: {},
  })
  const recall = async (run: number) => {
    const { owner, text } = at(questions, run)
    const { retrievers: legs, memories } = await engine.recall({ owner }, { text })
    if (legs.vector.state !== 'searched' || memories.length === 0) {
      throw new Error(`A question was not answered: ${legs.vector.reason}`)
    }
  }
  const nearestTo = (run: number) => vectorSearch(store, shape, at(questions, run))
  const keyword = async (run: number) => {
    const { owner, text } = at(questions, run)
    await store.searchText({ owner }, { text, limit: HITS, where: FILTER })
  }
  const first: number[] = []
  for (let run = 0; run < Math.min(questions.length, shape.owners); run++) {
    const began = performance.now()
    await recall(run)
    first.push(performance.now() - began)
  }
  // What compiling takes, a service meets only once.
  await timed(WARM_UP, recall)
  const runs = questions.length * REPETITIONS
  const hybrid = await timed(runs, recall)
  const rssMb = Math.round(process.memoryUsage().rss / 2 ** 20)
  const queries: QueryResult = {
    hybrid,
    first: percentiles(first),
    keyword: await timed(runs, keyword),
    vector: await timed(runs, nearestTo),
    hybridHeld: await measureLoopBlock(HELD_QUESTIONS, recall),
    vectorHeld: await measureLoopBlock(HELD_QUESTIONS, nearestTo),
    rssMb,
    shareFound: nearest === null ? null : shareFound(await foundBy(nearestTo, nearest), nearest),
  }
  await engine.close()
  return queries
}

/** The default engine in a process that has just started. The parent process measures the time. */
export async function answerOnce({
  path,
  owner,
  text,
}: {
  readonly path: string
  readonly owner: string
  readonly text: string
}): Promise<{ readonly hits: number }> {
  const engine = await createEngine({ path })
  const { retrievers: legs, memories } = await engine.recall({ owner }, { text })
  if (legs.vector.state !== 'searched') throw new Error(`Not by meaning: ${legs.vector.reason}`)
  // Closing is not part of the answer.
  setImmediate(() => engine.close())
  return { hits: memories.length }
}

export const FILTER = { statuses: ['active'] } as const

async function vectorSearch(
  store: SqliteStore,
  shape: CorpusShape,
  { owner, vector }: Question,
): Promise<readonly number[]> {
  const query = { vector, limit: HITS, where: FILTER }
  const hits = await store.vectors.search(spaceOf(shape), { owner }, query)
  return hits.map(({ id }) => numberOf(id))
}

export async function foundBy(
  search: (run: number) => Promise<readonly number[]>,
  nearest: readonly unknown[],
): Promise<readonly (readonly number[])[]> {
  const found: (readonly number[])[] = []
  for (let run = 0; run < nearest.length; run++) found.push(await search(run))
  return found
}

export function percentiles(times: number[]): Timing {
  times.sort((a, b) => a - b)
  const share = (part: number) => times[Math.floor(times.length * part)] ?? Number.NaN
  return { p50: share(0.5), p95: share(0.95) }
}

export function at(questions: readonly Question[], run: number): Question {
  const question = questions[run % questions.length]
  if (question === undefined) throw new Error('There are no questions.')
  return question
}

export function modelOf({ dimensions }: CorpusShape): EmbeddingModel {
  return { source: 'transformers', model: DEFAULT_MODEL, dimensions }
}

export function spaceOf(shape: CorpusShape) {
  return {
    signature: buildSpaceSignature(modelOf(shape), 'float32'),
    dimensions: shape.dimensions,
  }
}

/** Answers at once, so that only the search is timed. */
export function knowing(model: EmbeddingModel, questions: readonly Question[]): Embedder {
  const vectors = new Map(questions.map(({ text, vector }) => [text, vector]))
  return {
    describe: async () => model,
    embed: async (texts) =>
      texts.map((text) => vectors.get(text) ?? new Float32Array(model.dimensions)),
    report: () => ({ ...model, state: { kind: 'ready' }, facts: {} }),
    close: async () => {},
  }
}

export function idOf(number: number): MemoryId {
  return `mem_${String(number).padStart(26, '0')}` as MemoryId // made here, for the bench only
}

export function numberOf(id: MemoryId): number {
  return Number(id.slice(4))
}
