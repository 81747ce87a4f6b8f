/** Moving everything to another place: the command, and real processes that write and are killed meanwhile. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { assertMigrationComplete } from '../../src/portability/store-migration/migration-marker.ts'
import { describeMissingCipher } from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { memory, owner } from '../fakes/memories.ts'
import { contents } from '../portability/store-migration-support.ts'
import { bundled } from '../support/bundle.ts'
import { startPglite, startServer } from '../support/postgres-servers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { repetitions } from '../support/thoroughness.ts'
import { added, createCli } from './cli/cli-host.ts'

it('[MH8] moves to PostgreSQL, says what to set, and the old store refuses from then on', async () => {
  const server = await startPglite()
  onTestFinished(() => server.stop())
  const cli = createCli()
  const { id } = await added(cli, 'I prefer tea')
  await cli(['edit', id, 'I prefer green tea'])
  await cli(['settings', 'set', 'retentionDays', '30'])
  await cli(['keys', 'create', 'a program'])
  const to = server.url.replace('postgres@', 'postgres:hush@')
  const dry = await cli(['migrate', '--to', to, '--dry-run', '--json'])
  expect(dry.json).toMatchObject({ dryRun: true, rows: { memory: 1, revision: 1 } })

  const moved = await cli(['migrate', '--to', to])
  expect(moved).toMatchObject({ exit: 0, err: '' })
  expect(moved.out).toMatch(/RECOLLECT_POSTGRES_URL=postgresql:\/\//)
  expect(moved.out).not.toContain('hush')
  const environment = { RECOLLECT_POSTGRES_URL: to }
  const there = (...argv: string[]) => cli(argv, { environment })
  expect((await there('history', id)).out).toContain('I prefer tea')
  expect((await there('search', 'green')).out).toContain('I prefer green tea')
  expect((await there('settings', '--json')).json).toMatchObject({ 'retention.unusedDays': 30 })
  expect((await there('keys', 'list')).out).toContain('a program')
  expect(await there('doctor')).toMatchObject({ exit: 0 })

  for (const argv of [
    ['add', 'more'],
    ['search', 'tea'],
    ['migrate', '--to', to],
  ]) {
    const refused = await cli(argv)
    expect(refused.exit).toBe(12)
    expect(refused.err).toContain('This store has moved to postgresql://')
  }
  const undone = await cli(['migrate', '--undo'])
  expect(undone.out).toMatch(/accepts writes again/)
  expect(await cli(['add', 'I prefer water'])).toMatchObject({ exit: 0 })
  expect(await cli(['migrate', '--undo'])).toMatchObject({ exit: 4 })
}, 120_000)

const server = await startServer()
const noServer = server.kind === 'none' ? ` (skipped: ${server.reason})` : ''

it.skipIf(server.kind === 'none')(
  `[MH8] moves back to a folder${noServer}`,
  async () => {
    if (server.kind === 'none') return
    onTestFinished(() => server.stop())
    const cli = createCli()
    const environment = { RECOLLECT_POSTGRES_URL: server.url }
    expect(await cli(['add', 'I prefer tea'], { environment })).toMatchObject({ exit: 0 })
    const folder = join(temporaryFolder(), 'house')
    const moved = await cli(['migrate', '--to', folder], { environment })
    expect(moved).toMatchObject({ exit: 0, err: '' })
    expect(moved.out).toContain(`RECOLLECT_DATA=${folder}\n  RECOLLECT_POSTGRES_URL=\n`)
    expect((await createCli(folder)(['search', 'tea'])).out).toContain('I prefer tea')
    const refused = await cli(['add', 'more'], { environment })
    expect(refused.err).toContain(`This store has moved to ${folder}`)
    expect(await cli(['migrate', '--undo'], { environment })).toMatchObject({ exit: 0 })
    expect(await cli(['add', 'more'], { environment })).toMatchObject({ exit: 0 })
  },
  120_000,
)

const noCipher = describeMissingCipher()
const whyNot = noCipher === null ? '' : ` (skipped: ${noCipher})`

it.skipIf(noCipher !== null)(`[MH8] moves to an encrypted database${whyNot}`, async () => {
  const cli = createCli()
  await added(cli, 'I prefer tea')
  const folder = join(temporaryFolder(), 'house')
  const key = join(temporaryFolder(), 'house.key')
  const moved = await cli(['migrate', '--to', folder, '--generate-key-file', key, '--json'])
  expect(moved.json.settings).toEqual([
    `RECOLLECT_DATA=${folder}`,
    `RECOLLECT_ENCRYPTION_KEY_FILE=${key}`,
  ])
  const there = createCli(folder)
  expect(await there(['search', 'tea'])).toMatchObject({ exit: 7 })
  expect((await there(['search', 'tea', '--encryption-key-file', key])).out).toContain(
    'I prefer tea',
  )
})

it('[MH9] refuses what can not be meant', async () => {
  const cli = createCli()
  expect(await cli(['migrate', '--to', temporaryFolder()])).toMatchObject({ exit: 4 })
  await added(cli, 'I prefer tea')
  for (const argv of [
    ['migrate'],
    ['migrate', '--undo', '--to', 'x'],
    ['migrate', '--to', 'mysql://somewhere'],
    ['migrate', '--to', 'x', '--to-schema', 'y'],
    ['migrate', '--to', 'postgresql://nowhere/x', '--new-key-file', 'y'],
  ]) {
    expect(await cli(argv)).toMatchObject({ exit: 2 })
  }
  const other = createCli()
  await added(other, 'Something else')
  const refused = await cli(['migrate', '--to', other.folder])
  expect(refused).toMatchObject({ exit: 5 })
  expect(refused.err).toContain('is not empty')
  expect(await cli(['migrate', '--to', cli.folder])).toMatchObject({ exit: 5 })
  expect(await cli(['add', 'I prefer water'])).toMatchObject({ exit: 0 })
})

/** In rows told, counted over all phases: early ones end a run while it copies, later ones while it compares or switches. */
const KILLS = repetitions({ usual: 6, thorough: 40 })
const ROWS = 3_000

