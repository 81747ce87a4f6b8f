/** Requests of megabytes: forwarded byte for byte, with memory where it can read them, and never a way around ownership. */
import { describe, expect, it } from 'vitest'
import { askFor, requestOf, type Spoken } from './support/client-conversation.ts'
import {
  type GatewaySetup,
  keyFor,
  MEMORY_HEADER,
  QUESTION,
  setUpGateway,
} from './support/gateway-harness.ts'
import { PATH_FORMATS, PATHS, type PathFormat } from './support/wire-format.ts'

const BLOCK = /\\n\\n<recollect-memory[\s\S]*?<\/recollect-memory>/
const ANSWER = 'The harbour is quiet, and nothing has come in since Monday. '

/** Turns that alternate, ending with the question. */
function conversationOf(turns: number, repetitions: number): readonly Spoken[] {
  const messages = Array.from(
    { length: turns * 2 },
    (_, n): Spoken => ({
      role: n % 2 === 0 ? 'user' : 'assistant',
      content: `${n}: ${ANSWER.repeat(repetitions)}`,
    }),
  )
  return [...messages, { role: 'user', content: QUESTION }]
}

async function ask(setup: GatewaySetup, format: PathFormat, body: object, key = setup.key) {
  const response = await fetch(`${setup.url}${PATHS[format]}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await response.arrayBuffer()
  return { status: response.status, memory: response.headers.get(MEMORY_HEADER) ?? '' }
}

it.each(PATH_FORMATS)(
  '[GW29] a long conversation keeps every byte around its block: %s',
  async (format) => {
    const setup = await setUpGateway()
    const body = requestOf(format, conversationOf(600, 25))
    const { status, memory } = await ask(setup, format, body)
    expect([status, memory]).toEqual([200, expect.stringMatching(/^injected; /)])
    const received = setup.upstream.last().text
    expect(received).toContain('<recollect-memory')
    expect(received.replace(BLOCK, '')).toBe(JSON.stringify(body))
  },
)

it.each(PATH_FORMATS)(
  '[GW29] a huge message is forwarded as it is, with its block: %s',
  async (format) => {
    const setup = await setUpGateway()
    const content = `${QUESTION} ${'日本 "harbour"\n'.repeat(150_000)}`
    const body = requestOf(format, [{ role: 'user', content }])
    const { status, memory } = await ask(setup, format, body)
    expect([status, memory]).toEqual([
      200,
      expect.stringMatching(/^(injected|skipped; reason=no-)/),
    ])
    const received = JSON.stringify(JSON.parse(setup.upstream.last().text))
    expect(received).toContain(JSON.stringify(content).slice(1, -1))
  },
)

it.each(PATH_FORMATS)(
  '[GW28.2] what a huge request refers to is checked all the same: %s',
  async (format) => {
    const setup = await setUpGateway()
    const grace = await keyFor(setup.engine, 'grace')
    const file = {
      chat: [{ type: 'file', file: { file_id: 'file_of_ada' } }],
      responses: [{ type: 'input_file', file_id: 'file_of_ada' }],
      messages: [{ type: 'document', source: { type: 'file', file_id: 'file_of_ada' } }],
    }[format]
    const messages: Spoken[] = [
      ...conversationOf(3_000, 15),
      { role: 'user', content: 'Read this.' },
    ]
    const request = requestOf(format, messages)
    const text = JSON.stringify(request)
    expect(text.length).toBeGreaterThan(5_000_000)
    expect(await ask(setup, format, request, grace)).toMatchObject({
      status: 200,
      memory: 'skipped; reason=too-large',
    })
    expect(setup.upstream.last().text).toBe(text)
    const at = text.indexOf('"content":', 3_000_000) + '"content":'.length
    const end = text.indexOf('"', at + 1) + 1
    const referring = `${text.slice(0, at)}${JSON.stringify(file)}${text.slice(end)}`
    const refused = await askFor(setup, PATHS[format], JSON.parse(referring), {
      authorization: `Bearer ${grace}`,
    })
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('file_of_ada')
  },
)

describe('Gemini', () => {
  const PATH = '/v1beta/models/gemini-test:generateContent'
  const setUpGemini = () =>
    setUpGateway('memory on', {
      providers: (url) => ({
        gemini: { kind: 'gemini', baseUrl: `${url}/v1beta/openai`, key: 'goog-upstream' },
      }),
    })
  const bodyOf = (messages: readonly Spoken[]) => ({
    contents: messages.map(({ role, content }) => ({
      role: role === 'user' ? 'user' : 'model',
      parts: [{ text: content }],
    })),
  })

  async function askGemini(setup: GatewaySetup, text: string, key = setup.key) {
    const answer = { candidates: [{ content: { role: 'model', parts: [{ text: 'Jasmine.' }] } }] }
    setup.upstream.queue({
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(answer),
    })
    const response = await fetch(`${setup.url}${PATH}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': key, 'content-type': 'application/json' },
      body: text,
    })
    const told = await response.text()
    return { status: response.status, memory: response.headers.get(MEMORY_HEADER) ?? '', told }
  }

  it('[GW29] a long conversation keeps every byte around its block', async () => {
    const setup = await setUpGemini()
    const text = JSON.stringify(bodyOf(conversationOf(600, 25)))
    expect(await askGemini(setup, text)).toMatchObject({
      status: 200,
      memory: expect.stringMatching(/^injected; /),
    })
    const received = setup.upstream.last().text
    expect(received).toContain('<recollect-memory')
    const part = /,\{"text":"<recollect-memory[\s\S]*?<\/recollect-memory>"\}/
    expect(received.replace(part, '') === text).toBe(true)
  })

  it('[GW28.1] a huge conversation is forwarded as it is, without memory', async () => {
    const setup = await setUpGemini()
    const text = JSON.stringify(bodyOf(conversationOf(3_000, 15)))
    expect(text.length).toBeGreaterThan(5_000_000)
    expect(await askGemini(setup, text)).toMatchObject({
      status: 200,
      memory: 'skipped; reason=too-large',
    })
    expect(setup.upstream.last().text).toBe(text)
  })

  it('[GW28.2] what a huge request refers to is checked all the same', async () => {
    const setup = await setUpGemini()
    const grace = await keyFor(setup.engine, 'grace')
    const body = bodyOf(conversationOf(3_000, 15))
    const fileUri = 'https://generativelanguage.googleapis.com/v1beta/files/ofada12345'
    const parts = [{ fileData: { mimeType: 'text/plain', fileUri } }]
    const contents = [...body.contents.slice(0, 2_000), { role: 'user', parts }, ...body.contents]
    const refused = await askGemini(setup, JSON.stringify({ contents }), grace)
    expect(refused.status).toBe(400)
    expect(refused.told).toContain('ofada12345')
    expect(setup.upstream.requests).toEqual([])
  })
})
