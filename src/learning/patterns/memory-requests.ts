/**
 * Finds explicit requests about memory in a message: to remember something, to forget something, and standing instructions
 * for answers. Requests inside of texts that are not the user's own do not count.
 */
import { EXTRACTED_CHARACTERS_MAX } from '../../domain/limits.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import { execPattern, matchesAnyPattern, mayMatchAny } from '../../text/regex-prefilter.ts'
import { type Sentence, splitSentences } from '../../text/speech/sentences.ts'
import { parseSpeakerLabel } from '../../text/speech/speaker-labels.ts'
import type { TextSpan } from './cue-matcher.ts'
import {
  FORGET_ENDINGS,
  FORGET_OPENINGS,
  INSTRUCTIONS,
  NO_FORGET,
  NO_INSTRUCTION,
  NO_REMEMBER,
  REMEMBER_ENDINGS,
  REMEMBER_OPENINGS,
} from './memory-request-cues.ts'
import { maskOthersWords, normalizeMarks } from './own-words.ts'
import { findTailStart } from './text-tail.ts'

export type MemoryRequest = TextSpan & {
  readonly kind: 'remember' | 'forget' | 'instruction'
  /** What to remember or forget, or the whole instruction, in the user's words. */
  readonly content: string
}

/** A request stands near the end of a message. */
const REQUEST_BYTES_MAX = 8_192
const VIEW_CHARACTERS = 300
const CONTENT_CHARACTERS_MIN = 3

const parsedTexts = new LruCache<string, readonly MemoryRequest[]>({
  entriesMax: 64,
  weightMax: 200_000,
  weigh: (_, { length }) => length,
})

export function parseMemoryRequests(text: string): readonly MemoryRequest[] {
  return parsedTexts.getOrCreate(text, () => parseUncached(text))
}

const REQUEST_CUES: readonly RegExp[] = [
  ...FORGET_OPENINGS,
  ...FORGET_ENDINGS,
  ...INSTRUCTIONS,
  ...REMEMBER_OPENINGS,
  ...REMEMBER_ENDINGS,
]

function parseUncached(text: string): readonly MemoryRequest[] {
  const offset = findTailStart(text, REQUEST_BYTES_MAX)
  const tail = text.slice(offset)
  // Masking takes longer than all else, and adds no letters.
  if (!mayMatchAny(REQUEST_CUES, normalizeMarks(tail))) return []
  const speech = restoreHeadings(tail, maskOthersWords(tail))
  const sentences = splitSentences(speech)
  const requests: MemoryRequest[] = []
  let handledEnd = 0
  for (const [index, sentence] of sentences.entries()) {
    if (sentence.start < handledEnd) continue
    const request = parseSentence(tail, speech, sentence, sentences[index - 1] ?? null)
    if (request === null) continue
    handledEnd = request.end
    requests.push({ ...request, start: offset + request.start, end: offset + request.end })
  }
  return requests
}

type CreateRequest = (kind: MemoryRequest['kind'], span: TextSpan) => MemoryRequest | null

function createRequest(
  text: string,
  kind: MemoryRequest['kind'],
  span: TextSpan,
): MemoryRequest | null {
  const trimmed = trimSpan(text, span)
  const content = text.slice(trimmed.start, trimmed.end).replace(/\s+/gu, ' ')
  const { length } = content
  if (length < CONTENT_CHARACTERS_MIN || length > EXTRACTED_CHARACTERS_MAX) return null
  return { kind, content, ...trimmed }
}

/** "Remember: …" is a heading, whose words are masked for extraction. */
function restoreHeadings(text: string, speech: string): string {
  let start = 0
  let restored = speech
  for (const line of text.split('\n')) {
    const label = parseSpeakerLabel(line)
    const after = start + (label?.length ?? 0)
    if (label?.kind === 'heading' && speech.slice(start, after).trim() === '') {
      restored = restored.slice(0, start) + text.slice(start, after) + restored.slice(after)
    }
    start += line.length + 1
  }
  return restored
}

/** Behind "When we talk about recipes, …" a request begins after a mark. */
const CLAUSE_START = /(?:[,:;，：、]|\s[–—-])\s*(?=\S)/gu
const LEAD_CHARACTERS_MAX = 80
const REPORTED =
  /(?:sa(?:id|ys)|told|tells|wrote|asks?|asked|sagte|sagt|meinte|dijo|dice|disse|diz|dit|disait|说|と言)[^,:]{0,20}$/iu

function parseSentence(
  text: string,
  speech: string,
  sentence: Sentence,
  previous: Sentence | null,
): MemoryRequest | null {
  const request = parseRequest(text, speech, sentence, previous)
  if (request !== null) return request
  const view = speech.slice(sentence.start, sentence.start + LEAD_CHARACTERS_MAX)
  for (const { 0: mark, index } of view.matchAll(CLAUSE_START)) {
    const start = sentence.start + index + mark.length
    if (start >= sentence.end || REPORTED.test(view.slice(0, index))) break
    const later = parseRequest(text, speech, { ...sentence, start }, null)
    if (later !== null && later.kind !== 'forget') {
      return later.kind === 'remember'
        ? later
        : createRequest(text, 'instruction', { start: sentence.start, end: sentence.end })
    }
  }
  return null
}

