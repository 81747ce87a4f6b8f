import { expect, it } from 'vitest'
import type { OwnerId } from '../../../domain/ids.ts'
import type { PostgresDatabase, QueryFunction, QueryRunner } from '../connection/postgres-driver.ts'
import { createIdentifiers } from '../schema/identifiers.ts'
import { createAnnIndexes } from './ann-indexes.ts'
import type { PgvectorFormat } from './vector-format.ts'

const SUBJECT = { owner: 'ada' as OwnerId, kind: 'memory' } as const // any string is a valid owner
const KEPT = { number: 1, dimensions: 8, column: 'exact' } as const

/** A server where every owner is large and every index build fails until it is healed. */
function server() {
  const state = { isWell: false, builds: 0, missing: 0 }
  const query = (async () => [{ missing: String(state.missing) }]) as unknown as QueryFunction // the only result that is read
  const database = {
    runOnOwnConnection: async (work: (query: QueryFunction) => Promise<unknown>) => {
      state.builds++
      if (!state.isWell) throw new Error('out of memory')
      return work((async () => []) as unknown as QueryFunction) // another session holds the lock
    },
  } as unknown as PostgresDatabase // only the methods under test
  const runner = { query } as unknown as QueryRunner
  const format: PgvectorFormat = {
    ...{ kind: 'pgvector', extensionSchema: 'public', version: '0.8.0' },
    ...{ hasHalfPrecision: true, hasIterativeScan: true, quantizedType: 'halfvec' },
  }
  return {
    state,
    tables: { database, names: createIdentifiers('x'), format, runnerFor: () => runner },
  }
}

it('[VI33] an index that could not be built is tried again, after twice as long each time', async () => {
  const { state, tables } = server()
  let now = 0
  const indexes = createAnnIndexes(tables, 10, { now: () => now, writePauseMs: 0 })
  const grow = async () => {
    await indexes.buildIfDue(KEPT, SUBJECT, 1)
    await expect.poll(() => indexes.report().indexBuildsRunning).toBe(0)
    return state.builds
  }
  expect(await grow()).toBe(1)
  expect(indexes.report()).toMatchObject({ indexBuildError: 'out of memory' })
  now += 59_999
  expect(await grow()).toBe(1)
  now += 1
  expect(await grow()).toBe(2)
  now += 60_000
  expect(await grow()).toBe(2)
  now += 60_000
  state.isWell = true
  expect(await grow()).toBe(3)
  expect(indexes.report()).toEqual({ indexBuildsRunning: 0 })
})

it('[VI33] counts again only when the owner may have become large', async () => {
  const { state, tables } = server()
  let now = 0
  let counts = 0
  const runner = tables.runnerFor()
  const counted = {
    ...tables,
    runnerFor: () => ({
      ...runner,
      query: ((...args: Parameters<QueryFunction>) => {
        counts++
        return runner.query(...args)
      }) as QueryFunction, // counts and passes on
    }),
  }
  const indexes = createAnnIndexes(counted, 100, { now: () => now, writePauseMs: 0 })
  state.missing = 50
  for (const written of [10, 20, 29]) await indexes.buildIfDue(KEPT, SUBJECT, written)
  expect(counts).toBe(1)
  await indexes.buildIfDue(KEPT, SUBJECT, 1)
  expect(counts).toBe(2)
  now += 60_000
  await indexes.buildIfDue(KEPT, SUBJECT, 1)
  expect(counts).toBe(3)
  expect(state.builds).toBe(0)
})

it('[VI33] builds an index when writes pause', async () => {
  const { state, tables } = server()
  let now = 0
  const indexes = createAnnIndexes(tables, 10, { now: () => now, writePauseMs: 50 })
  await indexes.buildIfDue(KEPT, SUBJECT, 1)
  now += 49
  await indexes.buildIfDue(KEPT, SUBJECT, 1)
  now += 49
  expect(indexes.report()).toMatchObject({ indexBuildsRunning: 1 })
  expect(state.builds).toBe(0)
  now += 1
  await expect.poll(() => state.builds).toBe(1)
})
