/**
 * What is found for a message, once it is decided what kind of memories it needs. A message that names no matter, as
 * "Where did we leave off?", is not looked up by its words: it gets what is newest of the kind.
 */

import { NARRATIVE_KEY } from '../../domain/identity.ts'
import type { MemoryId } from '../../domain/ids.ts'
import { BELIEVED_TRUST_LEVELS, MEMORY_CATEGORIES, type Memory } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { type SearchDocument, turnDocument } from '../../domain/search-document.ts'
import { IDENTITY_HINTS, identityGrade } from '../../learning/identity/identity-grade.ts'
import type { Instant } from '../../lib/time.ts'
import { hasContent } from '../../recall/question/follow-up.ts'
import { timeSpan } from '../../recall/question/time-expressions.ts'
import type { RecallQuery } from '../../recall/recall-query.ts'
import type { Recalled } from '../../recall/recall-result.ts'
import { findSaid } from '../../recall/turn-retriever.ts'
import type { MemoryFilter, Store, TurnFilter } from '../../storage/store.ts'
import { namesMatter } from '../gate/topic-detection.ts'
import type { ReceiptGate } from '../receipts/receipt.ts'
import { pointOf } from './message-focus.ts'
import { planSizes } from './section-sizes.ts'
import { isCalculation, isSmallTalk } from './small-talk.ts'
import type { Message, ReadingParts } from './types.ts'

export type Found = {
  /** Memories and turns, best first. */
  readonly documents: readonly SearchDocument[]
  readonly recalled: readonly Recalled[]
}

export const NOTHING: Found = { documents: [], recalled: [] }

type Looking = Pick<ReadingParts, 'ports' | 'recall'>

const FACTS = MEMORY_CATEGORIES.filter((each) => each !== 'episode' && each !== 'identity')

/** Ranked documents that a block is chosen from: some repeat others, are shown anyway, or are too long. */
const RANKED_MAX = 40

export async function look(
  parts: Looking,
  message: Message,
  section: ReceiptGate['section'],
): Promise<Found> {
  const sizes = planSizes(message.budget)
  const text = pointOf(message.text)
  switch (section) {
    case 'none':
      return NOTHING
    case 'identity':
      return whoTheyAre(parts, message, text, sizes.pinned)
    case 'transcript':
      return lastSaid(parts, message, text, sizes.transcript)
    case 'episode':
      return earlierTalk(parts, message, text, sizes.episodes)
    case 'pinned':
      return recalledFor(parts, message, { text, categories: FACTS }, sizes.pinned)
    case 'all':
      return saysNothing(text, message) ? NOTHING : recalledFor(parts, message, { text }, undefined)
  }
}

/** A message that neither names anything nor goes on from one that does. */
function saysNothing(text: string, message: Message): boolean {
  const { at, settings, looking, context = [] } = message
  const strategy = looking?.strategy ?? settings.strategy
  if (strategy === 'recent' || strategy === 'exact') return false // whatever the question
  const isAlone = context.length === 0 && timeSpan(text, at) === null
  return isSmallTalk(text) || isCalculation(text) || (isAlone && !hasContent(text))
}

/** Whatever is ranked; the block decides how much of it fits. */
async function recalledFor(
  { recall }: Looking,
  { place, limit, legMs, looking, settings, context, degraded }: Message,
  query: RecallQuery,
  sectionMax: number | undefined,
): Promise<Found> {
  const { memories: recalled, legs } = await recall(await place(), {
    include: settings.recallSources,
    ...(context === undefined ? {} : { context }),
    ...looking,
    ...query,
    limit: smaller(limit, sectionMax) ?? RANKED_MAX,
    ...(legMs === undefined ? {} : { deadlineMs: legMs }),
  })
  for (const [leg, { state }] of Object.entries(legs)) if (state === 'failed') degraded.add(leg)
  return ofRecalled(recalled)
}

function ofRecalled(recalled: readonly Recalled[]): Found {
  return { recalled, documents: recalled.map(({ memory }) => memory) }
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/** Told as a whole; until somebody has told it, the facts that say it, what was asked for first. */
async function whoTheyAre(
  parts: Looking,
  message: Message,
  text: string,
  sectionMax: number,
): Promise<Found> {
  const narrative = await narrativeOf(parts, message)
  if (narrative.length > 0) return { ...NOTHING, documents: narrative }
  const asked = namesMatter(text)
    ? await recalledFor(parts, message, { text, categories: FACTS }, sectionMax)
    : NOTHING
  const ids = await identityFacts(parts, message)
  // By their ids and not by words: they are known to be what is asked for.
  const told =
    ids.length === 0
      ? NOTHING
      : await recalledFor(parts, message, { text, ids, strategy: 'recent' }, sectionMax)
  const known = new Set(asked.documents.map(({ id }) => id))
  const others = told.recalled.filter(({ memory }) => !known.has(memory.id)).sort(byGrade)
  const most = smaller(message.limit, sectionMax) ?? sectionMax
  return ofRecalled([...asked.recalled, ...others].slice(0, most))
}

function byGrade({ memory: a }: Recalled, { memory: b }: Recalled): number {
  return (identityGrade(a.content) ?? 0) - (identityGrade(b.content) ?? 0)
}

/** What is told about a person as a whole. */
async function narrativeOf({ ports }: Looking, { home, at }: Message): Promise<readonly Memory[]> {
  const where = { ...inUse(at), key: NARRATIVE_KEY }
  return (await ports.store.find('memory', home, { where, limit: 1 })).rows
}

function inUse(at: Instant): MemoryFilter {
  return { statuses: ['active'], trusts: BELIEVED_TRUST_LEVELS, unendedAt: at }
}

/** Of each kind so many are looked at, and of those that matter most. */
const HINTED_MAX = 20
const IMPORTANT_MAX = 100
const IMPORTANCE_MIN = 7

/** As many as a block can hold. */
const FACTS_MAX = 15

/** Facts that say who the person is: found by words that such statements are made of, or because they matter. */
async function identityFacts(
  { ports: { store } }: Looking,
  { place, at }: Message,
): Promise<readonly MemoryId[]> {
  const scope = await place()
  const where = { ...inUse(at), categories: FACTS }
  const hinted = await Promise.all(
    IDENTITY_HINTS.map((text) => store.matchText(scope, { text, limit: HINTED_MAX, where })),
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
      const grade = identityGrade(content)
      return grade === null ? [] : [{ id, grade }]
    })
    .sort((a, b) => a.grade - b.grade || (a.id < b.id ? 1 : -1))
    .slice(0, FACTS_MAX)
    .map(({ id }) => id)
}

