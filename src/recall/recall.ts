/**
 * Recall: a question comes in; the few memories that answer it come out, with the reason for each, or nothing.
 *
 *   plan       what is asked, about whom, about when
 *   gather     words and meaning in parallel, each under a deadline; a leg that fails is a missing list, not an error
 *   fuse       one order from all evidence, that of neighbouring memories included
 *   match      who and when
 *   weigh      importance, salience, age
 *   rerank     by a model that reads question and memory together, where there is one
 *   diversify  repetitions move down
 *   floor      what is not near enough is left out
 *   fit        into the limit, and into a prompt
 *
 * How much is gathered never depends on how much was asked for, so the first results are the same for every limit.
 */
import { AppError } from '../domain/errors.ts'
import type { MemoryId } from '../domain/ids.ts'
import { PAGE_ROWS_MAX, QUERY_CHARACTERS_MAX, RECALL_MEMORIES_MAX } from '../domain/limits.ts'
import { hasEnded, type Memory } from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import { isTurnId, type SearchDocument } from '../domain/search-document.ts'
import { resolveSettings, type Settings } from '../domain/settings/settings.ts'
import type { EnginePorts } from '../engine/engine-dependencies.ts'
import { nextTurn } from '../lib/event-loop.ts'
import type { Instant } from '../lib/time.ts'
import { withinTime } from '../lib/timeout.ts'
import { innerProduct } from '../lib/vector-math.ts'
import { parseLimit } from '../storage/access/page-request.ts'
import type { Page } from '../storage/store.ts'
import { foldStatement } from '../text/fingerprint.ts'
import { estimateTokens } from '../text/tokens.ts'
import { seeksAdvice } from './question/advice.ts'
import { discountContext } from './question/follow-up.ts'
import { containsAnyName, namesWithin } from './question/names.ts'
import { withoutTimeWords } from './question/time-terms.ts'
import {
  byScore,
  type Candidate,
  type Loaded,
  loadedWith,
  revised,
  stepped,
  told,
} from './ranking/candidate.ts'
import { selectPool, withoutRepetitions } from './ranking/candidate-pool.ts'
import { diversify } from './ranking/diversity.ts'
import {
  COURSE_REACH,
  type Course,
  firstLook,
  gatherEvidence,
  type KeywordLeg,
} from './ranking/evidence.ts'
import { type FusionOptions, fuse, type Legs, withTrail } from './ranking/fusion.ts'
import { type Asked, match, readQuestion } from './ranking/question-match.ts'
import { type Fitted, withinBudget } from './ranking/result-budget.ts'
import { weigh } from './ranking/score-boosts.ts'
import { aboveFloor, CERTAIN_COVERAGE } from './ranking/similarity-threshold.ts'
import { contextOf, filterOf, memoriesOnly, type RecallQuery } from './recall-query.ts'
import type { LegReport, Recalled, Recollection } from './recall-result.ts'
import {
  COURSE_MEMORIES,
  type FromThatTime,
  fromThatTime,
  keywordLeg,
  type Meaning,
  meaningLeg,
  type Question,
  type RecallParts,
  refuseSilence,
  reportOf,
  skipped,
  toldBesides,
  unfound,
} from './retrievers.ts'

/** How many candidates are read and ranked by more than their place in the lists. */
const POOL = RECALL_MEMORIES_MAX

/** How many more are read where most of the first ones repeat each other: two extended legs at most. */
const REFILL = 500

/** Below this share of the best score, a memory is not part of the answer. */
const TAIL_SHARE = 0.2

type Recall = Question & { readonly query: RecallQuery }

