/** What the demo is asked, read from any of the three formats. */
import type { FormatName } from '../../../domain/model-call.ts'
import { field } from '../../../lib/json.ts'

export type Message = { readonly role: string; readonly text: string }

export type DemoRequest = {
  readonly model: string
  readonly streams: boolean
  /** Instructions first, then what was said, in order. */
  readonly messages: readonly Message[]
  readonly outputTokensMax: number | null
  /** Whether a stream of the chat format ends with a count of tokens. */
  readonly includesUsage: boolean
}

/** What the API itself would refuse, with the field to blame. */
export class Refusal extends Error {
  readonly param: string | null

  constructor(message: string, param: string | null) {
    super(message)
    this.param = param
  }
}

/** What limits the answer in each format; the older name last. */
const LIMITS: Readonly<Record<FormatName, readonly string[]>> = {
  chat: ['max_completion_tokens', 'max_tokens'],
  responses: ['max_output_tokens'],
  messages: ['max_tokens'],
}

export function readRequest(format: FormatName, bytes: Uint8Array | null): DemoRequest {
  const body = parseBody(bytes)
  const model = readModel(body)
  const outputTokensMax = readLimit(format, body)
  return {
    model,
    streams: field(body, 'stream') === true,
    messages: format === 'responses' ? readInput(body) : readMessages(body),
    outputTokensMax,
    includesUsage: field(field(body, 'stream_options'), 'include_usage') === true,
  }
}

/** What Anthropic's API counts: a request that asks for no answer, and so needs no limit of one. */
export function readCounted(bytes: Uint8Array | null): readonly Message[] {
  const body = parseBody(bytes)
  readModel(body)
  return readMessages(body)
}

function readModel(body: unknown): string {
  const model = field(body, 'model')
  if (typeof model === 'string' && model !== '') return model
  throw new Refusal('Name a model: any name will do for the demo.', 'model')
}

function parseBody(bytes: Uint8Array | null): unknown {
  try {
    const body: unknown = JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(bytes ?? new Uint8Array()),
    )
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  } catch {
    // Told below, without a word of what was sent.
  }
  throw new Refusal('The body of the request is not a JSON object.', null)
}

function readLimit(format: FormatName, body: unknown): number | null {
  const name = LIMITS[format].find((each) => (field(body, each) ?? null) !== null)
  if (name === undefined) {
    if (format !== 'messages') return null
    throw new Refusal('max_tokens: Field required', 'max_tokens')
  }
  const limit = field(body, name)
  if (typeof limit === 'number' && Number.isInteger(limit) && limit > 0) return limit
  throw new Refusal(`${name} must be a whole number above 0.`, name)
}

function readMessages(body: unknown): readonly Message[] {
  const messages = field(body, 'messages')
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new Refusal('messages must be a list with at least one message.', 'messages')
  }
  return [...instructions(field(body, 'system')), ...messages.map(toMessage)]
}

function readInput(body: unknown): readonly Message[] {
  const input = field(body, 'input')
  const leading = instructions(field(body, 'instructions'))
  if (typeof input === 'string') return [...leading, { role: 'user', text: input }]
  if (Array.isArray(input)) return [...leading, ...input.map(toMessage)]
  throw new Refusal('input must be a text or a list of items.', 'input')
}

function instructions(content: unknown): readonly Message[] {
  const text = textOf(content)
  return text === '' ? [] : [{ role: 'system', text }]
}

function toMessage(message: unknown): Message {
  const role = field(message, 'role')
  return { role: typeof role === 'string' ? role : '', text: textOf(field(message, 'content')) }
}

/** A text, or the texts of a list of parts; images and tool results have none. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const texts = content.map((part) => field(part, 'text'))
  return texts.filter((text) => typeof text === 'string').join('\n\n')
}
