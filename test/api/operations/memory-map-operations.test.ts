/** Memories seen from afar: the vectors of a map, what memories name, and how many there are a day. */
import { expect, it } from 'vitest'
import { AppError } from '../../../src/lib/errors.ts'
import { innerProduct } from '../../../src/lib/vector-math.ts'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { openContext } from './operation-support.ts'

const HOUR_MS = 3_600_000
const ADA = { owner: 'ada' }
const SAID = ['I prefer green tea', 'My sister lives in Porto', 'The launch is in March']

type Placed = {
  readonly memories: readonly {
    readonly id: string
    readonly content: string
    readonly vector: string | null
  }[]
}

it('[SM1] returns each memory with its vector as bytes, newest first', async () => {
  const embedder = createHashingEmbedder()
  const { engine, call } = openContext({}, embedder)
  for (const content of SAID) await engine.remember(ADA, { content })
  await engine.admin.reindex()
  const result = (await call('memory.vectors', {})) as Placed
  expect(result).toMatchObject({ dimensions: 64, isComplete: true, reason: null })
  expect(result.memories.map(({ content }) => content)).toEqual([...SAID].reverse())
  for (const { content, vector } of result.memories) {
    const bytes = new Int8Array(Buffer.from(vector ?? '', 'base64'))
    const [kept = new Float32Array()] = await embedder.embed([content], { purpose: 'document' })
    const drawn = Float32Array.from(bytes)
    const cosine = innerProduct(drawn, kept) / Math.sqrt(innerProduct(drawn, drawn))
    expect(cosine).toBeGreaterThan(0.999)
  }
  expect(await call('memory.vectors', { limit: 2 })).toMatchObject({
    memories: [{ content: SAID[2] }, { content: SAID[1] }],
    isComplete: false,
  })
  await expect(call('memory.vectors', { limit: 5_001 })).rejects.toMatchObject({
    details: [{ field: 'limit' }],
  })
})

it('[SM10] reports whether a memory has a vector, and if not, why', async () => {
  const { engine, call } = openContext({}, createHashingEmbedder())
  const { memory } = await engine.remember(ADA, { content: 'I prefer green tea' })
  await engine.admin.reindex()
  const { id } = memory
  const has = { hasVector: true, dimensions: 64, reason: null }
  expect(await call('memory.vector', { id })).toEqual(has)
  await expect(call('memory.vector', { id, owner: 'bo' })).rejects.toMatchObject({
    code: 'not_found',
  })
  await expect(call('memory.vector', { id: 'mem_nowhere' })).rejects.toMatchObject({
    code: 'not_found',
  })
})

it('[SM1] returns memories that are not embedded without a vector', async () => {
  let isWorking = true
  const inner = createHashingEmbedder()
  const { engine, call } = openContext(
    {},
    {
      ...inner,
      embed: (texts, options) => {
        if (!isWorking) throw new AppError('unavailable', 'The service is down.')
        return inner.embed(texts, options)
      },
    },
  )
  await engine.remember(ADA, { content: 'I prefer green tea' })
  await engine.admin.reindex()
  isWorking = false
  await engine.remember(ADA, { content: 'My sister lives in Porto' })
  expect(await call('memory.vectors', {})).toMatchObject({
    memories: [{ vector: null }, { vector: expect.any(String) }],
    reason: null,
  })
})

it('[SM1] without a model, or with one that fails, the memories come with the reason', async () => {
  const without = openContext()
  await without.engine.remember(ADA, { content: 'I prefer green tea' })
  expect(await without.call('memory.vectors', {})).toMatchObject({
    memories: [{ content: 'I prefer green tea', vector: null }],
    dimensions: null,
    reason: 'There is no embedding model.',
  })
  const broken = openContext(
    {},
    {
      ...createHashingEmbedder(),
      describe: async () => {
        throw new AppError('unavailable', 'The model file is damaged.')
      },
    },
  )
  await broken.engine.remember(ADA, { content: 'I prefer green tea' })
  expect(await broken.call('memory.vectors', {})).toMatchObject({
    memories: [{ vector: null }],
    reason: 'The model file is damaged.',
  })
})

