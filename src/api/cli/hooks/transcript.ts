/**
 * Transcripts of agent programs: the exchanges in the file that Claude Code, Codex, Gemini CLI or Cursor keeps of a
 * session. Their records differ, so whatever holds a role and a text is read, and everything else is skipped. Pure.
 */
import { stripInjectedText } from '../../../domain/message-content.ts'
import {
  filterObjects,
  isObject,
  type JsonObject,
  parseJson,
  parseJsonObject,
  type Value,
} from '../../../lib/json.ts'

export type TranscriptExchange = { readonly user: string; readonly assistant: string | null }

/** `text` is JSON lines, or one JSON document with a list of messages. */
export function readTranscript(text: string): readonly TranscriptExchange[] {
  const exchanges: { user: string; answers: string[] }[] = []
  for (const record of listRecords(text)) {
    const message = readMessage(record)
    if (message === null) continue
    if (message.role === 'user') exchanges.push({ user: message.text, answers: [] })
    else exchanges.at(-1)?.answers.push(message.text)
  }
  return exchanges.map(({ user, answers }) => ({
    user,
    assistant: answers.length === 0 ? null : answers.join('\n\n'),
  }))
}

function listRecords(text: string): readonly JsonObject[] {
  const whole = text.trimStart().startsWith('{') ? parseJson(text) : undefined
  if (isObject(whole) && Array.isArray(whole.messages)) return filterObjects(whole.messages)
  return text
    .split('\n')
    .map(parseJsonObject)
    .filter((record) => record !== null)
}

type Message = { readonly role: 'user' | 'assistant'; readonly text: string }

const ROLES: Readonly<Record<string, Message['role']>> = {
  user: 'user',
  assistant: 'assistant',
  model: 'assistant',
  gemini: 'assistant',
}

/** Null for calls of tools and their results, for other agents, and for what the program itself writes. */
function readMessage(record: JsonObject): Message | null {
  if ([record.isMeta, record.isSidechain, record.isCompactSummary].includes(true)) return null
  // Codex keeps items of the model's API in a payload; Claude Code and Cursor keep a message.
  const inner = [record.payload, record.message].find(isObject) ?? record
  if (record.payload !== undefined && inner.type !== 'message') return null
  const role = ROLES[String(inner.role ?? record.role ?? record.type)]
  if (role === undefined) return null
  const text = cleanText(readText(inner.content), role)
  return text === '' ? null : { role, text }
}

const TEXT_TYPES: readonly Value[] = [undefined, 'text', 'input_text', 'output_text']

function readText(content: Value): string {
  if (typeof content === 'string') return content
  if (isObject(content)) return readText(content.text)
  if (!Array.isArray(content)) return ''
  return content
    .filter(isObject)
    .filter(({ type, thought }) => TEXT_TYPES.includes(type) && thought !== true)
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n')
}

/** Cursor puts what the user typed into this tag, beside tags of its own. */
const QUERY = /<user_query>\s*([\s\S]*?)\s*<\/user_query>/
/** Commands of Claude Code, their output, and instructions that Codex sends as a message of the user. */
const PROGRAM_TEXT =
  /^(?:<(?:command-name|command-message|local-command-stdout|local-command-caveat|bash-input|bash-stdout)>|# AGENTS\.md instructions|\[Request interrupted)/

function cleanText(text: string, role: Message['role']): string {
  const typed = role === 'user' ? (QUERY.exec(text)?.[1] ?? text) : text
  const cleaned = stripInjectedText(typed).trim()
  return PROGRAM_TEXT.test(cleaned) ? '' : cleaned
}
