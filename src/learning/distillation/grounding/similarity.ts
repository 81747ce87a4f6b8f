/** Similarity of claims to their sources in vector space, for claims in other words than the user's. */

import { maskForeignText, tokenize } from '../../../text/meaning/statement-clauses.ts'
import { isFrameWord } from '../../../text/meaning/word-classes.ts'
import { splitSentences } from '../../../text/speech/sentences.ts'
import type { Claim, GroundingTurn } from './claim.ts'

/** What vectors say about a claim and its sources. */
export type ClaimSimilarity = {
  /** Of the claim to the nearest sentence of its sources: 1 for equal, 0 for unrelated ones. */
  readonly sentence: number
  /** Whether two folded words mean the same. */
  readonly areSynonyms: (one: string, other: string) => boolean
}

export const NO_SIMILARITY: ClaimSimilarity = { sentence: 0, areSynonyms: () => false }

export type EmbedTexts = (texts: readonly string[]) => Promise<readonly Float32Array[]>

/** Unrelated to anything that users say about themselves: the similarity of a claim to them is the zero of the scale. */
const REFERENCES = [
  'The train to the airport leaves from platform nine.',
  'Please sort these numbers in ascending order.',
  'Photosynthesis turns light into chemical energy.',
  'The committee will publish its report in spring.',
]
/** Unrelated words: the zero of the scale for single words. */
const REFERENCE_WORDS = [
  ...['the', 'river', 'seventeen', 'purple', 'committee', 'yesterday', 'photosynthesis', 'walk'],
]
/** Words that differ by less than synonyms do are often opposites: "bought" and "sold" have 0.56. */
const SYNONYM_SIMILARITY_MIN = 0.6
/** Words of two letters and names have no synonyms. */
const SYNONYM_CHARACTERS_MIN = 3
const WORDS_MAX = 500
const SENTENCES_MAX = 12
const SENTENCE_CHARACTERS_MAX = 300

/**
 * For each claim, the similarity to the nearest sentence of the user's cited turns, relative to unrelated sentences, so
 * that models with different scales are comparable. 0 for claims without sources.
 */
export async function measureSimilarity(
  claims: readonly Claim[],
  turns: readonly GroundingTurn[],
  embed: EmbedTexts,
): Promise<readonly ClaimSimilarity[]> {
  const words = listWords(claims, turns)
  const sources = claims.map(({ turns: cited }) =>
    turns
      .filter(({ index, role }) => role === 'user' && cited.includes(index))
      .flatMap(({ content }) => listSentences(content)),
  )
  const texts = [
    ...new Set([
      ...REFERENCES,
      ...claims.map(({ content }) => rewrite(content)),
      ...sources.flat(),
      ...(words.length > 0 ? [...REFERENCE_WORDS, ...words] : []),
    ]),
  ]
  const vectors = await embed(texts)
  const byText = new Map(texts.map((text, index) => [text, vectors[index]]))
  const compare = (one: string, other: string) => dot(byText.get(one), byText.get(other))
  const relate = (one: string, other: string, references: readonly string[]) => {
    const unrelated =
      references.reduce((sum, reference) => sum + compare(one, reference), 0) / references.length
    return unrelated >= 1 ? 0 : (compare(one, other) - unrelated) / (1 - unrelated)
  }
  const areSynonyms = (one: string, other: string) =>
    byText.has(one) &&
    byText.has(other) &&
    relate(one, other, REFERENCE_WORDS) >= SYNONYM_SIMILARITY_MIN
  return claims.map(({ content }, index) => {
    const claim = rewrite(content)
    const compared = (sources[index] ?? []).map((sentence) => relate(claim, sentence, REFERENCES))
    return { sentence: Math.max(0, ...compared), areSynonyms }
  })
}

/** The words that may be synonyms of one another, those of the claims first. */
function listWords(claims: readonly Claim[], turns: readonly GroundingTurn[]): readonly string[] {
  const words = new Set<string>()
  const own = turns.filter(({ role }) => role === 'user')
  for (const content of [
    ...claims.map((claim) => claim.content),
    ...own.map((turn) => turn.content.slice(0, SENTENCES_MAX * SENTENCE_CHARACTERS_MAX)),
  ]) {
    for (const { folded, text } of tokenize(content, 0)) {
      if (words.size >= WORDS_MAX) break
      const isWord = /^\p{Script=Latin}+$/u.test(folded) && !isFrameWord(folded, text)
      if (isWord && folded.length >= SYNONYM_CHARACTERS_MIN) words.add(folded)
    }
  }
  return [...words]
}

function listSentences(content: string): readonly string[] {
  const own = maskForeignText(content)
  const sentences = splitSentences(own)
    .map(({ start, end }) => own.slice(start, end).trim().slice(0, SENTENCE_CHARACTERS_MAX))
    .filter((sentence) => sentence !== '')
    .slice(0, SENTENCES_MAX)
  return sentences.length > 1
    ? [...sentences, sentences.join('. ').slice(0, SENTENCE_CHARACTERS_MAX)]
    : sentences
}

/** Users speak in the first person. */
function rewrite(content: string): string {
  return content
    .replace(/^The user['’]s/u, 'My')
    .replace(/^The user is(?= )/u, 'I am')
    .replace(/^The user has(?= )/u, 'I have')
    .replace(/^The user(?= )/u, 'I')
}

function dot(a: Float32Array | undefined, b: Float32Array | undefined): number {
  let sum = 0
  for (let index = 0; index < (a?.length ?? 0); index++)
    sum += (a?.[index] ?? 0) * (b?.[index] ?? 0)
  return sum
}
