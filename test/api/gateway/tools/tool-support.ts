/** A provider by script, asked through the real client libraries, with the memory tools in between. */
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { HiddenToolCalls } from '../../../../src/api/gateway/tools/hidden-tool-calls.ts'
import { runToolLoop } from '../../../../src/api/gateway/tools/tool-handler.ts'
import type { UpstreamResponse } from '../../../../src/models/upstream.ts'
import { FakeClock } from '../../../fakes/clock.ts'
import type { Reply } from '../support/scripted-upstream.ts'
import { PATHS, type PathFormat, speak } from '../support/wire-format.ts'
import type { Said, ToolCall } from '../support/wire-parts.ts'

export const FORMATS = ['chat', 'responses', 'messages'] as const

/** Each format, streaming and not. */
export const WAYS = FORMATS.flatMap((format) => [
  { format, streams: true, way: `${format}, streaming` },
  { format, streams: false, way: `${format}, whole` },
])

/** What the provider says to one request: in short, or as it would go over the wire. */
export type Line = Said | { readonly reply: Reply } | ((signal: AbortSignal) => Promise<Reply>)

// biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape
export type Body = any

export type Stage = {
  readonly format: PathFormat
  readonly streams: boolean
  readonly lines: readonly Line[]
  readonly run?: (name: string, input: unknown) => Promise<string>
  readonly names?: readonly string[]
  readonly hidden?: HiddenToolCalls
  readonly owner?: string
  readonly signal?: AbortSignal
  /** Bytes of each piece that the provider sends; by default all at once. */
  readonly step?: number
}

export const ALL = ['memory_search', 'memory_save', 'memory_update', 'memory_forget']

/** What came of one request, in the same words for every format. */
export type Heard = {
  readonly text: string
  readonly calls: readonly { id: string; name: string; input: unknown }[]
  readonly usage: { readonly input: number; readonly output: number }
  readonly id: string
  readonly finish: string | null | undefined
  /** The whole answer, as the client library gives it. */
  readonly answer: Body
}

export class Play {
  /** What the provider was sent. */
  readonly requests: Body[] = []
  readonly texts: string[] = []
  readonly ran: { readonly name: string; readonly input: unknown }[] = []
  readonly events: Body[] = []
  toolCalls: readonly string[] = []
  /** What the client was sent, as it was written. */
  body = ''
  headers: UpstreamResponse['headers'] = []
  status = 0
  readonly #stage: Stage
  readonly #hidden: HiddenToolCalls

  constructor(stage: Stage) {
    this.#stage = stage
    this.#hidden = stage.hidden ?? new HiddenToolCalls(new FakeClock())
  }