/** Episodes that are looked at for the newest ones: they may have been taken in long after they were. */
const EPISODES_LOOKED_AT = 25

async function earlierTalk(
  parts: Looking,
  message: Message,
  text: string,
  sectionMax: number,
): Promise<Found> {
  const query = { text, categories: ['episode'] } as const
  const isNamed = namesMatter(text)
  if (isNamed || timeSpan(text, message.at) !== null) {
    const found = await recalledFor(parts, message, query, sectionMax)
    // A conversation that nobody has distilled has no episode; what was said in it is there.
    const said = await recalledFor(parts, message, { text }, undefined)
    if (isNamed || found.documents.length > 0) return together(found, said)
  }
  const { rows } = await parts.ports.store.find('memory', await message.place(), {
    where: { ...inUse(message.at), categories: ['episode'] },
    limit: EPISODES_LOOKED_AT,
  })
  const most = smaller(message.limit, sectionMax) ?? sectionMax
  const ids = rows
    .toSorted(lastFirst)
    .slice(0, most)
    .map(({ id }) => id)
  if (ids.length === 0) return lastSaid(parts, message, text, planSizes(message.budget).transcript)
  const { recalled } = await recalledFor(
    parts,
    message,
    { ...query, ids, strategy: 'recent' },
    sectionMax,
  )
  return ofRecalled(recalled.toSorted((a, b) => lastFirst(a.memory, b.memory)))
}

function together(first: Found, second: Found): Found {
  const known = new Set(first.documents.map(({ id }) => id))
  const others = second.recalled.filter(({ memory }) => !known.has(memory.id))
  return ofRecalled([...first.recalled, ...others])
}

type Dated = Pick<SearchDocument, 'id' | 'validFrom' | 'createdAt'>

function lastFirst(a: Dated, b: Dated): number {
  return (b.validFrom ?? b.createdAt) - (a.validFrom ?? a.createdAt) || (a.id < b.id ? 1 : -1)
}

const QUOTED_DAYS = 365
const DAY_MS = 86_400_000

/** Some are left out, and others take their place. */
const QUOTES_PER_PLACE = 4

/** Turns by their words or, where the message names no matter, the last ones. */
async function lastSaid(
  parts: Looking,
  message: Message,
  text: string,
  sectionMax: number,
): Promise<Found> {
  const { place, at, limit, shown } = message
  const most = smaller(limit, sectionMax) ?? sectionMax
  const saidFrom = (at - QUOTED_DAYS * DAY_MS) as Instant // whole milliseconds
  const query = { limit: QUOTES_PER_PLACE * most + (shown?.size ?? 0), scope: await place() }
  const { store } = parts.ports
  const turns = namesMatter(text)
    ? await wordsSaid(store, { ...query, text, saidFrom })
    : await lastWords(store, { ...query, saidFrom })
  const unseen = turns.filter(({ content }) => shown?.has(content.trim()) !== true)
  return { ...NOTHING, documents: unseen.slice(0, most) }
}

type QuoteQuery = { readonly scope: Scope; readonly limit: number; readonly saidFrom: Instant }

/** Whoever asks for somebody's words wants them however far they are from the question. */
async function wordsSaid(
  store: Store,
  { scope, text, limit, saidFrom }: QuoteQuery & { readonly text: string },
): Promise<readonly SearchDocument[]> {
  const where = { createdFrom: saidFrom, statuses: ['active'], trusts: SPOKEN } as const
  return (await findSaid(store, scope, { text, limit, where })).map(({ turn }) =>
    turnDocument(turn),
  )
}

/** What the person and the assistant said; what tools returned is nobody's word. */
const SPOKEN = ['user', 'assistant'] as const

async function lastWords(
  store: Store,
  { scope, limit, saidFrom }: QuoteQuery,
): Promise<readonly SearchDocument[]> {
  const where: TurnFilter = { saidFrom, roles: SPOKEN, disabled: false }
  const { rows } = await store.find('turn', scope, { where, order: 'lastSaid', limit })
  return rows.map(turnDocument)
}
