/**
 * Whether what one text says has been replaced by a newer text. Texts are facts or chat messages of several sentences, of
 * which some may be questions.
 */
import { readChatStatement } from './chat-statement.ts'
import { endsState, mayEndStates } from './state-changes.ts'
import { compareParsedStatements, parseStatement } from './statements.ts'

/** Longer messages are texts to work on rather than statements. */
const TEXT_CHARACTERS_MAX = 1_200
const STATEMENTS_MAX = 12
const CACHED_TEXTS_MAX = 1_000

type TextStatements = {
  /** Whole sentences. */
  readonly sentences: readonly string[]
  /** Sentences, of which those with several clauses are split. */
  readonly claims: readonly string[]
}

const cache = new Map<string, TextStatements>()

/** `whole`: nothing else remains of the older text. */
export function findReplaced(newer: string, older: string): 'whole' | 'part' | null {
  const { sentences } = read(newer)
  const { claims } = read(older)
  const replaced = claims.filter((claim) => sentences.some((each) => replaces(each, claim)))
  if (replaced.length === 0) return null
  return replaced.length === claims.length ? 'whole' : 'part'
}

function replaces(newer: string, older: string): boolean {
  if (mayEndStates(newer) && endsState(newer, older)) return true
  const [after, before] = [parseStatement(newer), parseStatement(older)]
  const isSameAttribute =
    after.attribute !== null && after.attribute.name === before.attribute?.name
  const shares = after.claim.some((word) => before.claim.includes(word))
  if (!isSameAttribute && !shares) return false
  const comparison = compareParsedStatements(after, before)
  if (comparison.kind !== 'contradicts') return false
  return comparison.reason === 'value' || after.isChange || (after.isOwn && before.isOwn)
}

function read(text: string): TextStatements {
  const known = cache.get(text)
  if (known !== undefined) return known
  if (cache.size >= CACHED_TEXTS_MAX) cache.clear()
  const sentences = (text.length > TEXT_CHARACTERS_MAX ? [] : text.split(SENTENCE_END))
    .map((sentence) => stripQuestion(sentence.trim()))
    .filter((sentence) => sentence !== '')
    .slice(0, STATEMENTS_MAX)
  const statements = { sentences, claims: sentences.flatMap(listClaims) }
  cache.set(text, statements)
  return statements
}

const SENTENCE_END = /(?<=[.!?])\s+|(?<=[。！？])|\n+/u

/** "I eat fish again, so what should I cook?" states something before it asks. */
function stripQuestion(sentence: string): string {
  if (!/[?？]\s*$/.test(sentence)) return sentence
  const parts = sentence.split(/(?<=[,;:，、；–—])\s*/u)
  const statements = parts.slice(0, -1).filter((part) => !QUESTION.test(part))
  return statements.join(' ').replace(/[\s,;:，、；–—]+$/u, '')
}

const QUESTION =
  /^(?:so |and |but )?(?:who|what|when|where|which|why|how|do|does|did|can|could|should|would|is|are|will|any|wer|was|wann|wo|welche\p{L}?|warum|wie|kann|soll|quién|qué|cuándo|dónde|cuál|cómo|qui|que|quand|où|quel\p{L}*|comment|quem|quando|onde|qual|como)(?!\p{L})/iu

function listClaims(sentence: string): readonly string[] {
  const statement = readChatStatement(sentence)
  if (statement === null) return [sentence]
  const clauses = statement.clauses.filter(({ text }) => text.includes(' '))
  if (clauses.length > 1) return clauses.map(({ text }) => text)
  return statement.words.size > 0 || statement.isEastAsian ? [sentence] : []
}
