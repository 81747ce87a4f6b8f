/**
 * Divides a sentence into clauses: "I love tea but I hate coffee" states two things, "I love tea, but not
 * green tea" one. A question or request at the end is cut off, so that it does not make the rest one.
 */

import type { Sentence } from '../../text/speech/sentences.ts'
import { matchCue, skipOpeners, sliceSpan, type TextSpan } from './cue-matcher.ts'
import type { Grammar } from './types.ts'

/** A question without a question mark shows in its last word. */
const ENDING_CHARACTERS = 12

export function splitIntoClauses(
  speech: string,
  sentence: Sentence,
  grammar: Grammar,
): readonly TextSpan[] {
  const clauses: TextSpan[] = []
  let clause = skipOpeners(speech, sentence, grammar)
  let lastMark: TextSpan | null = null
  for (const boundary of findBoundaries(speech, clause, grammar)) {
    const next = { start: boundary.end, end: sentence.end }
    if (grammar.request.test(sliceSpan(speech, next))) {
      return [...clauses, { start: clause.start, end: boundary.start }]
    }
    if (isClauseStart(speech, clause, boundary, next, grammar)) {
      clauses.push({ start: clause.start, end: boundary.start })
      clause = skipOpeners(speech, next, grammar)
      lastMark = null
    } else if (!isConnector(speech, boundary)) lastMark = boundary
  }
  if (!isQuestionClause(speech, sentence, grammar)) return [...clauses, clause]
  // "I'm five months pregnant, is sushi ok?": only what follows the last comma is asked.
  return lastMark === null ? clauses : [...clauses, { start: clause.start, end: lastMark.start }]
}

function* findBoundaries(speech: string, span: TextSpan, grammar: Grammar): Generator<TextSpan> {
  const said = speech.slice(span.start, span.end)
  for (const match of said.matchAll(grammar.boundary)) {
    const start = span.start + match.index
    if (match.index > 0) yield { start, end: skipBlanks(speech, start + match[0].length, span.end) }
  }
}

function skipBlanks(speech: string, from: number, end: number): number {
  let at = from
  while (at < end && /\s/u.test(speech.charAt(at))) at++
  return at
}

function isClauseStart(
  speech: string,
  clause: TextSpan,
  boundary: TextSpan,
  next: TextSpan,
  grammar: Grammar,
): boolean {
  const isConnected = isConnector(speech, boundary)
  const isSubject =
    isConnected && SUBJECT_ALONE.test(sliceSpan(speech, { ...clause, end: boundary.start }))
  if (isSubject) return false
  if (isConnected && grammar.subject.test(sliceSpan(speech, next))) return true
  // In "As a rule, I prefer tea" the comma ends an adverbial, and no clause.
  if (!isConnected && grammar.lead.test(sliceSpan(speech, clause))) return false
  return matchCue(speech, skipOpeners(speech, next, grammar), grammar) !== null
}

/** "My girlfriend" in "my girlfriend and I broke up". */
const SUBJECT_ALONE =
  /^\s*(?:(?:(?:my|our|meine?|unsere?|mi|mon|ma|(?:o )?meu|(?:a )?minha) )?(?!yes|no|ok|so|well|hi|hey)[\p{Script=Latin}-]{2,20}|me)\s*$/iu

/** Whether a boundary has a word such as "and". */
function isConnector(speech: string, { start, end }: TextSpan): boolean {
  return /\p{L}/u.test(speech.slice(start, end))
}

function isQuestionClause(speech: string, sentence: Sentence, grammar: Grammar): boolean {
  if (sentence.isQuestion) return true
  const ending = speech.slice(
    Math.max(sentence.start, sentence.end - ENDING_CHARACTERS),
    sentence.end,
  )
  return grammar.questionEnd.test(ending.trimEnd())
}
