/**
 * Masks what a message contains besides the user's own statements: texts to work on, mails, transcripts, verse, code,
 * dictated letters, reported speech, and everything in a message of fiction or sarcasm.
 *
 * The structure of a message decides: which sentence is a task, and where the text that it refers to begins and ends. When
 * in doubt, text is masked, because the turn can be recalled anyway and a wrong fact is worse than none.
 */
import { LruCache } from '../../lib/lru-cache.ts'
import { matchesAnyPattern } from '../../text/regex-prefilter.ts'
import { maskQuotedSpeech, QUOTE_MASK } from '../../text/speech/quoted-speech.ts'
import { type Sentence, splitSentences } from '../../text/speech/sentences.ts'
import { parseSpeakerLabel } from '../../text/speech/speaker-labels.ts'
import type { TextSpan } from './cue-matcher.ts'
import { INSTRUCTIONS, NO_INSTRUCTION, REMEMBER_OPENINGS } from './memory-request-cues.ts'
import {
  ASIDES,
  BACK_REFERENCES,
  DICTATIONS,
  FICTION_OPENINGS,
  FICTIONS,
  OWN_INTRODUCTIONS,
  OWN_PREFERENCES,
  REPORTS,
  SARCASMS,
  TEXT_TASKS,
  TEXT_TITLES,
} from './own-words-cues.ts'
import { findPastedSpans } from './pasted-text.ts'

/** What the expressions see of a sentence. */
const VIEW_CHARACTERS = 300
const MATERIAL_MARK = /[:：]|(?<!<)\s[-–—]+\s/u
/** "My cover letter:" */
const TITLE_WORDS_MAX = 8
const BARE_TASK_WORDS_MAX = 6
const CLOSER = /^\W*(?:thank|thx|please|pls|cheers|danke|bitte|gracias|merci|obrigad|por favor)/iu
/** Less text after a task is "thanks" or "in English please". */
const MATERIAL_WORDS_MIN = 4

/** Requests and statements are looked for in the same text one after the other, and again in the background. */
const maskedTexts = new LruCache<string, string>({
  entriesMax: 64,
  weightMax: 200_000,
  weigh: ({ length }) => length,
})

/** Returns a text of the same length, in which line breaks replace what is not the user's own. */
export function maskOthersWords(text: string): string {
  return maskedTexts.getOrCreate(text, () => maskUncached(text))
}

function maskUncached(text: string): string {
  const pasted = [...findPastedSpans(text), ...findLabeledMaterial(text)]
  const speech = maskSpans(maskQuotedSpeech(text), pasted)
  const sentences = splitSentences(speech).filter(({ start, end }) =>
    /[\p{L}\p{N}]/u.test(speech.slice(start, end)),
  )
  const views = sentences.map((sentence) => viewOf(speech, sentence))
  const isVoid = (view: string) =>
    matchesAnyPattern(SARCASMS, view) ||
    (matchesAnyPattern(FICTIONS, view) && !matchesAnyPattern(FICTION_OPENINGS, view))
  if (views.some(isVoid)) return maskSpans(speech, [{ start: 0, end: speech.length }])
  const masked: TextSpan[] = []
  let maskedEnd = 0
  for (const [index, sentence] of sentences.entries()) {
    if (sentence.end <= maskedEnd) continue
    const span = findOthersSpan(speech, sentences, views, index)
    if (span === null) continue
    masked.push(span)
    maskedEnd = span.end
  }
  return maskSpans(speech, masked)
}

/** A text with the marks that masking normalizes. It holds all letters and marks that a masked text can hold. */
export function normalizeMarks(text: string): string {
  return text.replace(/\r/gu, ' ').replace(/[’ʼ＇]/gu, "'")
}

