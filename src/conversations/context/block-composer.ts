/**
 * Composes a block from candidates within a token budget: the identity section, then facts, then excerpts of
 * conversations, newest first.
 */

import {
  type BlockContent,
  type BlockLine,
  markLineAsEarlier,
  renderBlock,
  renderBlockFrame,
  renderMemoryLine,
  renderTurnLine,
} from '../../domain/context-block.ts'
import { PATTERN_EXTRACTOR } from '../../domain/memory.ts'
import {
  getTurnId,
  getTurnRole,
  isTurnDocument,
  type SearchDocument,
} from '../../domain/search-document.ts'
import type { Instant } from '../../lib/time.ts'
import {
  findReplacedStatements,
  readStatements,
  type TextStatements,
} from '../../memory/contradiction/replaced-text.ts'
import { isUserPinned } from '../../memory/pins.ts'
import { parseTimeSpan } from '../../recall/question/time-expressions.ts'
import { isPromptInjection } from '../../text/prompt-injection.ts'
import {
  buildQueryTerms,
  extractPassageLines,
  findQueryTerms,
  type QueryTerm,
} from '../../text/query-passage.ts'
import { STOP_WORDS } from '../../text/search/stopwords.ts'
import type { CountTokens } from '../../text/tokens.ts'
import { type LineAnalysis, LineCache } from './line-cache.ts'
import { isBareQuestion, isFillerWord, isRecallQuestion, isSmallTalk } from './small-talk.ts'

export type BlockInput = {
  readonly today: Instant
  /** The identity section, which is in every block. */
  readonly identity: readonly SearchDocument[]
  /** Memories and turns, best first. */
  readonly documents: readonly SearchDocument[]
  readonly question: string
  /** Messages that the model reads anyway, trimmed. */
  readonly shownMessages: ReadonlySet<string>
  /** The length of an excerpt of a turn. */
  readonly excerptCharacters: number
  /** At most so many documents besides the identity section. */
  readonly limit?: number
  readonly lineCache?: LineCache
}

export type ContextBlock = {
  readonly text: string
  readonly tokens: number
  readonly content: BlockContent
  /** The documents of the identity section. */
  readonly identity: readonly SearchDocument[]
}

/** The share of the budget for the identity section, so that it leaves room for candidates. */
const IDENTITY_SHARE = 0.5

/** A shorter excerpt is useless. */
const SHORTENED_CHARACTERS_MIN = 40

/** An upper bound for text of any kind. */
const CHARACTERS_PER_TOKEN_MAX = 8

/** A question that shares so many words with another is the same question. */
const REPEATED_SHARE = 0.8

/** Texts that share so many words are about the same thing. */
const RELATED_SHARE = 0.4

type BlockCandidate = BlockLine & {
  readonly tokens: number
  readonly words: ReadonlySet<string>
}

/**
 * The block, or why there is none. It never exceeds the budget, fence included. A candidate that does not fit is skipped
 * for those after it; if none fits, the best one is shortened.
 */
export function composeBlock(
  input: BlockInput,
  budget: number,
  count: CountTokens,
): ContextBlock | 'nothing' | 'no-room' {
  const { today, question, excerptCharacters, lineCache = new LineCache() } = input
  const room = budget - count(renderBlockFrame(today))
  const terms = buildQueryTerms(
    question,
    input.documents.map(({ content }) => content.slice(0, QUERY_TERM_TEXT_CHARACTERS)),
  )
  const known = selectWithinBudget(
    input.identity.flatMap((document) => buildCandidate(document, lineCache, count)),
    room * IDENTITY_SHARE,
  )
  const identityIds = new Set(input.identity.map(({ id }) => id))
  const others = input.documents.filter(({ id }) => !identityIds.has(id))
  const usable = others.filter((document) => isUsable(document, input.shownMessages, lineCache))
  const leading = selectLeadingTurns(usable, excerptCharacters)
  const leadingCharacters = computeLeadingLength(excerptCharacters, room)
  const candidates = usable.flatMap((document) =>
    buildCandidate(
      document,
      lineCache,
      count,
      terms,
      leading.has(document.id) ? leadingCharacters : excerptCharacters,
    ),
  )
  const questionWords = extractWords(question)
  const novel = candidates.filter(
    (candidate) =>
      !isEchoOfQuestion(candidate, questionWords) &&
      !known.some((other) => isRepetition(other, candidate)),
  )
  const sources = readSources([...novel, ...known].slice(0, SETTLED_MAX))
  const keepsOutdated = asksAboutPast(question, today)
  const identity = known.filter(
    (candidate) => isUserPinned(candidate.document) || !isReplaced(candidate, sources),
  )
  const settled = settleCurrency(
    removeCoveredEpisodes(removeRestatements(removeRepetitions(novel), questionWords), identity),
    sources,
    keepsOutdated,
    count,
  )
  const distinct = settled.slice(0, input.limit)
  if (identity.length + distinct.length === 0) return 'nothing'
  const left = room - countLineTokens(identity)
  const chosen = selectWithinBudget(distinct, left)
  const [best] = distinct
  const fitted =
    chosen.length > 0 || best === undefined
      ? chosen
      : shortenCandidate(best.document, terms, left, lineCache, count)
  const block = buildBlock(today, identity, orderCandidates(fitted, terms), count, budget)
  return block.text === '' ? 'no-room' : block
}

