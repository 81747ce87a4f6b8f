/** Fills a store and queries an engine on it, in two processes, so that the memory of the second one can be measured. */

import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { type Timing, timed } from '../harness.ts'
import { Corpus, type CorpusShape, shareFound, WARM_UP } from '../recall/corpus.ts'
import {
  at,
  foundBy,
  knowing,
  modelOf,
  numberOf,
  writeCorpus,
  writesPerSecond,
} from '../recall/engine-queries.ts'
import { nearestTo, openStore, type StorePlace } from './store-connection.ts'

/** Repetitions of each query, and the time limit of all: some stores take a second for one. */
const REPETITIONS = 3
const SECONDS_MAX = 8

type Input = { readonly place: StorePlace; readonly shape: CorpusShape }

export type Filled = {
  readonly writesPerSecond: number
  /** From the last write until all that searches use was there. */
  readonly settledSeconds: number
  readonly diskMb: number
}

export async function fill(
  { place, shape }: Input,
  progress: (share: number) => void,
): Promise<Filled> {
  const corpus = new Corpus(shape)
  const opened = await openStore(place)
  const written = await writeCorpus(corpus, opened.store, opened.vectors, progress)
  const began = performance.now()
  await opened.settle(corpus)
  const settledSeconds = (performance.now() - began) / 1_000
  return { writesPerSecond: writesPerSecond(written), settledSeconds, diskMb: await opened.close() }
}

export type QueryResult = {
  readonly hybrid: Timing
  readonly vector: Timing
  readonly shareFound: number
  /** Of this process and its children; null where that is unknown. */
  readonly rssMb: number | null
}

export async function measureQueries({
  place,
  shape,
  nearest,
}: Input & { readonly nearest: readonly (readonly number[])[] }): Promise<QueryResult> {
  const corpus = new Corpus(shape)
  const questions = corpus.questions()
  const opened = await openStore(place)
  await opened.settle(corpus)
  const staysOpen = { close: async () => {} }
  const engine = createEngineWith({
    store: { ...opened.store, ...staysOpen },
    vectors: { ...opened.vectors, ...staysOpen },
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
  const search = async (run: number) => {
    const hits = await nearestTo(opened.vectors, corpus, at(questions, run))
    return hits.map(({ id }) => numberOf(id))
  }
  // What compiling takes, a service meets only once.
  await timed(WARM_UP, recall, SECONDS_MAX)
  const hybrid = await timed(questions.length * REPETITIONS, recall, SECONDS_MAX)
  const elsewhereMb = opened.elsewhereMb()
  const ownMb = Math.round(process.memoryUsage().rss / 2 ** 20)
  const vector = await timed(questions.length, search, SECONDS_MAX)
  const share = shareFound(await foundBy(search, nearest), nearest)
  opened.check()
  await engine.close()
  await opened.close()
  return {
    ...{ hybrid, vector, shareFound: share },
    rssMb: elsewhereMb === null ? null : ownMb + elsewhereMb,
  }
}
