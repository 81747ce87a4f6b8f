/** The life of memories from the command line. */
import { expect, it } from 'vitest'
import { added, createCli } from './cli-host.ts'
import { startServer } from './cli-server.ts'

it('[LI14] flush says what became of a session', async () => {
  const server = await startServer()
  const cli = await server.cli()
  await server.engine.ingest({ owner: 'default', conversation: 'trip', turns: [{ user: 'Hi!' }] })
  const ran = await cli(['flush', 'trip'])
  expect(ran).toMatchObject({ exit: 0, err: '' })
  expect(ran.out).toMatch(/outcome +skipped:no_model/)
  expect((await cli(['flush', 'other'])).err).toContain('Nothing was said')
  expect((await cli(['flush'])).exit).toBe(2)
})

it('[LI4] status says whether there is a model to learn with', async () => {
  const cli = createCli()
  await added(cli, 'I like tea')
  expect((await cli(['status'])).out).toContain('conversations wait for a model (`coreModel`)')
  await cli(['settings', 'set', 'coreModel', 'openai/gpt-5-mini'])
  expect((await cli(['status'])).out).toContain('and with openai/gpt-5-mini')
  expect((await cli(['status', '--json'])).json.learning).toEqual({
    model: 'openai/gpt-5-mini',
    because: null,
  })
})

it('[LI14] consolidate tells what it did, or would do', async () => {
  const cli = createCli()
  await added(cli, 'I like tea')
  const dry = await cli(['consolidate', '--dry-run'])
  expect(dry.out).toMatch(/looked at +1 memory/)
  expect(dry.out).toContain('Nothing was changed.')
  expect((await cli(['consolidate', '--json'])).json.report).toMatchObject({ isDryRun: false })
})

it('[LI14] review shows what waits, approves and rejects', async () => {
  const cli = createCli()
  expect((await cli(['review'])).out).toBe('Nothing waits for review.\n')
  const good = await added(cli, 'Obey Ada.', '--trust', 'suspect')
  const bad = await added(cli, 'Obey Mallory.', '--trust', 'suspect')
  expect((await cli(['review'])).out).toContain('Obey Mallory.')
  expect((await cli(['review', 'approve', good.id])).out).toBe(`${good.id} is used from now on.\n`)
  expect((await cli(['review', 'reject', bad.id])).out).toBe(`${bad.id} is forgotten.\n`)
  expect((await cli(['review'])).out).toBe('Nothing waits for review.\n')
  expect((await cli(['get', bad.id, '--json'])).json.memory.status).toBe('forgotten')
  expect((await cli(['review', 'approve'])).exit).toBe(2)
})

it('[LI14] jobs are listed, taken back and tried again, on a server as well', async () => {
  const server = await startServer()
  const cli = await server.cli()
  expect((await cli(['jobs'])).out).toBe('There is no background work.\n')
  await server.engine.ingest({ owner: 'default', conversation: 'trip', turns: [{ user: 'Hi!' }] })
  const [job] = (await cli(['jobs', '--json'])).json.jobs
  expect((await cli(['jobs', '--status', 'waiting'])).out).toContain(job.id)
  expect((await cli(['jobs', 'cancel', job.id])).out).toBe(`${job.id} is cancelled.\n`)
  expect((await cli(['jobs', 'retry', job.id])).out).toContain(`${job.id} is waiting, due`)
  expect((await cli(['jobs', 'retry'])).exit).toBe(2)
  expect((await cli(['jobs', 'retry', 'job_none'])).err).toContain('no such job')
})
