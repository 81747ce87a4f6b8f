/**
 * Parses transcripts in JSON Lines. Messages of user and assistant become one redacted line each; everything else is
 * skipped. Line numbers are preserved.
 */
import { readContentText } from '../../domain/message-content.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../../lib/json.ts'
import { indexLines } from '../../text/lines.ts'
import { BREAK_COST, buildPlainStructure } from '../../text/markdown/document-structure.ts'
import { type RedactionOptions, redactSensitiveText } from '../../text/redaction.ts'
import { type ChunkOptions, splitIntoSpans } from '../chunking/line-chunker.ts'
import type { Chunk } from '../file.ts'

export type SessionMessage = {
  readonly role: 'user' | 'assistant'
  /** On one line; never empty. */
  readonly text: string
  /** The line of the transcript, from 1. */
  readonly line: number
}

export type SessionLines = {
  readonly messages: readonly SessionMessage[]
  /** The number of the first unread line. */
  readonly nextLine: number
  /** The number of characters read: all but an incomplete last line. */
  readonly read: number
  /** Lines that are not JSON. */
  readonly malformedLines: number
}

/** `firstLine` is the line number of the text's first line, because the text may be a tail. */
export function parseSessionLines(
  text: string,
  { firstLine = 1, ...redaction }: RedactionOptions & { readonly firstLine?: number },
): SessionLines {
  const messages: SessionMessage[] = []
  let line = firstLine
  let broken = 0
  let start = text.charCodeAt(0) === 0xfeff ? 1 : 0
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    const written = text.slice(start, end).trim()
    const value = written === '' ? null : parseJson(written)
    if (value === undefined) broken++
    else if (isObject(value)) messages.push(...parseMessages(value, line, redaction))
    start = end + 1
    line++
  }
  return { messages, nextLine: line, read: text.includes('\n') ? start : 0, malformedLines: broken }
}

function parseMessages(
  value: JsonObject,
  line: number,
  redaction: RedactionOptions,
): readonly SessionMessage[] {
  const message = NOT_SAID.some((flag) => value[flag] === true) ? null : parseMessage(value)
  const role = message?.role
  if (message === null || (role !== 'user' && role !== 'assistant')) return []
  // Multi-line secrets are recognized by their lines, so lines are joined afterwards.
  const text = redactSensitiveText(readContentText(message.content, getPartText), redaction)
    .replace(/\s+/g, ' ')
    .trim()
  return text === '' ? [] : [{ role, text, line }]
}

/** User messages written by programs: notes to the model, agent tasks, summaries. */
const NOT_SAID = ['isMeta', 'isSidechain', 'isCompactSummary'] as const

/** Line types that contain a message. */
const KINDS: ReadonlySet<Json | undefined> = new Set([undefined, 'message', 'user', 'assistant'])

/** The message is in `message`, in `payload`, or is the line itself. */
function parseMessage(value: JsonObject): JsonObject | null {
  if (isObject(value.payload)) return value.payload.type === 'message' ? value.payload : null
  if (!KINDS.has(value.type)) return null
  return isObject(value.message) ? value.message : value
}

const TEXTS: ReadonlySet<Json | undefined> = new Set(['text', 'input_text', 'output_text'])

function getPartText(part: JsonObject): Json | undefined {
  return TEXTS.has(part.type) ? part.text : undefined
}

const NAMES = { user: 'User', assistant: 'Assistant' } as const

/**
 * Chunks a conversation, one message per line, starting with a question where possible. Lines refer to the transcript.
 * A chunk that starts in the middle of a message has the speaker in its heading.
 */
export function chunkSession(
  messages: readonly SessionMessage[],
  options: ChunkOptions,
): readonly Chunk[] {
  const spoken = messages.map(({ role, text }) => `${NAMES[role]}: ${text}`)
  const lines = indexLines(spoken.join('\n'))
  const structure = buildPlainStructure(lines.count, (line) => {
    return messages[line]?.role === 'user' ? BREAK_COST.block : BREAK_COST.line
  })
  return splitIntoSpans(lines, structure, options).map(({ start, end, first, last }) => {
    const speaker = NAMES[messages[first]?.role ?? 'user']
    return {
      headings: start === lines.starts[first] ? [] : [speaker],
      lineFirst: messages[first]?.line ?? 0,
      lineLast: messages[last]?.line ?? 0,
      text: lines.text.slice(start, end),
    }
  })
}
