/**
 * Questions to an idle server, and while the built-in model embeds recorded turns in the background: rounds of both, one
 * after the other, so that what else the machine does hits both alike. The model embeds the questions, too.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import type { TurnId } from '../../src/domain/ids.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { openLocalEmbedder } from '../../src/models/embedders/local/local-embedder.ts'
import type { Change } from '../../src/storage/store.ts'
import type { Timing } from '../harness.ts'
import { openStore, type StorePlace } from '../stores/store-connection.ts'
import { Texts } from '../texts.ts'
import { Corpus, type CorpusShape } from './corpus.ts'
import { at, percentiles } from './engine-queries.ts'
import { LARGE, turnOf } from './large-owner.ts'

const ROUNDS = 4
const ROUND_QUESTIONS = 100
/** Between an answer and the next question. */
const PAUSE_MS = 40
/** Recorded at once: more than are embedded while a round of questions lasts. */
const RECORDED_TURNS = 1_500
const COMMIT_TURNS = 250
const POLL_MS = 100

export type BackgroundInput = { readonly place: StorePlace; readonly shape: CorpusShape }

export type BackgroundCost = {
  readonly idle: Timing
  readonly embedding: Timing
  /** Turns that were embedded per second while queries ran. */
  readonly embeddedPerSecond: number
}

export async function queryWhileEmbedding(
  { place, shape }: BackgroundInput,
  progress: (share: number) => void,
): Promise<BackgroundCost> {
  const questions = new Corpus(shape).questions()
  const { store, vectors } = await openStore(place)
  const engine = createEngineWith({
    store,
    vectors,
    embedder: openLocalEmbedder(),
    clock: systemClock,
    ids: createIdGenerator(),
    settings: {},
  })
  const texts = new Texts(29)
  let recorded = 0
  const record = async () => {
    for (let done = 0; done < RECORDED_TURNS; done += COMMIT_TURNS) {
      const changes = Array.from({ length: COMMIT_TURNS }, (): Change => {
        const number = shape.memories + recorded++
        const row = turnOf({
          ...{ number, content: texts.next(), owner: LARGE, saidAt: systemClock.now() },
          id: `turn_3${String(number).padStart(25, '0')}` as TurnId, // made here, for the bench only
        })
        return { op: 'put', table: 'turn', row, expect: 'absent' }
      })
      await store.commit(changes)
      engine.admin.applyExternalCommit(changes)
    }
  }
  const queued = async () => (await engine.status()).index?.queued ?? 0
  const recallOnce = async (times: number[]) => {
    for (let run = 0; run < ROUND_QUESTIONS; run++) {
      const { text } = at(questions, run)
      const began = performance.now()
      const { retrievers: legs } = await engine.recall({ owner: LARGE }, { text })
      times.push(performance.now() - began)
      if (legs.vector.state !== 'searched') throw new Error(`${legs.vector.reason}`)
      await delay(PAUSE_MS)
    }
  }
  await recallOnce([])
  const [idle, embedding]: number[][] = [[], []]
  let [embedded, seconds] = [0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    await recallOnce(idle as number[]) // both lists were just made
    await record()
    const [before, began] = [await queued(), performance.now()]
    await recallOnce(embedding as number[]) // see above
    const left = await queued()
    if (left === 0) throw new Error('Embedding ended before the questions did.')
    embedded += before - left
    seconds += (performance.now() - began) / 1_000
    while ((await queued()) > 0) await delay(POLL_MS)
    progress((round + 1) / ROUNDS)
  }
  await engine.close()
  return {
    idle: percentiles(idle as number[]), // see above
    embedding: percentiles(embedding as number[]), // see above
    embeddedPerSecond: Math.round(embedded / seconds),
  }
}
