/** Translates requests of OpenAI's chat API to Bedrock's Converse API. Pure. */
import { filterObjects, getField, isObject, type JsonObject, parseJson } from '../../../lib/json.ts'

export type ConverseRequest = {
  readonly model: string
  readonly isStreaming: boolean
  readonly hasUsage: boolean
  readonly body: object
}

/** A request that Converse has no form for. */
export class ConverseRequestError extends Error {
  readonly param: string

  constructor(param: string, message: string) {
    super(message)
    this.param = param
  }
}

type Block = { readonly [name: string]: unknown }
type ConverseMessage = { readonly role: 'user' | 'assistant'; readonly content: Block[] }

/** Fields of Converse that OpenAI's API does not have; passed on where a client sends them. */
const OWN_FIELDS = [
  ...['additionalModelRequestFields', 'additionalModelResponseFieldPaths'],
  ...['guardrailConfig', 'performanceConfig', 'requestMetadata'],
]

export function toConverseRequest(body: JsonObject): ConverseRequest {
  assertTranslatable(body)
  const { model, messages, stream, stream_options: streamOptions } = body
  if (typeof model !== 'string') throw wrong('model', 'must be text')
  if (!Array.isArray(messages)) throw wrong('messages', 'must be a list')
  const spoken = filterObjects(messages)
  const system = spoken.filter(isInstruction).flatMap(toTextBlocks)
  const turns = mergeTurns(spoken.filter((message) => !isInstruction(message)).map(toTurn))
  const toolConfig = toToolConfig(body, spoken)
  const own = OWN_FIELDS.filter((name) => body[name] !== undefined)
  return {
    model,
    isStreaming: stream === true,
    hasUsage: getField(streamOptions, 'include_usage') === true,
    body: {
      messages: turns,
      ...(system.length === 0 ? {} : { system }),
      inferenceConfig: toInferenceConfig(body),
      ...(toolConfig === null ? {} : { toolConfig }),
      ...Object.fromEntries(own.map((name) => [name, body[name]])),
    },
  }
}

/** Ignoring one of these would answer something else than was asked. */
function assertTranslatable(body: JsonObject): void {
  const { n, response_format: format, logprobs, audio, functions } = body
  if (typeof n === 'number' && n > 1) throw wrong('n', 'must be 1 for Amazon Bedrock')
  const type = getField(format, 'type') ?? 'text'
  if (type !== 'text') {
    throw wrong(
      'response_format',
      'must be text for Amazon Bedrock; use a tool for structured output',
    )
  }
  if (logprobs === true) throw wrong('logprobs', 'is not supported for Amazon Bedrock')
  if (isObject(audio)) throw wrong('audio', 'is not supported for Amazon Bedrock')
  if (functions !== undefined)
    throw wrong('functions', 'is not supported for Amazon Bedrock; use `tools`')
}

function isInstruction({ role }: JsonObject): boolean {
  return role === 'system' || role === 'developer'
}

function toTurn(message: JsonObject): ConverseMessage {
  const { role, tool_call_id: id, tool_calls: calls } = message
  if (role === 'user') return { role, content: toContentBlocks(message) }
  if (role === 'tool') {
    if (typeof id !== 'string') throw wrong('messages.tool_call_id', 'must be text')
    const toolResult = { toolUseId: id, content: toContentBlocks(message) }
    return { role: 'user', content: [{ toolResult }] }
  }
  if (role !== 'assistant') {
    throw wrong('messages.role', 'must be system, developer, user, assistant or tool')
  }
  return { role, content: [...toTextBlocks(message), ...filterObjects(calls).map(toToolUse)] }
}

function toToolUse({ id, function: called }: JsonObject): Block {
  const { name, arguments: text } = isObject(called) ? called : {}
  if (typeof id !== 'string' || typeof name !== 'string') {
    throw wrong('messages.tool_calls', 'must each have an id and a function with a name')
  }
  const input = typeof text === 'string' && text.trim() !== '' ? parseJson(text) : {}
  if (!isObject(input)) {
    throw wrong('messages.tool_calls', 'must have arguments that are a JSON object')
  }
  return { toolUse: { toolUseId: id, name, input } }
}

/** Converse wants turns that alternate, and no empty ones. */
function mergeTurns(turns: readonly ConverseMessage[]): readonly ConverseMessage[] {
  const merged: ConverseMessage[] = []
  for (const { role, content } of turns) {
    const last = merged.at(-1)
    if (last?.role === role) last.content.push(...content)
    else if (content.length > 0) merged.push({ role, content: [...content] })
  }
  return merged
}

