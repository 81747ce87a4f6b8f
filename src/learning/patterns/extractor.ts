/**
 * Pattern extraction: finds what people say about themselves in plain text, without a model.
 *
 * It would rather miss a statement than invent one: only the person's own first-person statements count, and
 * each is kept as the whole clause, so that no "not" is ever lost. Time is linear in the text.
 */
import {
  EXTRACTED_CHARACTERS_MAX,
  EXTRACTED_CHARACTERS_MIN,
  EXTRACTION_BYTES_MAX,
} from '../../domain/limits.ts'
import type { MemoryType } from '../../domain/memory.ts'
import { maskQuotedSpeech } from '../../text/speech/quoted-speech.ts'
import { type Sentence, splitSentences } from '../../text/speech/sentences.ts'
import { splitIntoClauses } from './clauses.ts'
import { type CueMatch, matchCue, sliceSpan, type TextSpan } from './cue-matcher.ts'
import { rankGrammars } from './languages/index.ts'
import { toPatternKey } from './pattern-key.ts'
import { findTailStart } from './text-tail.ts'
import type { Grammar, PatternCategory, PatternFact } from './types.ts'

export { listGrammarPatterns as patternRules } from './languages/index.ts'
export type { PatternFact as Extraction } from './types.ts'

/** Rises with every change of the rules that changes what is extracted; stored as provenance. */
export const PATTERNS_VERSION = '1'

/**
 * Decisions and plans happen at a time and are over some day; the rest holds until it is corrected. Habits are
 * factual too: they tell what somebody does, while `procedural` is for how a task is to be done.
 */
const TYPES: Readonly<Record<PatternCategory, MemoryType>> = {
  preference: 'factual',
  pattern: 'factual',
  fact: 'factual',
  relationship: 'factual',
  decision: 'episodic',
  event: 'episodic',
}

/** The person's statements about themself in the tail of `text`, in order, each key once. */
export function extractPatterns(text: string): readonly PatternFact[] {
  const offset = findTailStart(text, EXTRACTION_BYTES_MAX)
  const said = text.slice(offset)
  const speech = maskQuotedSpeech(said)
  const grammars = rankGrammars(speech)
  const found = new Map<string, PatternFact>()
  for (const sentence of splitSentences(speech)) {
    for (const extraction of extractSentence(said, speech, sentence, grammars)) {
      if (found.has(extraction.key)) continue
      const { start, end } = extraction
      found.set(extraction.key, { ...extraction, start: offset + start, end: offset + end })
    }
  }
  return [...found.values()]
}

/** The first language that finds anything decides: a sentence is in one language. */
function extractSentence(
  said: string,
  speech: string,
  sentence: Sentence,
  grammars: readonly Grammar[],
): readonly PatternFact[] {
  for (const grammar of grammars) {
    if (!grammar.firstPerson.test(speech.slice(sentence.start, sentence.end))) continue
    const extractions: PatternFact[] = []
    for (const clause of splitIntoClauses(speech, sentence, grammar)) {
      const view = sliceSpan(speech, clause)
      // What follows "if" or "she says" belongs to it, however the sentence goes on.
      if (grammar.nonStatement.test(view) || grammar.attribution.test(view)) break
      const recognition = matchCue(speech, clause, grammar)
      if (recognition === null) continue
      const extraction = toExtraction(said, clause, recognition, grammar)
      if (extraction !== null) extractions.push(extraction)
    }
    if (extractions.length > 0) return extractions
  }
  return []
}

function toExtraction(
  said: string,
  clause: TextSpan,
  { cue, polarity }: CueMatch,
  grammar: Grammar,
): PatternFact | null {
  const span = trim(said, clause)
  const content = said.slice(span.start, span.end).replace(/\s+/gu, ' ')
  // A clause cut short could lose its negation (Japanese says it last), so one too long is left out.
  if (content.length < EXTRACTED_CHARACTERS_MIN || content.length > EXTRACTED_CHARACTERS_MAX) {
    return null
  }
  return {
    content,
    category: cue.category,
    type: TYPES[cue.category],
    polarity,
    language: grammar.language,
    key: toPatternKey(cue.category, content),
    importance: cue.importance,
    ...span,
  }
}

const EDGE = /[\s,;:.!?…。！？、，–—-]/u

/** Without the blanks and marks at its ends, except the dot that belongs to "3 p.m.". */
function trim(said: string, clause: TextSpan): TextSpan {
  let { start, end } = clause
  while (start < end && EDGE.test(said.charAt(start))) start++
  while (end > start && EDGE.test(said.charAt(end - 1))) end--
  const isDotted = /(?:^|\s)(?:\p{L}\.)+\p{L}$/u.test(said.slice(Math.max(start, end - 8), end))
  return { start, end: isDotted && said.charAt(end) === '.' ? end + 1 : end }
}