/** Of so many candidates, the outdated ones are left out or marked. */
const SETTLED_MAX = 40

/**
 * Leaves out lines whose statements a newer line replaces, and marks lines with other statements as well. A question about
 * the past gets them all, marked. The assistant's words replace nothing.
 */
function settleCurrency(
  candidates: readonly BlockCandidate[],
  sources: readonly ReplacementSource[],
  keepsOutdated: boolean,
  count: CountTokens,
): readonly BlockCandidate[] {
  return candidates.flatMap((candidate, index) => {
    const replaced = index < SETTLED_MAX ? findReplacedParts(candidate, sources) : []
    if (replaced.includes('whole') && !keepsOutdated) return []
    return replaced.length > 0 ? [markAsEarlier(candidate, count)] : [candidate]
  })
}

function isReplaced(candidate: BlockCandidate, sources: readonly ReplacementSource[]): boolean {
  return findReplacedParts(candidate, sources).includes('whole')
}

/** A line of the user's that may replace older ones. */
type ReplacementSource = { readonly at: Instant; readonly statements: TextStatements }

function readSources(candidates: readonly BlockCandidate[]): readonly ReplacementSource[] {
  return candidates.flatMap((each) =>
    isAnswer(each)
      ? []
      : [{ at: getEventTime(each), statements: readStatements(each.document.content) }],
  )
}

function findReplacedParts(candidate: BlockCandidate, sources: readonly ReplacementSource[]) {
  const { content } = candidate.document
  const at = getEventTime(candidate)
  const newer = sources.filter((source) => source.at > at)
  if (newer.length === 0) return []
  const older = readStatements(isAnswer(candidate) ? toFirstPerson(content) : content)
  return newer.flatMap(({ statements }) => findReplacedStatements(statements, older) ?? [])
}

function isAnswer({ document }: BlockCandidate): boolean {
  return getTurnRole(document) === 'assistant'
}

function markAsEarlier(candidate: BlockCandidate, count: CountTokens): BlockCandidate {
  const text = markLineAsEarlier(candidate.text)
  return { ...candidate, text, tokens: count(`${text}\n`) }
}

