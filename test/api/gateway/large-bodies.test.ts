/** Requests of megabytes: forwarded byte for byte, with memory where it can read them, and never a way around ownership. */
import { expect, it } from 'vitest'
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
