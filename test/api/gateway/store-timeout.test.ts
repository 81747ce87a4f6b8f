/** With keys, which are in the store as well: one that hangs or is locked holds nobody up for long. */
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { openConnection } from '../../../src/storage/sqlite/connection/sqlite-driver.ts'
import { FakeClock } from '../../fakes/clock.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { askFor, requestOf } from './support/client-conversation.ts'
import { patientStore } from './support/faulty-parts.ts'
import {
  eventually,
  FACT,
  FENCE,
  type GatewaySetup,
  keyFor,
  MEMORY_HEADER,
  OWNER,
  QUESTION,
  setUpGateway,
} from './support/gateway-harness.ts'
import { PATHS } from './support/wire-format.ts'

const SETTINGS = {
  'gateway.enabled': true,
  'server.requestsPerMinute': 0,
  'gateway.contextTimeoutMs': 300,
}
/** After this a key that worked is looked up again. */
const VERIFIED_MS = 5_000

async function withHangingStore() {
  const clock = new FakeClock()
  const { part, become, calls } = patientStore(createInMemoryStore())
  const engine = await createEngine({ store: part, embedding: false, settings: SETTINGS })
  const setup = await setUpGateway('memory on', { engine, clock })
  onTestFinished(() => become('well'))
  return { setup, clock, become, calls }
}

async function ask(setup: GatewaySetup, content = QUESTION, fields: object = {}) {
  const body = requestOf('responses', [{ role: 'user', content }], fields)
  const response = await askFor(setup, PATHS.responses, body)
  await response.arrayBuffer()
  return { status: response.status, memory: response.headers.get(MEMORY_HEADER) ?? '' }
}

it('[GW21] a store that hangs holds up one request, and memory is back as soon as it answers', async () => {
  const { setup, clock, become, calls } = await withHangingStore()
  expect(await ask(setup)).toMatchObject({ status: 200 })
  clock.advance(VERIFIED_MS)
  become('hangs')
  expect(await ask(setup)).toMatchObject({ status: 200 })
  expect(await ask(setup)).toMatchObject({ status: 200 })
  const before = calls()
  const requests = 20
  for (let n = 0; n < requests; n++) {
    const { status, memory } = await ask(setup)
    expect(status).toBe(200)
    expect(memory).toMatch(/^skipped; reason=timeout\b/)
  }
  // Each of them would have asked for the key, the settings and the former answer; what keeps them waits in line.
  expect(calls() - before).toBeLessThan(requests)
  become('well')
  const isInjected = ({ memory }: { memory: string }) => memory.startsWith('injected')
  await eventually(() => ask(setup), isInjected)
})

it('[GW21] a key that nothing is known of is refused in time, in the shape of the API', async () => {
  const { setup, become } = await withHangingStore()
  const stranger = { url: setup.url, key: await keyFor(setup.engine) }
  become('hangs')
  const [openai, again, anthropic] = await Promise.all(
    [PATHS.chat, PATHS.chat, PATHS.messages].map(async (path) => {
      const response = await askFor(stranger, path, '{}')
      return { status: response.status, body: await response.json() }
    }),
  )
  const told = 'The API key could not be verified within the timeout. Retry.'
  const error = { type: 'server_error', message: told }
  expect(openai).toMatchObject({ status: 503, body: { error } })
  expect(again).toEqual(openai)
  expect(anthropic).toMatchObject({
    status: 503,
    body: { type: 'error', error: { type: 'api_error', message: told } },
  })
  become('well')
  expect((await askFor(stranger, PATHS.chat, requestOf('chat', []))).status).not.toBe(503)
})

it('[GW10] while another process writes, memories are still given, and what was said is kept afterwards', async () => {
  const path = temporaryFile('memory.db')
  const engine = await createEngine({ path, embedding: false, settings: SETTINGS })
  const setup = await setUpGateway('memory on', { engine })
  await ask(setup)
  const other = await openConnection(path, null)
  onTestFinished(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const { status, memory } = await ask(setup, `${QUESTION} My name is Ada.`)
  expect(status).toBe(200)
  expect(memory).toMatch(/^(injected|skipped; reason=timeout)\b/)
  if (memory.startsWith('injected')) expect(setup.upstream.last().text).toContain(FENCE)
  other.exec('ROLLBACK')
  await engine.conversations.flush()
  const { rows } = await engine.list({ owner: OWNER })
  const contents = rows.map(({ content }) => content)
  expect(contents).toContain(FACT)
  expect(contents.join('\n')).toMatch(/\bAda\b/)
})
