/**
 * Demo provider without key and network, so that a first run shows the whole path of a memory. It explains itself, quotes
 * the memories in the request and repeats the last message. It supports no tools, stores nothing, and answers equal
 * requests equally, except for ids.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ApiFormat } from '../../../domain/model-call.ts'
import { createAbortedError, throwIfAborted } from '../../../lib/abort.ts'
import type { Upstream, UpstreamRequest, UpstreamResponse } from '../../upstream.ts'
import { composeDemoAnswer, countTokens } from './demo-answer.ts'
import {
  type DemoRequest,
  DemoRequestError,
  parseDemoRequest,
  parseGeminiDemoRequest,
  parseGeminiTokenCount,
  parseTokenCountRequest,
} from './demo-request.ts'
import { DEMO_RESPONSE_FORMATS } from './demo-response-formats.ts'

export type DemoOptions = {
  /** Unique, alphanumeric. */
  readonly newId?: () => string
  /** Milliseconds. */
  readonly now?: () => number
}

export const DEMO_MODEL = 'echo'

const PATHS: Readonly<Record<Exclude<ApiFormat, 'gemini'>, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
}
const PATH_FORMATS = ['chat', 'responses', 'messages'] as const
const COUNT_TOKENS = '/messages/count_tokens'
const GEMINI_PATH = /^\/models\/(.+):(generateContent|streamGenerateContent|countTokens)$/

export function createDemoUpstream(options: DemoOptions = {}): Upstream {
  return {
    send: async (request) => {
      throwIfAborted(request.signal)
      return answer(request, options)
    },
    close: async () => {},
  }
}

function answer(request: UpstreamRequest, options: DemoOptions): UpstreamResponse {
  const path = request.path.replace(/\?.*$/s, '')
  if (request.method === 'GET' && path === '/models') {
    return createJsonResponse(200, { object: 'list', data: [modelOf(DEMO_MODEL)] })
  }
  if (request.method === 'GET' && path.startsWith('/models/')) {
    return createJsonResponse(200, modelOf(path.slice('/models/'.length)))
  }
  const gemini = GEMINI_PATH.exec(path)
  if (gemini !== null && request.method === 'POST') return answerGemini(request, gemini, options)
  const isCounted = path === COUNT_TOKENS
  const format = PATH_FORMATS.find((name) => PATHS[name] === path)
  const dialect = format ?? (path.startsWith(PATHS.messages) ? 'messages' : 'chat')
  if ((format === undefined && !isCounted) || request.method !== 'POST') {
    const message = `The demo does not support ${request.method} ${path.slice(0, 80)}.`
    return createJsonResponse(404, errorOf(dialect, 'not_found_error', message, null))
  }
  try {
    if (isCounted)
      return createJsonResponse(200, {
        input_tokens: countTokens(parseTokenCountRequest(bytesOf(request))),
      })
    return streamAnswer(request, dialect, parseDemoRequest(dialect, bytesOf(request)), options)
  } catch (thrown) {
    if (!(thrown instanceof DemoRequestError)) throw thrown
    const error = errorOf(dialect, 'invalid_request_error', thrown.message, thrown.param)
    return createJsonResponse(400, error)
  }
}

function answerGemini(
  request: UpstreamRequest,
  [, name = '', action = '']: readonly string[],
  options: DemoOptions,
): UpstreamResponse {
  const bytes = bytesOf(request)
  try {
    if (action === 'countTokens') {
      return createJsonResponse(200, { totalTokens: countTokens(parseGeminiTokenCount(bytes)) })
    }
    const streams = action !== 'generateContent'
    const model = decodeURIComponent(name)
    return streamAnswer(request, 'gemini', parseGeminiDemoRequest(model, streams, bytes), options)
  } catch (thrown) {
    if (!(thrown instanceof DemoRequestError)) throw thrown
    const error = { code: 400, message: thrown.message, status: 'INVALID_ARGUMENT' }
    return createJsonResponse(400, { error })
  }
}

function streamAnswer(
  request: UpstreamRequest,
  format: ApiFormat,
  asked: DemoRequest,
  { newId = shortId, now = Date.now }: DemoOptions,
): UpstreamResponse {
  const createdSeconds = Math.floor(now() / 1_000)
  const written = { request: asked, answer: composeDemoAnswer(asked), id: newId(), createdSeconds }
  if (!asked.streams) return createJsonResponse(200, DEMO_RESPONSE_FORMATS[format].whole(written))
  const events = Readable.from(inBytes(DEMO_RESPONSE_FORMATS[format].events(written)), {
    objectMode: false,
  })
  const stop = () => events.destroy(createAbortedError())
  request.signal.addEventListener('abort', stop, { once: true })
  events.once('close', () => request.signal.removeEventListener('abort', stop))
  // The error is kept for a later reader, as with any other provider.
  events.on('error', () => {})
  return {
    status: 200,
    headers: [
      ['content-type', 'text/event-stream; charset=utf-8'],
      ['cache-control', 'no-cache'],
    ],
    body: events,
  }
}

function* inBytes(texts: Iterable<string>): Generator<Buffer> {
  for (const text of texts) yield Buffer.from(text)
}

function shortId(): string {
  return randomUUID().replaceAll('-', '')
}

/** Chat requests are never streams. */
function bytesOf({ body }: UpstreamRequest): Uint8Array | null {
  return body instanceof Uint8Array ? body : null
}

function createJsonResponse(status: number, body: object): UpstreamResponse {
  const bytes = Buffer.from(JSON.stringify(body))
  return {
    status,
    headers: [
      ['content-type', 'application/json'],
      ['content-length', String(bytes.length)],
    ],
    body: Readable.from([bytes], { objectMode: false }),
  }
}

function modelOf(id: string): object {
  return { id, object: 'model', created: 0, owned_by: 'recollect' }
}

/** In the shape that the API's own clients read. */
function errorOf(format: ApiFormat, type: string, message: string, param: string | null): object {
  if (format === 'messages') return { type: 'error', error: { type, message } }
  return { error: { message, type, param, code: null } }
}
