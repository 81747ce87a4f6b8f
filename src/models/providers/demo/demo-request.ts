/** Parses requests of all three formats. */
import type { ApiFormat } from '../../../domain/model-call.ts'
import { getField } from '../../../lib/json.ts'

export type DemoMessage = { readonly role: string; readonly text: string }

export type DemoRequest = {
  readonly model: string
  readonly streams: boolean
  /** Instructions first, then messages in order. */
  readonly messages: readonly DemoMessage[]
  readonly outputTokensMax: number | null
  /** Whether a chat stream ends with usage. */
  readonly includesUsage: boolean
}

/** Fields that the real API would reject. */
export class DemoRequestError extends Error {
  readonly param: string | null

  constructor(message: string, param: string | null) {
    super(message)
    this.param = param
  }
}

/** Output limit of each format; the legacy name last. */
const LIMITS: Readonly<Record<ApiFormat, readonly string[]>> = {
  chat: ['max_completion_tokens', 'max_tokens'],
  responses: ['max_output_tokens'],
  messages: ['max_tokens'],
  gemini: ['maxOutputTokens'],
}

/** A request of Gemini's own API, whose path names the model and whether it streams. */
export function parseGeminiDemoRequest(
  model: string,
  streams: boolean,
  bytes: Uint8Array | null,
): DemoRequest {
  const body = parseBody(bytes)
  const config = getField(body, 'generationConfig')
  const messages = parseGeminiContents(body)
  return {
    model,
    streams,
    messages,
    outputTokensMax: readLimit('gemini', config),
    includesUsage: true,
  }
}

/** Also of a request that only counts tokens. */
export function parseGeminiTokenCount(bytes: Uint8Array | null): readonly DemoMessage[] {
  return parseGeminiContents(parseBody(bytes))
}

function parseGeminiContents(body: unknown): readonly DemoMessage[] {
  const contents = getField(body, 'contents')
  if (!Array.isArray(contents) || contents.length === 0) {
    throw new DemoRequestError('contents is not specified', 'contents')
  }
  const textIn = (content: unknown) => textOf([getField(content, 'parts')].flat())
  const system = textIn(getField(body, 'systemInstruction') ?? getField(body, 'system_instruction'))
  return [
    ...(system === '' ? [] : [{ role: 'system', text: system }]),
    ...contents.map((content: unknown) => {
      const role = getField(content, 'role')
      return { role: role === 'model' ? 'assistant' : 'user', text: textIn(content) }
    }),
  ]
}

export function parseDemoRequest(format: ApiFormat, bytes: Uint8Array | null): DemoRequest {
  const body = parseBody(bytes)
  const model = readModel(body)
  const outputTokensMax = readLimit(format, body)
  return {
    model,
    streams: getField(body, 'stream') === true,
    messages: format === 'responses' ? readInput(body) : readMessages(body),
    outputTokensMax,
    includesUsage: getField(getField(body, 'stream_options'), 'include_usage') === true,
  }
}

/** Anthropic's token counting endpoint, which needs no output limit. */
export function parseTokenCountRequest(bytes: Uint8Array | null): readonly DemoMessage[] {
  const body = parseBody(bytes)
  readModel(body)
  return readMessages(body)
}

function readModel(body: unknown): string {
  const model = getField(body, 'model')
  if (typeof model === 'string' && model !== '') return model
  throw new DemoRequestError('`model` is required; the demo accepts any name.', 'model')
}

function parseBody(bytes: Uint8Array | null): unknown {
  try {
    const body: unknown = JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(bytes ?? new Uint8Array()),
    )
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  } catch {
    // Reported below, without quoting the request.
  }
  throw new DemoRequestError('The body of the request is not a JSON object.', null)
}

function readLimit(format: ApiFormat, body: unknown): number | null {
  const name = LIMITS[format].find((each) => (getField(body, each) ?? null) !== null)
  if (name === undefined) {
    if (format !== 'messages') return null
    throw new DemoRequestError('max_tokens: Field required', 'max_tokens')
  }
  const limit = getField(body, name)
  if (typeof limit === 'number' && Number.isInteger(limit) && limit > 0) return limit
  throw new DemoRequestError(`${name} must be a whole number above 0.`, name)
}

function readMessages(body: unknown): readonly DemoMessage[] {
  const messages = getField(body, 'messages')
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new DemoRequestError('messages must be a list with at least one message.', 'messages')
  }
  return [...parseInstructions(getField(body, 'system')), ...messages.map(toMessage)]
}

function readInput(body: unknown): readonly DemoMessage[] {
  const input = getField(body, 'input')
  const leading = parseInstructions(getField(body, 'instructions'))
  if (typeof input === 'string') return [...leading, { role: 'user', text: input }]
  if (Array.isArray(input)) return [...leading, ...input.map(toMessage)]
  throw new DemoRequestError('input must be a text or a list of items.', 'input')
}

function parseInstructions(content: unknown): readonly DemoMessage[] {
  const text = textOf(content)
  return text === '' ? [] : [{ role: 'system', text }]
}

function toMessage(message: unknown): DemoMessage {
  const role = getField(message, 'role')
  return { role: typeof role === 'string' ? role : '', text: textOf(getField(message, 'content')) }
}

/** A text, or the texts of a list of parts; images and tool results have none. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const texts = content.map((part) => getField(part, 'text'))
  return texts.filter((text) => typeof text === 'string').join('\n\n')
}