/** What an answer says about the user, as the user would say it. */
function toFirstPerson(answer: string): string {
  return answer
    .replace(/\byou(?:'re| are)\b/gi, 'I am')
    .replace(/\byou(?:'ve| have)\b/gi, 'I have')
    .replace(/\byours?\b/gi, 'my')
    .replace(/\byou\b/gi, 'I')
}

const PAST_CUE =
  /(?<!\p{L})(?:did|used to|(?:was|were) (?:i|we|my|our|the|it|he|she)|(?:what|who|where|which|when|how) (?:was|were)|before|previous(?:ly)?|former(?:ly)?|earlier|back then|old|originally|history|changed?|ex|früher|damals|vorher|war|hatte|antes|anterior|era|tenía|vivía|trabajaba|avant|ancien(?:ne)?|étais|était|avais|habitais|antigamente|morava|trabalhava|tinha)(?!\p{L})|以前|之前|曾|过去|前は|昔|ました|でした/iu

function asksAboutPast(question: string, today: Instant): boolean {
  return PAST_CUE.test(question) || parseTimeSpan(question, today) !== null
}

/** The best-ranked long turns get longer excerpts: of an answer in the form of a list, one item is not enough. */
const LEADING_TURNS = 2
const LEADING_FACTOR = 3

/** The share of the budget for a long excerpt, converted at the average length of a token. */
const LEADING_SHARE = 0.25
const CHARACTERS_PER_TOKEN = 4

function selectLeadingTurns(
  documents: readonly SearchDocument[],
  excerptCharacters: number,
): ReadonlySet<SearchDocument['id']> {
  const long = documents.filter(
    (document) => isTurnDocument(document) && document.content.length > excerptCharacters,
  )
  return new Set(long.slice(0, LEADING_TURNS).map(({ id }) => id))
}

function computeLeadingLength(excerptCharacters: number, room: number): number {
  const share = Math.floor(room * LEADING_SHARE * CHARACTERS_PER_TOKEN)
  return Math.max(excerptCharacters, Math.min(excerptCharacters * LEADING_FACTOR, share))
}

/** The length of text that is enough to tell which words of a question are rare. */
const QUERY_TERM_TEXT_CHARACTERS = 4_000

/** Excludes messages of the request, system prompts, and turns without information. */
function isUsable(
  document: SearchDocument,
  shown: ReadonlySet<string>,
  lineCache: LineCache,
): boolean {
  const text = document.content.trim()
  if (shown.has(text)) return false
  if (isTurnDocument(document)) {
    const analysis = lineCache.get(document)
    analysis.isInformative ??= isInformative(document, text)
    return analysis.isInformative
  }
  // The fact may have been learned from a message of this request.
  for (const each of shown) if (each.length > text.length && each.includes(text)) return false
  return true
}

function isInformative(turn: SearchDocument, text: string): boolean {
  const role = getTurnRole(turn)
  const asks = role === 'user' && (isBareQuestion(text) || isRecallQuestion(text))
  return role !== 'system' && !isSmallTalk(text) && !asks
}

function buildCandidate(
  document: SearchDocument,
  lineCache: LineCache,
  count: CountTokens,
  terms: readonly QueryTerm[] = [],
  charactersMax = Number.POSITIVE_INFINITY,
): readonly BlockCandidate[] {
  return isTurnDocument(document)
    ? createPassage(document, terms, charactersMax, lineCache, count)
    : toBlockLine(document, document.content, lineCache.get(document), count)
}

/** A passage of a document; nothing of a turn whose passage or speaker is a prompt injection. */
function createPassage(
  document: SearchDocument,
  terms: readonly QueryTerm[],
  charactersMax: number,
  lineCache: LineCache,
  count: CountTokens,
): readonly BlockCandidate[] {
  const passage = extractPassageLines(document.content, terms, charactersMax)
  // An excerpt depends on the question.
  const analysis = passage === document.content ? lineCache.get(document) : {}
  const texts = isTurnDocument(document) ? [passage, document.provenance.speaker ?? ''] : []
  analysis.isPromptInjection ??= texts.some(isPromptInjection)
  return analysis.isPromptInjection ? [] : toBlockLine(document, passage, analysis, count)
}

function toBlockLine(
  document: SearchDocument,
  text: string,
  analysis: LineAnalysis,
  count: CountTokens,
): readonly BlockCandidate[] {
  if (analysis.line === undefined) {
    analysis.line = isTurnDocument(document)
      ? renderTurnLine(document, text)
      : renderMemoryLine(document, text)
  }
  const { line } = analysis
  if (line === null) return []
  analysis.words ??= extractWords(text)
  if (analysis.tokens === undefined || analysis.countedBy !== count) {
    analysis.tokens = count(`${line}\n`)
    analysis.countedBy = count
  }
  return [{ document, text: line, tokens: analysis.tokens, words: analysis.words }]
}

/** The length of text that is enough for comparisons. */
const COMPARED_CHARACTERS = 2_000
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu

function extractWords(text: string): ReadonlySet<string> {
  const words = text.slice(0, COMPARED_CHARACTERS).toLowerCase().match(WORDS) ?? []
  return new Set(words.filter((word) => !STOP_WORDS.has(word)))
}

/** The same question in an earlier conversation holds no information. */
function isEchoOfQuestion(
  { document, words }: BlockCandidate,
  questionWords: ReadonlySet<string>,
): boolean {
  return (
    getTurnRole(document) === 'user' &&
    /[?？]\s*$/u.test(document.content) &&
    computeOverlap(words, questionWords, Math.max) >= REPEATED_SHARE
  )
}

/** Keeps the better one of repetitions: a fact and its source turn, or lines with the same words. */
function removeRepetitions(candidates: readonly BlockCandidate[]): readonly BlockCandidate[] {
  const distinct: BlockCandidate[] = []
  for (const candidate of candidates) {
    const index = distinct.findIndex((other) => isRepetition(other, candidate))
    const other = distinct[index]
    if (other === undefined) distinct.push(candidate)
    else if (isBetter(candidate, other)) distinct[index] = candidate
  }
  return distinct
}

/** An answer that adds at most this share of words to what the user said only restates it. */
const ADDED_SHARE_MAX = 0.15
const COMMON_WORDS_MIN = 2

/** Words are compared by this many letters, so that "walnut" is "walnuts" and "allergy" is "allergic". */
const TRUNCATED_LENGTH = 5

/**
 * Drops answers that only restate the question and what the user said: a model repeats what it recalls, and its answer
 * would otherwise be quoted beside the source in every later prompt.
 */
function removeRestatements(
  candidates: readonly BlockCandidate[],
  questionWords: ReadonlySet<string>,
): readonly BlockCandidate[] {
  const asked = truncateWords(questionWords)
  const sources = candidates
    .filter((each) => !isAnswer(each))
    .map(({ words }) => truncateWords(words))
  return candidates.filter((candidate) => {
    if (!isAnswer(candidate)) return true
    const words = truncateWords(candidate.words)
    return !sources.some((source) => isRestatement(words, source, asked))
  })
}

/** Words of summaries that state nothing. */
const SUMMARY_WORDS = truncateWords(
  new Set(
    'user conversation discussed talked asked mentioned shared told said explained gespräch besprochen erzählt conversación habló pidió conversa falou perguntou demandé discuté'.split(
      ' ',
    ),
  ),
)

/** Drops summaries of conversations that say nothing beyond the facts of the block. */
function removeCoveredEpisodes(
  candidates: readonly BlockCandidate[],
  identity: readonly BlockCandidate[],
): readonly BlockCandidate[] {
  const isEpisode = ({ document }: BlockCandidate) => document.category === 'episode'
  if (!candidates.some(isEpisode)) return candidates
  const facts = [...identity, ...candidates].filter(
    (each) => !isEpisode(each) && !isTurnDocument(each.document),
  )
  const known = new Set(facts.flatMap(({ words }) => [...truncateWords(words)]))
  return candidates.filter((candidate) => {
    if (!isEpisode(candidate)) return true
    const words = [...truncateWords(candidate.words)].filter((word) => !SUMMARY_WORDS.has(word))
    const added = words.filter((word) => !known.has(word))
    return (
      added.length > words.length * ADDED_SHARE_MAX || added.some((word) => /\p{N}/u.test(word))
    )
  })
}

function truncateWords(words: ReadonlySet<string>): ReadonlySet<string> {
  const informative = [...words].filter((word) => !isFillerWord(word))
  return new Set(informative.map((word) => word.slice(0, TRUNCATED_LENGTH)))
}

function isRestatement(
  words: ReadonlySet<string>,
  source: ReadonlySet<string>,
  asked: ReadonlySet<string>,
): boolean {
  let added = 0
  let common = 0
  for (const word of words) {
    if (source.has(word)) common++
    else if (!asked.has(word)) added++
  }
  return common >= COMMON_WORDS_MIN && added <= words.size * ADDED_SHARE_MAX
}

function isRepetition(a: BlockCandidate, b: BlockCandidate): boolean {
  // A single word may make the difference: "the tea from Assam", "the tea from Darjeeling".
  return isSource(a, b) || isSource(b, a) || hasSameWords(a.words, b.words)
}

function hasSameWords(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size === 0 || a.size !== b.size) return false
  for (const word of a) if (!b.has(word)) return false
  return true
}

/** Whether a fact was learned from a turn. */
function isSource(fact: BlockCandidate, turn: BlockCandidate): boolean {
  const id = getTurnId(turn.document)
  return (
    id !== null && !isTurnDocument(fact.document) && fact.document.provenance.turns.includes(id)
  )
}

/** Whether a candidate replaces the better-ranked one that it repeats. */
function isBetter(candidate: BlockCandidate, other: BlockCandidate): boolean {
  if (isSource(candidate, other)) return replacesTurn(candidate, other)
  if (isSource(other, candidate)) return !replacesTurn(other, candidate)
  if (isTurnDocument(candidate.document) !== isTurnDocument(other.document)) return false
  return getEventTime(candidate) > getEventTime(other)
}

/** A fact replaces its turn if it covers much of it, or if it was reworded: then the turn may be outdated. */
function replacesTurn(fact: BlockCandidate, turn: BlockCandidate): boolean {
  const isReworded = fact.document.provenance.extractor === null
  return isReworded || fact.words.size >= turn.words.size * RELATED_SHARE
}

function intersectWords(
  a: BlockCandidate,
  b: BlockCandidate,
  normalize: (a: number, b: number) => number,
): number {
  return computeOverlap(a.words, b.words, normalize)
}

function computeOverlap(
  a: ReadonlySet<string>,
  b: ReadonlySet<string>,
  normalize: (a: number, b: number) => number,
): number {
  if (a.size === 0 || b.size === 0) return 0
  let common = 0
  for (const word of a) if (b.has(word)) common++
  return common / normalize(a.size, b.size)
}

function getEventTime({ document }: BlockCandidate): Instant {
  return document.validFrom ?? document.createdAt
}

/** The candidates that fit, in order; one that does not fit is skipped for those after it. */
function selectWithinBudget(
  candidates: readonly BlockCandidate[],
  room: number,
): readonly BlockCandidate[] {
  let left = room
  return candidates.filter(({ tokens }) => {
    const fits = tokens <= left
    if (fits) left -= tokens
    return fits
  })
}

function countLineTokens(candidates: readonly BlockCandidate[]): number {
  return candidates.reduce((sum, { tokens }) => sum + tokens, 0)
}

/**
 * Facts before excerpts, both newest first. A fact is outdated, and ordered among the excerpts, if a newer excerpt is about
 * the same thing. So is a verbatim clause from pattern extraction below any newer excerpt: it is no more current than its
 * turn.
 */
function orderCandidates(
  candidates: readonly BlockCandidate[],
  terms: readonly QueryTerm[],
): readonly BlockCandidate[] {
  const excerpts = candidates.filter(({ document }) => isTurnDocument(document))
  const facts = candidates.filter(({ document }) => !isTurnDocument(document))
  const isOutdated = (fact: BlockCandidate) =>
    excerpts.some(
      (excerpt) =>
        getEventTime(excerpt) > getEventTime(fact) &&
        (isVerbatim(fact) ||
          intersectWords(fact, excerpt, Math.min) >= RELATED_SHARE ||
          isSameAnswer(fact, excerpt, terms)),
    )
  const current = facts.filter((fact) => !isOutdated(fact))
  const dated = [...excerpts, ...facts.filter(isOutdated)]
  return [...current.toSorted(compareNewestFirst), ...dated.toSorted(compareNewestFirst)]
}

function compareNewestFirst(a: BlockCandidate, b: BlockCandidate): number {
  return getEventTime(b) - getEventTime(a)
}

function isVerbatim({ document }: BlockCandidate): boolean {
  return document.provenance.extractor === PATTERN_EXTRACTOR
}

/** Two lines that share so many words of the question, or all of them, answer the same question. */
const COMMON_TERMS_MIN = 2

function isSameAnswer(
  fact: BlockCandidate,
  excerpt: BlockCandidate,
  terms: readonly QueryTerm[],
): boolean {
  const held = findQueryTerms(fact.text, terms)
  const common = findQueryTerms(excerpt.text, [...held])
  return common.size > 0 && common.size >= Math.min(COMMON_TERMS_MIN, terms.length)
}

/** The longest passage that fits; nothing if that is too short to be useful. */
function shortenCandidate(
  document: SearchDocument,
  terms: readonly QueryTerm[],
  room: number,
  lineCache: LineCache,
  count: CountTokens,
): readonly BlockCandidate[] {
  const upTo = (characters: number) => createPassage(document, terms, characters, lineCache, count)
  let fitted = upTo(SHORTENED_CHARACTERS_MIN)
  if (countLineTokens(fitted) > room) return []
  let fits = SHORTENED_CHARACTERS_MIN
  let exceeds = Math.min(document.content.length, Math.ceil(room * CHARACTERS_PER_TOKEN_MAX)) + 1
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2)
    const longer = upTo(middle)
    if (longer.length > 0 && countLineTokens(longer) <= room) {
      fitted = longer
      fits = middle
    } else {
      exceeds = middle
    }
  }
  return fitted
}

/** Renders the block. Joined lines may take more tokens than their sum, so lines are dropped until the block fits. */
function buildBlock(
  today: Instant,
  identity: readonly BlockCandidate[],
  candidates: readonly BlockCandidate[],
  count: CountTokens,
  budget: number,
): ContextBlock {
  const selected = [...identity, ...candidates]
  for (;;) {
    const content = { today, lines: selected.map(({ document, text }) => ({ document, text })) }
    const text = renderBlock(content)
    const tokens = text === '' ? 0 : count(text)
    if (tokens <= budget || selected.length === 0) {
      const identityIds = new Set(identity.map(({ document }) => document.id))
      const documents = selected.map(({ document }) => document)
      return { text, tokens, content, identity: documents.filter(({ id }) => identityIds.has(id)) }
    }
    selected.pop()
  }
}
