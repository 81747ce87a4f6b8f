/** Similarity of claims to their sources in vector space, for claims in other words than the user's. */

import { splitSentences } from '../../../text/speech/sentences.ts'
import { maskForeignText } from './clauses.ts'
import type { Claim, GroundingTurn } from './transcript.ts'

export type EmbedTexts = (texts: readonly string[]) => Promise<readonly Float32Array[]>

/** Unrelated to anything that users say about themselves: the similarity of a claim to them is the zero of the scale. */
const REFERENCES = [
  'The train to the airport leaves from platform nine.',
  'Please sort these numbers in ascending order.',
  'Photosynthesis turns light into chemical energy.',
  'The committee will publish its report in spring.',
]
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
): Promise<readonly number[]> {
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
    ]),
  ]
  const vectors = await embed(texts)
  const byText = new Map(texts.map((text, index) => [text, vectors[index]]))
  const compare = (one: string, other: string) => dot(byText.get(one), byText.get(other))
  return claims.map(({ content }, index) => {
    const claim = rewrite(content)
    const best = Math.max(0, ...(sources[index] ?? []).map((sentence) => compare(claim, sentence)))
    const unrelated =
      REFERENCES.reduce((sum, reference) => sum + compare(claim, reference), 0) / REFERENCES.length
    return unrelated >= 1 ? 0 : (best - unrelated) / (1 - unrelated)
  })
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
