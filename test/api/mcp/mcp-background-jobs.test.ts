/** MCP over streams on a database of this machine also does what is due in the background. */
import { PassThrough } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { serveMcpStdio } from '../../../src/app/mcp-mount.ts'
import { ScriptedModel } from '../../fakes/language-model.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'

const OWNER = 'ann'
const FACT = 'The user travels to Rome with her sister Clara'
const SAID =
  'I am going to Rome with my sister Clara in June, and we both eat no meat at all, as you know.'

async function open(languageModel = new ScriptedModel({ facts: [{ content: FACT, turns: [0] }] })) {
  const engine = await createEngine({
    ...{ path: temporaryFile('recollect.db'), embedding: false, languageModel },
  })
  onTestFinished(() => engine.close())
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const stop = new AbortController()
  const serve = (served = engine) =>
    serveMcpStdio(
      {
        ...{
          engine: served,
          version: '1.2.3',
          scope: { owner: OWNER },
          tools: { hasCompatibilityTools: false, hasExtendedTools: false },
        },
        ...{ embeddingProviders: [], stop: stop.signal },
      },
      { stdin, stdout },
    )
  return { engine, stdin, serve }
}

it('[LD11] learns from what waited, and ends with its input', async () => {
  const { engine, stdin, serve } = await open()
  const turns = [{ user: SAID, assistant: 'How nice!' }]
  await engine.learning.ingest({ owner: OWNER, conversation: 'trip', turns })
  const learned = async () => (await engine.list({ owner: OWNER })).rows.map((row) => row.content)
  expect(await learned()).not.toContain(FACT)
  await engine.admin.settings.change(null, {
    'learning.extractionModel': 'test/core',
    'learning.debounceSeconds': 10,
  })
  const [job] = (await engine.jobs.list({ owner: OWNER, kind: 'distill' })).rows
  await engine.jobs.retry(job?.id ?? '')
  const ended = serve()
  await expect.poll(learned, { timeout: 10_000 }).toContain(FACT)
  stdin.end()
  await ended
  expect((await engine.status()).learning.running).toEqual([])
})

it('[LD11] serves what a store holds that can’t be written to, and gives back what it began', async () => {
  const { engine, stdin, serve } = await open()
  let isStopped = false
  const ended = serve({
    ...engine,
    jobs: {
      ...engine.jobs,
      start: async () => {
        throw new Error('Read-only.')
      },
      stop: async () => {
        isStopped = true
      },
    },
  })
  stdin.end()
  await ended
  expect(isStopped).toBe(true)
})
