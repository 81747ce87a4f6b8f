/** Vectors that outlive the process, and everything that may befall their file. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openEmbedder } from '../../../src/app/models/model-selection.ts'
import { systemClock } from '../../../src/app/system-clock.ts'
import {
  type EmbeddingCache,
  withEmbeddingCache,
} from '../../../src/models/embedders/embedding-cache.ts'
import { hashAccount } from '../../../src/models/embedders/embedding-cache-key.ts'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { openSqliteEmbeddingCache } from '../../../src/models/embedders/sqlite-embedding-cache.ts'
import { describeEmbedder } from '../../conformance/models/embedder.suite.ts'
import { FakeClock } from '../../fakes/clock.ts'
import { scriptedEmbedder } from '../../fakes/embedder.ts'
import { child } from '../../faults/sqlite-support.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { embedAll, expected, notes } from './embedder-support.ts'

const clock = systemClock
const API_KEY = 'sk-very-secret'
const account = hashAccount('https://example.org')

function cacheAt(
  path: string,
  options: { readonly bytesMax?: number; readonly clock?: FakeClock } = {},
) {
  const cache = openSqliteEmbeddingCache({ path, clock, ...options })
  onTestFinished(() => cache.close())
  return cache
}

function keptAt(path: string) {
  const source = scriptedEmbedder()
  const embedder = withEmbeddingCache(source, { cache: cacheAt(path), account })
  return { source, embedder, facts: () => embedder.report().facts }
}

/** Everything it wrote, once it has ended and all of it has arrived. */
function outputOf(process: ReturnType<typeof child>): Promise<string> {
  let output = ''
  process.stdout?.on('data', (chunk) => {
    output += chunk
  })
  return new Promise((resolve) => process.once('close', () => resolve(output)))
}

const keyOf = (number: number) => number.toString(16).padStart(64, '0')
const entriesOf = (first: number, count: number, dimensions = 1_024) =>
  Array.from({ length: count }, (_, index) => ({
    key: keyOf(first + index),
    vector: new Float32Array(dimensions).fill(first + index),
  }))

describeEmbedder('persisted', async () =>
  withEmbeddingCache(createHashingEmbedder(), {
    cache: openSqliteEmbeddingCache({ path: temporaryFile('vectors.db'), clock }),
    account,
  }),
)

