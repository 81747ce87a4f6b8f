/** The command line where the memories are on a PostgreSQL server. */
import { expect, it, onTestFinished } from 'vitest'
import { startPglite } from '../../support/postgres-servers.ts'
import { createCli } from './cli-host.ts'

it('[CL23] keeps memories on a PostgreSQL server, and leaves its files to it', async () => {
  const server = await startPglite()
  onTestFinished(() => server.stop())
  const environment = { RECOLLECT_POSTGRES_URL: server.url.replace('postgres@', 'postgres:hush@') }
  const cli = createCli()
  const call = (...argv: string[]) => cli(argv, { environment })
  expect(await call('add', 'I prefer tea')).toMatchObject({ exit: 0 })
  expect((await call('search', 'tea')).out).toContain('I prefer tea')
  const status = await call('status')
  expect(status.out).toContain('postgresql://')
  expect(status.out).not.toContain('hush')
  const backup = await call('backup', 'copy.db')
  expect(backup.exit).toBe(2)
  expect(backup.err).toContain('RECOLLECT_POSTGRES_URL')
})
