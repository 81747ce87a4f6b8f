/** Summaries from the command line and over REST, where no model is named. */
import { expect, it } from 'vitest'
import { added, createCli } from './cli-host.ts'

const LONG =
  'We met in Rome. It rained. We had soup. Then we left, and nothing else is worth a word'

it('[AJ5] summarize shows what it would do, which model wrote the summary, and how to undo it', async () => {
  const cli = createCli()
  for (const name of ['Tom', 'Eva', 'Kim', 'Lou']) await added(cli, `${LONG} to ${name}`)
  const dry = await cli(['summarize', '--max-tokens', '30', '--dry-run'])
  expect(dry).toMatchObject({ exit: 0, err: '' })
  expect(dry.out).toMatch(/candidates +3 memories/)
  expect(dry.out).toContain('nothing was changed')
  const done = (await cli(['summarize', '--max-tokens', '30', '--json'])).json
  expect(done).toMatchObject({ deletedCount: 3, wording: 'rules', dryRun: false })
  expect((await cli(['list', '--json'])).json.total).toBe(2)
  expect((await cli(['undo', done.change])).exit).toBe(0)
  expect((await cli(['list', '--json'])).json.total).toBe(4)
  expect((await cli(['summarize', '--days', '0'])).exit).toBe(2)
})