describe('the cache file', () => {
  it('[EM11] answers for texts that were embedded before it was closed', async () => {
    const path = temporaryFile('vectors.db')
    const first = keptAt(path)
    const texts = [...notes(20), 'Note number 3 about kites', '\ud83d', '\ud83e']
    expect(await embedAll(first.embedder, texts)).toEqual(await expected(texts))
    expect(first.source.texts().length).toBe(22)
    await first.embedder.close()

    const second = keptAt(path)
    expect(await embedAll(second.embedder, texts)).toEqual(await expected(texts))
    expect(second.source.calls).toEqual([])
    expect(second.facts()).toMatchObject({
      persistentCacheHits: 22,
      persistentCacheMisses: 0,
      cacheFile: 'in use',
    })
  })

  it('[EM11] embeds only missing texts', async () => {
    const { embedder, source } = keptAt(temporaryFile('vectors.db'))
    await embedAll(embedder, ['kites'])
    const texts = ['boats', 'kites', 'trains']
    expect(await embedAll(embedder, texts)).toEqual(await expected(texts))
    expect(source.texts()).toEqual(['kites', 'boats', 'trains'])
  })

  it('[EM11] distinguishes addresses, models and purposes', async () => {
    const cache = cacheAt(temporaryFile('vectors.db'))
    const source = scriptedEmbedder()
    const ask = async (
      options: { account: string; isPurposeSpecific?: boolean },
      dimensions = 64,
    ) => {
      const inner = { ...source, describe: () => createHashingEmbedder({ dimensions }).describe() }
      await withEmbeddingCache(inner, { cache, ...options }).embed(['kites'], { purpose: 'query' })
      return source.calls.length
    }
    expect(await ask({ account })).toBe(1)
    expect(await ask({ account })).toBe(1)
    expect(await ask({ account: hashAccount('https://example.com') })).toBe(2)
    expect(await ask({ account }, 65)).toBe(3)
    expect(await ask({ account, isPurposeSpecific: false })).toBe(4)
    await withEmbeddingCache(source, { cache, account }).embed(['kites'], { purpose: 'document' })
    expect(source.calls.length).toBe(5)
    await withEmbeddingCache(source, { cache, account, isPurposeSpecific: false }).embed(
      ['kites'],
      {
        purpose: 'document',
      },
    )
    expect(source.calls.length).toBe(5)
  })

  it('[EM11] holds neither texts nor keys, and is for its owner only', async () => {
    const path = temporaryFile('vectors.db')
    const { embedder } = keptAt(path)
    await embedAll(embedder, ['My PIN is 4711'])
    await embedder.close()
    const bytes = readFileSync(path).toString('latin1')
    expect(bytes).toContain('SQLite')
    expect(bytes).not.toContain('4711')
    expect(bytes).not.toContain(API_KEY)
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o077).toBe(0)
  })

  it('[EM11] stays within its bytes and keeps recently used vectors', async () => {
    const fake = new FakeClock()
    const path = temporaryFile('vectors.db')
    const bytesMax = 4 * 1024 * 1024
    const cache = cacheAt(path, { bytesMax, clock: fake })
    for (let first = 0; first < 3_000; first += 100) {
      await cache.put(entriesOf(first, 100))
      fake.advance(1_000_000)
      expect((await cache.get([keyOf(0)])).size).toBe(1)
      expect(cache.report().cacheFileBytes).toBeLessThanOrEqual(bytesMax)
    }
    expect(cache.report().cacheFileEvictions).toBeGreaterThan(1_000)
    const stored = await cache.get(Array.from({ length: 3_000 }, (_, number) => keyOf(number)))
    expect(stored.size).toBeGreaterThan(500)
    expect([...stored.keys()]).toContain(keyOf(2_999))
    expect([...stored.keys()]).not.toContain(keyOf(1))
    for (const [key, vector] of stored) expect(vector[0]).toBe(Number.parseInt(key, 16))
    await cache.close()
    expect(statSync(path).size).toBeLessThan(2 * bytesMax)
  })

  it('[EM11] can be emptied', async () => {
    const cache = cacheAt(temporaryFile('vectors.db'))
    await cache.put(entriesOf(0, 50))
    await cache.clear()
    expect((await cache.get([keyOf(0), keyOf(49)])).size).toBe(0)
    await cache.put(entriesOf(0, 1))
    expect((await cache.get([keyOf(0)])).size).toBe(1)
  })

  it('[EM11] is shared by several processes', async () => {
    const path = temporaryFile('vectors.db')
    const writers = [1, 2].map((writer) =>
      child('embedding-cache.child.ts', { path, writer, rounds: 200 }),
    )
    for (const output of await Promise.all(writers.map(outputOf))) {
      expect(JSON.parse(output)).toEqual({ right: 200, failed: 0 })
    }
    expect(existsSync(`${path}.damaged`)).toBe(false)
  })
})

