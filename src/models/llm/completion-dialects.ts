/** Request and response formats of the two APIs. Responses are untrusted. */
import { isList, isObject, toCount } from '../../lib/json.ts'
import { toSendableText } from '../../text/well-formed-text.ts'
import type { CompletionRequest, ModelMessage } from '../language-model.ts'
import { getSystemRole } from '../model-capabilities.ts'
import type { Provider, SystemRole } from '../provider.ts'
import type { HeaderPairs } from '../upstream.ts'

/** Parameters that a model has rejected. */
export type ProviderQuirks = {
  readonly rejectsJsonMode: boolean
  readonly usesLegacyTokenLimit: boolean
}

export type ParsedCompletion = {
  readonly text: string
  readonly isTruncated: boolean
  /** A refusal, in the format of its API. */
  readonly isRefusal: boolean
  readonly inputTokens: number | null
  readonly outputTokens: number | null
}

export type CompletionDialect = {
  readonly path: string
  readonly headers: HeaderPairs
  buildRequestBody(
    provider: Provider,
    model: string,
    request: CompletionRequest,
    quirks: ProviderQuirks,
  ): object
  /** Null for an unexpected format. */
  parseResponse(body: unknown): ParsedCompletion | null
}

const JSON_HEADERS: HeaderPairs = [
  ['content-type', 'application/json'],
  ['accept', 'application/json'],
  ['accept-encoding', 'identity'],
]

export function selectDialect({ kind }: Provider): CompletionDialect {
  return kind === 'anthropic' ? MESSAGES : CHAT
}

const CHAT: CompletionDialect = {
  path: '/chat/completions',
  headers: JSON_HEADERS,
  buildRequestBody: (provider, model, { messages, json, outputTokensMax }, quirks) => ({
    model,
    messages: toSystemMessages(messages.map(toWellFormed), getSystemRole(provider, model)),
    // Ollama silently ignores the newer name, which would leave the output unlimited.
    [quirks.usesLegacyTokenLimit || provider.kind === 'ollama'
      ? 'max_tokens'
      : 'max_completion_tokens']: outputTokensMax,
    ...(json && !quirks.rejectsJsonMode ? { response_format: { type: 'json_object' } } : {}),
    stream: false,
  }),
  parseResponse: (body) => {
    const [choice] = isObject(body) && isList(body.choices) ? body.choices : []
    if (!isObject(body) || !isObject(choice) || !isObject(choice.message)) return null
    const { content, refusal } = choice.message
    const usage = isObject(body.usage) ? body.usage : {}
    const text = textOf(content)
    if (text === null) return null
    const finish = choice.finish_reason
    const refuses = (typeof refusal === 'string' && refusal !== '') || finish === 'content_filter'
    return {
      text: stripReasoning(text),
      isTruncated: finish === 'length',
      isRefusal: text === '' && refuses,
      inputTokens: toCount(usage.prompt_tokens),
      outputTokens: toCount(usage.completion_tokens),
    }
  },
}

const MESSAGES: CompletionDialect = {
  path: '/messages',
  headers: [...JSON_HEADERS, ['anthropic-version', '2023-06-01']],
  buildRequestBody: (_, model, { messages, outputTokensMax }) => {
    const said = messages.map(toWellFormed)
    const system = mergeMessages(said.filter(({ role }) => role === 'system'))
    const others = said.filter(({ role }) => role !== 'system')
    const isAlone = others.length === 0 // a request needs at least one message
    return {
      model,
      max_tokens: outputTokensMax,
      ...(system === '' || isAlone ? {} : { system }),
      messages: isAlone ? [{ role: 'user', content: system }] : others,
    }
  },
  parseResponse: (body) => {
    if (!isObject(body) || !isList(body.content)) return null
    const usage = isObject(body.usage) ? body.usage : {}
    const read = toCount(usage.input_tokens)
    const cached =
      (toCount(usage.cache_creation_input_tokens) ?? 0) +
      (toCount(usage.cache_read_input_tokens) ?? 0)
    const { stop_reason: stop } = body
    const text = textOf(body.content) ?? ''
    return {
      text,
      isTruncated: stop === 'max_tokens' || stop === 'model_context_window_exceeded',
      isRefusal: text === '' && stop === 'refusal',
      inputTokens: read === null ? null : read + cached,
      outputTokens: toCount(usage.output_tokens),
    }
  },
}

function toWellFormed({ role, content }: ModelMessage): ModelMessage {
  return { role, content: toSendableText(content) }
}

/** As the model takes it: where it has no system role, what is said there is said by the person, first. */
function toSystemMessages(
  messages: readonly ModelMessage[],
  role: SystemRole,
): readonly ModelMessage[] {
  const system = mergeMessages(messages.filter((message) => message.role === 'system'))
  if (role === 'any' || system === '') return messages
  const others = messages.filter((message) => message.role !== 'system')
  if (role === 'leading') return [{ role: 'system', content: system }, ...others]
  const [first, ...rest] = others
  return first?.role === 'user'
    ? [{ role: 'user', content: `${system}\n\n${first.content}` }, ...rest]
    : [{ role: 'user', content: system }, ...others]
}

function mergeMessages(messages: readonly ModelMessage[]): string {
  return messages.map(({ content }) => content).join('\n\n')
}

/** Of a text or a list of parts, which may hold thoughts as well. Null for anything else. */
function textOf(content: unknown): string | null {
  if (content === null || content === undefined) return ''
  if (typeof content === 'string') return content
  if (!isList(content)) return null
  const texts = content.map((part) => (isObject(part) && part.type === 'text' ? part.text : ''))
  return texts.every((text) => typeof text === 'string') ? texts.join('') : null
}

/** Some models think aloud before they answer. */
function stripReasoning(text: string): string {
  const end = text.trimStart().startsWith('<think>') ? text.indexOf(THOUGHTS_END) : -1
  return end < 0 ? text : text.slice(end + THOUGHTS_END.length).trim()
}
const THOUGHTS_END = '</think>'
