/**
 * What of the documents that were found goes into a block, within its token budget: who the person is, then facts, then
 * excerpts of conversations, newest first.
 */

import {
  type BlockContent,
  type BlockLine,
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
import { isPromptInjection } from '../../text/prompt-injection.ts'
import {
  buildQueryTerms,
  extractPassageLines,
  findQueryTerms,
  type QueryTerm,
} from '../../text/query-passage.ts'
import { STOP_WORDS } from '../../text/search/stopwords.ts'
import type { CountTokens } from '../../text/tokens.ts'
import { isBareQuestion, isSmallTalk } from './small-talk.ts'

/** What could be said. */
export type BlockInput = {
  readonly today: Instant
  /** Said in every block. */
  readonly identity: readonly SearchDocument[]
  /** Memories and turns, best first. */
  readonly documents: readonly SearchDocument[]
  readonly question: string
  /** Messages that the model reads anyway, trimmed. */
  readonly shown: ReadonlySet<string>
  /** How much of a turn is quoted. */
  readonly excerptCharacters: number
  /** How many documents at most, besides those that are always given. */
  readonly limit?: number
}

export type ContextBlock = {
  readonly text: string
  readonly tokens: number
  readonly content: BlockContent
  /** Of its pieces, those that are always given. */
  readonly identity: readonly SearchDocument[]
}

/** Of the room that the fence leaves: what is always said must leave some for what was asked. */
const IDENTITY_SHARE = 0.5

/** Less of a document says nothing. */
const SHORTENED_CHARACTERS_MIN = 40

/** More than a token of any text has. */
const CHARACTERS_PER_TOKEN_MAX = 8

/** A question that shares so much of its words with another asks the same. */
const REPEATED_SHARE = 0.8

/** With so much, they are about the same thing. */
const RELATED_SHARE = 0.4

type BlockCandidate = BlockLine & {
  readonly tokens: number
  readonly words: ReadonlySet<string>
}

/**
 * The block, or why there is none; never more than the budget, in tokens, fence and all. What is too long makes way for
 * what comes after it, and where nothing fits of what was found, the best is given as far as it does.
 */
export function composeBlock(
  candidates: BlockInput,
  budget: number,
  count: CountTokens,
): ContextBlock | 'nothing' | 'no-room' {
  const { today, question, excerptCharacters } = candidates
  const room = budget - count(renderBlockFrame(today))
  const needles = buildQueryTerms(
    question,
    candidates.documents.map(({ content }) => content.slice(0, NEEDLE_TEXT_CHARACTERS)),
  )
  const identity = selectWithinBudget(
    candidates.identity.flatMap(createCandidateBuilder(count)),
    room * IDENTITY_SHARE,
  )
  const always = new Set(candidates.identity.map(({ id }) => id))
  const found = candidates.documents.filter(({ id }) => !always.has(id))
  const usable = found.filter((document) => isUsable(document, candidates.shown))
  const leading = leadingTurns(usable, excerptCharacters)
  const leadingCharacters = leadingLength(excerptCharacters, room)
  const pieces = usable.flatMap((document) =>
    createCandidateBuilder(
      count,
      needles,
      leading.has(document.id) ? leadingCharacters : excerptCharacters,
    )(document),
  )
  const asked = extractWords(question)
  const news = pieces.filter(
    (piece) =>
      !isEchoOfQuestion(piece, asked) && !identity.some((other) => isRepetition(other, piece)),
  )
  const distinct = removeRepetitions(news).slice(0, candidates.limit)
  if (identity.length + distinct.length === 0) return 'nothing'
  const left = room - countLineTokens(identity)
  const chosen = selectWithinBudget(distinct, left)
  const [best] = distinct
  const fitted =
    chosen.length > 0 || best === undefined
      ? chosen
      : shortenCandidate(best.document, needles, left, count)
  const block = buildBlock(today, identity, orderCandidates(fitted, needles), count, budget)
  return block.text === '' ? 'no-room' : block
}

/** An answer in the form of a list is longer than most excerpts, and one item of it is not what was asked for. */
const LEADING_TURNS = 2
const LEADING_FACTOR = 3

/** Of the room that the fence leaves, at about so many characters for a token. */
const LEADING_SHARE = 0.25
const CHARACTERS_PER_TOKEN = 4

/** Of the long turns, those that rank best. */
function leadingTurns(
  documents: readonly SearchDocument[],
  excerptCharacters: number,
): ReadonlySet<SearchDocument['id']> {
  const long = documents.filter(
    (document) => isTurnDocument(document) && document.content.length > excerptCharacters,
  )
  return new Set(long.slice(0, LEADING_TURNS).map(({ id }) => id))
}

/** How much of them is quoted. */
function leadingLength(excerptCharacters: number, room: number): number {
  const share = Math.floor(room * LEADING_SHARE * CHARACTERS_PER_TOKEN)
  return Math.max(excerptCharacters, Math.min(excerptCharacters * LEADING_FACTOR, share))
}

/** How much of a text tells which words of a question are rare. */
const NEEDLE_TEXT_CHARACTERS = 4_000

/** Not what the model reads anyway, what only looks like something, or what tries to command. */
function isUsable(document: SearchDocument, shown: ReadonlySet<string>): boolean {
  const said = document.content.trim()
  if (shown.has(said)) return false
  if (isTurnDocument(document)) {
    const role = getTurnRole(document)
    return role !== 'system' && !isSmallTalk(said) && !(role === 'user' && isBareQuestion(said))
  }
  // A fact that was learned from a message of this very request.
  return ![...shown].some((each) => each.length > said.length && each.includes(said))
}

/** As a piece, or nothing where there is nothing to say. */
function createCandidateBuilder(
  count: CountTokens,
  needles: readonly QueryTerm[] = [],
  charactersMax = Number.POSITIVE_INFINITY,
): (document: SearchDocument) => readonly BlockCandidate[] {
  return (document) =>
    isTurnDocument(document)
      ? passagePiece(document, needles, charactersMax, count)
      : toBlockLine(document, document.content, count)
}

/** A passage of a document, however short it is; nothing of a turn where it tries to command. */
function passagePiece(
  document: SearchDocument,
  needles: readonly QueryTerm[],
  charactersMax: number,
  count: CountTokens,
): readonly BlockCandidate[] {
  const passage = extractPassageLines(document.content, needles, charactersMax)
  const texts = isTurnDocument(document) ? [passage, document.provenance.speaker ?? ''] : []
  // What others wrote may hold commands to a model; it is not the person's, however it came into a conversation.
  return texts.some(isPromptInjection) ? [] : toBlockLine(document, passage, count)
}

function toBlockLine(
  document: SearchDocument,
  text: string,
  count: CountTokens,
): readonly BlockCandidate[] {
  const line = isTurnDocument(document)
    ? renderTurnLine(document, text)
    : renderMemoryLine(document, text)
  return line === null
    ? []
    : [{ document, text: line, tokens: count(`${line}\n`), words: extractWords(text) }]
}

/** So much of a text tells what it is about. */
const COMPARED_CHARACTERS = 2_000
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu

function extractWords(text: string): ReadonlySet<string> {
  const words = text.slice(0, COMPARED_CHARACTERS).toLowerCase().match(WORDS) ?? []
  return new Set(words.filter((word) => !STOP_WORDS.has(word)))
}

/** The same question in an earlier conversation tells nothing. */
function isEchoOfQuestion(
  { document, words }: BlockCandidate,
  asked: ReadonlySet<string>,
): boolean {
  return (
    getTurnRole(document) === 'user' &&
    /[?？]\s*$/u.test(document.content) &&
    computeOverlap(words, asked, Math.max) >= REPEATED_SHARE
  )
}

/** Of a fact and the turn that it came from, and of pieces that say the same, the better one; of equals, the newer. */
function removeRepetitions(pieces: readonly BlockCandidate[]): readonly BlockCandidate[] {
  const kept: BlockCandidate[] = []
  for (const piece of pieces) {
    const at = kept.findIndex((other) => isRepetition(other, piece))
    const other = kept[at]
    if (other === undefined) kept.push(piece)
    else if (isBetter(piece, other)) kept[at] = piece
  }
  return kept
}

function isRepetition(a: BlockCandidate, b: BlockCandidate): boolean {
  // One word more or less may be all that matters: "the tea from Assam", "the tea from Darjeeling".
  return isSource(a, b) || isSource(b, a) || intersectWords(a, b, Math.max) === 1
}

/** Whether the first is a fact that was learned from the second, a turn, and tells no less of it. */
function isSource(fact: BlockCandidate, turn: BlockCandidate): boolean {
  const id = getTurnId(turn.document)
  return (
    id !== null && !isTurnDocument(fact.document) && fact.document.provenance.turns.includes(id)
  )
}

/** Stands for both, though it was found later. */
function isBetter(piece: BlockCandidate, other: BlockCandidate): boolean {
  if (isSource(piece, other)) return standsForTurn(piece, other)
  if (isSource(other, piece)) return !standsForTurn(other, piece)
  if (isTurnDocument(piece.document) !== isTurnDocument(other.document)) return false
  return getEventTime(piece) > getEventTime(other)
}

/** A fact that tells much of its turn, or that somebody worded anew: then the turn may say what was corrected. */
function standsForTurn(fact: BlockCandidate, turn: BlockCandidate): boolean {
  const isReworded = fact.document.provenance.extractor === null
  return isReworded || fact.words.size >= turn.words.size * RELATED_SHARE
}

function intersectWords(
  a: BlockCandidate,
  b: BlockCandidate,
  of: (a: number, b: number) => number,
): number {
  return computeOverlap(a.words, b.words, of)
}

function computeOverlap(
  a: ReadonlySet<string>,
  b: ReadonlySet<string>,
  of: (a: number, b: number) => number,
): number {
  if (a.size === 0 || b.size === 0) return 0
  let common = 0
  for (const word of a) if (b.has(word)) common++
  return common / of(a.size, b.size)
}

function getEventTime({ document }: BlockCandidate): Instant {
  return document.validFrom ?? document.createdAt
}

/** As many as fit, in their order; what is too long makes way for what comes after it. */
function selectWithinBudget(
  pieces: readonly BlockCandidate[],
  room: number,
): readonly BlockCandidate[] {
  let left = room
  return pieces.filter(({ tokens }) => {
    const fits = tokens <= left
    if (fits) left -= tokens
    return fits
  })
}

function countLineTokens(pieces: readonly BlockCandidate[]): number {
  return pieces.reduce((sum, { tokens }) => sum + tokens, 0)
}

/**
 * Facts before excerpts, excerpts newest first. Of facts about the same thing the newer stands above the older, and a fact
 * that a newer excerpt is about stands below that. So does a clause that patterns took from a turn word for word, where a
 * newer excerpt ranks above it: it is no more current than the turn.
 */
function orderCandidates(
  pieces: readonly BlockCandidate[],
  needles: readonly QueryTerm[],
): readonly BlockCandidate[] {
  const excerpts = pieces.filter(({ document }) => isTurnDocument(document))
  const facts = pieces.filter(({ document }) => !isTurnDocument(document))
  const rankOf = new Map(pieces.map((piece, rank) => [piece, rank]))
  const ranksAbove = (a: BlockCandidate, b: BlockCandidate) =>
    (rankOf.get(a) ?? 0) < (rankOf.get(b) ?? 0)
  const isOutdated = (fact: BlockCandidate) =>
    excerpts.some(
      (excerpt) =>
        getEventTime(excerpt) > getEventTime(fact) &&
        (intersectWords(fact, excerpt, Math.min) >= RELATED_SHARE ||
          isSameAnswer(fact, excerpt, needles) ||
          (isVerbatim(fact) && ranksAbove(excerpt, fact))),
    )
  const current = facts.filter((fact) => !isOutdated(fact))
  const dated = [...excerpts, ...facts.filter(isOutdated)]
  return [...orderNewestFirst(current), ...dated.sort((a, b) => getEventTime(b) - getEventTime(a))]
}

function isVerbatim({ document }: BlockCandidate): boolean {
  return document.provenance.extractor === PATTERN_EXTRACTOR
}

/** So many words of the question that both hold, or all of them, make two pieces answers to the same. */
const COMMON_NEEDLES_MIN = 2

function isSameAnswer(
  fact: BlockCandidate,
  excerpt: BlockCandidate,
  needles: readonly QueryTerm[],
): boolean {
  const held = findQueryTerms(fact.text, needles)
  const common = findQueryTerms(excerpt.text, [...held])
  return common.size > 0 && common.size >= Math.min(COMMON_NEEDLES_MIN, needles.length)
}

function orderNewestFirst(facts: readonly BlockCandidate[]): readonly BlockCandidate[] {
  const ordered: BlockCandidate[] = []
  for (const fact of facts) {
    const at = ordered.findIndex(
      (other) =>
        getEventTime(other) < getEventTime(fact) &&
        intersectWords(other, fact, Math.min) >= RELATED_SHARE,
    )
    ordered.splice(at < 0 ? ordered.length : at, 0, fact)
  }
  return ordered
}

/** As much of a document as there is room for; nothing where that is too little to say something. */
function shortenCandidate(
  document: SearchDocument,
  needles: readonly QueryTerm[],
  room: number,
  count: CountTokens,
): readonly BlockCandidate[] {
  const upTo = (characters: number) => passagePiece(document, needles, characters, count)
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

/** Tokens of lines that stand together may be more than those of each, so the last ones go until all of it fits. */
function buildBlock(
  today: Instant,
  identity: readonly BlockCandidate[],
  found: readonly BlockCandidate[],
  count: CountTokens,
  budget: number,
): ContextBlock {
  const pieces = [...identity, ...found]
  for (;;) {
    const content = { today, lines: pieces.map(({ document, text }) => ({ document, text })) }
    const text = renderBlock(content)
    const tokens = text === '' ? 0 : count(text)
    if (tokens <= budget || pieces.length === 0) {
      const always = new Set(identity.map(({ document }) => document.id))
      const given = pieces.map(({ document }) => document).filter(({ id }) => always.has(id))
      return { text, tokens, content, identity: given }
    }
    pieces.pop()
  }
}
