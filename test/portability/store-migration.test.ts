/** Moving everything from one store to another, while somebody writes to the old one. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toTurnDocument } from '../../src/domain/search-document.ts'
import { assertMigrationComplete } from '../../src/portability/store-migration/migration-marker.ts'
import {
  type MigratableStore,
  migrateStore,
  type StoreMigrationTarget,
  undoMigration,
} from '../../src/portability/store-migration/store-migration.ts'
import { openPostgresStore } from '../../src/storage/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Change } from '../../src/storage/store.ts'
import { turn } from '../fakes/entries.ts'
import { BOB, memory, memoryId } from '../fakes/memories.ts'
import { entry as vectorEntry } from '../fakes/vectors.ts'
import {
  freshSchema,
  openFreshStore,
  type PostgresServer,
  startPglite,
  startServer,
} from '../support/postgres-servers.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { repetitions } from '../support/thoroughness.ts'
import {
  commitIfFree,
  contents,
  embedAll,
  expectMoved,
  history,
  interrupted,
  SPACE,
  vectorsOf,
} from './store-migration-support.ts'

type Ends = {
  readonly source: MigratableStore
  /** Another process on the same data. */
  readonly beside: MigratableStore
  readonly target: StoreMigrationTarget
}
const now = () => 1_000

async function sqliteSource(): Promise<Pick<Ends, 'source' | 'beside'>> {
  const path = temporaryFile('old.db')
  const source = await openSqliteStore({ path, now })
  return { source, beside: await openSqliteStore({ path, now, busyTimeoutMs: 0 }) }
}

function sqliteTarget(): Promise<StoreMigrationTarget> {
  return openSqliteStore({ path: ':memory:', now })
}

const put = (row: ReturnType<typeof memory>): Change => ({
  ...{ op: 'put', table: 'memory', row },
  expect: 'any',
})

async function close({ source, beside, target }: Ends): Promise<void> {
  for (const store of [beside, source, target]) await store.close()
}

/** Half of the history is there before, half comes while it is moved. */
async function moveHistory(ends: Ends, commits: readonly (readonly Change[])[]): Promise<void> {
  const { source, beside, target } = ends
  const half = Math.floor(commits.length / 2)
  for (const changes of commits.slice(0, half)) await source.commit(changes)
  await embedAll(source)
  const rest = [...commits.slice(half)]
  const meanwhile = async () => {
    const changes = rest.shift()
    if (changes === undefined) return
    await commitIfFree(beside, changes)
    if (rest.length % 3 === 0) await embedAll(beside).catch(() => {})
  }
  const { writeFreezeMs: heldMs } = await migrateStore({
    source,
    target: interrupted(target, meanwhile),
    now,
  })
  expect(heldMs).toEqual(expect.any(Number))
  await expectMoved(source, target)
}

function describeMoves(open: () => Promise<Ends>, runs: number): void {
  it('[MH1] turns are found by keyword and vector search in the target', async () => {
    const ends = await open()
    const { source, target } = ends
    const row = turn({ content: 'The zeppelin lands in Lisbon.' })
    const said = toTurnDocument(row)
    await source.commit([
      { op: 'put', table: 'turn', row, expect: 'absent' },
      put(memory({ content: 'I like zeppelins' })),
    ])
    const vector = Float32Array.of(0, 0.6, 0.8)
    await source.vectors?.put(SPACE, [vectorEntry(said, vector)])
    await migrateStore({ source, target, now })
    const where = { types: ['turn'] } as const
    const { hits } = await target.searchText(said.place, { text: 'zeppelin', limit: 5, where })
    expect(hits.map(({ id }) => id)).toEqual([said.id])
    const nearest = await target.vectors?.search(SPACE, said.place, { vector, limit: 5, where })
    expect(nearest?.map(({ id }) => id)).toEqual([said.id])
    await expectMoved(source, target)
    await close(ends)
  })

  it('[MH1] any writes during the migration leave both stores equal', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (commits) => {
        const ends = await open()
        await moveHistory(ends, commits)
        await close(ends)
      }),
      { numRuns: runs },
    )
  }, 600_000)
}

