/**
 * Which turns state a fact. Forgetting the fact disables them; an unrelated turn of the same conversation must stay in use, so
 * a turn qualifies by the words that it shares with the fact, never by being near it.
 */

import { normalizeStatement } from '../text/fingerprint.ts'
import { extractQueryTerms, extractTerms } from '../text/search/terms.ts'
import { splitSentences } from '../text/speech/sentences.ts'
import { containsFolded, foldCase } from '../text/substring.ts'
import { rewriteToFirstPerson } from './contradiction/persons.ts'

/** A turn with at least this share of a fact's content terms supports the fact. */
const SUPPORT_SHARE = 0.5
/** Fewer terms, as in "I like tea" or "blue", stand in one sentence by chance. */
const SENTENCE_TERMS_MIN = 3

export type Statement = { readonly folded: string; readonly terms: readonly string[] }

/** Extractors write "the user's sister" where the turn says "my sister", so terms are those of the first person. */
export function toStatement(content: string): Statement {
  return {
    folded: foldCase(normalizeStatement(content)),
    terms: extractQueryTerms(rewriteToFirstPerson(content)),
  }
}

/** Of the turns that a fact was learned from, those that state it. A single source states it in whatever words. */
export function selectSources<Source extends { readonly content: string }>(
  { terms }: Statement,
  sources: readonly Source[],
): readonly Source[] {
  if (sources.length < 2) return sources
  const rated = sources.map((source) => ({ source, share: shareOf(terms, source.content) }))
  const supporting = rated.filter(({ share }) => share >= SUPPORT_SHARE)
  if (supporting.length > 0) return supporting.map(({ source }) => source)
  // A paraphrase: the turn that shares most words with it is its likeliest source.
  const [first, ...others] = rated
  if (first === undefined) return []
  const best = others.reduce((most, each) => (each.share > most.share ? each : most), first)
  return best.share > 0 ? [best.source] : []
}

/** Whether a turn next to a source, as the answer to it, says the same. */
export function isSupportedBy({ terms }: Statement, content: string): boolean {
  return shareOf(terms, content) >= SUPPORT_SHARE
}

/**
 * Whether a turn that the fact was not learned from states it: word for word, or with all of its terms in one sentence. A fact of
 * one or two terms must be a whole sentence.
 */
export function isRestatedIn({ folded, terms }: Statement, content: string): boolean {
  const sentences = splitSentences(content).map(({ start, end }) => content.slice(start, end))
  if (terms.length < SENTENCE_TERMS_MIN) {
    return sentences.some((sentence) => foldCase(normalizeStatement(sentence)) === folded)
  }
  if (containsFolded(normalizeStatement(content), folded)) return true
  return sentences.some((sentence) => shareOf(terms, sentence) === 1)
}

function shareOf(terms: readonly string[], content: string): number {
  if (terms.length === 0) return 0
  const held = new Set(extractTerms(content))
  return terms.filter((term) => held.has(term)).length / terms.length
}
