/** What is refused before the gateway itself is asked looks as the called API's own refusals do. */
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { errorBodyFor } from '../../../src/api/gateway/gateway-errors.ts'
import { createEngine } from '../../../src/app/composition.ts'
import { AppError, ERRORS, type ErrorCode } from '../../../src/lib/errors.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { patientStore } from './support/faulty-parts.ts'
import { type GatewaySetup, keyFor, OWNER, setUpGateway } from './support/gateway-harness.ts'
import { type RawAnswer, type RawRequest, send } from './support/raw-client.ts'
import { PATHS } from './support/wire-format.ts'

const BODY = JSON.stringify({
  model: 'm',
  max_tokens: 5,
  messages: [{ role: 'user', content: 'Hi' }],
})

type Refused = {
  readonly status: number
  /** As Anthropic calls it. */
  readonly type: string
  /** Below `/v1/messages` or `/v1/chat/completions`. */
  readonly below?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

const REFUSED: Readonly<Record<string, Refused>> = {
  'a body that is no JSON': { status: 400, type: 'invalid_request_error', body: '{' },
  'an expectation': {
    ...{ status: 400, type: 'invalid_request_error' },
    headers: { expect: 'the unexpected' },
  },
  'no key': { status: 401, type: 'authentication_error', headers: { authorization: '' } },
  'a wrong key': {
    ...{ status: 401, type: 'authentication_error' },
    headers: { authorization: 'Bearer rc_0_wrong' },
  },
  'a strange host': { status: 403, type: 'permission_error', headers: { host: 'evil.example' } },
  'a strange origin': {
    ...{ status: 403, type: 'permission_error' },
    headers: { origin: 'https://evil.example' },
  },
  'an unknown address': { status: 404, type: 'not_found_error', below: '/unknown' },
  'another method': { status: 405, type: 'invalid_request_error', method: 'PUT' },
  'too long a body': { status: 413, type: 'request_too_large', body: 'x'.repeat(30_000) },
  'a packed body': {
    ...{ status: 415, type: 'invalid_request_error' },
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(BODY),
  },
}

const METADATA = 'http://169.254.169.254/latest/meta-data/iam/security-credentials/'

describe.each([
  ...[PATHS.chat, PATHS.responses, PATHS.messages].map((path) => ['POST', path]),
  ['POST', '/v1/messages/count_tokens'],
  ['GET', '/v1/responses/resp_1'],
])('a provider that redirects %s %s', (method, path) => {
  it.each([301, 302, 303, 307, 308])('[GW11.5] is a bad gateway: %i', async (status) => {
    const setup = await setUpGateway('memory on')
    const { upstream } = setup
    if (path.endsWith('resp_1')) {
      await setup.engine.conversations.claimProviderIds({ owner: OWNER }, ['resp_1'])
    }
    upstream.respond(() => ({ status, headers: { location: METADATA }, body: 'Elsewhere' }))
    const response = await fetch(`${setup.url}${path}`, {
      method,
      redirect: 'manual',
      headers: { authorization: `Bearer ${setup.key}`, 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { body: JSON.stringify({ input: 'Hi', ...JSON.parse(BODY) }) }),
    })
    const text = await response.text()
    expect([response.status, response.headers.get('location')]).toEqual([502, null])
    expect(text).toContain(`answered with a redirect (status ${status})`)
    expect(text).not.toContain('169.254')
    expect(upstream.requests).toHaveLength(1)
  })
})

/** As Anthropic calls some that have no row above. */
const EXPECTED_TYPES: { readonly [Code in ErrorCode]?: string } = {
  timeout: 'invalid_request_error',
  bad_gateway: 'api_error',
  gateway_timeout: 'timeout_error',
  locked: 'api_error',
  internal: 'api_error',
}

async function refusedBy(
  { url }: GatewaySetup,
  key: string,
  format: 'chat' | 'messages',
  { below = '', method = 'POST', headers = {}, body = BODY }: Partial<Refused>,
): Promise<RawAnswer> {
  const all = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers }
  const given = Object.entries(all).filter(([, value]) => value !== '')
  const request: RawRequest = { method, headers: Object.fromEntries(given), body }
  return send(`${url}${PATHS[format]}${below}`, request)
}

function expectShape(body: unknown, format: 'chat' | 'messages', type: string): void {
  if (format === 'messages') {
    expect(body).toEqual({
      type: 'error',
      error: { type, message: expect.stringMatching(/\S/) },
      request_id: expect.stringMatching(/^req_/),
    })
    return
  }
  const { error } = body as { readonly error: Readonly<Record<string, unknown>> } // looked at below
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type'])
  expect(error).toMatchObject({
    message: expect.stringMatching(/\S/),
    type: expect.stringMatching(/^(invalid_request|rate_limit|server)_error$/),
  })
}

/** Where the library of the API looks for it, to tell whoever asks for help. */
function expectId({ headers }: RawAnswer, format: 'chat' | 'messages'): void {
  expect(headers[format === 'messages' ? 'request-id' : 'x-request-id']).toMatch(/^req_/)
}

const parsed = ({ bytes }: RawAnswer): unknown => JSON.parse(bytes.toString())

describe.each(['chat', 'messages'] as const)('%s', (format) => {
  it('[GW20] whatever the server refuses comes in the shape of the API', async () => {
    const setup = await setUpGateway('memory off', { bodyBytesMax: 20_000 })
    for (const [what, refused] of Object.entries(REFUSED)) {
      const answer = await refusedBy(setup, setup.key, format, refused)
      expect([what, answer.status]).toEqual([what, refused.status])
      expectShape(parsed(answer), format, refused.type)
      expectId(answer, format)
      // Our own answers are protected, also where others are passed on.
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
      })
    }
    expect(setup.upstream.requests).toHaveLength(0)
  })

  it('[GW20] so does being asked too often', async () => {
    const settings = { 'server.requestsPerMinute': 1 }
    const setup = await setUpGateway('memory off', { settings })
    const key = await keyFor(setup.engine, 'busy')
    expect((await refusedBy(setup, key, format, {})).status).toBe(200)
    const answer = await refusedBy(setup, key, format, {})
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, expect.any(String)])
    expectShape(parsed(answer), format, 'rate_limit_error')
  })

  it('[GW20] so does a store that cannot say whose key it is', async () => {
    const { part, become } = patientStore(createInMemoryStore())
    onTestFinished(() => become('well'))
    const settings = { 'server.requestsPerMinute': 0 }
    const engine = await createEngine({ store: part, embedding: false, settings })
    const setup = await setUpGateway('memory off', { engine })
    become('fails')
    const answer = await refusedBy(setup, setup.key, format, {})
    expect(answer.status).toBe(503)
    expectShape(parsed(answer), format, 'api_error')
    become('well')
    expect((await refusedBy(setup, setup.key, format, {})).status).toBe(200)
  })

  it('[GW20] any error has that shape, and none of our own words for bugs', () => {
    const request = new IncomingMessage(new Socket())
    request.url = PATHS[format]
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      const body = errorBodyFor(request, new AppError(code, 'Broken at line 7.'), 'req_1')
      expectShape(body, format, EXPECTED_TYPES[code] ?? expect.any(String))
      expect(JSON.stringify(body).includes('line 7')).toBe(code !== 'internal')
    }
  })
})
