/**
 * Pattern extraction: finds what users say about themselves in plain text, without a model.
 *
 * Precision comes before recall: only the user's own first-person statements count, and each is kept as the whole clause,
 * so that no negation is lost. Time is linear in the text.
 */
import {
  EXTRACTED_CHARACTERS_MAX,
  EXTRACTED_CHARACTERS_MIN,
  EXTRACTION_BYTES_MAX,
} from '../../domain/limits.ts'
import type { MemoryType } from '../../domain/memory.ts'
import { mayMatchAny, testPattern } from '../../text/regex-prefilter.ts'

import { type Sentence, splitSentences } from '../../text/speech/sentences.ts'
import { measureWithoutTail } from './clause-tails.ts'
import { splitIntoClauses } from './clauses.ts'
import { type CueMatch, matchCue, sliceSpan, type TextSpan } from './cue-matcher.ts'
import { listCues, listGrammarPatterns, rankGrammars } from './languages/index.ts'
import * as requestCues from './memory-request-cues.ts'
import { maskOthersWords, normalizeMarks } from './own-words.ts'
import * as ownWordsCues from './own-words-cues.ts'
import { toPatternKey } from './pattern-key.ts'
import { findTailStart } from './text-tail.ts'
import type { Grammar, PatternCategory, PatternFact } from './types.ts'

export type { PatternFact as Extraction } from './types.ts'

/** Stored as provenance; incremented with every change of the rules that changes what is extracted. */
export const PATTERNS_VERSION = '2'

/** All expressions, for warm-up: compiling them takes longer than a message may wait. */
export function patternRules(): readonly RegExp[] {
  const cues = [...Object.values(ownWordsCues), ...Object.values(requestCues)]
  return [...listGrammarPatterns(), ...cues.flat()]
}

/**
 * Decisions and plans happen at a time; everything else holds until it is corrected. Habits are factual: they state what
 * somebody does, while `procedural` is how a task is to be done.
 */
const TYPES: Readonly<Record<PatternCategory, MemoryType>> = {
  preference: 'factual',
  pattern: 'factual',
  fact: 'factual',
  relationship: 'factual',
  decision: 'episodic',
  event: 'episodic',
}

/** The user's statements about themself in the tail of `text`, in order, each key once. */
export function extractPatterns(text: string): readonly PatternFact[] {
  const offset = findTailStart(text, EXTRACTION_BYTES_MAX)
  const said = text.slice(offset)
  if (!mayMatchAny(listCues(), normalizeMarks(said))) return []
  const speech = maskOthersWords(said)
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

/** A sentence is in one language, so the first grammar that matches decides. */
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
      // Everything after "if" or "she says" depends on it.
      if (testPattern(grammar.nonStatement, view) || testPattern(grammar.attribution, view)) break
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
  const whole = trim(said, clause)
  const isUnspaced = grammar.language === 'zh' || grammar.language === 'ja'
  const length = measureWithoutTail(said.slice(whole.start, whole.end), isUnspaced)
  const span = trim(said, { start: whole.start, end: whole.start + length })
  const stated = said.slice(span.start, span.end).replace(/\s+/gu, ' ')
  // Japanese puts the negation last, where the cut would lose it.
  const isTooLong = stated.length > EXTRACTED_CHARACTERS_MAX
  if (stated.length < EXTRACTED_CHARACTERS_MIN || (isTooLong && grammar.language === 'ja'))
    return null
  const content = isTooLong ? cutAtWord(stated, EXTRACTED_CHARACTERS_MAX) : stated
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

/** The beginning of a clause, up to the last whole word that fits. */
function cutAtWord(text: string, charactersMax: number): string {
  const head = text.slice(0, charactersMax)
  const end = Math.max(head.lastIndexOf(' '), head.lastIndexOf('，'), head.lastIndexOf('、'))
  const cut = end > charactersMax / 2 ? head.slice(0, end) : head.replace(/[\uD800-\uDBFF]$/, '')
  return cut.slice(0, trim(cut, { start: 0, end: cut.length }).end)
}

const EDGE = /[\s,;:.!?…。！？、，–—-]/u

/** Trims whitespace and punctuation, except the dot of an abbreviation such as "3 p.m.". */
function trim(said: string, clause: TextSpan): TextSpan {
  let { start, end } = clause
  while (start < end && EDGE.test(said.charAt(start))) start++
  while (end > start && EDGE.test(said.charAt(end - 1))) end--
  const isDotted = /(?:^|\s)(?:\p{L}\.)+\p{L}$/u.test(said.slice(Math.max(start, end - 8), end))
  return { start, end: isDotted && said.charAt(end) === '.' ? end + 1 : end }
}
