import { expect, it } from 'vitest'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Reply } from '../api/gateway/support/scripted-upstream.ts'
import { speak } from '../api/gateway/support/wire-format.ts'
import { openModel } from '../models/llm/llm-support.ts'
import { describeGiven } from './context-block.suite.ts'
import { ADA, openConversations } from './conversations-support.ts'
import { describeReading } from './gate.suite.ts'

const openSqlite = () => openSqliteStore({ path: ':memory:', now: Date.now })

describeReading('on the reference store', async () => createInMemoryStore())
describeReading('on sqlite', openSqlite)

describeGiven('on the reference store', async () => createInMemoryStore())
describeGiven('on sqlite', openSqlite)

/** A gate whose model is a server that speaks the protocol of chat completions. */
async function openGate(injectDeadlineMs = 30_000) {
  const { model, upstream } = await openModel()
  const { engine, client } = await openConversations(openSqlite, {
    languageModel: model,
    settings: {
      'gateway.gateMode': 'llm',
      'gateway.gateModel': 'scripted/small',
      'gateway.contextTimeoutMs': injectDeadlineMs,
    },
  })
  await engine.remember(ADA, { content: 'My dog is called Rex' })
  const ask = async (message: string) => {
    const { skipped } = await client.ask([message], 'Rex.')
    const { rows } = await engine.conversations.receipts.list(ADA, { limit: 1 })
    return { skipped, gate: rows[0]?.gate ?? null }
  }
  return { upstream, ask, engine }
}

it('[PL3] calls a real provider, within the budget of the owner', async () => {
  const { upstream, ask, engine } = await openGate()
  upstream.respond((request) => speak(request, { text: 'None' }))
  expect(await ask('What is my dog called?')).toMatchObject({
    skipped: 'not-needed',
    gate: { by: 'llm', section: 'none' },
  })
  expect(upstream.last().body).toMatchObject({ model: 'small', stream: false })
  expect((await engine.learning.signals.report(ADA)).usageToday).toMatchObject({ calls: 1 })
})

const TROUBLES: readonly (readonly [string, Reply])[] = [
  ['answers with an error', { status: 500, body: '{"error":{"message":"no"}}' }],
  ['refuses', { status: 400, body: '{"error":{"message":"no"}}' }],
  ['answers no JSON', { headers: { 'content-type': 'application/json' }, body: '<html>' }],
  ['never answers', { trouble: { after: 'headers', what: 'hang' } }],
  ['breaks off', { body: '{"choices":', trouble: { after: 3, what: 'reset' } }],
]
it.each(TROUBLES)('[PL3] a provider that %s costs no message its memories', async (_, reply) => {
  // Long enough for the rest on a busy machine; a model that hangs takes half of it.
  const { upstream, ask } = await openGate(4_000)
  upstream.respond(() => reply)
  expect(await ask('What is my dog called?')).toMatchObject({
    skipped: null,
    gate: { mode: 'llm', by: 'heuristic', section: 'pinned' },
  })
})