it('[SM2] entities are counted by the memories that name them', async () => {
  const { engine, call } = openContext()
  const said: readonly (readonly [string, readonly string[]])[] = [
    ['Ana lives in Porto', ['ana', 'Porto']],
    ['Ana and Bo are married', ['Ana', 'Bo', 'ANA']],
    ['Ana flies to Porto', ['Ana', 'porto']],
    ['Nothing in particular', []],
  ]
  for (const [content, entities] of said) await engine.remember(ADA, { content, entities })
  expect(await call('memory.entities', {})).toEqual({
    entities: [
      { name: 'Ana', memories: 3 },
      { name: 'porto', memories: 2 },
      { name: 'Bo', memories: 1 },
    ],
    memories: [
      expect.objectContaining({ content: 'Ana flies to Porto', entities: [0, 1] }),
      expect.objectContaining({ content: 'Ana and Bo are married', entities: [0, 2] }),
      expect.objectContaining({ content: 'Ana lives in Porto', entities: [0, 1] }),
    ],
    total: 3,
    isComplete: true,
  })
  const most = await call('memory.entities', { limit: 1 })
  expect(most).toMatchObject({ entities: [{ name: 'Ana' }], total: 3 })
  expect(await call('memory.entities', { memories: 2 })).toMatchObject({
    entities: [{ name: 'Ana' }, { name: 'porto' }],
    isComplete: false,
  })
})

it('[SM3] days count memories and digests, where the caller is', async () => {
  const { engine, call, clock } = openContext()
  // 22:13 in UTC on 14 November 2023: three hours later it is the next day there, but not in New York.
  await engine.remember(ADA, { content: 'I prefer green tea' })
  clock.advance(3 * HOUR_MS)
  await engine.remember(ADA, { content: 'My sister lives in Porto' })
  await engine.remember(ADA, {
    ...{ content: 'Ada planned a trip.', category: 'episode' },
    validFrom: clock.now() - 48 * HOUR_MS,
  })
  expect(await call('memory.countsByDay', {})).toEqual({
    days: [
      { day: '2023-11-13', episodes: 1, memories: 0 },
      { day: '2023-11-14', episodes: 0, memories: 1 },
      { day: '2023-11-15', episodes: 0, memories: 1 },
    ],
    isComplete: true,
  })
  expect(await call('memory.countsByDay', { timeZone: 'America/New_York' })).toMatchObject({
    days: [
      { day: '2023-11-12', episodes: 1, memories: 0 },
      { day: '2023-11-14', episodes: 0, memories: 2 },
    ],
  })
  const span = { from: '2023-11-14T00:00:00Z', to: '2023-11-15T00:00:00Z' }
  expect(await call('memory.countsByDay', span)).toMatchObject({
    days: [{ day: '2023-11-14', episodes: 0, memories: 1 }],
  })
  await expect(call('memory.countsByDay', { timeZone: 'Mars/Olympus' })).rejects.toMatchObject({
    code: 'invalid_input',
  })
})

it('[SM4] other owners’ memories and those out of use are in no overview', async () => {
  const { engine, call } = openContext()
  const entities = ['Porto']
  const { memory: gone } = await engine.remember(ADA, { content: 'Ana was in Porto', entities })
  const { memory: off } = await engine.remember(ADA, { content: 'Bo sails to Porto', entities })
  await engine.forget(ADA, gone.id)
  await engine.memories.disable(ADA, off.id)
  await engine.remember({ owner: 'bob' }, { content: 'Porto is rainy', entities })
  expect(await call('memory.vectors', {})).toMatchObject({ memories: [] })
  expect(await call('memory.entities', {})).toMatchObject({ entities: [], memories: [], total: 0 })
  expect(await call('memory.countsByDay', {})).toMatchObject({ days: [] })
  for (const name of ['memory.vectors', 'memory.entities', 'memory.countsByDay']) {
    await expect(
      call(name, { owner: 'bob' }, { role: 'user', home: 'ada' }),
      name,
    ).rejects.toMatchObject({ code: 'not_found' })
  }
})