describe('from a file to a file', () => {
  describeMoves(
    async () => ({ ...(await sqliteSource()), target: await sqliteTarget() }),
    repetitions({ usual: 12, thorough: 80 }),
  )

  it('[MH2] resumes after a stop and never looks complete before', async () => {
    for (let stopAfter = 1; stopAfter <= 5; stopAfter++) {
      const ends = { ...(await sqliteSource()), target: await sqliteTarget() }
      const rows = Array.from({ length: 1_200 }, (_, index) => memory({ id: memoryId(index) }))
      for (let at = 0; at < rows.length; at += 400) {
        await ends.source.commit(rows.slice(at, at + 400).map(put))
      }
      let commits = 0
      const failing = interrupted(ends.target, async () => {
        if (++commits > stopAfter) throw new Error('gone')
        if (commits === 2) await ends.beside.commit([put(memory({ place: BOB }))])
      })
      const stopped = migrateStore({ source: ends.source, target: failing, now })
      if (
        await stopped.then(
          () => false,
          () => true,
        )
      ) {
        await expect(assertMigrationComplete(ends.target)).rejects.toMatchObject({
          code: 'unavailable',
        })
        await expect(assertMigrationComplete(ends.source)).resolves.toBeUndefined()
        const copied: number[] = []
        const moved = await migrateStore({
          ...{ source: ends.source, target: ends.target, now },
          onProgress: (phase, done) => phase === 'copying' && copied.push(done),
        })
        expect(moved.isResumed).toBe(true)
        // The first commits say that it begins and copy what is the system's; then come 500 rows with each.
        const pages = Math.min(Math.max(stopAfter - 2, 0), 2)
        expect(copied.at(-1) ?? 0).toBeLessThanOrEqual(1_201 - 500 * pages)
      }
      await expect(assertMigrationComplete(ends.target)).resolves.toBeUndefined()
      await expect(assertMigrationComplete(ends.source)).rejects.toMatchObject({
        code: 'read_only',
      })
      await expectMoved(ends.source, ends.target)
      await close(ends)
    }
  }, 120_000)

  it('[MH2] the next run finishes one that ended during the switchover', async () => {
    const ends = { ...(await sqliteSource()), target: await sqliteTarget() }
    await ends.source.commit([put(memory())])
    const failing: StoreMigrationTarget = {
      ...ends.target,
      commit: (changes) =>
        changes.some((change) => change.op === 'remove' && change.table === 'entry')
          ? Promise.reject(new Error('gone'))
          : ends.target.commit(changes),
    }
    await expect(migrateStore({ source: ends.source, target: failing, now })).rejects.toThrow(
      'gone',
    )
    // Nobody can write anywhere: that is safer than writing to both.
    await expect(assertMigrationComplete(ends.target)).rejects.toMatchObject({
      code: 'unavailable',
    })
    await expect(assertMigrationComplete(ends.source)).rejects.toMatchObject({ code: 'read_only' })
    expect(await migrateStore({ source: ends.source, target: ends.target, now })).toMatchObject({
      isResumed: true,
      writeFreezeMs: null,
    })
    await expectMoved(ends.source, ends.target)
    await close(ends)
  })

  it('[MH3] refuses a target that is not empty, and a store that was migrated away', async () => {
    const ends = { ...(await sqliteSource()), target: await sqliteTarget() }
    const { source, target } = ends
    await source.commit([put(memory())])
    await target.commit([put(memory())])
    await expect(migrateStore({ source, target, now })).rejects.toMatchObject({ code: 'conflict' })
    expect(await source.commit([put(memory())])).toEqual({ kind: 'committed' })
    const empty = await sqliteTarget()
    await migrateStore({ source, target: empty, now })
    const other = await sqliteTarget()
    await expect(migrateStore({ source, target: other, now })).rejects.toMatchObject({
      code: 'read_only',
    })
    for (const store of [empty, other]) await store.close()
    await close(ends)
  })

  it('[MH4] leaves the source unchanged when the stores differ at the end', async () => {
    const ends = { ...(await sqliteSource()), target: await sqliteTarget() }
    const { source, target } = ends
    await source.commit([put(memory({ id: memoryId(1) })), put(memory({ id: memoryId(2) }))])
    // A store that says it has written and has not.
    const lossy: StoreMigrationTarget = {
      ...target,
      commit: (changes) =>
        target.commit(
          changes.filter((change) => change.op !== 'put' || change.row.id !== memoryId(2)),
        ),
    }
    await expect(migrateStore({ source, target: lossy, now })).rejects.toThrow(/differ in: memory/)
    expect(await source.commit([put(memory())])).toEqual({ kind: 'committed' })
    await expect(assertMigrationComplete(source)).resolves.toBeUndefined()
    await expect(assertMigrationComplete(target)).rejects.toMatchObject({ code: 'unavailable' })
    await migrateStore({ source, target, now })
    await expectMoved(source, target)
    await close(ends)
  })

  it('[MH4] corrects a wrong vector before the switchover', async () => {
    const ends = { ...(await sqliteSource()), target: await sqliteTarget() }
    const { source, target } = ends
    await source.commit([put(memory({ id: memoryId(1) })), put(memory({ id: memoryId(2) }))])
    await embedAll(source)
    let puts = 0
    const vectors = target.vectors
    if (vectors == null) throw new Error('There are no vectors.')
    const garbling: StoreMigrationTarget = {
      ...target,
      vectors: {
        ...vectors,
        put: (space, entries) => {
          const isFirst = puts++ === 0
          const wrong = entries.map((entry) => ({ ...entry, vector: Float32Array.of(1, 0, 0) }))
          return vectors.put(space, isFirst ? wrong : entries)
        },
      },
    }
    await migrateStore({ source, target: garbling, now })
    expect(await vectorsOf(target)).toEqual(await vectorsOf(source))
    await expectMoved(source, target)
    await close(ends)
  })

  it('[MH4] counts no rows while writes are frozen', async () => {
    const ends = { ...(await sqliteSource()), target: await sqliteTarget() }
    const { source, target } = ends
    await source.commit([put(memory())])
    let isHeld = false
    const countedWhileHeld: boolean[] = []
    const counting = <Counted extends StoreMigrationTarget>(store: Counted): Counted => ({
      ...store,
      getReport: () => {
        countedWhileHeld.push(isHeld)
        return store.getReport()
      },
    })
    const held: MigratableStore['migrationSource'] = {
      ...source.migrationSource,
      freezeWrites: (work) =>
        source.migrationSource.freezeWrites(async (given) => {
          isHeld = true
          const result = await work(given)
          isHeld = false
          return result
        }),
    }
    await migrateStore({
      source: { ...counting(source), migrationSource: held },
      target: counting(target),
      now,
    })
    expect(countedWhileHeld.length).toBeGreaterThan(0)
    expect(countedWhileHeld).not.toContain(true)
    await close(ends)
  })

  it('[MH5] undo leaves the store as it was, and another migration can start', async () => {
    const ends = { ...(await sqliteSource()), target: await sqliteTarget() }
    const { source } = ends
    await source.commit([put(memory())])
    const before = await contents(source)
    expect(await undoMigration(source)).toBeNull()
    const failing = interrupted(ends.target, async () => {
      throw new Error('gone')
    })
    await expect(migrateStore({ source, target: failing, now })).rejects.toThrow('gone')
    expect(await undoMigration(source)).toMatchObject({ state: 'moving' })
    expect(await contents(source)).toEqual(before)
    const second = await sqliteTarget()
    await migrateStore({ source, target: second, now })
    await expectMoved(source, second)
    await second.close()
    await close(ends)
  })

  it('[MH6] two concurrent migrations notice each other, and one finishes', async () => {
    const ends = { ...(await sqliteSource()), target: await sqliteTarget() }
    const { source, beside, target } = ends
    const rows = Array.from({ length: 1_500 }, () => memory())
    await source.commit(rows.map(put))
    const outcomes = await Promise.allSettled([
      migrateStore({ source, target, now }),
      migrateStore({ source: beside, target, now }),
    ])
    if (!outcomes.some(({ status }) => status === 'fulfilled')) {
      await migrateStore({ source, target, now })
    }
    await expectMoved(source, target)
    await close(ends)
  })
})

