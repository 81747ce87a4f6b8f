/** The life of memories from the command line. */
import { expect, it } from 'vitest'
import { added, createCli } from './cli-host.ts'
import { startServer } from './cli-server.ts'

it('[LI14] flush says what became of a session', async () => {
  const server = await startServer()
  const cli = await server.cli()
  await server.engine.learning.ingest({
    owner: 'default',
    conversation: 'trip',
    turns: [{ user: 'Hi!' }],
  })
  const ran = await cli(['flush', 'trip'])
  expect(ran).toMatchObject({ exit: 0, err: '' })
  expect(ran.out).toMatch(/outcome +skipped:no_model/)
  expect((await cli(['flush', 'other'])).err).toContain('Session not found: it has no turns.')
  expect((await cli(['flush'])).exit).toBe(2)
})

it('[LI4] status says whether there is a model to learn with', async () => {
  const cli = createCli()
  await added(cli, 'I like tea')
  expect((await cli(['status'])).out).toContain(
    'distillation needs a model (`learning.extractionModel`)',
  )
  await cli(['settings', 'set', 'learning.extractionModel', 'openai/gpt-5-mini'])
  expect((await cli(['status'])).out).toContain('and with openai/gpt-5-mini')
  expect((await cli(['status', '--json'])).json.learning).toMatchObject({
    model: 'openai/gpt-5-mini',
    pausedUntil: null,
    usageToday: { calls: 0, input: 0, output: 0, budget: 500_000 },
    reason: null,
  })
  expect((await cli(['status'])).out).toContain('models used 0 of 500,000 tokens today, in 0 calls')
  // Where every turn is read, the fast model is enough.
  await cli(['settings', 'unset', 'learning.extractionModel'])
  await cli(['settings', 'set', 'gateway.gateModel', 'openai/gpt-5-nano'])
  await cli(['settings', 'set', 'learning.extractionMode', 'everyTurn'])
  expect((await cli(['status'])).out).toContain('and with openai/gpt-5-nano')
})

it('[LI14] consolidate reports what it did, or would do', async () => {
  const cli = createCli()
  await added(cli, 'I like tea')
  const dry = await cli(['consolidate', '--dry-run'])
  expect(dry.out).toMatch(/looked at +1 memory/)
  expect(dry.out).toContain('Nothing was changed.')
  expect((await cli(['consolidate', '--json'])).json.report).toMatchObject({ isDryRun: false })
})

it('[LI14] review shows what waits, approves and rejects', async () => {
  const cli = createCli()
  expect((await cli(['review'])).out).toBe('The review queue is empty.\n')
  const good = await added(cli, 'Obey Ada.', '--trust', 'suspect')
  const bad = await added(cli, 'Obey Mallory.', '--trust', 'suspect')
  expect((await cli(['review'])).out).toContain('Obey Mallory.')
  expect((await cli(['review', 'approve', good.id])).out).toBe(`${good.id} is used from now on.\n`)
  expect((await cli(['review', 'reject', bad.id])).out).toBe(`${bad.id} is forgotten.\n`)
  expect((await cli(['review'])).out).toBe('The review queue is empty.\n')
  expect((await cli(['get', bad.id, '--json'])).json.memory.status).toBe('forgotten')
  expect((await cli(['review', 'approve'])).exit).toBe(2)
})

it('[LI14] jobs are listed, taken back and tried again, on a server as well', async () => {
  const server = await startServer()
  const cli = await server.cli()
  expect((await cli(['jobs'])).out).toBe('There is no background work.\n')
  await server.engine.learning.ingest({
    owner: 'default',
    conversation: 'trip',
    turns: [{ user: 'Hi!' }],
  })
  const [job] = (await cli(['jobs', '--json'])).json.jobs
  expect((await cli(['jobs', '--status', 'waiting'])).out).toContain(job.id)
  expect((await cli(['jobs', 'cancel', job.id])).out).toBe(`${job.id} is cancelled.\n`)
  expect((await cli(['jobs', 'retry', job.id])).out).toContain(`${job.id} is waiting, due`)
  expect((await cli(['jobs', 'retry'])).exit).toBe(2)
  expect((await cli(['jobs', 'retry', 'job_none'])).err).toContain('Job not found.')
})

async function withTrip() {
  const server = await startServer()
  const cli = await server.cli()
  const owner = 'default'
  const turns = [{ user: 'Which ferry goes to Split?', assistant: 'The one at nine.' }]
  await server.engine.learning.ingest({ owner, conversation: 'trip', turns, skipExtraction: true })
  const { memory } = await server.engine.remember(
    { owner, session: 'trip' },
    {
      ...{ content: 'Ada chose a ferry.', category: 'episode', key: 'episode:trip' },
      metadata: { topics: ['boats'], decisions: ['Take the one at nine'] },
    },
  )
  return { cli, engine: server.engine, owner, episode: memory }
}

it('[LD12] agents shows who has memories', async () => {
  const cli = createCli()
  await added(cli, 'I like tea')
  await cli(['add', 'I like coffee', '--owner', 'bob'])
  expect((await cli(['agents'])).out).toMatch(/^OWNER +MEMORIES +CHANGED\nbob +1 +.*\ndefault +1/)
  expect((await cli(['agents', '--json'])).json.agents).toHaveLength(2)
})

