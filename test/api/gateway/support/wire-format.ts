/** What the services of the three APIs send: whole answers, streams, errors and lists, as their own clients expect them. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Reply } from './scripted-upstream.ts'
import { chatEvents, wholeChat } from './wire-chat.ts'
import { messageEvents, wholeMessage } from './wire-messages.ts'
import { type Asked, type AskedBody, CREATED, type Event, type Said } from './wire-parts.ts'
import { responseEvents, wholeResponse } from './wire-responses.ts'

export const PATHS = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
} as const

/** The formats whose paths name no model. Gemini's has tests of its own. */
export type PathFormat = keyof typeof PATHS
export const PATH_FORMATS = ['chat', 'responses', 'messages'] as const

/** Headers that clients read, beside the body. */
export const OPENAI_HEADERS = {
  'openai-organization': 'recollect-tests',
  'openai-processing-ms': '213',
  'openai-version': '2020-10-01',
  'x-ratelimit-limit-requests': '5000',
  'x-ratelimit-limit-tokens': '800000',
  'x-ratelimit-remaining-requests': '4999',
  'x-ratelimit-remaining-tokens': '799968',
  'x-ratelimit-reset-requests': '12ms',
  'x-ratelimit-reset-tokens': '2ms',
  'x-request-id': 'req_7d1f0c5e9b',
} as const

export const ANTHROPIC_HEADERS = {
  'anthropic-organization-id': '6d0c1f9a-0000-4000-8000-1c2b3a495867',
  'anthropic-ratelimit-requests-limit': '4000',
  'anthropic-ratelimit-requests-remaining': '3999',
  'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:01Z',
  'anthropic-ratelimit-tokens-limit': '400000',
  'anthropic-ratelimit-tokens-remaining': '399000',
  'anthropic-ratelimit-tokens-reset': '2026-01-01T00:00:01Z',
  'request-id': 'req_011CMemoryTests',
} as const

export function formatOf(path: string): PathFormat {
  const [plain] = path.split('?')
  const found = (['chat', 'responses', 'messages'] as const).find((name) =>
    plain?.endsWith(PATHS[name].slice('/v1'.length)),
  )
  if (found === undefined) throw new Error(`No API is at ${path}.`)
  return found
}

function headersFor(format: PathFormat): Readonly<Record<string, string>> {
  return format === 'messages' ? ANTHROPIC_HEADERS : OPENAI_HEADERS
}

/** The answer to a request, streamed if that is what it asks for. */
export function speak({ path, body }: Asked, said: Said): Reply {
  const format = formatOf(path)
  const asked = (body ?? {}) as AskedBody // what a client of ours sent
  const { cutSeed, trouble, lineEnd = '\n' } = said
  const how = {
    ...(cutSeed === undefined ? {} : { cutSeed }),
    ...(trouble === undefined ? {} : { trouble }),
  }
  if (asked.stream !== true) {
    const whole = { chat: wholeChat, responses: wholeResponse, messages: wholeMessage }[format]
    const indent = format === 'messages' ? 0 : 2
    return {
      ...how,
      headers: { 'content-type': 'application/json', ...headersFor(format), ...said.headers },
      body: JSON.stringify(whole(asked, said), null, indent),
    }
  }
  const stream = { chat: chatEvents, responses: responseEvents, messages: messageEvents }[format]
  const all = stream(asked, said)
  const events =
    said.failsAfter === undefined
      ? all
      : [...all.slice(0, said.failsAfter), brokenOff(format, said.failsAfter)]
  return {
    ...how,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      ...headersFor(format),
      ...said.headers,
    },
    body: toSse(events, lineEnd),
  }
}

export function toSse(events: readonly Event[], lineEnd: '\n' | '\r\n'): string {
  return events
    .map(({ name, data }) => {
      const lines = [`data: ${typeof data === 'string' ? data : JSON.stringify(data)}`]
      if (name !== null) lines.unshift(`event: ${name}`)
      return lines.map((line) => line + lineEnd).join('') + lineEnd
    })
    .join('')
}

/** What a service sends when it fails after it has begun to answer. */
function brokenOff(format: PathFormat, sequence: number): Event {
  const message = 'The server had an error while processing your request. Sorry about that!'
  if (format === 'messages') {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    return { name: 'error', data: { type: 'error', error, request_id: 'req_011CMemoryTests' } }
  }
  if (format === 'responses') {
    const fields = { code: 'server_error', message, param: null }
    return { name: 'error', data: { type: 'error', sequence_number: sequence, ...fields } }
  }
  const error = { message, type: 'server_error', param: null, code: null }
  return { name: null, data: { error } }
}

/** A refusal in the words of the service. */
export function refuse(
  format: PathFormat,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const common = {
    status,
    headers: { 'content-type': 'application/json', ...headersFor(format), ...headers },
  }
  if (format === 'messages') {
    const [type, message] = ANTHROPIC_ERRORS[status] ?? ['api_error', 'Internal server error']
    const body = { type: 'error', error: { type, message }, request_id: 'req_011CMemoryTests' }
    return { ...common, body: JSON.stringify(body) }
  }
  const [type, code, message] = OPENAI_ERRORS[status] ?? [
    'server_error',
    null,
    'The server had an error.',
  ]
  const error = { message, type, param: null, code }
  return { ...common, body: JSON.stringify({ error }, null, 2) }
}

const OPENAI_ERRORS: Readonly<Record<number, readonly [string, string | null, string]>> = {
  400: ['invalid_request_error', 'unsupported_value', 'Unsupported value: “temperature” – naïve'],
  401: ['invalid_request_error', 'invalid_api_key', 'Incorrect API key provided: sk-up****eam.'],
  404: ['invalid_request_error', 'model_not_found', 'The model does not exist.'],
  429: ['requests', 'rate_limit_exceeded', 'Rate limit reached. Please try again in 20s.'],
}

const ANTHROPIC_ERRORS: Readonly<Record<number, readonly [string, string]>> = {
  400: ['invalid_request_error', 'max_tokens: Field required – naïve'],
  401: ['authentication_error', 'invalid x-api-key'],
  404: ['not_found_error', 'model: nothing'],
  429: ['rate_limit_error', 'This request would exceed your rate limit.'],
  529: ['overloaded_error', 'Overloaded'],
}

export function listModels(headers: IncomingHttpHeaders): Reply {
  if (headers['x-goog-api-key'] !== undefined) {
    const model = { name: 'models/gemini-test', displayName: 'Test', inputTokenLimit: 1_048_576 }
    const json = { 'content-type': 'application/json' }
    return { headers: json, body: JSON.stringify({ models: [model] }) }
  }
  const isAnthropic = headers['anthropic-version'] !== undefined
  const ids = isAnthropic ? ['claude-test'] : ['gpt-test', 'gpt-test-mini']
  const body = isAnthropic
    ? {
        data: ids.map((id) => ({
          type: 'model',
          id,
          display_name: id,
          created_at: '2026-01-01T00:00:00Z',
        })),
        has_more: false,
        first_id: ids[0],
        last_id: ids.at(-1),
      }
    : {
        object: 'list',
        data: ids.map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'system' })),
      }
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
