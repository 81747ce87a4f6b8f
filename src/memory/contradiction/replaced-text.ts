/**
 * Whether what one text says has been replaced by a newer text. Texts are facts or chat messages of several sentences, of
 * which some may be questions.
 */
import { LruCache } from '../../lib/lru-cache.ts'
import { type ChatStatement, readChatStatement } from './chat-statement.ts'
import { endsStateOf, mayEndStates, readStatement } from './state-changes.ts'
import {
  compareParsedStatements,
  mayContradict,
  type ParsedStatement,
  parseStatement,
} from './statements.ts'

/** Longer messages are texts to work on rather than statements. */
const TEXT_CHARACTERS_MAX = 1_200
const STATEMENTS_MAX = 12
const CACHED_TEXTS_MAX = 4_000

/** A statement, as the rules read it. */
type Statement = { readonly state: ChatStatement | null; readonly parsed: ParsedStatement }

export type TextStatements = {
  /** Whole sentences. */
  readonly sentences: readonly Statement[]
  /** Sentences, of which those with several clauses are split. */
  readonly claims: readonly Statement[]
}

const cache = new LruCache<string, TextStatements>({ entriesMax: CACHED_TEXTS_MAX })

/** Reads a text that is compared with several others. */
export function readStatements(text: string): TextStatements {
  return cache.getOrCreate(text, () => read(text))
}

/** `whole`: nothing else remains of the older text. */
export function findReplaced(newer: string, older: string): 'whole' | 'part' | null {
  return findReplacedStatements(readStatements(newer), readStatements(older))
}

export function findReplacedStatements(
  { sentences }: TextStatements,
  { claims }: TextStatements,
): 'whole' | 'part' | null {
  let replaced = 0
  for (const claim of claims) if (sentences.some((each) => replaces(each, claim))) replaced++
  if (replaced === 0) return null
  return replaced === claims.length ? 'whole' : 'part'
}

function replaces(newer: Statement, older: Statement): boolean {
  const { state } = newer
  if (state !== null && older.state !== null && mayEndStates(state)) {
    if (endsStateOf(state, older.state)) return true
  }
  const [after, before] = [newer.parsed, older.parsed]
  if (!mayContradict(after, before)) return false
  const isSameAttribute =
    after.attribute !== null && after.attribute.name === before.attribute?.name
  const shares = after.claim.some((word) => before.claim.includes(word))
  if (!isSameAttribute && !shares) return false
  const comparison = compareParsedStatements(after, before)
  if (comparison.kind !== 'contradicts') return false
  return comparison.reason === 'value' || after.isChange || (after.isOwn && before.isOwn)
}

function read(text: string): TextStatements {
  const sentences = (text.length > TEXT_CHARACTERS_MAX ? [] : text.split(SENTENCE_END))
    .map((sentence) => stripQuestion(sentence.trim()))
    .filter((sentence) => sentence !== '')
    .slice(0, STATEMENTS_MAX)
  return {
    sentences: sentences.map(readOne),
    claims: sentences.flatMap(listClaims).map(readOne),
  }
}

function readOne(text: string): Statement {
  return { state: readStatement(text), parsed: parseStatement(text) }
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
