/** Memory is never in the way: whatever fails, the model is asked and its answer arrives. */
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine, type EngineOptions } from '../../../src/app/composition.ts'
import type { ProviderTimeouts } from '../../../src/models/provider.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { askFor, requestOf } from './support/client-conversation.ts'
import { type Patient, patientEmbedder, patientStore } from './support/faulty-parts.ts'
import {
  eventually,
  FACT,
  FENCE,
  type GatewaySetup,
  MEMORY_HEADER,
  OWNER,
  QUESTION,
  setUpGateway,
} from './support/gateway-harness.ts'
import { send } from './support/raw-client.ts'
import type { Reply } from './support/scripted-upstream.ts'
import { PATH_FORMATS, PATHS, speak } from './support/wire-format.ts'

const ANSWER = 'Jasmine.'
const SETTINGS = {
  'gateway.enabled': true,
  'server.requestsPerMinute': 0,
  'gateway.contextTimeoutMs': 300,
}

type Ill = { readonly setup: GatewaySetup; readonly become: Patient<unknown>['become'] }

/** A gateway in front of an engine, a part of which is ill. No key is needed: keys are in the store, too. */
async function withEngine(
  options: EngineOptions,
  become: Patient<unknown>['become'],
): Promise<Ill> {
  const engine = await createEngine({ ...options, settings: { ...SETTINGS, ...options.settings } })
  const setup = await setUpGateway('memory on', { engine, auth: 'off' })
  // Before the server is closed, also when the test fails.
  onTestFinished(() => become('well'))
  await engine.remember({ owner: 'default' }, { content: FACT })
  return { setup, become }
}

async function withStore(): Promise<Ill> {
  const { part, become } = patientStore(createInMemoryStore())
  return withEngine({ store: part, embedding: false }, become)
}

/** By meaning alone, so that there is nothing to fall back on. */
async function withEmbedder(): Promise<Ill> {
  const { part, become } = patientEmbedder()
  const ill = await withEngine(
    {
      embedding: part,
      settings: { 'recall.strategy': 'semantic', 'gateway.contextSources': 'facts' },
    },
    become,
  )
  await ill.setup.engine.admin.reindex()
  return ill
}

let asked = 0

/** The same in other letters each time: what was just asked is answered from what was just found. */
function anotherQuestion(): string {
  asked++
  return `${QUESTION}${'?'.repeat(asked)}`
}

async function ask({ url, upstream }: GatewaySetup, question = anotherQuestion()) {
  upstream.queue((request) => speak(request, { text: ANSWER }))
  const body = requestOf('chat', [{ role: 'user', content: question }])
  const response = await askFor({ url, key: '' }, PATHS.chat, body)
  const answer = (await response.json()) as OpenAI.ChatCompletion
  return {
    text: answer.choices[0]?.message.content,
    memory: response.headers.get(MEMORY_HEADER) ?? '',
    isInjected: upstream.last().text.includes(FENCE),
  }
}

/** Asks until there is memory: on a busy machine a well part may be late, too. */
function injected(setup: GatewaySetup): ReturnType<typeof ask> {
  return eventually(
    () => ask(setup),
    ({ isInjected }) => isInjected,
  )
}

describe.each([
  // Without vectors, keyword search still answers.
  ['the store', withStore, false],
  ['the embedder', withEmbedder, true],
] as const)('%s', (_, open, isAnswered) => {
  it.each(['fails', 'hangs'] as const)(
    '[GW10] %s, and the model is asked with what is left until it recovers',
    async (health) => {
      const { setup, become } = await open()
      await injected(setup)
      become(health)
      for (let time = 0; time < 3; time++) {
        const { text, isInjected } = await ask(setup)
        expect(text).toBe(ANSWER)
        expect(isInjected).toBe(isAnswered)
      }
      become('well')
      expect((await injected(setup)).text).toBe(ANSWER)
      await setup.engine.conversations.flush()
    },
  )
})

