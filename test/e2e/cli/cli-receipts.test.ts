/** Receipts on the command line. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { DATABASE_FILE } from '../../../src/app/database/local-database.ts'
import { answerOf, outcomeOf, requestOf } from '../../conversations/conversations-support.ts'
import { added, type Cli, createCli } from './cli-host.ts'

const scope = { owner: 'default' }

/** Requests to a model, as they pass the gateway. */
async function ask(cli: Cli, ...questions: readonly string[]): Promise<void> {
  const engine = await createEngine({
    path: join(cli.folder, DATABASE_FILE),
    embedding: { source: 'none' },
  })
  for (const words of questions) {
    const prepared = await engine.conversations.prepare(requestOf([words], { scope }))
    const answer = answerOf('Indeed.', { usage: { input: 1200, output: 5, cached: 1000 } })
    engine.conversations.recordOutcome(prepared, outcomeOf(prepared, answer))
  }
  await engine.close()
}

it('[CV23] [RC13] receipts show what memory did, as a list and individually', async () => {
  const cli = createCli()
  expect((await cli(['receipts'])).out).toContain('There are no receipts.')
  const { id } = await added(cli, 'I drink green tea')
  await cli(['settings', 'set', 'gateway.enabled=true', 'gateway.contextTimeoutMs=30000'])
  await ask(cli, 'What do I drink? I live in Lisbon.', 'Who won the chess game?')
  const { out } = await cli(['receipts'])
  expect(out).toMatch(/ID +WHEN +STATUS +MEMORY +LEARNED +MODEL\n/)
  expect(out).toMatch(/rcp_\w+ .* 200 +skipped: no-relevant-memories +0 +openai\/gpt\n/)
  expect(out).toMatch(/rcp_\w+ .* 200 +1 memory, \d+ tokens +1 +openai\/gpt\n/)
  expect(out).not.toMatch(/tea|Lisbon/)
  const [skipped, given] = (await cli(['receipts', '--json'])).json.receipts
  const shown = (await cli(['receipts', 'show', given.id])).out
  for (const part of [id, given.sessionId, 'at turn-end', '1,200 in (1,000 cached), 5 out']) {
    expect(shown).toContain(part)
  }
  expect(shown).toMatch(new RegExp(`results +${id} .*→`))
  expect((await cli(['receipts', given.id])).out).toBe(shown)
  expect(shown).toMatch(
    /\ninjected\n<recollect-memory .*\n- I drink green tea \(.*\n<\/recollect-memory>/s,
  )
  expect((await cli(['receipts', 'show', skipped.id])).out).toContain(
    'skipped: no-relevant-memories. No memory reached the similarity threshold.',
  )
  const page = await cli(['receipts', '--limit', '1'])
  const next = /There are more: recollect (receipts --after \w+)/.exec(page.out)?.[1] ?? ''
  expect((await cli(next.split(' '))).out).toContain(given.id)
  const narrowed = await cli(['receipts', '--session', skipped.sessionId, '--json'])
  expect(narrowed.json.receipts).toMatchObject([{ id: skipped.id }])
})

it.each([
  [['receipts', 'show'], 2, '`receipts show` needs the <id> of a receipt.'],
  [['receipts', 'rcp_none'], 4, 'Receipt rcp_none not found.'],
  [['receipts', 'rcp_1', 'rcp_2'], 2, 'One receipt at a time.'],
  [['receipts', 'shwo', 'rcp_1'], 2, 'Did you mean `receipts show`?'],
  [['receipts', 'show', 'rcp_none'], 4, 'Receipt rcp_none not found.'],
  [['receipts', 'show', 'mem_1'], 4, 'Receipt mem_1 not found.'],
  [['receipts', '--limit', '0'], 2, '--limit must be an integer from 1 to 200.'],
])('[CV23] %j says what is wrong', async (argv, exit, message) => {
  const cli = createCli()
  await added(cli, 'I drink green tea')
  const ran = await cli(argv as string[])
  expect(ran.exit).toBe(exit)
  expect(ran.err).toContain(message)
})