describe('a cache that fails', () => {
  it('[EM12] is moved aside and recreated when it is no database', async () => {
    const path = temporaryFile('vectors.db')
    writeFileSync(path, 'This is a shopping list. '.repeat(1_000))
    const { embedder, source, facts } = keptAt(path)
    expect(await embedAll(embedder, ['kites'])).toEqual(await expected(['kites']))
    await embedAll(embedder, ['kites'])
    expect(source.calls.length).toBe(1)
    expect(readFileSync(`${path}.damaged`, 'utf8')).toContain('shopping')
    expect(facts().cacheFile).toMatch(/begun anew.*vectors\.db\.damaged/)
    expect(facts().persistentCacheFailures).toBe(0)
  })

  it('[EM12] is put aside when it is the database of another program', async () => {
    const path = temporaryFile('vectors.db')
    const { DatabaseSync } = await import('@photostructure/sqlite')
    const foreign = new DatabaseSync(path)
    foreign.exec('CREATE TABLE recipe (name TEXT)')
    foreign.close()
    const { embedder, facts } = keptAt(path)
    await embedAll(embedder, ['kites'])
    expect(existsSync(`${path}.damaged`)).toBe(true)
    expect(facts().cacheFile).toMatch(/begun anew/)
  })

  it('[EM12] never gives a wrong vector after its pages were damaged', async () => {
    for (const [from, share] of [
      [4_096, 1],
      [8_192, 0.5],
      [100, 0.2],
    ] as const) {
      const path = temporaryFile('vectors.db')
      const texts = notes(400)
      const first = keptAt(path)
      await embedAll(first.embedder, texts)
      await first.embedder.close()
      const bytes = readFileSync(path)
      const end = from + (bytes.length - from) * share
      for (let at = from; at < end; at++) bytes[at] = (at * 2_654_435_761) >>> 24
      writeFileSync(path, bytes)

      const second = keptAt(path)
      expect(await embedAll(second.embedder, texts)).toEqual(await expected(texts))
      expect(await embedAll(second.embedder, texts)).toEqual(await expected(texts))
      await second.embedder.close()
    }
  })

  it('[EM12] keeps the file that another process has recreated', async () => {
    const path = temporaryFile('vectors.db')
    writeFileSync(path, 'This is a shopping list. '.repeat(1_000))
    const [one, other] = [keptAt(path), keptAt(path)]
    await Promise.all([embedAll(one.embedder, ['kites']), embedAll(other.embedder, ['boats'])])
    await Promise.all([embedAll(one.embedder, ['boats']), embedAll(other.embedder, ['kites'])])
    expect(one.source.texts()).toEqual(['kites'])
    expect(other.source.texts()).toEqual(['boats'])
    expect(readFileSync(`${path}.damaged`, 'utf8')).toContain('shopping')
  })

  it('[EM12] does not fail an embedding when there is no place for its file', async () => {
    const file = temporaryFile('in-the-way')
    writeFileSync(file, '')
    const { embedder, facts } = keptAt(`${file}/vectors.db`)
    expect(await embedAll(embedder, ['kites'])).toEqual(await expected(['kites']))
    expect(facts().persistentCacheFailures).toBe(2)
    expect(facts().persistentCacheError).toBeTypeOf('string')
    expect(embedder.report().state).toEqual({ kind: 'ready' })
  })

  it('[EM12] does not fail an embedding while another process keeps it locked', async () => {
    const path = temporaryFile('vectors.db')
    const { embedder, facts } = keptAt(path)
    await embedAll(embedder, ['kites'])
    const { DatabaseSync } = await import('@photostructure/sqlite')
    const holder = new DatabaseSync(path)
    holder.exec('BEGIN IMMEDIATE')
    expect(await embedAll(embedder, ['kites', 'boats'])).toEqual(await expected(['kites', 'boats']))
    expect(facts()).toMatchObject({ persistentCacheHits: 1, persistentCacheFailures: 1 })
    holder.exec('ROLLBACK')
    holder.close()
    await embedAll(embedder, ['trains'])
    expect(facts()).not.toHaveProperty('persistentCacheError')
  })

  it('[EM12] no failure of the cache fails an embedding', async () => {
    const broken: EmbeddingCache = {
      get: async () => {
        throw new Error('bad sector')
      },
      put: () => {
        throw new Error('bad sector')
      },
      clear: async () => {},
      report: () => ({}),
      close: async () => {
        throw new Error('bad sector')
      },
    }
    const embedder = withEmbeddingCache(createHashingEmbedder(), { cache: broken, account })
    expect(await embedAll(embedder, ['kites'])).toEqual(await expected(['kites']))
    expect(embedder.report().facts).toMatchObject({ persistentCacheError: 'bad sector' })
    await embedder.close()
  })

  it('[EM12] is not believed when its vectors are not of length one, or of another size', async () => {
    for (const vector of [
      new Float32Array(64),
      new Float32Array(64).fill(Number.NaN),
      new Float32Array(64).fill(1),
      Float32Array.of(1),
    ]) {
      const lying: EmbeddingCache = {
        get: async (keys) => new Map(keys.map((key) => [key, vector])),
        put: async () => {},
        clear: async () => {},
        report: () => ({}),
        close: async () => {},
      }
      const embedder = withEmbeddingCache(createHashingEmbedder(), { cache: lying, account })
      expect(await embedAll(embedder, ['kites'])).toEqual(await expected(['kites']))
    }
  })
})

it('[EM11] the file may grow to the configured size', async () => {
  const texts = Array.from({ length: 400 }, (_, n) => `text number ${n}`)
  const evictedWith = async (cacheFileBytesMax: number) => {
    const cacheFile = temporaryFile('vectors.db')
    const options = { source: 'static', cacheFile, cachesLocal: true, cacheFileBytesMax } as const
    const embedder = openEmbedder(options)
    await embedder?.embed(texts, { purpose: 'document' })
    const evicted = embedder?.report().facts.cacheFileEvictions
    await embedder?.close()
    return evicted
  }
  expect(await evictedWith(2 ** 24)).toBe(0)
  expect(await evictedWith(2 ** 18)).toBeGreaterThan(0)
})
