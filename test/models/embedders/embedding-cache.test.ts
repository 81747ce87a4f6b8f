import { describe, expect, it } from 'vitest'
import { withMemoryCache } from '../../../src/models/embedders/embedding-memory-cache.ts'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { describeEmbedder } from '../../conformance/models/embedder.suite.ts'
import { FakeClock } from '../../fakes/clock.ts'
import { gate, scriptedEmbedder, untilAborted } from '../../fakes/embedder.ts'
import { embedAll, errorOf, expected, notes, unavailable } from './embedder-support.ts'

describeEmbedder('cached', async () =>
  withMemoryCache(createHashingEmbedder(), { clock: new FakeClock() }),
)
describeEmbedder('cached for two texts', async () =>
  withMemoryCache(createHashingEmbedder(), { clock: new FakeClock(), entriesMax: 2 }),
)
describeEmbedder('cache turned off', async () =>
  withMemoryCache(createHashingEmbedder(), { clock: new FakeClock(), entriesMax: 0 }),
)

describe('the cache in memory', () => {
  it('[EM10] embeds a text once, and counts', async () => {
    const source = scriptedEmbedder()
    const embedder = withMemoryCache(source, { clock: new FakeClock() })
    const texts = ['kites', 'boats', 'kites']
    expect(await embedAll(embedder, texts)).toEqual(await expected(texts))
    expect(await embedAll(embedder, ['boats', 'trains'])).toEqual(
      await expected(['boats', 'trains']),
    )
    expect(source.texts()).toEqual(['kites', 'boats', 'trains'])
    expect(embedder.report().facts).toMatchObject({ cacheHits: 2, cacheMisses: 3, cacheSize: 3 })
  })

  it('[EM10] forgets what was not used for longest', async () => {
    const source = scriptedEmbedder()
    const embedder = withMemoryCache(source, { clock: new FakeClock(), entriesMax: 2 })
    for (const text of ['kites', 'boats', 'kites', 'trains', 'kites', 'boats']) {
      await embedAll(embedder, [text])
    }
    expect(source.texts()).toEqual(['kites', 'boats', 'trains', 'boats'])
    expect(embedder.report().facts.cacheSize).toBe(2)
  })

  it('[EM10] answers a call that has more texts than it may keep', async () => {
    const embedder = withMemoryCache(createHashingEmbedder(), {
      clock: new FakeClock(),
      entriesMax: 3,
    })
    expect(await embedAll(embedder, notes(10))).toEqual(await expected(notes(10)))
    expect(embedder.report().facts.cacheSize).toBe(3)
  })

  it('[EM10] evicts expired vectors, however often they are used', async () => {
    const clock = new FakeClock()
    const source = scriptedEmbedder()
    const embedder = withMemoryCache(source, { clock, ttlMs: 1_000 })
    for (let step = 0; step < 4; step++) {
      await embedAll(embedder, ['kites'])
      clock.advance(400)
    }
    expect(source.calls.length).toBe(2)
  })

  it.each([{ entriesMax: 0 }, { ttlMs: 0 }])('[EM10] can be turned off with %o', async (off) => {
    const source = scriptedEmbedder()
    const embedder = withMemoryCache(source, { clock: new FakeClock(), ...off })
    await embedAll(embedder, ['kites'])
    await embedAll(embedder, ['kites'])
    expect(source.calls.length).toBe(2)
  })

  it('[EM10] distinguishes purposes where the source does', async () => {
    for (const purposeMatters of [true, false]) {
      const source = scriptedEmbedder()
      const embedder = withMemoryCache(source, {
        clock: new FakeClock(),
        isPurposeSpecific: purposeMatters,
      })
      for (const purpose of ['query', 'document', 'query', 'document'] as const) {
        await embedder.embed(['kites'], { purpose })
      }
      const requests = source.calls.map((call) => call.purpose)
      expect(requests).toEqual(purposeMatters ? ['query', 'document'] : ['query'])
    }
  })

  it('[EM10] distinguishes texts that differ only in a lone surrogate', async () => {
    const source = scriptedEmbedder()
    const embedder = withMemoryCache(source, { clock: new FakeClock() })
    await embedAll(embedder, ['\ud83d', '\ud83e', '\ufffd'])
    expect(source.texts().length).toBe(3)
  })

  it('[EM10] does not remember failures', async () => {
    const source = scriptedEmbedder((_, number) => {
      if (number === 1) throw unavailable()
    })
    const embedder = withMemoryCache(source, { clock: new FakeClock() })
    expect((await errorOf(embedAll(embedder, ['kites']))).code).toBe('unavailable')
    expect(await embedAll(embedder, ['kites'])).toEqual(await expected(['kites']))
  })
})

describe('equal texts at the same time', () => {
  it('[EM10] are embedded once', async () => {
    const source = scriptedEmbedder()
    const embedder = withMemoryCache(source, { clock: new FakeClock() })
    const lists = [['kites'], ['kites', 'boats'], ['boats', 'trains', 'kites'], ['trains']]
    const answers = await Promise.all(lists.map((texts) => embedAll(embedder, texts)))
    for (const [at, texts] of lists.entries()) expect(answers[at]).toEqual(await expected(texts))
    expect([...source.texts()].sort()).toEqual(['boats', 'kites', 'trains'])
  })

  it('[EM3] are still answered when the first caller aborts', async () => {
    const { opened, open } = gate()
    const source = scriptedEmbedder(() => opened)
    const embedder = withMemoryCache(source, { clock: new FakeClock() })
    await embedder.describe()
    const controller = new AbortController()
    const { signal } = controller
    const first = embedder.embed(['kites'], { purpose: 'document', signal })
    const second = embedAll(embedder, ['kites'])
    await Promise.resolve()
    controller.abort()
    expect((await errorOf(first)).code).toBe('cancelled')
    open()
    expect(await second).toEqual(await expected(['kites']))
    expect(source.calls.length).toBe(1)
  })

  it('[EM3] are cancelled when all callers abort, and embedded again by the next', async () => {
    const source = scriptedEmbedder(({ signal }, number) =>
      number === 1 ? untilAborted(signal) : undefined,
    )
    const embedder = withMemoryCache(source, { clock: new FakeClock() })
    const controller = new AbortController()
    const { signal } = controller
    const calls = [1, 2].map(() => embedder.embed(['kites'], { purpose: 'document', signal }))
    await new Promise(setImmediate)
    controller.abort()
    for (const call of calls) expect((await errorOf(call)).code).toBe('cancelled')
    expect(source.calls[0]?.signal?.aborted).toBe(true)
    expect(await embedAll(embedder, ['kites'])).toEqual(await expected(['kites']))
    expect(source.calls.length).toBe(2)
  })

  it('[EM10] are embedded again when they failed in a batch', async () => {
    const { opened, open } = gate()
    const source = scriptedEmbedder(async ({ texts }) => {
      if (!texts.includes('bad')) return
      await opened
      throw unavailable()
    })
    const embedder = withMemoryCache(source, { clock: new FakeClock() })
    const first = embedAll(embedder, ['kites', 'bad'])
    const second = embedAll(embedder, ['kites'])
    await new Promise(setImmediate)
    open()
    expect((await errorOf(first)).code).toBe('unavailable')
    expect(await second).toEqual(await expected(['kites']))
  })
})
