/**
 * Transcripts of conversations as programs write them: one JSON a line. What was said by the person and the model is read,
 * each on one line and without secrets; everything else is passed over. Lines keep their numbers.
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
  /** Of the transcript, from 1. */
  readonly line: number
}

export type SessionLines = {
  readonly messages: readonly SessionMessage[]
  /** The number of the first line that was not read. */
  readonly nextLine: number
  /** How many characters were read: all but a last line that has no end yet. */
  readonly read: number
  /** Lines that are no JSON. */
  readonly malformedLines: number
}

/** `firstLine` is the number of the first line of the text, which may be the rest of a transcript. */
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
  // Keys are known by their lines, so those are joined afterwards.
  const text = redactSensitiveText(readContentText(message.content, getPartText), redaction)
    .replace(/\s+/g, ' ')
    .trim()
  return text === '' ? [] : [{ role, text, line }]
}

/** What programs put in the name of the person: notes to the model, what a part of it was told, summaries. */
const NOT_SAID = ['isMeta', 'isSidechain', 'isCompactSummary'] as const

/** Kinds of lines that hold a message, where a line has a kind. */
const KINDS: ReadonlySet<Json | undefined> = new Set([undefined, 'message', 'user', 'assistant'])

/** A message stands in `message`, in `payload`, or is the line itself. */
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
 * Chunks of what was said, one message a line, each beginning with a question where it can be. The lines that a chunk names
 * are those of the transcript. Where it begins in the middle of a message, its heading says whose.
 */
export function chunkSession(
  messages: readonly SessionMessage[],
  options: ChunkOptions,
): readonly Chunk[] {
  const said = messages.map(({ role, text }) => `${NAMES[role]}: ${text}`)
  const lines = indexLines(said.join('\n'))
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