export async function recall(
  ports: EnginePorts,
  parts: RecallParts,
  scope: Scope,
  query: RecallQuery,
): Promise<Recollection> {
  const settings = resolveSettings(ports.settings, choices(query))
  const limit = parseLimit(query.limit ?? settings.recallLimit, RECALL_MEMORIES_MAX)
  if (typeof query.text !== 'string') {
    throw new AppError('invalid_input', 'What is looked for is text.', { field: 'text' })
  }
  const now = query.asOf === undefined ? ports.clock.now() : parseTime(query.asOf)
  const tokensMax = tokenBudget(query, settings)
  const call: Recall = {
    ...parts,
    ports,
    scope,
    query,
    settings,
    where: filterOf(query, now),
    text: query.text.slice(0, QUERY_CHARACTERS_MAX),
    context: contextOf(query),
    now,
    deadlineMs: settings.legDeadlineMs,
  }
  const found =
    settings.strategy === 'recent' || settings.strategy === 'exact'
      ? await newest(call, limit)
      : await search(call)
  const fitted = withinBudget(
    found.candidates,
    limit,
    tokensMax,
    ports.countTokens ?? estimateTokens,
  )
  return {
    memories: fitted.map(toRecalled),
    strategy: settings.strategy,
    legs: found.legs,
    abstained: found.abstained,
    closeness: found.closeness,
    time: found.time,
    tokens: fitted.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}

type Found = Pick<Recollection, 'legs' | 'abstained' | 'closeness' | 'time'> & {
  readonly candidates: readonly Loaded[]
}

async function search(call: Recall): Promise<Found> {
  const { settings, text, now } = call
  const asked = readQuestion(text, now)
  const words = keywordLeg(call)
  const [keyword, meaning, then] = await Promise.all([
    words,
    meaningLeg(call, words),
    fromThatTime(call, asked.span),
  ])
  refuseSilence(keyword, meaning)
  await nextTurn()
  const legs: Legs = {
    keyword: keyword.kind === 'done' ? sought(keyword.result, call, asked, then) : null,
    meaning: meaning.kind === 'done' ? meaning.result.hits : null,
  }
  const answer = meaning.kind === 'done' ? meaning.result : null
  const all = await fused(call, legs, toldBesides(keyword, meaning))
  await nextTurn()
  const pool = await readPool(call, all, then.candidates, { legs, answer })
  await nextTurn()
  const ranked = weigh(match(pool, asked), now, settings)
  const reranked = await rerank(call, ranked)
  const varied = diversify(reranked.candidates, settings.mmrLambda)
  const above = aboveFloor(varied, answer?.closeness ?? null, settings, easedBy(text))
  // A reranker's scores have no zero to measure a tail from.
  const keepsTail = reranked.report.state === 'searched' || settings.memberFloor === 0
  const near = keepsTail ? above : withoutTail(above, text)
  return {
    candidates: near,
    legs: {
      keyword: reportOf(keyword, keyword.kind === 'done' ? keyword.result.hits.length : 0),
      meaning: {
        ...reportOf(meaning, answer?.hits.length ?? 0),
        missing: call.indexer?.waiting(call.scope) ?? 0,
      },
      rerank: reranked.report,
    },
    abstained: near.length === 0 && pool.length > 0,
    closeness: closenessOf(pool, answer),
    time: asked.span?.words ?? null,
  }
}

/** The best candidates as rows. Where most of them repeat each other, those behind them take the places that this frees. */
async function readPool(
  call: Recall,
  ranked: readonly Candidate[],
  ofThatTime: readonly Candidate[],
  answers: { readonly legs: Legs; readonly answer: Meaning | null },
): Promise<readonly Loaded[]> {
  const best = selectPool(ranked, POOL)
  const known = new Set(best.map(({ id }) => id))
  const others = ofThatTime.filter(({ id }) => !known.has(id))
  const read = await readCandidates(call, best, others, answers)
  const pool = withoutRepetitions(read)
  if (read.length - pool.length < POOL / 2) return pool
  const present = new Set(read.map(({ id }) => id))
  const left = ranked.filter(({ id }) => !known.has(id) && !present.has(id)).slice(0, REFILL)
  const more = await readCandidates(call, left, [], answers)
  return withoutRepetitions([...read, ...more]).slice(0, POOL + others.length)
}

async function readCandidates(
  call: Recall,
  best: readonly Candidate[],
  others: readonly Candidate[],
  { legs, answer }: { readonly legs: Legs; readonly answer: Meaning | null },
): Promise<readonly Loaded[]> {
  const candidates = [...withTrail(best, legs, call.settings), ...others]
  // At once, because each is a trip where the store is a server.
  const [rows, own] = await Promise.all([
    load(call, candidates),
    vectorsOfUncompared(call, candidates, answer),
  ])
  return compared(call, legible(rows, answer), answer, own)
}

/** Of a long turn, so much is looked through for names. */
const NAMED_CHARACTERS_MAX = 20_000

/** Advice takes what is loosely related; else a name tells more than its share of the question's words. */
function easedBy(question: string): (candidate: Loaded) => boolean {
  if (seeksAdvice(question)) return () => true
  const names = namesWithin(question)
  return ({ memory }) => containsAnyName(memory.content.slice(0, NAMED_CHARACTERS_MAX), names)
}

/** Without those that only a model brought here which can't read them. */
function legible(candidates: readonly Loaded[], meaning: Meaning | null): readonly Loaded[] {
  if (meaning === null) return candidates
  return candidates.filter(
    ({ evidence, memory }) =>
      evidence.keyword > 0 || evidence.meaning === 0 || meaning.reads(memory.content),
  )
}

/** A time that there are memories of is looked for as a time; a time like "last week" then no longer by its words. */
function sought(
  leg: KeywordLeg,
  { text, context }: Recall,
  { span }: Asked,
  { isKnown }: FromThatTime,
): KeywordLeg {
  const weighed = context === null ? leg : discountContext(leg, text)
  return span?.isRelative && isKnown ? withoutTimeWords(weighed, text, span) : weighed
}

/** Of the nearest, on the scale of the floors. */
function closenessOf(pool: readonly Loaded[], meaning: Meaning | null): number | null {
  const similarities = pool.flatMap(({ contextSimilarity }) => contextSimilarity ?? [])
  if (meaning === null || similarities.length === 0) return null
  return meaning.closeness(Math.max(...similarities))
}

/** What stands far below the best is not part of the answer, unless it holds the words of the question. */
function withoutTail(candidates: readonly Loaded[], question: string): readonly Loaded[] {
  // The same question, asked before, is nearer than any answer, so neither facts nor other turns are measured by it.
  const folded = foldStatement(question)
  const answers = candidates.filter(({ memory }) => foldStatement(memory.content) !== folded)
  const bestOf = (areTurns: boolean) =>
    Math.max(0, ...answers.map(({ id, score }) => (isTurnId(id) === areTurns ? score : 0)))
  const [fact, turn] = [bestOf(false), bestOf(true)]
  return candidates.filter(({ id, score, coverage }) => {
    const best = isTurnId(id) ? turn : fact
    return score >= best * TAIL_SHARE || coverage >= CERTAIN_COVERAGE
  })
}

async function fused(call: Recall, legs: Legs, told: ReturnType<typeof toldBesides>) {
  const options: FusionOptions = call.settings
  const candidates = gatherEvidence(legs.keyword, legs.meaning, await courseOf(call, legs, told))
  return fuse(candidates, legs, options)
}

/** What stands around the best hits. Without it they are judged by what they say themselves. */
async function courseOf(
  { ports, scope, settings, deadlineMs }: Recall,
  { keyword, meaning }: Legs,
  told: ReturnType<typeof toldBesides>,
): Promise<Course> {
  if (settings.fusion !== 'adaptive') return new Map()
  const ids = firstLook(keyword, meaning)
    .slice(0, COURSE_MEMORIES)
    .map(({ id }) => id)
  const course = new Map(ids.flatMap((id) => namedIf(id, told.get(id))))
  const untold = ids.filter((id) => !told.has(id))
  if (untold.length === 0) return course
  const asked = await withinTime(deadlineMs, () => ports.store.around(scope, untold, COURSE_REACH))
  return asked.kind === 'done' ? new Map([...course, ...asked.result]) : course
}

function namedIf<Value>(id: MemoryId, value: Value | null | undefined) {
  return value == null ? [] : [[id, value] as const]
}

/** The rows of the candidates, as they were at the time in question. What was forgotten since the match is left out. */
async function load(
  { ports, scope, query, where, now }: Recall,
  candidates: readonly Candidate[],
): Promise<readonly Loaded[]> {
  const ids = candidates.map(({ id }) => id)
  const { rows } = await ports.store.findDocuments(scope, {
    where: { ...where, ids },
    limit: ids.length,
  })
  const present = query.asOf === undefined ? rows : await asTheyWere(ports, scope, rows, now)
  const memories = new Map(present.map((memory) => [memory.id, memory]))
  return candidates.flatMap((candidate) => {
    const memory = memories.get(candidate.id)
    return memory === undefined ? [] : [loadedWith(candidate, memory)]
  })
}

/** The vectors of those that only their words have brought here. Null where they can't be had. */
async function vectorsOfUncompared(
  { ports: { vectors }, scope, deadlineMs }: Recall,
  candidates: readonly Candidate[],
  meaning: Meaning | null,
): Promise<ReadonlyMap<MemoryId, Float32Array> | null> {
  const open = candidates.flatMap(({ id, similarity }) => (similarity === null ? [id] : []))
  if (meaning === null || vectors === undefined || open.length === 0) return null
  const told = await withinTime(deadlineMs, () => vectors.vectorsOf(meaning.space, scope, open))
  return told.kind === 'done' ? told.result : null
}

/** Tells how near these are. One that has no vector is noted, so that it gets one, and is judged by its words. */
function compared(
  { indexer }: Recall,
  pool: readonly Loaded[],
  meaning: Meaning | null,
  vectors: ReadonlyMap<MemoryId, Float32Array> | null,
): readonly Loaded[] {
  if (meaning === null || vectors === null) return pool
  const open = pool.filter(({ similarity }) => similarity === null)
  indexer?.missed(
    open.flatMap(({ id, memory }) => (vectors.has(id) ? [] : [memory])),
    meaning.space,
  )
  return pool.map((candidate) => {
    const own = candidate.similarity === null ? vectors.get(candidate.id) : undefined
    if (own === undefined) return candidate
    const similarity = innerProduct(meaning.vector, own)
    const contextSimilarity = Math.max(similarity, candidate.contextSimilarity ?? similarity)
    return revised(candidate, { similarity, contextSimilarity })
  })
}

async function asTheyWere(
  { store }: EnginePorts,
  scope: Scope,
  rows: readonly SearchDocument[],
  at: Instant,
): Promise<readonly SearchDocument[]> {
  const changed = rows.filter(({ updatedAt }) => updatedAt > at).map(({ id }) => id)
  const { rows: past } = await store.find('revision', scope, {
    where: { memories: changed, inForceAt: at },
    limit: PAGE_ROWS_MAX,
  })
  const then = new Map<MemoryId, SearchDocument>(past.map(({ memory }) => [memory.id, memory]))
  return rows
    .flatMap((row) => (row.updatedAt <= at ? [row] : (then.get(row.id) ?? [])))
    .filter((row) => row.status === 'active' && !hasEnded(row, at))
}

/** The best are read again; those the reranker is silent about keep their order behind them. */
async function rerank(
  { ports, guards, settings, text, deadlineMs }: Recall,
  candidates: readonly Loaded[],
): Promise<{ readonly candidates: readonly Loaded[]; readonly report: LegReport }> {
  const { reranker } = ports
  const top = candidates.slice(0, settings.rerankCandidates)
  if (reranker === undefined || reranker.unusable !== undefined || top.length < 2) {
    const because =
      reranker === undefined
        ? 'there is no reranker'
        : (reranker.unusable ?? 'there is nothing to rerank')
    return { candidates, report: reportOf(skipped(because), 0) }
  }
  const texts = top.map(({ memory }) => memory.content)
  const read = await guards.rerank.within(deadlineMs, (signal, { asks }) =>
    asks(() => reranker.rerank(text, texts, signal)),
  )
  if (read.kind === 'failed') return { candidates, report: reportOf(read, 0) }
  const usable = read.result.filter(({ index, score }) => index in top && Number.isFinite(score))
  const judged = new Map(usable.map(({ index, score }) => [index, score]))
  const above = top.flatMap((candidate, index) => {
    const score = judged.get(index)
    return score === undefined ? [] : [stepped(candidate, 'rerank', score, reranker.name)]
  })
  const below = candidates.filter((_, index) => !judged.has(index))
  return {
    candidates: [...above.sort(byScore), ...below],
    report: reportOf(read, judged.size),
  }
}

/** Whatever the question: the newest first. */
async function newest(call: Recall, limit: number): Promise<Found> {
  const present: SearchDocument[] = []
  let after: string | null = null
  do {
    const page: Page<Memory> = await call.ports.store.find('memory', call.scope, {
      where: memoriesOnly(call.where),
      limit,
      order: 'newest',
      ...(after === null ? {} : { after }),
    })
    const { rows } = page
    const { asOf } = call.query
    // Of those that are there now, some may not have held then; the next ones take their place.
    present.push(
      ...(asOf === undefined ? rows : await asTheyWere(call.ports, call.scope, rows, call.now)),
    )
    after = page.next
  } while (present.length < limit && after !== null)
  const report = reportOf(skipped(`the strategy is ${call.settings.strategy}`), 0)
  return {
    candidates: present.map((memory) => ({
      ...unfound(memory.id),
      memory,
      trail: [{ stage: 'recent', score: 0 }],
    })),
    legs: { keyword: report, meaning: report, rerank: report },
    abstained: false,
    closeness: null,
    time: null,
  }
}

function choices({ strategy, fusion, deadlineMs }: RecallQuery) {
  return {
    ...(strategy === undefined ? {} : { strategy }),
    ...(fusion === undefined ? {} : { fusion }),
    ...(deadlineMs === undefined ? {} : { legDeadlineMs: deadlineMs }),
  }
}

/** As far as dates reach. */
const TIME_MS_MAX = 8_640_000_000_000_000

function parseTime(time: Date | number): Instant {
  const ms = time instanceof Date ? time.getTime() : time
  if (Number.isInteger(ms) && Math.abs(ms) <= TIME_MS_MAX) return ms as Instant // just checked
  throw new AppError('invalid_input', 'That is not a time.', { field: 'asOf' })
}

function tokenBudget({ tokensMax, purpose }: RecallQuery, settings: Settings): number | null {
  if (tokensMax !== undefined) {
    if (!Number.isInteger(tokensMax) || tokensMax < 0 || tokensMax > 16_000) {
      throw new AppError('invalid_input', 'tokensMax is a whole number from 0 to 16000.', {
        field: 'tokensMax',
      })
    }
    return tokensMax
  }
  return purpose === 'prompt' ? settings.contextTokensMax : null
}

function toRecalled({ memory, score, coverage, evidence, tokens, trail }: Fitted): Recalled {
  return { memory, score, coverage, evidence, tokens, trail: told(trail) }
}
