/** `recollect/testing`: conformance cases for any runner, and an engine for tests. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as kit from '../../src/testing/index.ts'

const BUILT = 'dist/testing/index.js'

const isBuilt = existsSync(BUILT)
/** The suites are bundled with it and share its classes. */
const built: typeof kit = isBuilt ? await import(resolve(BUILT)) : kit

describe.skipIf(!isBuilt)('conformance cases (skipped when dist is not built)', () => {
  it('[TK1] pass for the in-memory implementations, without a test runner', async () => {
    const cases = [
      ...(await built.listStoreCases(async () => built.createInMemoryStore())),
      ...(await built.listVectorIndexCases(async () => {
        const store = built.createInMemoryStore()
        const vectors = built.createInMemoryVectorIndex(store)
        return { store, vectors, close: () => store.close() }
      })),
      ...(await built.listEmbedderCases(async () => built.createHashingEmbedder())),
    ]
    expect(cases.length).toBeGreaterThan(150)
    expect(await failuresOf(cases)).toEqual([])
  })

  it('[TK2] fail for a store that loses data', async () => {
    const cases = await built.listStoreCases(async () => {
      const store = built.createInMemoryStore()
      return { ...store, get: async () => null, close: () => store.close() }
    })
    const failures = await failuresOf(cases.filter(({ name }) => name.includes('rows')))
    expect(failures.some((name) => name.includes('[ST1]'))).toBe(true)
  })

  it('[TK1] are listed for rerankers as well', async () => {
    const cases = await built.listRerankerCases(async () => {
      throw new Error('not opened while cases are listed')
    })
    expect(cases.length).toBeGreaterThan(5)
  })
})

it('[TK3] a test engine gives the same ids and times in every run', async () => {
  const run = async () => {
    const clock = new kit.FakeClock()
    const engine = kit.createTestEngine({ clock })
    await engine.remember({ owner: 'ada' }, { content: 'I live in Paris.' })
    clock.advance(1_000)
    const moved = await engine.remember({ owner: 'ada' }, { content: 'I live in Rome now.' })
    const { memories } = await engine.recall({ owner: 'ada' }, { text: 'Where do I live?' })
    await engine.close()
    return { outcome: moved.outcome, memories }
  }
  const first = await run()
  expect(first.outcome).toBe('supersede')
  expect(first.memories.length).toBeGreaterThan(0)
  expect(await run()).toEqual(first)
})

async function failuresOf(cases: readonly kit.ConformanceCase[]): Promise<readonly string[]> {
  const failures: string[] = []
  for (const { name, run } of cases) await run().catch(() => failures.push(name))
  return failures
}
