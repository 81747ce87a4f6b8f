/** Vectors follow the memories, whatever comes between: edits, other models, full queues, stops and kills. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashEmbeddingText } from '../../src/domain/embedding-text.ts'
import { parseScope } from '../../src/domain/scope.ts'
import { AppError } from '../../src/lib/errors.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../../src/storage/in-memory/in-memory-vector-index.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Store } from '../../src/storage/store.ts'
import type { VectorIndex } from '../../src/storage/vector-index.ts'
import { gate, scriptedEmbedder, untilAborted } from '../fakes/embedder.ts'
import { ADA as ADAS, memory } from '../fakes/memories.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import {
  ADA,
  broken,
  changed,
  fill,
  found,
  lasting,
  NO_FLOORS,
  openEngine,
  until,
  untilIndexed,
} from './recall-support.ts'

const SPACE = { signature: 'reference:terms:64', dimensions: 64 }
const OLD_SPACE = { signature: 'reference:terms:32', dimensions: 32 }

const unhandled: unknown[] = []
const note = (reason: unknown) => unhandled.push(reason)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', note)
})
afterEach(() => {
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

it('a question looks at what its owner has, and not at what all have', async () => {
  const store = createInMemoryStore()
  const requests: unknown[] = []
  const watched: Store = {
    ...store,
    listPlaces: (owner) => {
      requests.push(owner)
      return store.listPlaces(owner)
    },
  }
  await store.commit([{ op: 'put', table: 'memory', row: memory(), expect: 'absent' }])
  const { engine } = openEngine({ store: watched, vectors: createInMemoryVectorIndex(store) })
  await engine.recall(ADA, { text: 'anything' })
  expect(requests).toEqual(['ada'])
})

describe.each<[string, () => Promise<{ store: Store; vectors: VectorIndex }>]>([
  [
    'reference',
    async () => {
      const store = createInMemoryStore()
      return { store, vectors: createInMemoryVectorIndex(store) }
    },
  ],
  [
    'sqlite',
    async () => {
      const store = await openSqliteStore({ path: ':memory:', now: Date.now })
      return { store, vectors: store.vectors }
    },
  ],
])('%s', (_, open) => {
  it('[RA15] a memory that is edited while it is embedded never keeps the old vector', async () => {
    const started = gate()
    const edited = gate()
    const embedder = scriptedEmbedder(async ({ texts }) => {
      if (!texts.includes('my car is red')) return
      started.open()
      await edited.opened
    })
    const { engine, vectors } = openEngine({ ...(await open()), embedder })
    const { memory } = await engine.remember(ADA, { content: 'my car is red' })
    await started.opened
    const now = await engine.edit(ADA, memory.id, { content: 'our boat has sails' })
    edited.open()
    await untilIndexed(engine)
    const stored = await vectors.list(SPACE, parseScope(ADA), { limit: 10 })
    expect(stored).toEqual([{ id: memory.id, textHash: hashEmbeddingText(now) }])
    const hits = (text: string) => engine.recall(ADA, { text, strategy: 'semantic' })
    const best = async (text: string) => (await hits(text)).memories[0]?.trail[0]?.score ?? 0
    expect(await best('our boat has sails')).toBeCloseTo(1, 5)
    expect(await best('my car is red')).toBeLessThan(0.9)
  })

  it('[RA15] what was written before is embedded when it is first looked for', async () => {
    const parts = await open()
    const store = lasting(parts.store)
    const vectors = changed(parts.vectors, { close: async () => {} })
    const first = openEngine({
      store,
      vectors,
      embedder: createHashingEmbedder({ dimensions: 32 }),
    })
    await fill(first.engine, 20)
    await first.engine.close()
    const { engine } = openEngine({ store, vectors })
    expect((await engine.recall(ADA, { text: 'statement' })).retrievers.vector.hits).toBe(20)
  })

  it('[RA15] a memory of another process is found by words at once, and is embedded', async () => {
    const { store, vectors } = await open()
    const { engine } = openEngine({ store, vectors, embedder: createHashingEmbedder() })
    await fill(engine, 130)
    await engine.admin.reindex()
    const foreign = memory({ place: ADAS, content: 'The zeppelin museum opens at nine' })
    await store.commit([{ op: 'put', table: 'memory', row: foreign, expect: 'absent' }])
    const { memories } = await engine.recall(ADA, { text: 'zeppelin exhibition doors' })
    expect(memories.map(({ memory: { content } }) => content)).toContain(foreign.content)
    await until(async () => (await vectors.vectorsOf(SPACE, ADAS, [foreign.id])).size === 1)
    await engine.close()
  })

  it.each([
    ['right after writing', false],
    ['while vectors are made in the background', true],
  ])('[RA17] reindexing %s embeds nothing twice', async (_, isUnderWay) => {
    const { store, vectors } = await open()
    let documents = 0
    const [begun, released] = [gate(), gate()]
    const embedder = scriptedEmbedder(async ({ texts, purpose }) => {
      if (purpose !== 'document' || !texts[0]?.startsWith('statement')) return
      documents += texts.length
      begun.open()
      await released.opened
    })
    const { engine } = openEngine({ store, vectors, embedder })
    await fill(engine, 40)
    if (isUnderWay) await begun.opened
    const reindexing = engine.admin.reindex()
    if (isUnderWay) await new Promise((resolve) => setTimeout(resolve, 50))
    released.open()
    await reindexing
    await untilIndexed(engine)
    await engine.close()
    expect(documents).toBe(40)
  })

  it('[RA34] a memory keeps its vector when its text does not change', async () => {
    const { store, vectors } = await open()
    const embedder = scriptedEmbedder()
    const { engine } = openEngine({ store, vectors, embedder })
    await fill(engine, 3)
    await engine.admin.reindex()
    const { rows } = await store.find('memory', parseScope(ADA), { where: {}, limit: 3 })
    const [first, second, third] = rows.map(({ id }) => id)
    if (first === undefined || second === undefined || third === undefined) expect.unreachable()
    const before = embedder.calls.length
    await engine.edit(ADA, first, { importance: 9, pinned: true })
    await engine.forget(ADA, second)
    await engine.restore(ADA, second)
    await engine.edit(ADA, third, { content: 'our boat has sails' })
    await engine.recall(ADA, { text: 'boat' })
    expect(embedder.calls.slice(before).map(({ texts }) => texts)).toEqual([
      ['our boat has sails'],
      ['boat'],
    ])
    expect(await vectors.count(SPACE, parseScope(ADA))).toBe(3)
    await engine.close()
  })

  it('[RA34] the data of a vector are written together with it', async () => {
    const { store, vectors } = await open()
    const put: unknown[] = []
    const noting = changed(vectors, {
      put: (space, entries) => {
        put.push(...entries.map(({ id }) => id))
        return vectors.put(space, entries)
      },
    })
    const { engine, clock } = openEngine({ store, vectors: noting })
    const { memory } = await engine.remember(ADA, { content: 'my car is red' })
    await engine.recall(ADA, { text: 'car' })
    await engine.edit(ADA, memory.id, { expiresAt: clock.now() + 60_000 })
    await engine.recall(ADA, { text: 'car' })
    await engine.edit(ADA, memory.id, { type: 'procedural' })
    await engine.recall(ADA, { text: 'car' })
    expect(put).toEqual([memory.id, memory.id, memory.id])
    await engine.close()
  })

  it('[RA34] a memory that is imported with its history is embedded', async () => {
    const elsewhere = openEngine()
    const { memory } = await elsewhere.engine.remember(ADA, { content: 'my car is red' })
    await elsewhere.engine.edit(ADA, memory.id, { importance: 9 })
    const { engine, vectors } = openEngine(await open())
    await engine.admin.import(elsewhere.engine.admin.export(ADA))
    await engine.recall(ADA, { text: 'car' })
    expect(await engine.memories.history(ADA, memory.id)).toHaveLength(2)
    expect(await vectors.count(SPACE, parseScope(ADA))).toBe(1)
  })

  it('[RA35] a question waits for what was written before it, and not for what others go on writing', async () => {
    const parts = await open()
    let [isWriting, written, writtenBefore] = [true, 0, 0]
    const embedder = scriptedEmbedder(async ({ purpose, texts }) => {
      if (purpose === 'query') writtenBefore = written
      if (purpose === 'query' || !isWriting || !texts[0]?.startsWith('statement')) return
      written++
      await engine.remember(ADA, {
        content: `statement of somebody ${written}`,
        key: `k${written}`,
      })
    })
    const { engine } = openEngine({ ...parts, embedder })
    await engine.remember(ADA, { content: 'statement about zeppelins' })
    const { memories, retrievers: legs } = await engine.recall(ADA, { text: 'zeppelins' })
    isWriting = false
    expect(memories[0]).toMatchObject({ memory: { content: 'statement about zeppelins' } })
    expect(memories[0]?.evidence.vector).toBeGreaterThan(0)
    expect(legs.vector.state).toBe('searched')
    expect(writtenBefore).toBe(1)
  })

  it('[RA16] answers from the old model until the new one has everything, and drops the old on request', async () => {
    const parts = await open()
    const store = lasting(parts.store)
    const vectors = changed(parts.vectors, { close: async () => {} })
    const old = openEngine({ store, vectors, embedder: createHashingEmbedder({ dimensions: 32 }) })
    await fill(old.engine, 20)
    await old.engine.admin.reindex()
    await old.engine.close()
    const allowed = gate()
    const embedder = scriptedEmbedder(async ({ texts }) => {
      if (texts.some((text) => text.startsWith('statement number'))) await allowed.opened
    })
    let closed = 0
    const formerEmbedder = (signature: string) => {
      expect(signature).toBe(OLD_SPACE.signature)
      const former = createHashingEmbedder({ dimensions: 32 })
      return changed(former, {
        close: async () => {
          closed++
        },
      })
    }
    const settings = { ...NO_FLOORS, 'recall.retrieverTimeoutMs': 200 }
    const { engine } = openEngine({
      store,
      vectors,
      embedder,
      getFormerEmbedder: formerEmbedder,
      settings,
    })
    const before = await engine.recall(ADA, { text: 'which statement' })
    expect(before.retrievers.vector).toMatchObject({ state: 'searched', hits: 20 })
    expect((await engine.status()).index).toMatchObject({
      space: OLD_SPACE.signature,
      buildingSpace: SPACE.signature,
      withoutVector: 20,
    })
    allowed.open()
    await until(() => closed === 1)
    expect(await vectors.count(OLD_SPACE, parseScope(ADA))).toBe(20)
    const after = await engine.recall(ADA, { text: 'which statement' })
    expect(after.retrievers.vector).toMatchObject({ state: 'searched', hits: 20 })
    expect((await engine.status()).index).toMatchObject({
      space: SPACE.signature,
      buildingSpace: null,
      withoutVector: 0,
    })
    await engine.admin.reindex()
    expect(await vectors.spaces()).toMatchObject([{ ...SPACE, vectors: 20 }])
  })

  it('[RA16] where the old model can not be had, the new one answers with what it has', async () => {
    const parts = await open()
    const store = lasting(parts.store)
    const vectors = changed(parts.vectors, { close: async () => {} })
    const old = openEngine({ store, vectors, embedder: createHashingEmbedder({ dimensions: 32 }) })
    await fill(old.engine, 100)
    await old.engine.admin.reindex()
    await old.engine.close()
    let batches = 0
    const embedder = scriptedEmbedder(async ({ texts, purpose, signal }) => {
      if (purpose === 'query' || !texts.some((text) => text.startsWith('statement'))) return
      batches++
      if (batches > 2) await untilAborted(signal)
    })
    const formers = [
      null,
      () => null,
      () => changed(createHashingEmbedder(), { describe: broken('gone') }),
      () => createHashingEmbedder({ dimensions: 16 }),
    ]
    for (const formerEmbedder of formers) {
      const { engine } = openEngine({
        store,
        vectors,
        embedder,
        ...(formerEmbedder === null ? {} : { getFormerEmbedder: formerEmbedder }),
      })
      await engine.recall(ADA, { text: 'which' })
      await until(
        async () => (await engine.recall(ADA, { text: 'which' })).retrievers.vector.hits === 16,
      )
      expect(await engine.recall(ADA, { text: 'statement number 99' })).toMatchObject({
        memories: expect.objectContaining({ length: 10 }),
      })
      expect((await engine.status()).index).toMatchObject({
        space: SPACE.signature,
        buildingSpace: null,
        withoutVector: 84,
      })
      await engine.close()
    }
    const both = (await vectors.spaces()).map(({ signature }) => signature).sort()
    expect(both).toEqual([OLD_SPACE.signature, SPACE.signature])
  })

  it('[RA17] reindexing reports its progress, can be stopped, and resumes', async () => {
    const embedder = scriptedEmbedder()
    const { engine, vectors } = openEngine({ ...(await open()), embedder })
    await fill(engine, 50)
    const stop = new AbortController()
    const onProgress = ({ done }: { done: number }) => {
      if (done >= 24) stop.abort()
    }
    const stopped = engine.admin.reindex({ signal: stop.signal, onProgress })
    await expect(stopped).rejects.toMatchObject({ code: 'cancelled' })
    expect(await vectors.count(SPACE, parseScope(ADA))).toBeGreaterThanOrEqual(24)
    const events: number[] = []
    const status = await engine.admin.reindex({
      onProgress: ({ done, total }) => {
        expect(total).toBe(50)
        events.push(done)
      },
    })
    expect(events).toEqual([...events].sort((a, b) => a - b))
    expect(events.at(-1)).toBe(50)
    expect(status).toMatchObject({ memories: 50, vectors: 50, withoutVector: 0, reason: null })
  })

  it('[RA17] reindexing embeds what is missing, or everything with `all`', async () => {
    const embedder = scriptedEmbedder()
    const { engine } = openEngine({ ...(await open()), embedder })
    await fill(engine, 30)
    await engine.recall(ADA, { text: 'statement' })
    await untilIndexed(engine)
    const embedded = () => embedder.texts().filter((text) => text.startsWith('statement number'))
    const before = embedded().length
    await engine.admin.reindex()
    expect(embedded()).toHaveLength(before)
    expect(await engine.admin.reindex({ force: true })).toMatchObject({
      withoutVector: 0,
      vectors: 30,
    })
    expect(embedded()).toHaveLength(before + 30)
  })

  it('[RA18] closing in the middle of indexing is clean', async () => {
    const embedder = scriptedEmbedder(({ texts, signal }, number) =>
      number > 3 && texts.length > 1 ? untilAborted(signal) : undefined,
    )
    const { engine } = openEngine({ ...(await open()), embedder })
    await fill(engine, 100)
    const reindexing = engine.admin.reindex()
    await engine.recall(ADA, { text: 'statement', timeoutMs: 50 })
    const stopped = expect(reindexing).rejects.toMatchObject({ code: 'cancelled' })
    await engine.close()
    await stopped
  })
})

describe('status', () => {
  it('[RA18] reports how many memories lack a vector, and why', async () => {
    const embedder = scriptedEmbedder(({ purpose }) => {
      if (purpose === 'document') throw new AppError('unavailable', 'The service is down.')
    })
    const { engine } = openEngine({ embedder })
    expect((await engine.status()).index).toMatchObject({
      memories: 0,
      withoutVector: 0,
      reason: null,
    })
    await fill(engine, 3)
    expect((await engine.status()).index).toMatchObject({
      memories: 3,
      vectors: 0,
      withoutVector: 3,
    })
    await engine.recall(ADA, { text: 'statement' })
    expect((await engine.status()).index).toMatchObject({
      memories: 3,
      withoutVector: 3,
      reason: 'The service is down.',
      embedder: { source: 'reference' },
    })
    await expect(engine.admin.reindex()).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('[RA15] questions that come often do not put off the next attempt', async () => {
    let attempts = 0
    const embedder = scriptedEmbedder(({ texts }) => {
      if (!texts.includes('statement number 0')) return
      attempts++
      throw new AppError('unavailable', 'The service is down.')
    })
    const { engine } = openEngine({ embedder })
    await fill(engine, 1)
    await until(async () => {
      await found(engine, 'statement')
      await engine.remember(ADA, { content: 'again', key: 'again' })
      return attempts >= 2
    })
  })
})

it('[RA15] others have their turn between a few memories and the next, however quick the model is', async () => {
  const store = await openSqliteStore({ path: temporaryFile('memory.db'), now: Date.now })
  const { engine } = openEngine({ store, vectors: store.vectors })
  const rows = Array.from({ length: 200 }, (_, n) => memory({ content: `statement number ${n}` }))
  await store.commit(rows.map((row) => ({ op: 'put', table: 'memory', row, expect: 'absent' })))
  let [turns, isDone] = [0, false]
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await engine.admin.reindex()
  isDone = true
  expect(turns).toBeGreaterThanOrEqual(200 / 8)
})

it('[RA15] more than fit into the queue all get their vectors', async () => {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  const rows = Array.from({ length: 10_600 }, (_, n) =>
    memory({ place: ADAS, content: `statement number ${n}` }),
  )
  for (let start = 0; start < rows.length; start += 1_000) {
    await store.commit(
      rows.slice(start, start + 1_000).map((row) => ({
        op: 'put',
        table: 'memory',
        row,
        expect: 'absent',
      })),
    )
  }
  const { engine } = openEngine({
    store,
    vectors: store.vectors,
    embedder: createHashingEmbedder({ dimensions: 16 }),
  })
  await engine.recall(ADA, { text: 'statement' })
  await untilIndexed(engine)
  expect((await engine.status()).index).toMatchObject({ memories: 10_600, vectors: 10_600 })
}, 120_000)

it.skipIf(!existsSync('dist/index.js'))(
  '[RA17] a killed reindexing resumes (skipped when dist is not built)',
  async () => {
    const path = temporaryFile('reindexed.db')
    const store = await openSqliteStore({ path, now: Date.now })
    // A model that fails: what it gave a vector to while the statements come in would be done already.
    const embedder = { ...createHashingEmbedder(), embed: broken('not now') }
    const first = openEngine({ store, vectors: store.vectors, embedder })
    await fill(first.engine, STATEMENTS)
    await first.engine.close()
    let kept = 0
    for (let round = 0; round < 3; round++) {
      await reindexUntilKilled(path, 2)
      const opened = await openSqliteStore({ path, now: Date.now })
      const now = await opened.vectors.count(SPACE, parseScope(ADA))
      expect(now).toBeGreaterThan(kept)
      expect(await opened.checkIntegrity({ repair: false })).toEqual([])
      await opened.close()
      kept = now
    }
    const last = await openSqliteStore({ path, now: Date.now })
    const script = scriptedEmbedder()
    const { engine } = openEngine({ store: last, vectors: last.vectors, embedder: script })
    expect(await engine.admin.reindex()).toMatchObject({ vectors: STATEMENTS, withoutVector: 0 })
    const made = script.texts().filter((text) => text.startsWith('statement number'))
    expect(made).toHaveLength(STATEMENTS - kept)
  },
  60_000,
)

/** So many that the process can't be done before it is killed. */
const STATEMENTS = 240

/** Kills it as soon as it has told of some progress. */
async function reindexUntilKilled(path: string, steps: number): Promise<void> {
  const child = spawn(process.execPath, ['test/faults/reindexer.mjs', path], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'close')
  let lines = 0
  let complaint = ''
  child.stderr.on('data', (text) => {
    complaint += String(text)
  })
  createInterface(child.stdout).on('line', () => {
    lines++
    if (lines === steps) child.kill('SIGKILL')
  })
  await exited
  const ending = `it was killed, rather than done after ${lines} steps (${child.exitCode}) ${complaint}`
  expect(child.signalCode, ending).toBe('SIGKILL')
}
