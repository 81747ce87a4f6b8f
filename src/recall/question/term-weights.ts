/** Re-scores keyword hits with other term weights: context terms count less, the words of a time expression not at all. */
import { scoreTermCounts } from '../../text/search/bm25.ts'
import { extractQueryTerms, extractTerms } from '../../text/search/terms.ts'
import { getCoverageWeights, type LexicalHits } from '../ranking/evidence.ts'
import type { TimeSpan } from './time-expressions.ts'

/** The weight of terms that occur only in the messages before a follow-up question. */
const CONTEXT_TERM_WEIGHT = 0.5
/** The weight of words of likely answers: many are added, and most of them are in no memory. */
const EXPANSION_TERM_WEIGHT = 0.15

/**
 * Words that say how a question is asked and not what about: "how many", "ago", "did I mention". They help to rank, because
 * "my" separates what the user said from what they were told, but a memory that contains them is not thereby relevant.
 */
const FRAME_WORDS =
  'i me my mine myself we us our ours many much long often ago still ever already say said saying tell told mention ' +
  'mentioned talk talked remember remembered recall know knew called kind sort again please thing things ' +
  'ich mich mir mein meine meinen meinem meiner meines wir uns unser unsere unseren viel viele lange oft gesagt erzählt ' +
  'erwähnt weiß heißt nochmal ' +
  'yo mi mis me nosotros nuestro nuestra nuestros nuestras mucho muchos muchas dije dijo conté recuerdas llama ' +
  'je moi mon ma mes notre nos combien longtemps dit parlé appelle ' +
  'eu meu minha meus minhas nosso nossa nossos nossas muito muitos muitas disse falei chama lembra'
const FRAME_PHRASES =
  /\bhow (?:many|long|much) (?:days?|weeks?|months?|years?|hours?|minutes?|times?)\b/giu

const FRAME_TERMS: ReadonlySet<string> = new Set(extractTerms(FRAME_WORDS))

/** Marks the terms of a question that are no subject, and recomputes coverage without them. */
export function markFrameTerms(lexical: LexicalHits, question: string): LexicalHits {
  const phrases = question.match(FRAME_PHRASES) ?? []
  const inPhrases = new Set(phrases.flatMap(extractTerms))
  const rest =
    phrases.length === 0 ? null : new Set(extractTerms(question.replace(FRAME_PHRASES, ' ')))
  const isFrame = (text: string) =>
    FRAME_TERMS.has(text) || (inPhrases.has(text) && rest?.has(text) === false)
  const marks = lexical.terms.map(({ text }) => isFrame(text))
  if (!marks.includes(true) || !marks.includes(false)) return lexical
  const terms = lexical.terms.map((term, index) =>
    marks[index] ? { ...term, isFrame: true } : term,
  )
  const weights = getCoverageWeights(terms)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const hits = lexical.hits.map((hit) => ({
    ...hit,
    coverage: weights.reduce((sum, weight, at) => sum + (hit.counts[at] ? weight : 0), 0) / total,
  }))
  return { ...lexical, terms, hits }
}

/** Lowers the weight of terms that only the context of a follow-up question contains. */
export function discountContextTerms(
  lexical: LexicalHits,
  question: string,
  { isExpanded = false }: { readonly isExpanded?: boolean } = {},
): LexicalHits {
  const weight = isExpanded ? EXPANSION_TERM_WEIGHT : CONTEXT_TERM_WEIGHT
  const own = new Set(extractQueryTerms(question))
  return rescoreHits({
    ...lexical,
    terms: lexical.terms.map(({ text, rarity }) => ({
      text,
      rarity: own.has(text) ? rarity : rarity * weight,
    })),
  })
}

/**
 * Removes the words of a time expression such as "four weeks ago", whose time is searched as a span: a memory with these
 * words meant another time. Words that the question also has elsewhere stay, and all stay when there are no others.
 */
export function removeTimeTerms(
  lexical: LexicalHits,
  question: string,
  span: TimeSpan,
): LexicalHits {
  const inQuestion = countTerms(question)
  const inSpan = countTerms(span.words)
  const kept = lexical.terms.map(
    ({ text }) => !inSpan.has(text) || inSpan.get(text) !== inQuestion.get(text),
  )
  if (!kept.includes(true) || !kept.includes(false)) return lexical
  const select = <Item>(items: readonly Item[]) => items.filter((_, term) => kept[term])
  return rescoreHits({
    ...lexical,
    terms: select(lexical.terms),
    hits: lexical.hits.map((hit) => ({ ...hit, counts: select(hit.counts) })),
  })
}

/** Scores the hits by their terms again, and drops those without any. */
function rescoreHits(lexical: LexicalHits): LexicalHits {
  const { terms, averageLength } = lexical
  const idfs = terms.map(({ rarity }) => rarity)
  const total = idfs.reduce((sum, idf) => sum + idf, 0)
  const hits = lexical.hits
    .map((hit) => {
      const relativeLength = averageLength > 0 ? hit.length / averageLength : 1
      const matched = idfs.reduce((sum, idf, term) => sum + (hit.counts[term] ? idf : 0), 0)
      return {
        ...hit,
        score: scoreTermCounts(hit.counts, idfs, relativeLength),
        coverage: total > 0 ? matched / total : 0,
      }
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
  return { ...lexical, hits }
}

function countTerms(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const term of extractTerms(text)) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}
