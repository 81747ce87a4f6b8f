/** What the built-in model costs: a question, and giving memories their vectors. */

import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import { openLocalEmbedder } from '../../src/models/embedders/local/local-embedder.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { type Timing, timed } from '../harness.ts'
import { Texts } from '../texts.ts'
import { writeBase } from './corpus.ts'

const OWNER = { owner: 'owner' }
const QUESTIONS = 100
const REMEMBERED = 100
const POLL_MS = 100

export type ModelInput = {
  readonly texts: number
  readonly path: string
  /** Where the vectors are written that the corpus is made of. */
  readonly base: string
}

export type ModelCost = {
  readonly question: Timing
  readonly importedPerSecond: number
  readonly rememberedPerSecond: number
  readonly reindexedPerSecond: number
}

export async function measureModel(
  { texts, path, base }: ModelInput,
  progress: (share: number) => void,
): Promise<ModelCost> {
  const store = await openSqliteStore({ path, now: Date.now })
  const embedder = openLocalEmbedder()
  const engine = createEngineWith({
    store,
    vectors: store.vectors,
    embedder,
    clock: systemClock,
    ids: createIdGenerator(),
    settings: {},
  })
  const model = await embedder.describe()
  const words = new Texts(3)
  const question = await timed(QUESTIONS, () =>
    embedder.embed([words.queryFor(words.next(), 8)], { purpose: 'query' }),
  )

  const lines = await exported(words, texts)
  const imported = await perSecond(texts, async () => {
    await engine.admin.import(lines)
    await indexed(engine, (missing) => progress((1 - missing / texts) / 2))
  })
  const remembered = await perSecond(REMEMBERED, async () => {
    for (let run = 0; run < REMEMBERED; run++) {
      await engine.remember(OWNER, { content: words.next() })
    }
    await indexed(engine)
  })
  const reindexed = await perSecond(texts + REMEMBERED, () =>
    engine.admin.reindex({
      force: true,
      onProgress: ({ done }) => progress(0.5 + done / (texts + REMEMBERED) / 2),
    }),
  )

  const [space] = await store.vectors.spaces()
  if (space?.dimensions !== model.dimensions) throw new Error('There are no vectors.')
  const scope = { owner: OWNER.owner as never } // made here, for the bench only
  const listed = await store.vectors.list(space, scope, { limit: texts })
  const vectors = await store.vectors.vectorsOf(
    space,
    scope,
    listed.map(({ id }) => id),
  )
  writeBase(base, [...vectors.values()])
  await engine.close()
  return {
    question,
    importedPerSecond: imported,
    rememberedPerSecond: remembered,
    reindexedPerSecond: reindexed,
  }
}

/** Waits until every memory has its vector. */
async function indexed(engine: Engine, tell: (missing: number) => void = () => {}): Promise<void> {
  for (;;) {
    const missing = (await engine.status()).index?.withoutVector ?? 0
    if (missing === 0) return
    tell(missing)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** The texts as another store would hand them over. */
async function exported(words: Texts, count: number): Promise<AsyncIterable<string>> {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  const engine = createEngineWith({
    store,
    clock: systemClock,
    ids: createIdGenerator(),
    settings: {},
  })
  for (let run = 0; run < count; run++) await engine.remember(OWNER, { content: words.next() })
  const lines = await collected(engine)
  await engine.close()
  return (async function* () {
    yield* lines
  })()
}

async function collected(engine: Engine): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of engine.admin.export(OWNER)) lines.push(line)
  return lines
}

async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return Math.round((count / (performance.now() - began)) * 10_000) / 10
}