describe('to PostgreSQL (PGlite)', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPglite({ pgvector: true })
  }, 120_000)
  afterAll(() => server.stop())

  describeMoves(
    async () => ({ ...(await sqliteSource()), target: await openFreshStore(server.url) }),
    repetitions({ usual: 3, thorough: 20 }),
  )

  it('[MH2] resumes after a stop', async () => {
    const ends = { ...(await sqliteSource()), target: await openFreshStore(server.url) }
    const { source, target } = ends
    await source.commit(Array.from({ length: 600 }, (_, n) => put(memory({ id: memoryId(n) }))))
    await embedAll(source)
    let commits = 0
    const failing = interrupted(target, async () => {
      if (++commits > 3) throw new Error('gone')
    })
    await expect(migrateStore({ source, target: failing, now })).rejects.toThrow('gone')
    await expect(assertMigrationComplete(target)).rejects.toMatchObject({ code: 'unavailable' })
    await ends.beside.commit([put(memory({ place: BOB }))])
    expect((await migrateStore({ source, target, now })).isResumed).toBe(true)
    await expectMoved(source, target)
    await close(ends)
  })
})

const server = await startServer()
const reason = server.kind === 'none' ? ` (skipped: ${server.reason})` : ''

describe.skipIf(server.kind === 'none')(`from PostgreSQL${reason}`, () => {
  const url = server.kind === 'none' ? '' : server.url
  afterAll(() => (server.kind === 'none' ? undefined : server.stop()))

  const open = async (target: () => Promise<StoreMigrationTarget>): Promise<Ends> => {
    const schema = freshSchema()
    const source = await openFreshStore(url, { schema })
    const beside = await openPostgresStore({
      connectionString: url,
      schema,
      statementTimeoutMs: 200,
    })
    return { source, beside, target: await target() }
  }

  describe('to a file', () => {
    describeMoves(() => open(sqliteTarget), repetitions({ usual: 4, thorough: 12 }))
  })

  describe('to PostgreSQL', () => {
    describeMoves(() => open(() => openFreshStore(url)), repetitions({ usual: 3, thorough: 10 }))
  })

  it('[MH7] holds with row security on', async () => {
    const schema = freshSchema()
    const source = await openFreshStore(url, { schema, rowLevelSecurity: true })
    const target = await sqliteTarget()
    await source.commit([put(memory()), put(memory({ place: BOB }))])
    await embedAll(source)
    await migrateStore({ source, target, now })
    expect(await vectorsOf(target)).toEqual(await vectorsOf(source))
    await expectMoved(source, target)
    await source.close()
    await target.close()
  })
})