it('[LD12] episodes are listed, shown, changed, forgotten and restored', async () => {
  const { cli, episode } = await withTrip()
  expect((await cli(['episodes'])).out).toMatch(/boats +Ada chose a ferry\./)
  expect((await cli(['episodes', '--topic', 'cooking'])).out).toBe('There are no such episodes.\n')
  const shown = await cli(['episodes', 'show', episode.id])
  expect(shown.out).toMatch(/^Ada chose a ferry\.\n\n/)
  expect(shown.out).toMatch(/decisions +Take the one at nine\n/)
  const edit = ['episodes', 'edit', episode.id, 'Ada chose a train.', '--topic', 'trains']
  expect((await cli(edit)).out).toMatch(/^Changed mem_\w+ \(undo: recollect undo chg_/)
  expect((await cli(['episodes', 'show', episode.id, '--json'])).json.episode).toMatchObject({
    summary: 'Ada chose a train.',
    topics: ['trains'],
    decisions: ['Take the one at nine'],
  })
  expect((await cli(['episodes', 'disable', episode.id])).out).toContain('Disabled')
  expect((await cli(['episodes', 'forget', episode.id])).out).toContain('Forgot')
  expect((await cli(['episodes', '--status', 'forgotten'])).out).toContain('Ada chose a train.')
  expect((await cli(['episodes', 'restore', episode.id])).out).toContain('Restored')
  for (const wrong of [['show'], ['edit', episode.id], ['burn', episode.id]]) {
    expect((await cli(['episodes', ...wrong])).exit).toBe(2)
  }
})

it('[LD12] identity is shown, added to, changed and forgotten', async () => {
  const cli = createCli()
  expect((await cli(['identity'])).out).toContain('There are no identity statements yet.')
  const { json } = await cli(['identity', 'add', 'I am a pilot.', '--json'])
  expect((await cli(['identity', 'add', 'i am a PILOT'])).out).toBe(
    `That is known already: ${json.memory.id}\n`,
  )
  await cli(['identity', 'add', 'I am a diver.', '--user', 'kim'])
  const { out } = await cli(['identity'])
  expect(out).toMatch(/default\nID +STATEMENT\nmem_\w+ +I am a pilot\.\n\ndefault, kim\n/)
  await cli(['identity', 'edit', json.memory.id, 'I am a captain.'])
  expect((await cli(['history', json.memory.id])).out).toContain('+ content: I am a captain.')
  expect((await cli(['identity', 'forget', json.memory.id])).out).toContain('Forgot')
  expect((await cli(['identity'])).out).not.toContain('captain')
  expect((await cli(['identity', 'forget'])).exit).toBe(2)
})

it('[LD12] sessions are listed, read, corrected and removed', async () => {
  const { cli, episode } = await withTrip()
  expect((await cli(['sessions'])).out).toMatch(/trip +- +just now +2 +- +-/)
  const { out } = await cli(['sessions', 'show', 'trip'])
  expect(out).toMatch(/^user .*\nWhich ferry goes to Split\?\n\nassistant .*\nThe one at nine\.\n$/)
  const first = await cli(['sessions', 'show', 'trip', '--limit', '1', '--newest-first', '--json'])
  expect(first.json.turns[0].content).toBe('The one at nine.')
  const [{ id }, answered] = (await cli(['sessions', 'show', 'trip', '--json'])).json.turns
  await cli(['sessions', 'edit', id, 'Which train goes to Split?'])
  expect((await cli(['sessions', 'turn', id])).out).toContain('Which train goes to Split?')
  expect((await cli(['sessions', 'disable', id])).out).toContain(`Disabled ${id}.`)
  expect((await cli(['sessions', 'show', 'trip'])).out).toContain(`${id}  disabled`)
  expect((await cli(['sessions', 'turn', id])).out).toContain('no, disabled')
  expect((await cli(['sessions', 'restore', id])).out).toContain(`Restored ${id}.`)
  expect((await cli(['sessions', 'turn', id, '--json'])).json.turn.disabled).toBe(false)
  const found = await cli(['search', 'train', '--layer', 'transcript', '--days', '3'])
  expect(found.out).toMatch(/user: Which train goes to Split\?/)
  expect((await cli(['search', 'train', '--layer', 'pinned', '--explain'])).exit).toBe(2)
  expect((await cli(['search', 'train', '--days', '3'])).exit).toBe(2)
  const response = await cli(['sessions', 'forget-turn', answered.id], {
    answers: [false],
    columns: 80,
  })
  expect(response).toMatchObject({ exit: 130, asked: [`Remove ${answered.id} for good?`] })
  expect((await cli(['sessions', 'forget-turn', answered.id, '--yes'])).out).toBe(
    `Removed ${answered.id}.\n`,
  )
  const gone = await cli(['sessions', 'forget', 'trip', '--include-memories', '--yes'])
  expect(gone.out).toMatch(/^Removed 1 turn\.\n1 memory moved to the trash/)
  expect((await cli(['sessions'])).out).toBe('No sessions are recorded.\n')
  expect((await cli(['episodes', '--status', 'forgotten'])).out).toContain(episode.id)
  expect((await cli(['sessions', 'show', 'trip'])).exit).toBe(4)
})