it('[MH10] killed at any point it resumes, and every acknowledged write is there', async () => {
  const program = await bundled('test/e2e/store-migration.child.ts')
  const folder = await filledFolder()
  const target = join(temporaryFolder(), 'house')
  const writer = start(program, 'write', folder)
  const written: { owner: string; id: string }[] = []
  let refusal = ''
  writer.onLine((line) => {
    if (typeof line.id === 'string') written.push(line as (typeof written)[number])
    if (typeof line.refused === 'string') refusal = line.refused
  })
  await writer.firstLine
  for (let kill = 0; kill < KILLS && !(await expectNeverHalf(folder, target)); kill++) {
    await moveUntilKilled(program, folder, target, kill + Math.floor(Math.random() * 4))
  }
  if (!(await expectNeverHalf(folder, target))) {
    await moveUntilKilled(program, folder, target, Number.POSITIVE_INFINITY)
  }
  await writer.ended
  expect(refusal).toMatch(/^This store has moved to /)
  const [source, copy] = await Promise.all([openIn(folder), openIn(target)])
  expect(await contents(copy)).toEqual(await contents(source))
  expect(await copy.checkIntegrity({ repair: false })).toEqual([])
  await expect(assertMigrationComplete(copy)).resolves.toBeUndefined()
  expect(written.length).toBeGreaterThan(0)
  for (const { owner: name, id } of written) {
    expect(await copy.get('memory', { owner: owner(name) }, id as never)).not.toBeNull()
  }
  for (const store of [source, copy]) await store.close()
  for (const used of [folder, target]) rmSync(used, { recursive: true, force: true })
}, 600_000)

type Line = { readonly [name: string]: unknown }

function start(program: string, ...argv: readonly string[]) {
  const child: ChildProcess = spawn(process.execPath, [program, ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface(child.stdout ?? process.stdin)
  return {
    kill: () => child.kill('SIGKILL'),
    ended: Promise.all([once(child, 'exit'), once(lines, 'close')]),
    firstLine: once(lines, 'line'),
    onLine: (listener: (line: Line) => void) => {
      lines.on('line', (text) => listener(JSON.parse(text)))
    },
  }
}

/** Kills it after it has told so many steps. */
async function moveUntilKilled(
  program: string,
  folder: string,
  target: string,
  steps: number,
): Promise<void> {
  const mover = start(program, 'move', folder, target)
  let lines = 0
  mover.onLine(() => {
    if (++lines > steps) mover.kill()
  })
  await mover.ended
}

/** A new store is refused unless it is whole, and then the old one is. Says whether it is whole. */
async function expectNeverHalf(folder: string, target: string): Promise<boolean> {
  const isOpen = async (at: string) => {
    if (!existsSync(join(at, 'recollect.db'))) return false
    const store = await openIn(at)
    const isEmpty = (await store.listPlaces()).length === 0
    const isSettled = await assertMigrationComplete(store).then(
      () => true,
      () => false,
    )
    await store.close()
    return isSettled && !isEmpty
  }
  const isWhole = await isOpen(target)
  if (isWhole) expect(await isOpen(folder)).toBe(false)
  return isWhole
}

async function filledFolder(): Promise<string> {
  const folder = temporaryFolder()
  const store = await openIn(folder)
  for (let at = 0; at < ROWS; at += 500) {
    const rows = Array.from({ length: 500 }, () => memory())
    await store.commit(rows.map((row) => ({ op: 'put', table: 'memory', row, expect: 'absent' })))
  }
  await store.close()
  return folder
}

function openIn(folder: string) {
  return openSqliteStore({ path: join(folder, 'recollect.db'), now: Date.now })
}
