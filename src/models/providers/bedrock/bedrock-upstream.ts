/**
 * Amazon Bedrock as a provider: requests of OpenAI's chat API are sent to Converse or ConverseStream, and the answers come
 * back as those of that API. Nothing of the client's headers is sent on.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { AppError } from '../../../lib/errors.ts'
import { type JsonObject, parseJsonObject } from '../../../lib/json.ts'
import type { HeaderPairs, Upstream, UpstreamRequest, UpstreamResponse } from '../../upstream.ts'
import { signAwsRequest } from './aws-signature.ts'
import {
  type AnswerIdentity,
  ChatStream,
  toChatCompletion,
  toChatError,
} from './converse-answer.ts'
import {
  type ConverseRequest,
  ConverseRequestError,
  toConverseRequest,
} from './converse-request.ts'
import { decodeEventStream } from './event-stream.ts'

export type BedrockOptions = {
  /** Unique, alphanumeric. */
  readonly newId?: () => string
  /** Milliseconds. */
  readonly now?: () => number
}

const SERVICE = 'bedrock'
const CHAT_PATH = '/chat/completions'
const ANSWER_BYTES_MAX = 64 * 1_048_576
/** Of the provider's own, passed on with errors and answers. */
const KEPT_HEADERS: ReadonlySet<string> = new Set(['retry-after', 'x-amzn-requestid'])

/** Sends by `http`, which its creator closes. */
export function createBedrockUpstream(http: Upstream, options: BedrockOptions = {}): Upstream {
  return {
    send: async (request) => {
      const path = request.path.replace(/\?.*$/s, '')
      // Models are those that the operator lists.
      if (request.method === 'GET' && path === '/models') {
        return createJsonResponse(200, { object: 'list', data: [] })
      }
      if (request.method === 'POST' && path === CHAT_PATH) return converse(http, request, options)
      const message = `The provider ${request.provider.name} is Amazon Bedrock, which is asked by POST /v1/chat/completions only; got ${request.method} ${path.slice(0, 80)}.`
      return createJsonResponse(404, toChatError(404, message, 'not_found'))
    },
    close: async () => {},
  }
}

async function converse(
  http: Upstream,
  request: UpstreamRequest,
  { newId = shortId, now = Date.now }: BedrockOptions,
): Promise<UpstreamResponse> {
  let asked: ConverseRequest
  try {
    asked = toConverseRequest(readBody(request))
  } catch (thrown) {
    if (!(thrown instanceof ConverseRequestError)) throw thrown
    const { message, param } = thrown
    const error = { message, type: 'invalid_request_error', param, code: null }
    return createJsonResponse(400, { error })
  }
  const { model, isStreaming, hasUsage } = asked
  const answer = await http.send(await toSignedRequest(request, asked, now()))
  const kept = answer.headers.filter(([name]) => KEPT_HEADERS.has(name.toLowerCase()))
  if (answer.status >= 300) return toErrorResponse(answer, kept)
  const identity = { id: newId(), model, createdSeconds: Math.floor(now() / 1_000) }
  if (!isStreaming) {
    const told = parseJsonObject((await readAll(answer)).toString('utf8'))
    if (told === null) throw broken(request, 'is no JSON object')
    return createJsonResponse(200, toChatCompletion(told, identity), kept)
  }
  const events = Readable.from(streamEvents(request, answer, identity, hasUsage), {
    objectMode: false,
  })
  // The error is kept for a later reader, as with any other provider.
  events.on('error', () => {})
  return {
    status: 200,
    headers: [
      ['content-type', 'text/event-stream; charset=utf-8'],
      ['cache-control', 'no-cache'],
      ...kept,
    ],
    body: events,
  }
}

async function toSignedRequest(
  { provider, signal }: UpstreamRequest,
  { model, isStreaming, body: converseBody }: ConverseRequest,
  now: number,
): Promise<UpstreamRequest> {
  const path = `/model/${encodeURIComponent(model)}/${isStreaming ? 'converse-stream' : 'converse'}`
  const body = Buffer.from(JSON.stringify(converseBody))
  const { aws } = provider
  const credentials = aws?.credentials ?? null
  const signature =
    aws === undefined || credentials === null
      ? []
      : await signAwsRequest({
          ...{ method: 'POST', url: `${provider.baseUrl}${path}`, body, service: SERVICE },
          ...{ region: aws.region, credentials, now },
        })
  return {
    ...{ provider, method: 'POST', path, body, signal },
    headers: [
      ['content-type', 'application/json'],
      ['accept', isStreaming ? 'application/vnd.amazon.eventstream' : 'application/json'],
      ['accept-encoding', 'identity'],
      ...signature,
    ],
  }
}

/** Chat requests are never streams. */
function readBody({ body }: UpstreamRequest): JsonObject {
  const parsed =
    body instanceof Uint8Array ? parseJsonObject(Buffer.from(body).toString('utf8')) : null
  if (parsed !== null) return parsed
  throw new ConverseRequestError('body', 'The body must be a JSON object.')
}

async function* streamEvents(
  request: UpstreamRequest,
  { body }: UpstreamResponse,
  identity: AnswerIdentity,
  hasUsage: boolean,
): AsyncGenerator<Buffer> {
  const stream = new ChatStream(identity, hasUsage)
  for await (const message of decodeEventStream(body)) {
    const events = stream.read(message)
    if (events !== '') yield Buffer.from(events)
  }
  if (!stream.isEnded) throw broken(request, 'ended in the middle')
  yield Buffer.from(stream.end())
}

function broken({ provider: { name } }: UpstreamRequest, how: string): AppError {
  return new AppError('bad_gateway', `The answer of the provider ${name} ${how}.`, {
    provider: name,
  })
}

/** AWS names its errors in a header, `ValidationException:http://…`, and tells the rest in `message`. */
async function toErrorResponse(
  answer: UpstreamResponse,
  kept: HeaderPairs,
): Promise<UpstreamResponse> {
  const text = (await readAll(answer)).toString('utf8')
  const { message, Message: other } = parseJsonObject(text) ?? {}
  const told = [message, other].find((each) => typeof each === 'string')
  const [, name] =
    /^\s*(\w+)/.exec(answer.headers.find(([key]) => isErrorType(key))?.[1] ?? '') ?? []
  const error = toChatError(answer.status, told ?? `Status ${answer.status}.`, name ?? null)
  return createJsonResponse(answer.status, error, kept)
}

function isErrorType(name: string): boolean {
  return name.toLowerCase() === 'x-amzn-errortype'
}

async function readAll({ body }: UpstreamResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > ANSWER_BYTES_MAX) {
      throw new AppError(
        'bad_gateway',
        `The answer of the provider is longer than ${ANSWER_BYTES_MAX} bytes.`,
      )
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function createJsonResponse(
  status: number,
  body: object,
  kept: HeaderPairs = [],
): UpstreamResponse {
  const bytes = Buffer.from(JSON.stringify(body))
  return {
    status,
    headers: [
      ['content-type', 'application/json'],
      ['content-length', String(bytes.length)],
      ...kept,
    ],
    body: Readable.from([bytes], { objectMode: false }),
  }
}

function shortId(): string {
  return randomUUID().replaceAll('-', '')
}
