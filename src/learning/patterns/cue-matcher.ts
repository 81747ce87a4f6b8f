/** Decides whether a clause is a first-person statement worth keeping, and which kind. */
import { mayMatch, testPattern } from '../../text/regex-prefilter.ts'
import type { Grammar, PatternCue, Polarity } from './types.ts'

/** Half-open range of a text. */
export type TextSpan = { readonly start: number; readonly end: number }

export type CueMatch = { readonly cue: PatternCue; readonly polarity: Polarity }

/**
 * How much of a clause the expressions see. What makes a clause a statement stands near its beginning, and
 * because no expression ever sees more, total time is proportional to the number of clauses.
 */
const WINDOW_CHARACTERS = 200

/** An adverbial before the cue may be this long: "after many years in the same small town, I …". */
const LEAD_CHARACTERS_MAX = 80
const ANCHORS_MAX = 8

/** Greetings come in rows: "hi! ok, so, by the way …". */
const OPENERS_MAX = 4

const PREAMBLE = /^[\s,:.!([\-–—*•+#、，]+|^\d{1,2}[.)]\s+/u

/** The beginning of what is said in `span`, for expressions to look at. */
export function sliceSpan(speech: string, span: TextSpan): string {
  return speech.slice(span.start, Math.min(span.end, span.start + WINDOW_CHARACTERS))
}

/** Moves the start behind list marks and openers such as "by the way". */
export function skipOpeners(speech: string, span: TextSpan, grammar: Grammar): TextSpan {
  let start = span.start
  for (let count = 0; count < OPENERS_MAX && start < span.end; count++) {
    const view = sliceSpan(speech, { start, end: span.end })
    const skipped = PREAMBLE.exec(view)?.[0] ?? grammar.discourse.exec(view)?.[0] ?? ''
    if (skipped === '') break
    start += skipped.length
  }
  return { start, end: span.end }
}

export function matchCue(speech: string, span: TextSpan, grammar: Grammar): CueMatch | null {
  const view = sliceSpan(speech, span)
  if (!grammar.firstPerson.test(view) || testPattern(grammar.nonStatement, view)) return null
  const cues = grammar.cues.filter(({ pattern }) => mayMatch(pattern, view))
  if (cues.length === 0) return null
  for (const anchor of findAnchors(view, grammar)) {
    const core = view.slice(anchor)
    if (mayMatch(grammar.chatter, view) && grammar.chatter.test(core)) continue
    for (const cue of cues) {
      const words = cue.pattern.exec(core)?.[0]
      if (words === undefined) continue
      const rest = core.slice(words.length)
      if (grammar.deictic.test(rest) || (isIntent(cue) && grammar.condition.test(rest))) return null
      return { cue, polarity: toPolarity(words, core, grammar) }
    }
  }
  return null
}

function isIntent({ category }: PatternCue): boolean {
  return category === 'decision' || category === 'event'
}

/** The beginning, and behind an adverbial every place where a word begins. */
function findAnchors(view: string, grammar: Grammar): readonly number[] {
  if (grammar.anchor === null || !testPattern(grammar.lead, view)) return [0]
  const anchors = [0]
  for (const match of view.slice(0, LEAD_CHARACTERS_MAX).matchAll(grammar.anchor)) {
    if (match.index > 0) anchors.push(match.index)
    if (anchors.length === ANCHORS_MAX) break
  }
  return anchors
}

function toPolarity(words: string, core: string, grammar: Grammar): Polarity {
  const { negation } = grammar
  const scope = negation.within === 'cue' ? words : scopeOf(core, negation.until)
  return negation.words.test(scope) ? 'negated' : 'affirmed'
}

function scopeOf(core: string, until: RegExp): string {
  const end = core.search(until)
  return end === -1 ? core : core.slice(0, end)
}
