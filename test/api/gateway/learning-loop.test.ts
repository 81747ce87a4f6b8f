/**
 * The whole loop over real HTTP: somebody talks through the gateway, a scripted model distils what was said once it is quiet,
 * and the next request has it. One provider is asked for both, as in a server; only the clock is not real.
 */
import { expect, it, onTestFinished } from 'vitest'
import { createIdGenerator } from '../../../src/app/id-generator.ts'
import { createEngineWith } from '../../../src/engine/engine.ts'
import { createProviderLanguageModel } from '../../../src/models/llm/provider-language-model.ts'
import { createUpstream } from '../../../src/models/providers/provider-upstream.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts'
import { FakeClock } from '../../fakes/clock.ts'
import { registryOf } from '../../faults/learning-script.ts'
import { askFor } from './support/client-conversation.ts'
import { keyFor, OWNER } from './support/gateway-harness.ts'
import { startGateway } from './support/gateway-host.ts'
import { openUpstream, type Reply } from './support/scripted-upstream.ts'
import { PATHS, speak } from './support/wire-format.ts'

/** Long enough to be worth a question, and nothing for patterns to find. */
const SAID =
  'The cable car was closed, and sister Clara, afraid of heights as ever, was glad of it that day.'
const FACT = 'Clara, the sister of the user, is afraid of heights'
const LEARNED = JSON.stringify({
  episode: { summary: 'The cable car was closed.' },
  facts: [{ content: FACT, turns: [0] }],
})
const QUESTION = 'What is sister Clara afraid of?'
const CORE = 'core'

it('[LI3] what is said through the gateway is distilled once it is quiet, and given with the next request', async () => {
  const { ask, model, engine, clock } = await openServer()
  await ask('trip', SAID)
  clock.advance(40_000)
  await ask('trip', QUESTION)
  expect(model.last().text).not.toContain(FACT)
  // A turn puts it off.
  clock.advance(59_000)
  expect(await engine.jobs.runDue()).toBe(0)
  clock.advance(1_000)
  expect(await engine.jobs.runDue()).toBe(1)
  const prompts = model.requests.filter(({ body }) => body.model === CORE)
  expect(prompts).toHaveLength(1)
  expect(prompts[0]?.text).toContain(SAID)
  await ask('another', QUESTION)
  expect(model.last().body.model).toBe('chat')
  expect(model.last().text.split(FACT)).toHaveLength(2)
})

it('[DI10] every outcome is told over the protocol', async () => {
  const { ask, flush, model, engine, store } = await openServer()
  await ask('trip', SAID)
  expect(await flush('trip')).toMatchObject({ outcome: 'distilled', facts: { created: 1 } })
  expect(await flush('trip')).toMatchObject({ outcome: 'no_signals', pendingSignals: 0 })
  const asked = model.requests.length
  await ask('short', 'Thanks!')
  expect(await flush('short')).toMatchObject({ outcome: 'skipped:low_novelty', pendingSignals: 0 })
  expect(model.requests.length).toBe(asked + 1)

  const answer = async (session: string, reply: Reply | string) => {
    await ask(session, SAID)
    model.queue(typeof reply === 'string' ? (received) => speak(received, { text: reply }) : reply)
    return flush(session)
  }
  expect(await answer('dull', '{"episode": null, "facts": [], "identity": []}')).toMatchObject({
    outcome: 'empty:nothing',
    pendingSignals: 0,
  })
  const none = { error: { message: 'There is no such model.', code: 'model_not_found' } }
  expect(await answer('lost', { status: 404, body: JSON.stringify(none) })).toMatchObject({
    outcome: 'skipped:no_model',
    pendingSignals: 1,
  })
  await engine.admin.settings.change(null, { 'learning.modelTokensPerDay': 1 })
  expect(await flush('lost')).toMatchObject({
    outcome: 'skipped:too_many_requests',
    pendingSignals: 1,
  })
  await engine.admin.settings.change(null, {
    'learning.modelTokensPerDay': 0,
    'learning.extractionModel': '',
  })
  expect(await flush('lost')).toMatchObject({ outcome: 'skipped:no_model', pendingSignals: 1 })
  await engine.admin.settings.change(null, { 'learning.extractionModel': `scripted/${CORE}` })
  const { rows } = await engine.conversations.turns.list({ owner: OWNER, session: 'lost' })
  await store.commit(
    rows.map(({ id, place }) => ({ op: 'remove', table: 'turn', scope: place, id, expect: 'any' })),
  )
  expect(await flush('lost')).toMatchObject({ outcome: 'empty:no_turns', pendingSignals: 0 })
})

async function openServer() {
  const model = await openUpstream((received) =>
    speak(received, { text: received.body.model === CORE ? LEARNED : 'I see.' }),
  )
  const upstream = createUpstream()
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  const clock = new FakeClock()
  const engine = createEngineWith({
    ...{ store, clock, ids: createIdGenerator() },
    settings: {
      ...{
        'gateway.enabled': true,
        'learning.extractionModel': `scripted/${CORE}`,
        'gateway.contextTimeoutMs': 30_000,
      },
      'server.requestsPerMinute': 0,
    },
    languageModel: createProviderLanguageModel({
      registry: registryOf(model.url),
      ...{ upstream, clock },
      random: () => 0.5,
    }),
  })
  onTestFinished(async () => {
    await upstream.close()
    await model.close()
  })
  const providers = { scripted: { kind: 'openai', baseUrl: `${model.url}/v1`, key: 'sk-upstream' } }
  const { url } = await startGateway({ upstreamUrl: model.url, providers, engine })
  const door = { url, key: await keyFor(engine) }
  return {
    ...{ model, store, clock, engine },
    ask: async (session: string, content: string) => {
      const body = { model: 'scripted/chat', messages: [{ role: 'user', content }] }
      const response = await askFor(door, PATHS.chat, body, { 'x-recollect-session': session })
      expect(response.status).toBe(200)
      await response.arrayBuffer()
      await engine.conversations.flush()
    },
    flush: async (session: string): Promise<unknown> =>
      (await askFor(door, `/api/sessions/${session}/flush`, {})).json(),
  }
}