describe('what is kept afterwards', () => {
  it('[GW10] is kept once the store recovers', async () => {
    const { setup, become } = await withStore()
    become('fails')
    expect((await ask(setup, 'I prefer window seats on trains.')).text).toBe(ANSWER)
    become('well')
    expect((await ask(setup, 'My name is Ada.')).text).toBe(ANSWER)
    await setup.engine.conversations.flush()
    const { rows } = await setup.engine.list({ owner: 'default' })
    expect(rows.map(({ content }) => content).join('\n')).toMatch(/Ada/)
  })
})

describe('upstream', () => {
  const clientOf = ({ baseUrl, key }: GatewaySetup) =>
    new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 })
  const body = {
    model: 'gpt-test',
    messages: [{ role: 'user' as const, content: 'I prefer window seats on trains.' }],
  }
  /** A provider that is given up soon. */
  const hasty = (timeouts: Partial<ProviderTimeouts>) => (url: string) => ({
    openai: { kind: 'openai', baseUrl: `${url}/v1`, key: 'sk-upstream', timeouts },
  })

  it('[GW11] that breaks the connection is told as such, not asked twice, and asked again later', async () => {
    const setup = await setUpGateway()
    setup.upstream.queue({ trouble: { after: 'headers', what: 'reset' } })
    const failing = clientOf(setup).chat.completions.create(body)
    await expect(failing).rejects.toThrow(OpenAI.InternalServerError)
    await expect(failing).rejects.toMatchObject({ status: 502 })
    expect(setup.upstream.requests).toHaveLength(1)
    const answer = await clientOf(setup).chat.completions.create(body)
    expect(answer.choices[0]?.message.content).toBe('Noted.')
  })

  it('[GW11] that is not there is told as such, without its key', async () => {
    const setup = await setUpGateway()
    await setup.upstream.close()
    const error = await clientOf(setup)
      .chat.completions.create(body)
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.InternalServerError)
    expect(String(error)).not.toContain('sk-upstream')
    await setup.engine.conversations.flush()
    expect((await setup.engine.list({ owner: OWNER })).rows).toHaveLength(1)
  })

  it('[GW11] that hangs before it answers is given up', async () => {
    const setup = await setUpGateway('memory on', { providers: hasty({ firstByteMs: 200 }) })
    setup.upstream.queue({ trouble: { after: 'headers', what: 'hang' } })
    const failing = clientOf(setup).chat.completions.create(body)
    await expect(failing).rejects.toMatchObject({ status: 504 })
    expect(await setup.upstream.last().ended).toBe('left')
    const again = () => clientOf(setup).chat.completions.create(body)
    await eventually(() => again().then(Boolean, () => false), Boolean)
  })

  it('[GW11] that hangs in mid-stream is given up, and the answer is not made to look whole', async () => {
    const setup = await setUpGateway('memory on', { providers: hasty({ idleMs: 300 }) })
    setup.upstream.queue((request) =>
      speak(request, { text: 'x'.repeat(500), trouble: { after: 2_000, what: 'hang' } }),
    )
    const answer = await send(`${setup.baseUrl}/chat/completions`, {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${setup.key}` },
      body: JSON.stringify({ ...body, stream: true }),
    })
    expect(answer.status).toBe(200)
    expect(answer.bytes).toHaveLength(2_000)
    expect(answer.isWhole).toBe(false)
    expect(await setup.upstream.last().ended).toBe('left')
  })

  it('[GW11] that says one thing and sends another is passed on all the same', async () => {
    const setup = await setUpGateway()
    const bytes = Buffer.from('data: this is not gzip\n\n'.repeat(2_000))
    const headers = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }
    for (const format of PATH_FORMATS) {
      setup.upstream.queue({ headers, body: bytes, cutSeed: 4 })
      const answer = await send(`${setup.url}${PATHS[format]}`, {
        headers: { 'content-type': 'application/json', authorization: `Bearer ${setup.key}` },
        body: JSON.stringify(requestOf(format, [{ role: 'user', content: QUESTION }])),
      })
      expect(answer.bytes.equals(bytes)).toBe(true)
    }
  })

  it('[GW11] keeps nothing of an answer that failed', async () => {
    const setup = await setUpGateway()
    setup.upstream.queue({ status: 500, body: '{}' })
    await expect(clientOf(setup).chat.completions.create(body)).rejects.toThrow()
    await setup.engine.conversations.flush()
    expect((await setup.engine.list({ owner: OWNER })).rows).toHaveLength(1)
  })
})

describe('how asking a provider ended', () => {
  it.each(['memory off', 'memory on'] as const)('[GW23] is told, with %s', async (mode) => {
    const outcomes: unknown[] = []
    const setup = await setUpGateway(mode, {
      providers: (url) => ({
        openai: {
          ...{ kind: 'openai', baseUrl: `${url}/v1`, key: 'sk-upstream' },
          timeouts: { firstByteMs: 300, idleMs: 300 },
        },
      }),
      onAnswer: (report) => outcomes.push(report),
    })
    const ask = (signal?: AbortSignal) =>
      fetch(`${setup.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${setup.key}` },
        body: JSON.stringify(requestOf('chat', [{ role: 'user', content: QUESTION }])),
        ...(signal === undefined ? {} : { signal }),
      }).then((response) => response.text())
    const told = async (...replies: readonly (Reply | null)[]) => {
      for (const reply of replies) {
        if (reply !== null) setup.upstream.queue(reply)
        await ask().catch(() => {})
      }
    }
    const half = { headers: { 'content-length': '100' }, body: 'x'.repeat(50) }
    // Broken connections first: a kept one that breaks at once is taken for closed, and tried again.
    await told(
      { trouble: { after: 'headers', what: 'reset' } },
      { trouble: { after: 'headers', what: 'hang' } },
      { ...half, trouble: { after: 50, what: 'hang' } },
      { ...half, trouble: { after: 50, what: 'reset' } },
      { status: 429, body: '{}' },
      null,
    )
    const leaving = new AbortController()
    setup.upstream.queue({ trouble: { after: 'headers', what: 'hang' } })
    const left = ask(leaving.signal).catch(() => {})
    await eventually(
      () => setup.upstream.requests.length,
      (count) => count === 7,
    )
    leaving.abort()
    await left
    await eventually(
      () => outcomes.length,
      (count) => count === 7,
    )
    const expected = ['unreachable', 'timeout', 'timeout', 'interrupted', 429, 200, 'client_closed']
    expect(outcomes).toEqual(expected.map((outcome) => ({ provider: 'openai', outcome })))
    await setup.upstream.close()
    await ask()
    expect(outcomes.at(-1)).toEqual({ provider: 'openai', outcome: 'unreachable' })
  })
})

describe('a client that reads slowly', () => {
  const PIECE = Buffer.alloc(64 * 1_024, 'x')
  const PIECES = 1_000

  it.each([
    ['memory off', 'text/event-stream'],
    ['memory on', 'text/event-stream'],
    ['memory on', 'application/json'],
  ] as const)('[GW7] holds upstream up, %s, %s', async (mode, type) => {
    const setup = await setUpGateway(mode)
    const pieces = function* () {
      for (let piece = 0; piece < PIECES; piece++) yield PIECE
    }
    setup.upstream.queue({ headers: { 'content-type': type }, body: pieces() })
    const leaving = new AbortController()
    const response = await fetch(`${setup.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${setup.key}` },
      body: JSON.stringify(requestOf('chat', [{ role: 'user', content: QUESTION }])),
      signal: leaving.signal,
    })
    const received = setup.upstream.last()
    await settled(() => received.sent())
    // Buffers of the network are all that may fill: without backpressure, everything would have been sent.
    expect(received.waiting()).toBeGreaterThan(0)
    expect(received.sent()).toBeLessThan((PIECES * PIECE.length) / 2)
    let bytes = 0
    for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).length // web streams give bytes
    expect(bytes).toBe(PIECES * PIECE.length)
    leaving.abort()
  })
})

/** Waits until a number stays the same for a while. If that is too early, it is only smaller than it could be. */
async function settled(read: () => number): Promise<void> {
  let same = 0
  let before = Number.NaN
  while (same < 20) {
    const now = read()
    same = now === before && now > 0 ? same + 1 : 0
    before = now
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
