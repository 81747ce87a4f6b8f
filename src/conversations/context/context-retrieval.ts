/**
 * What is found for a message, once it is decided what kind of memories it needs. A message that names no matter, as
 * "Where did we leave off?", is not looked up by its words: it gets what is newest of the kind.
 */

import type { MemoryId } from '../../domain/ids.ts'
import {
  MEMORY_CATEGORIES,
  type Memory,
  NARRATIVE_KEY,
  TRUSTED_LEVELS,
} from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { type SearchDocument, toTurnDocument } from '../../domain/search-document.ts'
import { gradeIdentity, IDENTITY_HINTS } from '../../learning/identity/identity-grade.ts'
import { addMs, DAY_MS, type Instant } from '../../lib/time.ts'
import { hasContentWord } from '../../recall/question/follow-up.ts'
import { parseTimeSpan } from '../../recall/question/time-expressions.ts'
import type { RecallQuery } from '../../recall/recall-query.ts'
import type { RecalledMemory } from '../../recall/recall-result.ts'
import { retrieveTurns } from '../../recall/turn-retriever.ts'
import type { MemoryFilter, Store, TurnFilter } from '../../storage/store.ts'
import { hasTopic } from '../gate/topic-detection.ts'
import type { ReceiptGate } from '../receipts/receipt.ts'
import { extractFocus } from './message-focus.ts'
import { computeSectionSizes } from './section-sizes.ts'
import { isCalculation, isSmallTalk } from './small-talk.ts'
import type { ContextBuilderDependencies, ContextRequest } from './types.ts'

export type ContextDocuments = {
  /** Memories and turns, best first. */
  readonly documents: readonly SearchDocument[]
  readonly recalled: readonly RecalledMemory[]
}

export const NO_DOCUMENTS: ContextDocuments = { documents: [], recalled: [] }

type RetrievalDependencies = Pick<ContextBuilderDependencies, 'ports' | 'recall'>

const FACTS = MEMORY_CATEGORIES.filter((each) => each !== 'episode' && each !== 'identity')

/** Ranked documents that a block is chosen from: some repeat others, are shown anyway, or are too long. */
const RANKED_MAX = 40

export async function retrieveContext(
  parts: RetrievalDependencies,
  message: ContextRequest,
  section: ReceiptGate['section'],
): Promise<ContextDocuments> {
  const sizes = computeSectionSizes(message.budget)
  const text = extractFocus(message.text)
  switch (section) {
    case 'none':
      return NO_DOCUMENTS
    case 'identity':
      return loadIdentity(parts, message, text, sizes.pinned)
    case 'transcript':
      return retrieveQuotedTurns(parts, message, text, sizes.transcript)
    case 'episode':
      return retrieveEarlierTurns(parts, message, text, sizes.episodes)
    case 'pinned':
      return recallDocuments(parts, message, { text, categories: FACTS }, sizes.pinned)
    case 'all':
      return hasNoQuestion(text, message)
        ? NO_DOCUMENTS
        : recallDocuments(parts, message, { text }, undefined)
  }
}

/** A message that neither names anything nor goes on from one that does. */
function hasNoQuestion(text: string, message: ContextRequest): boolean {
  const { at, settings, recallOptions: looking, context = [] } = message
  const strategy = looking?.strategy ?? settings['recall.strategy']
  if (strategy === 'recent' || strategy === 'exact') return false // whatever the question
  const isAlone = context.length === 0 && parseTimeSpan(text, at) === null
  return isSmallTalk(text) || isCalculation(text) || (isAlone && !hasContentWord(text))
}

/** Whatever is ranked; the block decides how much of it fits. */
async function recallDocuments(
  { recall }: RetrievalDependencies,
  {
    place,
    limit,
    retrieverTimeoutMs: legMs,
    recallOptions: looking,
    settings,
    context,
    degraded,
  }: ContextRequest,
  query: RecallQuery,
  sectionMax: number | undefined,
): Promise<ContextDocuments> {
  const { memories: recalled, retrievers: legs } = await recall(await place(), {
    include: settings['gateway.contextSources'],
    ...(context === undefined ? {} : { context }),
    ...looking,
    ...query,
    limit: minLimit(limit, sectionMax) ?? RANKED_MAX,
    ...(legMs === undefined ? {} : { timeoutMs: legMs }),
  })
  for (const [leg, { state }] of Object.entries(legs)) if (state === 'failed') degraded.add(leg)
  return toContextDocuments(recalled)
}