  /** Stands between a client library and its provider. */
  readonly fetch = async (_: unknown, init?: { body?: unknown; signal?: AbortSignal | null }) => {
    const { format, names = ALL, run, owner = 'ann' } = this.#stage
    const signal = this.#stage.signal ?? init?.signal ?? new AbortController().signal
    const answer = await runToolLoop({
      format,
      text: String(init?.body),
      names,
      send: (text, stop) => this.#send(text, stop),
      run: async (name, input) => {
        this.ran.push({ name, input })
        return run === undefined ? `result of ${name}` : run(name, input)
      },
      hiddenCalls: this.#hidden.forScope(owner, null),
      signal,
    })
    if (answer === null) throw new Error('The model takes no tools.')
    this.toolCalls = answer.toolCalls
    this.headers = answer.headers
    this.status = answer.status
    const headers = new Headers(
      answer.headers.map(([name, value]): [string, string] => [name, value]),
    )
    return new Response(this.#heard(answer.body), { status: answer.status, headers })
  }

  #heard(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
    const iterator = body[Symbol.asyncIterator]()
    const decoder = new TextDecoder()
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = await iterator.next()
        if (done === true) return controller.close()
        this.body += decoder.decode(value, { stream: true })
        controller.enqueue(value)
      },
      cancel: async () => {
        await iterator.return?.()
      },
    })
  }

  async #send(text: string, signal: AbortSignal): Promise<UpstreamResponse> {
    const { lines, format, step } = this.#stage
    const line = lines[this.requests.length]
    this.texts.push(text)
    const body: Body = JSON.parse(text)
    this.requests.push(body)
    if (line === undefined) throw new Error('The script has no answer to this.')
    const reply =
      typeof line === 'function'
        ? await line(signal)
        : 'reply' in line
          ? line.reply
          : speak({ path: PATHS[format], body }, line)
    return {
      status: reply.status ?? 200,
      headers: Object.entries(reply.headers ?? {}),
      body: pieces(reply.body, step),
    }
  }

  async ask(more: object = {}, messages: readonly object[] | string = 'Hello'): Promise<Heard> {
    const { format, streams } = this.#stage
    const asked = typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages
    if (format === 'messages') return this.#askAnthropic(streams, { ...more, messages: asked })
    return format === 'chat'
      ? this.#askChat(streams, { ...more, messages: asked })
      : this.#askResponses(streams, { input: asked, ...more })
  }

  #openai(): OpenAI {
    return new OpenAI({ apiKey: 'none', maxRetries: 0, fetch: this.fetch as typeof fetch })
  }

  async #askChat(streams: boolean, fields: Body): Promise<Heard> {
    const { completions } = this.#openai().chat
    const asked = { model: 'gpt-test', ...fields }
    const answer: Body = streams
      ? await completions
          .stream({ ...asked, stream_options: { include_usage: true } })
          .on('chunk', (chunk) => this.events.push(chunk))
          .finalChatCompletion()
      : await completions.create(asked)
    const { message, finish_reason } = answer.choices[0]
    return {
      text: message.content ?? '',
      calls: (message.tool_calls ?? []).map((call: Body) => ({
        id: call.id,
        name: call.function.name,
        input: JSON.parse(call.function.arguments),
      })),
      usage: { input: answer.usage.prompt_tokens, output: answer.usage.completion_tokens },
      id: answer.id,
      finish: finish_reason,
      answer,
    }
  }

  async #askResponses(streams: boolean, fields: Body): Promise<Heard> {
    const { responses } = this.#openai()
    const asked = { model: 'gpt-test', ...fields }
    const answer: Body = streams
      ? await responses
          .stream(asked)
          .on('event', (event) => this.events.push(event))
          .finalResponse()
      : await responses.create(asked)
    return {
      text: answer.output_text,
      calls: answer.output
        .filter(({ type }: Body) => type === 'function_call')
        .map((item: Body) => ({
          id: item.call_id,
          name: item.name,
          input: JSON.parse(item.arguments),
        })),
      usage: { input: answer.usage.input_tokens, output: answer.usage.output_tokens },
      id: answer.id,
      finish: answer.status,
      answer,
    }
  }

  async #askAnthropic(streams: boolean, fields: Body): Promise<Heard> {
    const client = new Anthropic({
      apiKey: 'none',
      maxRetries: 0,
      fetch: this.fetch as typeof fetch,
    })
    const asked = { model: 'claude-test', max_tokens: 100, ...fields }
    const answer: Body = streams
      ? await client.messages
          .stream(asked)
          .on('streamEvent', (event) => this.events.push(event))
          .finalMessage()
      : await client.messages.create(asked)
    const of = (type: string) => answer.content.filter((block: Body) => block.type === type)
    return {
      text: of('text')
        .map(({ text }: Body) => text)
        .join('\n\n'),
      calls: of('tool_use').map(({ id, name, input }: Body) => ({ id, name, input })),
      usage: { input: answer.usage.input_tokens, output: answer.usage.output_tokens },
      id: answer.id,
      finish: answer.stop_reason,
      answer,
    }
  }
}

async function* pieces(body: Reply['body'], step?: number): AsyncGenerator<Uint8Array> {
  if (body === undefined) return
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    yield* body
    return
  }
  const bytes = Buffer.from(body as string) // both make bytes
  for (let at = 0; at < bytes.length; at += step ?? bytes.length) {
    yield bytes.subarray(at, at + (step ?? bytes.length))
  }
}

export function search(query: string, id = 'call_m1'): ToolCall {
  return { id, name: 'memory_search', arguments: { query } }
}

export function weather(city: string, id = 'call_w1'): ToolCall {
  return { id, name: 'get_weather', arguments: { city } }
}

/** A tool of the client's. */
export function clientTool(format: PathFormat, name = 'get_weather'): object {
  const parameters = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  }
  if (format === 'messages') return { name, input_schema: parameters }
  return format === 'chat'
    ? { type: 'function', function: { name, parameters } }
    : { type: 'function', name, parameters, strict: false }
}

export function toolNames(body: Body): readonly string[] {
  return (body.tools ?? []).map((tool: Body) => tool.function?.name ?? tool.name)
}

/** What a conversation says besides texts: calls and results by id, in their order. */
export function callsIn(format: PathFormat, body: Body): readonly string[] {
  if (format === 'responses') {
    return body.input.flatMap((item: Body) =>
      item.type === 'function_call'
        ? [`call ${item.call_id}`]
        : item.type === 'function_call_output'
          ? [`result ${item.call_id}: ${item.output}`]
          : [],
    )
  }
  return body.messages.flatMap((message: Body) => {
    if (message.role === 'tool') return [`result ${message.tool_call_id}: ${message.content}`]
    if (format === 'chat') return (message.tool_calls ?? []).map(({ id }: Body) => `call ${id}`)
    if (typeof message.content === 'string') return []
    return message.content.flatMap((block: Body) =>
      block.type === 'tool_use'
        ? [`call ${block.id}`]
        : block.type === 'tool_result'
          ? [`result ${block.tool_use_id}: ${block.content}`]
          : [],
    )
  })
}