function parseRequest(
  text: string,
  speech: string,
  sentence: Sentence,
  previous: Sentence | null,
): MemoryRequest | null {
  const start = sentence.start + (speech.slice(sentence.start).search(/[^\s"'*•–—-]/u) || 0)
  const view = speech.slice(start, Math.min(sentence.end, start + VIEW_CHARACTERS))
  if (view.trim() === '') return null
  const create: CreateRequest = (kind, span) => createRequest(text, kind, span)
  const createAfter = (kind: MemoryRequest['kind'], from: number, end: number) =>
    create(kind, { start: from + skipConjunction(speech.slice(from, end)), end })
  const whole = { start, end: sentence.end }
  const isNoForget = matchesAnyPattern(NO_FORGET, view)
  const forget = findOpening(FORGET_OPENINGS, view)
  if (forget !== null && !isNoForget && !sentence.isQuestion) {
    return createAfter('forget', start + forget, sentence.end)
  }
  if (!isNoForget && matchesAnyPattern(FORGET_ENDINGS, view)) return create('forget', whole)
  if (matchesAnyPattern(NO_REMEMBER, view)) return null
  const isOrder = !sentence.isQuestion || POLITE_ORDER.test(view)
  if (isInstruction(view) && isOrder) return create('instruction', whole)
  const remember = findOpening(REMEMBER_OPENINGS, view)
  if (remember !== null) {
    const end = findContentEnd(speech, start + remember, sentence)
    const content = createAfter('remember', start + remember, end)
    if (content === null) return null
    return isInstruction(content.content.replace(/^to /iu, ''))
      ? { ...content, kind: 'instruction' }
      : content
  }
  return findEndingRequest(view, { start, end: sentence.end }, previous, create)
}

/** "…, remember that" refers to the same sentence or, alone, to the one before. */
function findEndingRequest(
  view: string,
  { start, end }: TextSpan,
  previous: Sentence | null,
  create: CreateRequest,
): MemoryRequest | null {
  for (const ending of REMEMBER_ENDINGS) {
    // The blank stands for the mark between the sentences, where the request is a sentence of its own.
    const match = execPattern(ending, ` ${view}`)
    if (match === null) continue
    const at = Math.max(0, match.index - 1)
    if (/[\p{L}\p{N}]/u.test(view.slice(0, at))) {
      return create('remember', { start, end: start + at })
    }
    if (previous === null || previous.isQuestion) return null
    const request = create('remember', previous)
    return request === null ? null : { ...request, end }
  }
  return null
}

/** After a colon or a line break, the content goes on to the end of the paragraph. */
function findContentEnd(speech: string, from: number, sentence: Sentence): number {
  const isList = /[:：]\s*$/u.test(speech.slice(sentence.start, from))
  if (!isList) return sentence.end
  const body = speech.slice(from).search(/\S/u)
  if (body === -1) return sentence.end
  const paragraph = speech.slice(from + body).search(/\n\s*\n/u)
  return paragraph === -1 ? speech.length : from + body + paragraph
}

const CONJUNCTION =
  /^[\s,:：，]*(?:(?:that|dass|daß|das folgende|que|qu(?=['’])|the following)(?=[\s:,'’])['’]?[\s:,]*)?/iu

function skipConjunction(rest: string): number {
  return CONJUNCTION.exec(rest)?.[0].length ?? 0
}

function findOpening(patterns: readonly RegExp[], view: string): number | null {
  for (const pattern of patterns) {
    const match = execPattern(pattern, view)
    if (match !== null) return match[0].length
  }
  return null
}

/** "Could you stop using emojis?" */
const POLITE_ORDER =
  /^(?:please,? )?(?:can|could|would|will) you|^(?:kannst|könntest|würdest) du|^(?:me )?(?:puedes|podrías)|^(?:você )?(?:pode|podes|poderia)|^(?:peux|pourrais)-tu|^tu (?:peux|pourrais)|^(?:你)?(?:能不能|可以|能|可不可以)|(?:くれ|もらえ|いただけ)(?:ますか|る|ませんか)/iu

/** Whether a sentence says how to answer from now on. */
function isInstruction(view: string): boolean {
  return matchesAnyPattern(INSTRUCTIONS, view) && !matchesAnyPattern(NO_INSTRUCTION, view)
}

const EDGE = /[\s,;:.!?…。！？、，："'“”–—-]/u

function trimSpan(text: string, span: TextSpan): TextSpan {
  let { start, end } = span
  while (start < end && EDGE.test(text.charAt(start))) start++
  while (end > start && EDGE.test(text.charAt(end - 1))) end--
  return { start, end }
}
