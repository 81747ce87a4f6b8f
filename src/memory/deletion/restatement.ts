/**
 * Which turns state a fact. Forgetting the fact disables them. Other turns of the same conversation must stay enabled, so a
 * turn qualifies by the words that it shares with the fact, never by its position.
 */

import { normalizeStatement } from '../../text/fingerprint.ts'
import { extractQueryTerms, extractTerms } from '../../text/search/terms.ts'
import { splitSentences } from '../../text/speech/sentences.ts'
import { containsFolded, foldCase } from '../../text/substring.ts'
import { rewriteToFirstPerson } from '../contradiction/persons.ts'

/** The share of a fact's terms that makes a turn support the fact. */
const SUPPORT_SHARE = 0.5
/** Fewer terms, as in "I like tea" or "blue", occur in one sentence by chance. */
const SENTENCE_TERMS_MIN = 3

type Statement = { readonly folded: string; readonly terms: readonly string[] }

/** Terms are taken from the first-person form: extractors write "the user's sister" where the turn says "my sister". */
export function toStatement(content: string): Statement {
  return {
    folded: foldCase(normalizeStatement(content)),
    terms: extractQueryTerms(rewriteToFirstPerson(content)),
  }
}

/** The sources of a fact that state it. A single source states it in any wording. */
export function selectSources<Source extends { readonly content: string }>(
  { terms }: Statement,
  sources: readonly Source[],
): readonly Source[] {
  if (sources.length < 2) return sources
  const scored = sources.map((source) => ({
    source,
    share: computeTermShare(terms, source.content),
  }))
  const supporting = scored.filter(({ share }) => share >= SUPPORT_SHARE)
  if (supporting.length > 0) return supporting.map(({ source }) => source)
  // A paraphrase: the turn that shares most words is the likeliest source.
  const [first, ...others] = scored
  if (first === undefined) return []
  const best = others.reduce((most, each) => (each.share > most.share ? each : most), first)
  return best.share > 0 ? [best.source] : []
}

/** Whether a turn next to a source repeats the fact, as an answer does. */
export function isSupportedBy({ terms }: Statement, content: string): boolean {
  return computeTermShare(terms, content) >= SUPPORT_SHARE
}

/**
 * Whether a turn that is no source states the fact: verbatim, or with all of its terms in one sentence. A fact of one or two
 * terms must be a whole sentence.
 */
export function isRestatedIn({ folded, terms }: Statement, content: string): boolean {
  const sentences = splitSentences(content).map(({ start, end }) => content.slice(start, end))
  if (terms.length < SENTENCE_TERMS_MIN) {
    return sentences.some((sentence) => foldCase(normalizeStatement(sentence)) === folded)
  }
  if (containsFolded(normalizeStatement(content), folded)) return true
  return sentences.some((sentence) => computeTermShare(terms, sentence) === 1)
}

function computeTermShare(terms: readonly string[], content: string): number {
  if (terms.length === 0) return 0
  const present = new Set(extractTerms(content))
  return terms.filter((term) => present.has(term)).length / terms.length
}