/** Converse rejects blocks without text. */
function toTextBlocks({ content }: JsonObject): readonly Block[] {
  if (typeof content === 'string') return content.trim() === '' ? [] : [{ text: content }]
  return filterObjects(content).flatMap(({ text, refusal }) => {
    const said = text ?? refusal
    return typeof said === 'string' && said.trim() !== '' ? [{ text: said }] : []
  })
}

function toContentBlocks(message: JsonObject): Block[] {
  const { content } = message
  if (typeof content === 'string') return [...toTextBlocks(message)]
  return filterObjects(content).flatMap((part): readonly Block[] => {
    if (part.type === 'text') return toTextBlocks({ content: [part] })
    if (part.type === 'image_url') return [toImage(part)]
    if (part.type === 'file') return [toDocument(part)]
    throw wrong('messages.content', 'must be text, images and files for Amazon Bedrock')
  })
}

const DATA_URL = /^data:([\w.+/-]+)(?:;[^,;]*)*;base64,([\w+/=\s-]+)$/
const IMAGE_FORMATS: ReadonlySet<string> = new Set(['png', 'jpeg', 'gif', 'webp'])

function toImage({ image_url: image }: JsonObject): Block {
  const [, media = '', bytes] = DATA_URL.exec(String(getField(image, 'url'))) ?? []
  const format = media.replace(/^image\//, '').replace(/^jpg$/, 'jpeg')
  if (bytes === undefined || !IMAGE_FORMATS.has(format)) {
    throw wrong(
      'messages.content.image_url',
      'must be a data: address of PNG, JPEG, GIF or WebP for Amazon Bedrock',
    )
  }
  return { image: { format, source: { bytes } } }
}

const DOCUMENT_NAME = /^(.*)\.(pdf|csv|doc|docx|xls|xlsx|html|txt|md)$/is

function toDocument({ file }: JsonObject): Block {
  const [, , bytes] = DATA_URL.exec(String(getField(file, 'file_data'))) ?? []
  const [, name = '', format] = DOCUMENT_NAME.exec(String(getField(file, 'filename'))) ?? []
  if (bytes === undefined || format === undefined) {
    throw wrong(
      'messages.content.file',
      'must have a data: address in `file_data` and a `filename` with a known ending for Amazon Bedrock',
    )
  }
  // Other characters are rejected, and so are several spaces in a row.
  const plain = name.replace(/[^A-Za-z0-9()[\]-]+/g, ' ').trim()
  return {
    document: {
      ...{ format: format.toLowerCase(), name: plain === '' ? 'document' : plain.slice(0, 200) },
      source: { bytes },
    },
  }
}

function toInferenceConfig(body: JsonObject): object {
  const { max_completion_tokens: newer, max_tokens: older, temperature, top_p: topP, stop } = body
  const maxTokens = newer ?? older
  const stopSequences = typeof stop === 'string' ? [stop] : stop
  const settings = Object.entries({ maxTokens, temperature, topP, stopSequences })
  return Object.fromEntries(settings.filter(([, value]) => value !== undefined && value !== null))
}

function toToolConfig(
  { tools, tool_choice: choice }: JsonObject,
  messages: readonly JsonObject[],
): object | null {
  const specs = filterObjects(tools).map(toToolSpec)
  if (specs.length === 0) return null
  if (choice === 'none') {
    // Converse has no such choice; it needs the tools wherever the conversation holds a call of one.
    const hasCalls = messages.some(({ role, tool_calls: calls }) => role === 'tool' || calls)
    return hasCalls ? { tools: specs } : null
  }
  const toolChoice = toToolChoice(choice)
  return { tools: specs, ...(toolChoice === null ? {} : { toolChoice }) }
}

function toToolSpec({ type, function: offered }: JsonObject): object {
  const { name, description, parameters } = isObject(offered) ? offered : {}
  if (type !== 'function' || typeof name !== 'string') {
    throw wrong('tools', 'must be functions with a name for Amazon Bedrock')
  }
  const json = isObject(parameters) ? parameters : { type: 'object', properties: {} }
  const hasDescription = typeof description === 'string' && description !== ''
  return {
    toolSpec: { name, ...(hasDescription ? { description } : {}), inputSchema: { json } },
  }
}

function toToolChoice(choice: unknown): object | null {
  if (choice === undefined || choice === null) return null
  if (choice === 'auto') return { auto: {} }
  if (choice === 'required') return { any: {} }
  const name = getField(getField(choice, 'function'), 'name')
  if (typeof name === 'string') return { tool: { name } }
  throw wrong('tool_choice', 'must be none, auto, required or a function for Amazon Bedrock')
}

function wrong(param: string, what: string): ConverseRequestError {
  return new ConverseRequestError(param, `\`${param}\` ${what}.`)
}