function toContextDocuments(recalled: readonly RecalledMemory[]): ContextDocuments {
  return { recalled, documents: recalled.map(({ memory }) => memory) }
}

function minLimit(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/** Told as a whole; until somebody has told it, the facts that say it, what was asked for first. */
async function loadIdentity(
  parts: RetrievalDependencies,
  message: ContextRequest,
  text: string,
  sectionMax: number,
): Promise<ContextDocuments> {
  const narrative = await loadNarrative(parts, message)
  if (narrative.length > 0) return { ...NO_DOCUMENTS, documents: narrative }
  const asked = hasTopic(text)
    ? await recallDocuments(parts, message, { text, categories: FACTS }, sectionMax)
    : NO_DOCUMENTS
  const ids = await loadIdentityFacts(parts, message)
  // By their ids and not by words: they are known to be what is asked for.
  const told =
    ids.length === 0
      ? NO_DOCUMENTS
      : await recallDocuments(parts, message, { text, ids, strategy: 'recent' }, sectionMax)
  const known = new Set(asked.documents.map(({ id }) => id))
  const others = told.recalled.filter(({ memory }) => !known.has(memory.id)).sort(compareByGrade)
  const most = minLimit(message.limit, sectionMax) ?? sectionMax
  return toContextDocuments([...asked.recalled, ...others].slice(0, most))
}

function compareByGrade({ memory: a }: RecalledMemory, { memory: b }: RecalledMemory): number {
  return (gradeIdentity(a.content) ?? 0) - (gradeIdentity(b.content) ?? 0)
}

/** What is told about a person as a whole. */
async function loadNarrative(
  { ports }: RetrievalDependencies,
  { home, at }: ContextRequest,
): Promise<readonly Memory[]> {
  const where = { ...buildActiveFilter(at), key: NARRATIVE_KEY }
  return (await ports.store.find('memory', home, { where, limit: 1 })).rows
}

function buildActiveFilter(at: Instant): MemoryFilter {
  return { statuses: ['active'], trusts: TRUSTED_LEVELS, validAt: at }
}

/** Of each kind so many are looked at, and of those that matter most. */
const HINTED_MAX = 20
const IMPORTANT_MAX = 100
const IMPORTANCE_MIN = 7

/** As many as a block can hold. */
const FACTS_MAX = 15

/** Facts that say who the person is: found by words that such statements are made of, or because they matter. */
async function loadIdentityFacts(
  { ports: { store } }: RetrievalDependencies,
  { place, at }: ContextRequest,
): Promise<readonly MemoryId[]> {
  const scope = await place()
  const where = { ...buildActiveFilter(at), categories: FACTS }
  const hinted = await Promise.all(
    IDENTITY_HINTS.map((text) => store.searchText(scope, { text, limit: HINTED_MAX, where })),
  )
  const ids = [...new Set(hinted.flatMap(({ hits }) => hits.map(({ id }) => id)))]
  const [named, important] = await Promise.all([
    ids.length === 0
      ? { rows: [] }
      : store.find('memory', scope, { where: { ...where, ids }, limit: ids.length }),
    store.find('memory', scope, {
      where: { ...where, importanceMin: IMPORTANCE_MIN },
      limit: IMPORTANT_MAX,
    }),
  ])
  const found = new Map([...named.rows, ...important.rows].map((row) => [row.id, row]))
  return [...found.values()]
    .flatMap(({ id, content }) => {
      const grade = gradeIdentity(content)
      return grade === null ? [] : [{ id, grade }]
    })
    .sort((a, b) => a.grade - b.grade || (a.id < b.id ? 1 : -1))
    .slice(0, FACTS_MAX)
    .map(({ id }) => id)
}

/** Episodes that are looked at for the newest ones: they may have been taken in long after they were. */
const EPISODES_LOOKED_AT = 25

async function retrieveEarlierTurns(
  parts: RetrievalDependencies,
  message: ContextRequest,
  text: string,
  sectionMax: number,
): Promise<ContextDocuments> {
  const query = { text, categories: ['episode'] } as const
  const isNamed = hasTopic(text)
  if (isNamed || parseTimeSpan(text, message.at) !== null) {
    const found = await recallDocuments(parts, message, query, sectionMax)
    // A conversation that nobody has distilled has no episode; what was said in it is there.
    const said = await recallDocuments(parts, message, { text }, undefined)
    if (isNamed || found.documents.length > 0) return mergeDocuments(found, said)
  }
  const { rows } = await parts.ports.store.find('memory', await message.place(), {
    where: { ...buildActiveFilter(message.at), categories: ['episode'] },
    limit: EPISODES_LOOKED_AT,
  })
  const most = minLimit(message.limit, sectionMax) ?? sectionMax
  const ids = rows
    .toSorted(compareNewestFirst)
    .slice(0, most)
    .map(({ id }) => id)
  if (ids.length === 0)
    return retrieveQuotedTurns(parts, message, text, computeSectionSizes(message.budget).transcript)
  const { recalled } = await recallDocuments(
    parts,
    message,
    { ...query, ids, strategy: 'recent' },
    sectionMax,
  )
  return toContextDocuments(recalled.toSorted((a, b) => compareNewestFirst(a.memory, b.memory)))
}

function mergeDocuments(first: ContextDocuments, second: ContextDocuments): ContextDocuments {
  const known = new Set(first.documents.map(({ id }) => id))
  const others = second.recalled.filter(({ memory }) => !known.has(memory.id))
  return toContextDocuments([...first.recalled, ...others])
}

type DatedDocument = Pick<SearchDocument, 'id' | 'validFrom' | 'createdAt'>

function compareNewestFirst(a: DatedDocument, b: DatedDocument): number {
  return (b.validFrom ?? b.createdAt) - (a.validFrom ?? a.createdAt) || (a.id < b.id ? 1 : -1)
}

const QUOTED_DAYS = 365

/** Some are left out, and others take their place. */
const QUOTES_PER_PLACE = 4

/** Turns by their words or, where the message names no matter, the last ones. */
async function retrieveQuotedTurns(
  parts: RetrievalDependencies,
  message: ContextRequest,
  text: string,
  sectionMax: number,
): Promise<ContextDocuments> {
  const { place, at, limit, shown } = message
  const most = minLimit(limit, sectionMax) ?? sectionMax
  const saidFrom = addMs(at, -QUOTED_DAYS * DAY_MS)
  const query = { limit: QUOTES_PER_PLACE * most + (shown?.size ?? 0), scope: await place() }
  const { store } = parts.ports
  const turns = hasTopic(text)
    ? await searchTurnsByText(store, { ...query, text, saidFrom })
    : await loadLastTurns(store, { ...query, saidFrom })
  const unseen = turns.filter(({ content }) => shown?.has(content.trim()) !== true)
  return { ...NO_DOCUMENTS, documents: unseen.slice(0, most) }
}

type TurnQuoteQuery = { readonly scope: Scope; readonly limit: number; readonly saidFrom: Instant }

/** Whoever asks for somebody's words wants them however far they are from the question. */
async function searchTurnsByText(
  store: Store,
  { scope, text, limit, saidFrom }: TurnQuoteQuery & { readonly text: string },
): Promise<readonly SearchDocument[]> {
  const where = { createdFrom: saidFrom, statuses: ['active'], trusts: SPOKEN } as const
  return (await retrieveTurns(store, scope, { text, limit, where })).map(({ turn }) =>
    toTurnDocument(turn),
  )
}

/** What the person and the assistant said; what tools returned is nobody's word. */
const SPOKEN = ['user', 'assistant'] as const

async function loadLastTurns(
  store: Store,
  { scope, limit, saidFrom }: TurnQuoteQuery,
): Promise<readonly SearchDocument[]> {
  const where: TurnFilter = { saidFrom, roles: SPOKEN, disabled: false }
  const { rows } = await store.find('turn', scope, { where, order: 'lastSaid', limit })
  return rows.map(toTurnDocument)
}
