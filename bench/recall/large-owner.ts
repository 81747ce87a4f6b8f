/**
 * One large owner: 100,000 turns of conversations beside 10,000 facts, and a small owner with a hundredth of that in the
 * same store. Filling and asking run in two processes, so that nothing is cached that a server would not have.
 *
 * Turns are written as turns: the commit derives their search documents, as it does in the gateway.
 */

import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import { hashEmbeddingText } from '../../src/domain/embedding-text.ts'
import type { MemoryId, OwnerId, SessionId, TurnId } from '../../src/domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../../src/domain/limits.ts'
import type { Place } from '../../src/domain/scope.ts'
import { DOCUMENT_TYPES, toTurnDocument } from '../../src/domain/search-document.ts'
import type { Turn } from '../../src/domain/turn.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import type { Instant } from '../../src/lib/time.ts'
import type { Change } from '../../src/storage/store.ts'
import { turn as fakeTurn } from '../../test/fakes/entries.ts'
import { memory as fakeMemory } from '../../test/fakes/memories.ts'
import { type Timing, timed } from '../harness.ts'
import { type OpenedStore, openStore, type StorePlace } from '../stores/store-connection.ts'
import { Corpus, type CorpusShape } from './corpus.ts'
import { at, HITS, knowing, modelOf, spaceOf } from './engine-queries.ts'

/** Of so many documents one is a fact, and all others are turns. */
const DOCUMENTS_PER_FACT = 11

/** The small owner has every so manieth document of the large one, and those that questions are about. */
const SMALL_SHARE = 110
const SESSION_TURNS = 20
const BATCH = Math.min(COMMIT_CHANGES_MAX, 500)

/** Repetitions of each query, and the time limit of all. */
const REPETITIONS = 3
const WARM_UP = 200
const SECONDS_MAX = 30

export const LARGE = 'large' as OwnerId // made here, for the bench only
const SMALL = 'small' as OwnerId // made here, for the bench only

export type LargeOwnerInput = {
  readonly place: StorePlace
  /** Of the documents of the large owner. */
  readonly shape: CorpusShape
  /** Leaves the large owner out, so that the small one has the store to itself. */
  readonly isSmallAlone: boolean
}

export type LargeOwnerFill = {
  readonly documents: number
  readonly writesPerSecond: number
  readonly diskMb: number
}

export async function fillLargeOwner(
  { place, shape, isSmallAlone }: LargeOwnerInput,
  progress: (share: number) => void,
): Promise<LargeOwnerFill> {
  const corpus = new Corpus(shape)
  const opened = await openStore(place)
  const smallNumbers = new Set(corpus.questions().map(({ number }) => number))
  const began = performance.now()
  let [number, written] = [0, 0]
  let batch: BenchDocument[] = []
  const write = async () => {
    await writeDocuments(opened, corpus, batch)
    written += batch.length
    batch = []
    progress(number / shape.memories)
  }
  for (const content of corpus.texts()) {
    const isSmall = smallNumbers.has(number) || number % SMALL_SHARE === 0
    if (!isSmallAlone) batch.push({ number, content, owner: LARGE })
    if (isSmall) batch.push({ number, content, owner: SMALL })
    number++
    if (batch.length >= BATCH - 1) await write()
  }
  await write()
  const seconds = (performance.now() - began) / 1_000
  await opened.settle(isSmallAlone ? new Corpus({ ...shape, memories: written }) : corpus)
  return {
    documents: written,
    writesPerSecond: Math.round(written / seconds),
    diskMb: await opened.close(),
  }
}

type BenchDocument = {
  readonly number: number
  readonly content: string
  readonly owner: OwnerId
}

async function writeDocuments(
  { store, vectors }: OpenedStore,
  corpus: Corpus,
  batch: readonly BenchDocument[],
): Promise<void> {
  const written = batch.map((document) => {
    const change = changeFor(document)
    const row = change.table === 'turn' ? toTurnDocument(change.row) : change.row
    return { change, row, vector: corpus.vectorOf(document.number) }
  })
  await store.commit(written.map(({ change }) => change))
  await vectors.put(
    spaceOf(corpus.shape),
    written.map(({ row, vector }) => ({
      id: row.id,
      place: row.place,
      vector,
      textHash: hashEmbeddingText(row),
    })),
  )
}