/** "Shorten:" looks like a speaker. It is a task whose material goes on after an empty line. */
function findLabeledMaterial(text: string): readonly TextSpan[] {
  let start = 0
  for (const line of text.split('\n')) {
    const label = parseSpeakerLabel(line)
    if (label !== null && label.kind !== 'heading' && label.kind !== 'own') {
      const words = line.slice(0, label.length)
      const isTask = matchesAnyPattern(TEXT_TASKS, words) || matchesAnyPattern(DICTATIONS, words)
      const isQuoted = /^["'‘“„«»「『`]/u.test(line.slice(label.length))
      if (isTask && !isQuoted) return [{ start, end: text.length }]
    }
    start += line.length + 1
  }
  return []
}

/** The text that begins with this sentence or that the sentence refers to. */
function findOthersSpan(
  speech: string,
  sentences: readonly Sentence[],
  views: readonly string[],
  index: number,
): TextSpan | null {
  const sentence = sentences[index]
  const view = views[index]
  if (sentence === undefined || view === undefined) return null
  if (matchesAnyPattern(OWN_PREFERENCES, view) || isMemoryRequest(view)) return null
  const rest = () => ({ start: sentence.start, end: findAside(speech, sentences, views, index) })
  if (matchesAnyPattern(FICTION_OPENINGS, view)) return rest()
  const isTask = matchesAnyPattern(TEXT_TASKS, view)
  const isDictation = matchesAnyPattern(DICTATIONS, view)
  if (isTask || isDictation) {
    if (isQuoteNext(speech, sentence)) return upToQuote(speech, sentence)
    const isAfter = hasMaterialAfter(speech, sentence)
    if (isDictation && (isAfter || !isTask)) return rest()
    if (hasMaterialInside(view)) return rest()
    // A task without an object, as in "Shorten please.", refers to what stands before it.
    const refersBack =
      countWords(view) <= BARE_TASK_WORDS_MAX || matchesAnyPattern(BACK_REFERENCES, view)
    if (isAfter) {
      const isAnnounced = /^[^\p{L}\p{N}]*[\n:]/u.test(speech.slice(sentence.end))
      return isAnnounced || index === 0 || !refersBack ? rest() : { start: 0, end: rest().end }
    }
    return refersBack ? { start: 0, end: sentence.end } : sentence
  }
  if (hasForeignLead(view)) return rest()
  if (isTitle(view)) return isQuoteNext(speech, sentence) ? upToQuote(speech, sentence) : rest()
  if (matchesAnyPattern(REPORTS, view) && !matchesAnyPattern(OWN_INTRODUCTIONS, view)) {
    return isQuoteNext(speech, sentence)
      ? upToQuote(speech, sentence)
      : findReport(speech, sentence)
  }
  return null
}

/** The quotation is masked already. What follows it in the same line is the user's own. */
function upToQuote(speech: string, { start, end }: Sentence): TextSpan {
  const last = speech.slice(start, end).lastIndexOf(QUOTE_MASK)
  return { start, end: last === -1 ? end : start + last + 1 }
}

/** "Keep answers short" is a standing instruction and not a task on a text. */
function isMemoryRequest(view: string): boolean {
  return (
    matchesAnyPattern(REMEMBER_OPENINGS, view) ||
    (matchesAnyPattern(INSTRUCTIONS, view) && !matchesAnyPattern(NO_INSTRUCTION, view))
  )
}

/** The words of somebody else, up to the end of their paragraph. */
function findReport(speech: string, { start, end }: Sentence): TextSpan {
  const body = speech.slice(end).search(/[\p{L}\p{N}]/u)
  const from = body === -1 ? end : end + body
  const paragraph = speech.slice(from).search(/\n\s*\n/u)
  return { start, end: paragraph === -1 ? speech.length : from + paragraph }
}

/** Where the user speaks again: at a sentence such as "By the way, …", or nowhere. */
function findAside(
  speech: string,
  sentences: readonly Sentence[],
  views: readonly string[],
  index: number,
): number {
  const next = sentences.findIndex(
    (_, at) => at > index && matchesAnyPattern(ASIDES, views[at]?.trimStart() ?? ''),
  )
  return sentences[next]?.start ?? speech.length
}

/** "Translate: I love tea" */
function hasMaterialInside(view: string): boolean {
  const mark = view.search(MATERIAL_MARK)
  return mark !== -1 && countWords(view.slice(mark)) >= MATERIAL_WORDS_MIN
}

const LEAD = /^([^:：\n]{2,60})(?::|：|\s[-–—]+>?|\s?(?:=>|->|→))\s*(?=\p{L})/u
const FIRST_PERSON =
  /(?<![\p{L}\p{N}])(?:i|i'?m|i'?ve|i'?d|my|me|mine|we|our|us|ich|mir|mich|mein\p{L}*|wir|uns|unser\p{L}*|yo|mi|mis|me|nos|nuestr\p{L}*|eu|meus?|minhas?|noss\p{L}+|je|j'\p{L}*|mon|ma|mes|moi|nous|notre|nos)(?![\p{L}\p{N}])|[我咱俺私僕]/iu

/** Words before a colon that are neither about the user nor a heading such as "Update" are an order about what follows. */
function hasForeignLead(view: string): boolean {
  const [mark, lead = ''] = LEAD.exec(view) ?? []
  if (mark === undefined || FIRST_PERSON.test(lead) || matchesAnyPattern(OWN_INTRODUCTIONS, lead)) {
    return false
  }
  return countWords(lead) > 0 && countWords(view.slice(mark.length)) >= MATERIAL_WORDS_MIN - 1
}

/** A few words before a colon or a line break that name a kind of text, as in "My cover letter:". */
function isTitle(view: string): boolean {
  const [title = ''] = view.split(/[:：\n]/u, 1)
  return (
    title.length < view.length &&
    countWords(title) <= TITLE_WORDS_MAX &&
    matchesAnyPattern(TEXT_TITLES, title) &&
    !matchesAnyPattern(OWN_INTRODUCTIONS, title)
  )
}

function hasMaterialAfter(speech: string, { end }: Sentence): boolean {
  const after = speech.slice(end, end + VIEW_CHARACTERS)
  const words = countWords(after)
  const isNextLine = /^[^\p{L}\p{N}]*\n/u.test(after)
  return words >= MATERIAL_WORDS_MIN || (isNextLine && words >= 2 && !CLOSER.test(after))
}

/** Each character of an unspaced script counts as half a word. */
function countWords(text: string): number {
  const unspaced = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu) ?? []
  const spaced = text.match(/[\p{Script=Latin}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []
  return spaced.length + unspaced.length / 2
}

/** A quotation in the sentence or right after it is the whole material. */
function isQuoteNext(speech: string, { start, end }: Sentence): boolean {
  return (
    speech.slice(start, end).includes(QUOTE_MASK) ||
    /^[\s:.…!?-]*\u{FFFC}/u.test(speech.slice(end, end + 20))
  )
}

/** The sentence with the mark that ends it. */
function viewOf(speech: string, { start, end }: Sentence): string {
  const view = speech.slice(start, Math.min(end, start + VIEW_CHARACTERS))
  return `${view}${speech.slice(end, end + 2)}`.replaceAll(QUOTE_MASK, '').trimStart()
}

/** Overlapping spans are allowed. Pieces are joined once, so that many spans take linear time. */
function maskSpans(text: string, spans: readonly TextSpan[]): string {
  const pieces: string[] = []
  let done = 0
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    if (end <= done) continue
    const from = Math.max(start, done)
    pieces.push(text.slice(done, from), '\n'.repeat(end - from))
    done = end
  }
  return [...pieces, text.slice(done)].join('')
}
