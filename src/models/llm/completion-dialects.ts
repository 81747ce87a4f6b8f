/** How the two APIs are asked for one answer, and what their answers say. Nothing here believes what comes. */
import { countIn, isList, isObject } from '../../lib/json.ts'
import { sendable } from '../../text/well-formed-text.ts'
import type { CompletionRequest, ModelMessage } from '../language-model.ts'
import { type Provider, type SystemRole, systemRoleOf } from '../provider.ts'
import type { HeaderPairs } from '../upstream.ts'

/** What a model turned out not to take. */
export type Quirks = { readonly refusesJson: boolean; readonly wantsOldLimit: boolean }

export type Told = {
  readonly text: string
  readonly isCut: boolean
  /** The model would not answer, and said so in the way of its API. */
  readonly isRefusal: boolean
  readonly input: number | null
  readonly output: number | null
}

export type Dialect = {
  readonly path: string
  readonly headers: HeaderPairs
  body(provider: Provider, model: string, request: CompletionRequest, quirks: Quirks): object
  /** Null when it is no answer. */
  read(body: unknown): Told | null
}

const JSON_HEADERS: HeaderPairs = [
  ['content-type', 'application/json'],
  ['accept', 'application/json'],
  ['accept-encoding', 'identity'],
]

export function dialectOf({ kind }: Provider): Dialect {
  return kind === 'anthropic' ? MESSAGES : CHAT
}

const CHAT: Dialect = {
  path: '/chat/completions',
  headers: JSON_HEADERS,
  body: (provider, model, { messages, json, outputTokensMax }, quirks) => ({
    model,
    messages: placed(messages.map(sound), systemRoleOf(provider, model)),
    // Ollama passes over the newer name without a word, and the answer would have no limit.
    [quirks.wantsOldLimit || provider.kind === 'ollama' ? 'max_tokens' : 'max_completion_tokens']:
      outputTokensMax,
    ...(json && !quirks.refusesJson ? { response_format: { type: 'json_object' } } : {}),
    stream: false,
  }),
  read: (body) => {
    const [choice] = isObject(body) && isList(body.choices) ? body.choices : []
    if (!isObject(body) || !isObject(choice) || !isObject(choice.message)) return null
    const { content, refusal } = choice.message
    const usage = isObject(body.usage) ? body.usage : {}
    const text = textOf(content)
    if (text === null) return null
    const finish = choice.finish_reason
    const refuses = (typeof refusal === 'string' && refusal !== '') || finish === 'content_filter'
    return {
      text: withoutThoughts(text),
      isCut: finish === 'length',
      isRefusal: text === '' && refuses,
      input: countIn(usage.prompt_tokens),
      output: countIn(usage.completion_tokens),
    }
  },
}

const MESSAGES: Dialect = {
  path: '/messages',
  headers: [...JSON_HEADERS, ['anthropic-version', '2023-06-01']],
  body: (_, model, { messages, outputTokensMax }) => {
    const said = messages.map(sound)
    const system = joined(said.filter(({ role }) => role === 'system'))
    const others = said.filter(({ role }) => role !== 'system')
    const isAlone = others.length === 0 // nothing can be asked with no message at all
    return {
      model,
      max_tokens: outputTokensMax,
      ...(system === '' || isAlone ? {} : { system }),
      messages: isAlone ? [{ role: 'user', content: system }] : others,
    }
  },
  read: (body) => {
    if (!isObject(body) || !isList(body.content)) return null
    const usage = isObject(body.usage) ? body.usage : {}
    const read = countIn(usage.input_tokens)
    const cached =
      (countIn(usage.cache_creation_input_tokens) ?? 0) +
      (countIn(usage.cache_read_input_tokens) ?? 0)
    const { stop_reason: stop } = body
    const text = textOf(body.content) ?? ''
    return {
      text,
      isCut: stop === 'max_tokens' || stop === 'model_context_window_exceeded',
      isRefusal: text === '' && stop === 'refusal',
      input: read === null ? null : read + cached,
      output: countIn(usage.output_tokens),
    }
  },
}

function sound({ role, content }: ModelMessage): ModelMessage {
  return { role, content: sendable(content) }
}

/** As the model takes it: where it has no system role, what is said there is said by the person, first. */
function placed(messages: readonly ModelMessage[], role: SystemRole): readonly ModelMessage[] {
  const system = joined(messages.filter((message) => message.role === 'system'))
  if (role === 'any' || system === '') return messages
  const others = messages.filter((message) => message.role !== 'system')
  if (role === 'leading') return [{ role: 'system', content: system }, ...others]
  const [first, ...rest] = others
  return first?.role === 'user'
    ? [{ role: 'user', content: `${system}\n\n${first.content}` }, ...rest]
    : [{ role: 'user', content: system }, ...others]
}

function joined(messages: readonly ModelMessage[]): string {
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
function withoutThoughts(text: string): string {
  const end = text.trimStart().startsWith('<think>') ? text.indexOf(THOUGHTS_END) : -1
  return end < 0 ? text : text.slice(end + THOUGHTS_END.length).trim()
}
const THOUGHTS_END = '</think>'
