import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { OwnerId } from '../../src/domain/ids.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteFile } from '../../src/storage/sqlite/connection/database-file.ts'
import { openConnection } from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { recoverDatabase } from '../../src/storage/sqlite/recovery/database-recovery.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { failingDriver } from '../faults/sqlite-support.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { describeUpgrade } from './upgrade-from-0.1.suite.ts'

const FIXTURES = join(import.meta.dirname, '..', 'fixtures')
const FACTS = {
  secret: 'rc_00000001_rOzHYSPJwDmeM-7Fw8VyrvUWWtKhEBQQvNVNbVSyRPs',
  receiptLines: 17,
}

function fixture(name: string): string {
  const path = temporaryFile(name)
  copyFileSync(join(FIXTURES, name), path)
  return path
}

describe('a SQLite database of version 0.1', () => {
  describeUpgrade(
    () => openSqliteFile({ path: fixture('database-0.1.sqlite'), now: Date.now }),
    FACTS,
  )

  describe('after it was salvaged', () => {
    describeUpgrade(async () => {
      const path = fixture('database-0.1.sqlite')
      await recoverDatabase({ path, key: null, now: Date.now })
      return openSqliteFile({ path, now: Date.now })
    }, FACTS)
  })

  it('[ST23] ends up old or new whichever driver call of the upgrade fails', async () => {
    let upgraded: unknown
    for (let nth = 1; ; nth += 7) {
      const path = fixture('database-0.1.sqlite')
      const driver = failingDriver(nth)
      const opened = await openSqliteFile({
        ...{ path, now: Date.now, openConnection: driver.open },
      }).catch(() => null)
      await opened?.close()
      const store = await openSqliteFile({ path, now: Date.now })
      const { rows } = await store.getReport()
      upgraded ??= rows
      expect(rows, `call ${nth}`).toEqual(upgraded)
      expect(await store.checkIntegrity({ repair: false })).toEqual([])
      await store.close()
      if (!driver.hasFailed()) break
    }
  })

  it('[ST19] keeps a backup of it as it was', async () => {
    const path = fixture('database-0.1.sqlite')
    await (await openSqliteFile({ path, now: Date.now })).close()
    const [backup] = readdirSync(dirname(path)).filter((name) => name.includes('.before-schema-'))
    const connection = await openConnection(join(dirname(path), backup ?? ''), null)
    const [row] = connection.prepare(`SELECT count(*) AS jobs FROM entry WHERE kind = 'job'`).all()
    expect(row).toEqual({ jobs: 17 })
    connection.close()
  })

  it('[ST19] stays migrated after a move to another store, and can be taken back', async () => {
    const path = fixture('database-0.1.sqlite')
    const connection = await openConnection(path, null)
    // As `recollect migrate` of version 0.1 left it.
    connection.exec(`
      INSERT INTO entry SELECT 'move', owner_number, place_number, NULL, 2, 'move', NULL, 1, NULL,
        '{"state":"moved","move":"m1","to":"postgresql://elsewhere"}' FROM entry WHERE kind = 'audit' LIMIT 1;
      ${['memory', 'entry', 'turn']
        .flatMap((table) =>
          ['INSERT', 'UPDATE', 'DELETE'].map(
            (
              write,
            ) => `CREATE TRIGGER moved_away_${table}_${write} BEFORE ${write} ON ${table} BEGIN
              SELECT RAISE(ABORT, 'This store has moved to postgresql://elsewhere.'); END;`,
          ),
        )
        .join('\n')}
    `)
    connection.close()
    const store = await openSqliteFile({ path, now: Date.now })
    onTestFinished(() => store.close())
    const [job] = (await store.find('job', SYSTEM, { where: {}, limit: 1 })).rows
    const [signal] = (
      await store.find('signal', { owner: 'ada' as OwnerId }, { where: {}, limit: 1 })
    ).rows
    const put = (table: 'job' | 'signal', row: unknown) =>
      store.commit([{ op: 'put', table, row, expect: 'any' } as never]) // a row of this table
    await expect(put('job', job)).rejects.toThrow('moved')
    await expect(put('signal', signal)).rejects.toThrow('moved')
    await store.migrationSource.resumeWrites()
    expect(await put('job', { ...job, version: 9 })).toEqual({ kind: 'committed' })
    expect(await store.get('entry', SYSTEM, 'move' as never)).toMatchObject({
      kind: 'store-migration',
      body: { state: 'moved', to: 'postgresql://elsewhere' },
    })
  })
})

const SYSTEM = { owner: '@system' as OwnerId }

it('[ST19] a file index of version 0.1 keeps its files, scans and generation', async () => {
  const store = await openSqliteFile({ path: fixture('files-0.1.sqlite'), now: Date.now })
  onTestFinished(() => store.close())
  const scope = { owner: 'ada' as OwnerId }
  const { rows } = await store.find('entry', scope, { where: {}, limit: 100, order: 'oldest' })
  const kinds = rows.map(({ kind }) => kind).sort()
  expect(kinds).toEqual([
    ...['file', 'file', 'file', 'file', 'file', 'file-index-generation'],
    ...['file-scan-log', 'file-scan-log', 'file-scan-log', 'memory-file'],
  ])
  const bodies = (wanted: string) =>
    rows.flatMap(({ kind, body }) => (kind === wanted ? [body] : []))
  expect(bodies('file-index-generation')).toEqual([
    { live: { name: 'g1', chunkerVersion: '1:300:80:8192:1:true' }, building: null, count: 1 },
  ])
  const binary = { path: 'binary.md', reason: 'binary', message: 'binary.md: it is no text.' }
  expect(bodies('file')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ path: 'binary.md', problem: binary, checkpoint: null }),
      expect.objectContaining({
        path: 'one.jsonl',
        checkpoint: expect.objectContaining({ open: 1 }),
      }),
    ]),
  )
  expect(bodies('file-scan-log')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        problems: [{ ...binary, path: 'handbook/binary.md' }],
        problemsTotal: 1,
      }),
    ]),
  )
  const [{ snapshot }] = bodies('memory-file') as [{ snapshot: object }] // one file
  expect(Object.values(snapshot)).toContain('I am a software engineer.')
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
})

it('[PO41] imports an export of version 0.1 under the present names', async () => {
  const store = createInMemoryStore()
  const engine = createEngineWith({
    ...{ store, clock: new FakeClock(), ids: countingIds(), settings: {} },
  })
  onTestFinished(() => engine.close())
  async function* lines() {
    yield* readFileSync(join(FIXTURES, 'export-0.1.jsonl'), 'utf8').trimEnd().split('\n')
  }
  const result = await engine.admin.import(lines())
  expect(result).toMatchObject({ imported: 51, updated: 0, skipped: 0, failed: 0, failures: [] })
  expect(await engine.admin.settings.getStored('ada' as OwnerId)).toMatchObject({
    'recall.limit': 7,
    'recall.vectorWeight': 0.6,
    'files.memoryFileSync': true,
  })
  expect(await engine.admin.settings.getStored(null)).toMatchObject({ 'retention.trashDays': 45 })
  const { rows } = await store.find('entry', { owner: 'ada' as OwnerId }, { where: {}, limit: 9 })
  expect(rows.map(({ kind }) => kind)).toEqual(['file-root', 'file-root', 'file-root'])
  expect(await engine.admin.import(lines())).toMatchObject({ imported: 0, skipped: 51, failed: 0 })
})
