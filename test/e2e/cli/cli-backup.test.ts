/** Copies of the database that are made again and again, and going back to one of them. */
import { copyFileSync, existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { added, type Cli, createCli } from './cli-host.ts'

const nameAt = (time: string) => `recollect-${time.replaceAll(/[-:.]/g, '')}.db`

it('[MH13] keeps the newest copies of a folder, and no other files are removed', async () => {
  const cli = createCli()
  await added(cli, 'I like tea')
  const folder = join(temporaryFolder(), 'backups')
  for (let copy = 0; copy < 3; copy++) {
    expect(await cli(['backup', folder, '--keep', '2'])).toMatchObject({ exit: 0 })
  }
  expect(readdirSync(folder)).toHaveLength(2)
  writeFileSync(join(folder, 'notes.txt'), 'mine')
  writeFileSync(join(folder, `${nameAt('2020-01-01T00:00:00.000Z')}.unfinished`), 'cut short')
  const { json } = await cli(['backup', folder, '--keep', '1', '--json'])
  expect(readdirSync(folder).sort()).toEqual(['notes.txt', basename(json.file)])
  for (const argv of [
    ['--keep', '0'],
    ['--keep', 'x'],
    ['--every', 'often'],
  ]) {
    expect(await cli(['backup', folder, ...argv])).toMatchObject({ exit: 2 })
  }
})

it('[MH13] makes copies until it is stopped', async () => {
  const cli = createCli()
  await added(cli, 'I like tea')
  const folder = join(temporaryFolder(), 'backups')
  const stop = new AbortController()
  const running = cli(['backup', folder, '--every', '1m'], { stop: stop.signal })
  const isTaken = () =>
    existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.db'))
  while (!isTaken()) await new Promise((resolve) => setTimeout(resolve, 5))
  setTimeout(() => stop.abort(), 20)
  const { exit, out } = await running
  expect(exit).toBe(0)
  expect(out).toMatch(/recollect-\w+\.db\nStopped after 1 backup\.\n$/)
})

it('[MH14] goes back to the last copy that was made by then, and keeps what was there', async () => {
  const cli = createCli()
  const folder = join(temporaryFolder(), 'backups')
  for (const [content, time] of [
    ['I like tea', '2026-01-01T10:00:00.000Z'],
    ['I like coffee', '2026-01-01T11:00:00.000Z'],
  ] as const) {
    await added(cli, content)
    const { json } = await cli(['backup', folder, '--keep', '9', '--json'])
    renameSync(json.file, join(folder, nameAt(time)))
  }
  const refused = await cli(['recover', folder])
  expect(refused).toMatchObject({ exit: 5 })
  expect(refused.err).toContain('--force')
  const newest = join(folder, nameAt('2026-01-01T11:00:00.000Z'))
  const recover = async (...argv: string[]) => {
    const other = databaseFrom(newest)
    return { other, ran: await other(['recover', folder, '--force', '--json', ...argv]) }
  }
  expect((await recover('--at', '2026-01-01T09:00Z')).ran.exit).toBe(4)
  const early = await recover('--at', '2026-01-01T10:30Z')
  expect(await contentsOf(early.other)).toEqual(['I like tea'])
  expect((await early.other(['doctor'])).exit).toBe(0)
  expect(await contentsOf(databaseFrom(early.ran.json.previousFile))).toHaveLength(2)
  const latest = await recover()
  expect(await contentsOf(latest.other)).toEqual(['I like coffee', 'I like tea'])
  const empty = createCli()
  expect((await empty(['recover', newest])).exit).toBe(0)
  expect(await contentsOf(empty)).toHaveLength(2)
})

/** One that this process has not had open: it may keep a lock on those for a while. */
function databaseFrom(file: string): Cli {
  const folder = temporaryFolder()
  copyFileSync(file, join(folder, 'recollect.db'))
  return createCli(folder)
}

/** Newest first. */
async function contentsOf(cli: Cli): Promise<readonly string[]> {
  const { out } = await cli(['list'])
  return [...out.matchAll(/I like \w+/g)].map(([content]) => content)
}

it('[MH14] refuses a copy that is damaged, and a database that is in use', async () => {
  const cli = createCli()
  await added(cli, 'I like tea')
  const folder = temporaryFolder()
  const file = join(folder, 'copy.db')
  await cli(['backup', file])
  const damaged = join(folder, 'damaged.db')
  writeFileSync(damaged, 'SQLite format 3\0 and nothing more')
  expect(await cli(['recover', damaged, '--force'])).toMatchObject({ exit: 8 })
  expect(await cli(['recover', join(folder, 'none.db'), '--force'])).toMatchObject({ exit: 4 })
  expect(await cli(['recover', file, '--at', '1h', '--force'])).toMatchObject({ exit: 2 })
  const engine = await createEngine({ path: join(cli.folder, 'recollect.db'), embedding: false })
  expect(await cli(['recover', file, '--force'])).toMatchObject({ exit: 10 })
  expect(readdirSync(cli.folder).some((name) => name.includes('restor'))).toBe(false)
  await engine.close()
  expect((await cli(['search', 'tea'])).out).toContain('I like tea')
  // One that is broken is what a copy is for.
  writeFileSync(join(cli.folder, 'recollect.db'), 'broken')
  expect(await cli(['recover', file, '--force'])).toMatchObject({ exit: 0 })
  expect((await cli(['search', 'tea'])).out).toContain('I like tea')
})

it('[MH14] `restore` with a backup names the command for it', async () => {
  const cli = createCli()
  for (const path of ['/backups/recollect.db', './backups']) {
    const { exit, err } = await cli(['restore', path])
    expect(exit).toBe(2)
    expect(err).toContain(`recover ${path}`)
  }
})