type Put = Extract<Change, { op: 'put'; table: 'memory' | 'turn' }>

function changeFor({ number, content, owner }: BenchDocument): Put {
  const now = systemClock.now()
  const digits = `${owner === LARGE ? 1 : 2}${String(number).padStart(25, '0')}`
  if (number % DOCUMENTS_PER_FACT > 0) {
    const row = turnOf({ number, content, owner, id: `turn_${digits}` as TurnId, saidAt: now })
    return { op: 'put', table: 'turn', row, expect: 'absent' }
  }
  const place: Place = { owner, user: null, session: null }
  const id = `mem_${digits}` as MemoryId // made here, for the bench only
  const row = fakeMemory({ id, place, content, createdAt: now, updatedAt: now })
  return { op: 'put', table: 'memory', row, expect: 'absent' }
}

type TurnInput = BenchDocument & { readonly id: TurnId; readonly saidAt: Instant }

export function turnOf({ number, content, owner, id, saidAt }: TurnInput): Turn {
  const session = `session-${Math.floor(number / SESSION_TURNS)}` as SessionId // letters and digits
  return fakeTurn({
    ...{ id, content, saidAt },
    place: { owner, user: null, session },
    role: number % 2 === 0 ? 'user' : 'assistant',
    position: number % SESSION_TURNS,
  })
}

export type LargeOwnerCost = {
  /** Null where the small owner has the store to itself. */
  readonly large: RecallCost | null
  readonly small: RecallCost
  readonly rssMb: number | null
}

export type RecallCost = {
  readonly hybrid: Timing
  readonly keyword: Timing
  readonly vector: Timing
}

export async function queryLargeOwner({
  place,
  shape,
  isSmallAlone,
}: LargeOwnerInput): Promise<LargeOwnerCost> {
  const corpus = new Corpus(shape)
  const questions = corpus.questions()
  const opened = await openStore(place)
  const { store, vectors } = opened
  const staysOpen = { close: async () => {} }
  const engine = createEngineWith({
    store: { ...store, ...staysOpen },
    vectors: { ...vectors, ...staysOpen },
    embedder: knowing(modelOf(shape), questions),
    clock: systemClock,
    ids: createIdGenerator(),
    settings: {},
  })
  const where = { statuses: ['active'], types: DOCUMENT_TYPES } as const
  const measure = async (owner: OwnerId): Promise<RecallCost> => {
    const recall = async (run: number) => {
      const { retrievers: legs } = await engine.recall({ owner }, { text: at(questions, run).text })
      const isComplete = legs.keyword.state === 'searched' && legs.vector.state === 'searched'
      if (!isComplete || (legs.vector.withoutVector ?? 0) > 0 || legs.vector.hits === 0) {
        throw new Error(`A question was not answered: ${JSON.stringify(legs)}`)
      }
    }
    const keyword = (run: number) =>
      store.searchText({ owner }, { text: at(questions, run).text, limit: HITS, where })
    const vector = (run: number) => {
      const query = { vector: at(questions, run).vector, limit: HITS, where }
      return vectors.search(spaceOf(shape), { owner }, query)
    }
    const runs = questions.length * REPETITIONS
    await timed(WARM_UP, recall, SECONDS_MAX)
    return {
      hybrid: await timed(runs, recall, SECONDS_MAX),
      keyword: await timed(runs, keyword, SECONDS_MAX),
      vector: await timed(runs, vector, SECONDS_MAX),
    }
  }
  const large = isSmallAlone ? null : await measure(LARGE)
  const small = await measure(SMALL)
  const elsewhereMb = opened.elsewhereMb()
  const ownMb = Math.round(process.memoryUsage().rss / 2 ** 20)
  await engine.close()
  await opened.close()
  return { large, small, rssMb: elsewhereMb === null ? null : ownMb + elsewhereMb }
}
