/**
 * Context for one message: what a model receives from memory. The gateway, the prompt hooks and the preview share it.
 *
 *   gate      which kind of memories the message needs (`gateway.gateMode`)
 *   plan      how to retrieve that kind
 *   retrieve  recall, or a lookup of the newest
 *   compose   the candidates that fit into the token budget, after identity and standing instructions, which are in every
 *             block
 */

import { getMemoryIds } from '../../domain/context-block.ts'
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import {
  MEMORY_CATEGORIES,
  MEMORY_TYPES,
  type Memory,
  NARRATIVE_KEY,
  TRUSTED_LEVELS,
} from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import {
  type DocumentType,
  getTurnRole,
  isTurnDocument,
  type SearchDocument,
  toTurnDocument,
} from '../../domain/search-document.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import { gradeIdentity, IDENTITY_HINTS } from '../../learning/identity/identity-grade.ts'
import { Semaphore } from '../../lib/semaphore.ts'
import { addMs, DAY_MS, type Instant } from '../../lib/time.ts'
import { withTimeout } from '../../lib/timeout.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { LanguageModel } from '../../models/language-model.ts'
import { hasContentWord } from '../../recall/question/follow-up.ts'
import {
  isImpersonalTask,
  isPersonal,
  isSafetyFact,
  needsSafetyFacts,
  SAFETY_HINTS,
} from '../../recall/question/message-subject.ts'
import { parseTimeSpan } from '../../recall/question/time-expressions.ts'
import type { RecallQuery } from '../../recall/recall-query.ts'
import type { RecalledMemory, RecallResult } from '../../recall/recall-result.ts'
import { retrieveTurns } from '../../recall/turn-retriever.ts'
import type { Change, MemoryFilter, Store, TurnFilter } from '../../storage/store.ts'
import type { CountTokens } from '../../text/tokens.ts'
import type { FailureListener, FailureStage } from '../failures.ts'
import { GateRunner } from '../gate/gate-runner.ts'
import { hasTopic } from '../gate/topic-detection.ts'
import type { ReceiptGate } from '../receipts/receipt.ts'
import { type ContextBlock, composeBlock } from './block-composer.ts'
import {
  collectKnownNames,
  createEpisodeCache,
  createIdentityCache,
  createInstructionCache,
  createRelationshipCache,
  selectIdentityMemories,
} from './identity-section.ts'
import { LineCache } from './line-cache.ts'
import { extractFocus } from './message-focus.ts'
import { isCalculation, isSmallTalk } from './small-talk.ts'
import type { UserScope } from './user-cache.ts'

export type ContextRequest = {
  /** The author of the message. Without a user, memories of the owner's users are out of scope. */
  readonly userScope: UserScope
  /** The scope to search: the user or a session. Resolved only when something is retrieved. */
  readonly resolveScope: () => Promise<Scope>
  readonly text: string
  /** Messages that the model reads anyway, so that the block does not quote them. */
  readonly shownMessages?: ReadonlySet<string>
  /** Earlier user messages of the session, newest first, for follow-up questions. */
  readonly previousMessages?: readonly string[]
  readonly at: Instant
  readonly settings: Settings
  /** For the whole block. */
  readonly tokensMax: number
  readonly countTokens: CountTokens
  /** At most so many documents besides the identity section. */
  readonly limit?: number
  readonly retrieverTimeoutMs?: number
  /** Overrides settings of recall. Uses are not counted for the purpose `search`. */
  readonly recallOptions?: Pick<RecallQuery, 'strategy' | 'fusion' | 'purpose'>
  readonly getRemainingMs: () => number
  readonly signal: AbortSignal
  /** Receives the parts that failed, as soon as they fail. */
  readonly degraded: Set<string>
  readonly requestId?: string
}

export type ContextResult = {
  readonly gate: ReceiptGate
  /** The block, or why there is none. */
  readonly block: ContextBlock | 'not-needed' | 'no-relevant-memories' | 'no-budget'
  /** All recalled memories, including those that did not fit. */
  readonly recalled: readonly RecalledMemory[]
}

export interface ContextBuilder {
  buildContext(request: ContextRequest): Promise<ContextResult>
  /** Must receive every commit. */
  onCommit(changes: readonly Change[]): void
  /** Discards cached memories of owners that another process has changed. */
  invalidate(owners: readonly OwnerId[] | 'any'): void
  /** Discards all cached text of memories. */
  purgeCaches(): void
  close(): Promise<void>
}

export type ContextBuilderDependencies = {
  readonly ports: MemoryDependencies
  readonly recall: (scope: Scope, query: RecallQuery) => Promise<RecallResult>
  /** The model of an owner, charged to its budget; null when there is none. */
  readonly modelFor: (owner: OwnerId) => LanguageModel | null
  readonly countUse: (scope: Scope, ids: readonly MemoryId[]) => void
  readonly onFailure?: FailureListener
}

/** Retrievals that run at the same time, over all requests. */
const RETRIEVALS_MAX = 4

/** A retrieval that takes longer is considered hung, and gives its slot to others. */
const RETRIEVAL_MS_MAX = 10_000

/** The share of the remaining time that a gate model may use, so that enough is left for recall. */
const GATE_MODEL_SHARE = 0.5

const NO_MESSAGES: ReadonlySet<string> = new Set()

export function createContextBuilder(dependencies: ContextBuilderDependencies): ContextBuilder {
  const { ports, modelFor, onFailure } = dependencies
  const identityCache = createIdentityCache(ports)
  const instructionCache = createInstructionCache(ports)
  const episodeCache = createEpisodeCache(ports)
  const lineCache = new LineCache()
  const relationshipCache = createRelationshipCache(ports)
  const gateRunner = new GateRunner({ clock: ports.clock, modelFor })
  // The newest request goes first, and requests that have timed out are dropped: under overload, work for requests that
  // nobody waits for would otherwise pile up.
  const slots = new Semaphore(RETRIEVALS_MAX, 'lifo')

  const report = ({ userScope, requestId }: ContextRequest, stage: FailureStage, error: unknown) =>
    onFailure?.({ stage, owner: userScope.owner, requestId: requestId ?? null, error })

  const loadIdentity = async (request: ContextRequest): Promise<readonly Memory[]> => {
    try {
      return selectIdentityMemories(await identityCache.load(request.userScope), request.at)
    } catch (error) {
      request.degraded.add('identity')
      report(request, 'identity', error)
      return []
    }
  }

  const loadInstructions = async (request: ContextRequest): Promise<readonly Memory[]> => {
    try {
      return selectIdentityMemories(await instructionCache.load(request.userScope), request.at)
    } catch (error) {
      request.degraded.add('instructions')
      report(request, 'identity', error)
      return []
    }
  }

  const decideGate = (request: ContextRequest, identity: readonly Memory[]) =>
    gateRunner.decide({
      owner: request.userScope.owner,
      message: request.text,
      settings: request.settings,
      loadKnownNames: async () => {
        // Known names improve the decision; without those of other memories it is still possible.
        const others = await Promise.all(
          [episodeCache, relationshipCache].map((cache) =>
            cache.load(request.userScope).catch((error: unknown) => {
              report(request, 'gate', error)
              return []
            }),
          ),
        )
        return collectKnownNames(others.flat(), identity)
      },
      getModelTimeoutMs: () => Math.max(1, Math.floor(request.getRemainingMs() * GATE_MODEL_SHARE)),
      signal: request.signal,
      onFailure: (error) => report(request, 'gate', error),
    })

  /** If retrieval fails, a block with the identity section is still useful; without one, the failure is final. */
  const retrieve = async (
    request: ContextRequest,
    identity: readonly Memory[],
    plan: RetrievalPlan,
  ): Promise<Candidates> => {
    try {
      return await slots.run(request.signal, async () => {
        const retrieval = await withTimeout(RETRIEVAL_MS_MAX, () =>
          retrieveCandidates(dependencies, request, plan),
        )
        if (retrieval.kind === 'failed') throw retrieval.error
        return retrieval.result
      })
    } catch (error) {
      if (identity.length === 0 || request.signal.aborted) throw error
      request.degraded.add('recall')
      report(request, 'recall', error)
      return NO_CANDIDATES
    }
  }

  return {
    buildContext: async (request) => {
      const { userScope, previousMessages = [], limit, settings } = request
      const [identity, instructions] = await Promise.all([
        loadIdentity(request),
        loadInstructions(request),
      ])
      const gate = await decideGate(request, identity)
      const plan = planRetrieval(request, gate.section)
      const candidates = await retrieve(request, identity, plan)
      const block = composeBlock(
        {
          today: request.at,
          identity: [...identity, ...instructions],
          documents: candidates.documents,
          question: [extractFocus(request.text), ...previousMessages].join('\n'),
          shownMessages: request.shownMessages ?? NO_MESSAGES,
          excerptCharacters: settings['gateway.excerptCharactersMax'],
          lineCache,
          ...(limit === undefined ? {} : { limit }),
        },
        request.tokensMax,
        request.countTokens,
      )
      if (typeof block !== 'string' && request.recallOptions?.purpose !== 'search') {
        countUses(dependencies, userScope, block)
      }
      return { gate, recalled: candidates.recalled, block: toBlockOrReason(block, gate) }
    },
    onCommit: (changes) => {
      identityCache.onCommit(changes)
      instructionCache.onCommit(changes)
      episodeCache.onCommit(changes)
      lineCache.onCommit(changes)
      relationshipCache.onCommit(changes)
    },
    invalidate: (owners) => {
      identityCache.forget(owners)
      instructionCache.forget(owners)
      episodeCache.forget(owners)
      lineCache.clear()
      relationshipCache.forget(owners)
    },
    purgeCaches: () => {
      identityCache.clear()
      instructionCache.clear()
      episodeCache.clear()
      lineCache.clear()
      relationshipCache.clear()
    },
    close: () => gateRunner.close(),
  }
}

function toBlockOrReason(
  block: ReturnType<typeof composeBlock>,
  { section }: ReceiptGate,
): ContextResult['block'] {
  if (block === 'no-room') return 'no-budget'
  if (block !== 'nothing') return block
  return section === 'none' ? 'not-needed' : 'no-relevant-memories'
}

/** Counts uses of memories by owner, because some may belong to shared memory. The identity section is not counted. */
function countUses(
  { countUse }: ContextBuilderDependencies,
  { owner, user }: UserScope,
  { content, identity }: ContextBlock,
): void {
  const lines = content.lines.filter(({ document }) => !identity.includes(document))
  for (const each of new Set(lines.map(({ document }) => document.place.owner))) {
    const ids = getMemoryIds({
      lines: lines.filter(({ document }) => document.place.owner === each),
    })
    if (ids.length > 0) countUse(each === owner ? { owner, user } : { owner: each }, ids)
  }
}

type RetrievalPlan =
  | { readonly kind: 'none' }
  | { readonly kind: 'memories'; readonly query: RecallQuery; readonly limit?: number }
  | {
      readonly kind: 'identity' | 'episodes' | 'turns'
      readonly text: string
      readonly limit: number
    }

const FACT_CATEGORIES = MEMORY_CATEGORIES.filter(
  (each) => each !== 'episode' && each !== 'identity',
)

function planRetrieval(request: ContextRequest, section: ReceiptGate['section']): RetrievalPlan {
  const sizes = computeSectionSizes(request.tokensMax)
  const text = extractFocus(request.text)
  switch (section) {
    case 'none':
      return { kind: 'none' }
    case 'identity':
      return { kind: 'identity', text, limit: sizes.pinned }
    case 'transcript':
      return { kind: 'turns', text, limit: sizes.transcript }
    case 'episode':
      return { kind: 'episodes', text, limit: sizes.episodes }
    case 'pinned':
      return { kind: 'memories', query: { text, categories: FACT_CATEGORIES }, limit: sizes.pinned }
    case 'all':
      return needsNoRecall(text, request) ? { kind: 'none' } : { kind: 'memories', query: { text } }
  }
}

/** Whether a message names nothing and is no follow-up to a message that does. */
function needsNoRecall(text: string, request: ContextRequest): boolean {
  const { at, settings, recallOptions, previousMessages = [] } = request
  const strategy = recallOptions?.strategy ?? settings['recall.strategy']
  if (strategy === 'recent' || strategy === 'exact') return false // independent of the question
  const isSelfContained = previousMessages.length === 0 && parseTimeSpan(text, at) === null
  if (isImpersonalTask(text)) return true
  return isSmallTalk(text) || isCalculation(text) || (isSelfContained && !hasContentWord(text))
}

type SectionSizes = {
  readonly pinned: number
  readonly episodes: number
  readonly transcript: number
}

/** The typical size of an item, and the fewest and most items that are useful whatever the budget is. */
const SECTION_ITEMS: Readonly<
  Record<
    keyof SectionSizes,
    { readonly tokensEach: number; readonly min: number; readonly max: number }
  >
> = {
  pinned: { tokensEach: 60, min: 3, max: 15 },
  episodes: { tokensEach: 120, min: 2, max: 8 },
  transcript: { tokensEach: 200, min: 2, max: 6 },
}

/** How many candidates of each section to retrieve for a token budget. */
export function computeSectionSizes(tokensMax: number): SectionSizes {
  const sizeOf = (section: keyof SectionSizes) => {
    const { tokensEach, min, max } = SECTION_ITEMS[section]
    const affordable = Math.floor(tokensMax / tokensEach)
    return Number.isNaN(affordable) ? min : Math.min(max, Math.max(min, affordable))
  }
  return {
    pinned: sizeOf('pinned'),
    episodes: sizeOf('episodes'),
    transcript: sizeOf('transcript'),
  }
}

type Candidates = {
  /** Memories and turns, best first. */
  readonly documents: readonly SearchDocument[]
  readonly recalled: readonly RecalledMemory[]
}

const NO_CANDIDATES: Candidates = { documents: [], recalled: [] }

type RetrievalDependencies = Pick<ContextBuilderDependencies, 'ports' | 'recall'>

/** Ranked documents to select from: some repeat others, are shown anyway, or are too long. */
const RANKED_MAX = 40

async function retrieveCandidates(
  dependencies: RetrievalDependencies,
  request: ContextRequest,
  plan: RetrievalPlan,
): Promise<Candidates> {
  const [planned, safety] = await Promise.all([
    retrievePlanned(dependencies, request, plan),
    retrieveSafetyFacts(dependencies, request),
  ])
  const known = new Set(planned.documents.map(({ id }) => id))
  const added = safety.filter(({ id }) => !known.has(id))
  // First, so that they are in the block even when the budget is small.
  return { ...planned, documents: [...added, ...planned.documents] }
}

const SAFETY_FACTS_MAX = 5
const SAFETY_TYPES: readonly DocumentType[] = [...MEMORY_TYPES, 'turn']

/** Longer turns are about more than a fact. */
const SAFETY_TURN_CHARACTERS_MAX = 300

/**
 * Allergies, diets and the like, also of relatives, for a message about food, medicine, gifts, travel or events: facts, and
 * what the user said where no fact was learned from it.
 */
async function retrieveSafetyFacts(
  { ports: { store } }: RetrievalDependencies,
  { text, at, resolveScope, settings, shownMessages = NO_MESSAGES }: ContextRequest,
): Promise<readonly SearchDocument[]> {
  if (!needsSafetyFacts(extractFocus(text))) return []
  const scope = await resolveScope()
  const types = settings['gateway.contextSources'] === 'facts' ? {} : { types: SAFETY_TYPES }
  const where = { ...buildActiveFilter(at), ...types }
  const found = await Promise.all(
    SAFETY_HINTS.map((hint) => store.searchText(scope, { text: hint, limit: HINTED_MAX, where })),
  )
  const ids = [...new Set(found.flatMap(({ hits }) => hits.map(({ id }) => id)))]
  if (ids.length === 0) return []
  const { rows } = await store.findDocuments(scope, { where: { ...where, ids }, limit: ids.length })
  return rows
    .filter((document) => isSafetyFact(document.content) && isOwnStatement(document))
    .filter(({ content }) => !shownMessages.has(content.trim()))
    .toSorted((a, b) => b.importance - a.importance || (a.id < b.id ? 1 : -1))
    .slice(0, SAFETY_FACTS_MAX)
}

/** A fact, or a short statement of the user about themself. */
function isOwnStatement(document: SearchDocument): boolean {
  if (!isTurnDocument(document)) return true
  const { content } = document
  if (getTurnRole(document) !== 'user' || content.length > SAFETY_TURN_CHARACTERS_MAX) return false
  if (/[?？]\s*$/u.test(content)) return false
  return isPersonal(content) || OF_SOMEBODY_NAMED_BEFORE.test(content)
}

/** "She's allergic to penicillin." */
const OF_SOMEBODY_NAMED_BEFORE =
  /^\W*(?:(?:and|also|but|oh|btw)[ ,]+)*(?:she|he|they|sie|er|ella|él|elle|il|ela|ele)(?![\p{L}\p{N}])/iu

async function retrievePlanned(
  dependencies: RetrievalDependencies,
  request: ContextRequest,
  plan: RetrievalPlan,
): Promise<Candidates> {
  switch (plan.kind) {
    case 'none':
      return NO_CANDIDATES
    case 'memories':
      return recallCandidates(dependencies, request, plan.query, plan.limit)
    case 'identity':
      return retrieveIdentity(dependencies, request, plan.text, plan.limit)
    case 'episodes':
      return retrieveEpisodes(dependencies, request, plan.text, plan.limit)
    case 'turns':
      return retrieveQuotedTurns(dependencies, request, plan.text, plan.limit)
  }
}

async function recallCandidates(
  { recall }: RetrievalDependencies,
  request: ContextRequest,
  query: RecallQuery,
  sectionMax?: number,
): Promise<Candidates> {
  const { settings, previousMessages, recallOptions, retrieverTimeoutMs } = request
  const { memories, retrievers } = await recall(await request.resolveScope(), {
    include: settings['gateway.contextSources'],
    ...(previousMessages === undefined ? {} : { context: previousMessages }),
    ...recallOptions,
    isPersonal: isPersonal(request.text),
    ...query,
    limit: limitTo(request, sectionMax),
    ...(retrieverTimeoutMs === undefined ? {} : { timeoutMs: retrieverTimeoutMs }),
  })
  for (const [retriever, { state }] of Object.entries(retrievers)) {
    if (state === 'failed') request.degraded.add(retriever)
  }
  return toCandidates(memories)
}

function toCandidates(recalled: readonly RecalledMemory[]): Candidates {
  return { recalled, documents: recalled.map(({ memory }) => memory) }
}

function limitTo({ limit }: ContextRequest, sectionMax?: number): number {
  if (sectionMax === undefined) return limit ?? RANKED_MAX
  return Math.min(limit ?? sectionMax, sectionMax)
}

/** The identity narrative; until there is one, facts about the person, those that match the question first. */
async function retrieveIdentity(
  dependencies: RetrievalDependencies,
  request: ContextRequest,
  text: string,
  sectionMax: number,
): Promise<Candidates> {
  const { userScope, at } = request
  const where = { ...buildActiveFilter(at), key: NARRATIVE_KEY }
  const narrative = await dependencies.ports.store.find('memory', userScope, { where, limit: 1 })
  if (narrative.rows.length > 0) return { ...NO_CANDIDATES, documents: narrative.rows }
  const matching = hasTopic(text)
    ? await recallCandidates(
        dependencies,
        request,
        { text, categories: FACT_CATEGORIES },
        sectionMax,
      )
    : NO_CANDIDATES
  const ids = await findIdentityFacts(dependencies, request)
  // By id and not by text, because these facts are known to be about the person.
  const known =
    ids.length === 0
      ? NO_CANDIDATES
      : await recallCandidates(dependencies, request, { text, ids, strategy: 'recent' }, sectionMax)
  const matchingIds = new Set(matching.documents.map(({ id }) => id))
  const others = known.recalled
    .filter(({ memory }) => !matchingIds.has(memory.id))
    .sort((a, b) => getIdentityGrade(a) - getIdentityGrade(b))
  return toCandidates([...matching.recalled, ...others].slice(0, limitTo(request, sectionMax)))
}

function getIdentityGrade({ memory }: RecalledMemory): number {
  return gradeIdentity(memory.content) ?? 0
}

function buildActiveFilter(at: Instant): MemoryFilter {
  return { statuses: ['active'], trusts: TRUSTED_LEVELS, validAt: at }
}

/** Candidates for each hint, and among the most important memories. */
const HINTED_MAX = 20
const IMPORTANT_MAX = 100
const IMPORTANCE_MIN = 7

/** As many as a block can hold. */
const FACTS_MAX = 15

/** Facts that say who the person is: found by words typical of such statements, or by importance. */
async function findIdentityFacts(
  { ports: { store } }: RetrievalDependencies,
  { resolveScope, at }: ContextRequest,
): Promise<readonly MemoryId[]> {
  const scope = await resolveScope()
  const where = { ...buildActiveFilter(at), categories: FACT_CATEGORIES }
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
  const facts = new Map([...named.rows, ...important.rows].map((row) => [row.id, row]))
  return [...facts.values()]
    .flatMap(({ id, content }) => {
      const grade = gradeIdentity(content)
      return grade === null ? [] : [{ id, grade }]
    })
    .sort((a, b) => a.grade - b.grade || (a.id < b.id ? 1 : -1))
    .slice(0, FACTS_MAX)
    .map(({ id }) => id)
}

/** Episodes among which the newest are selected: an imported one may be stored long after it happened. */
const EPISODES_EXAMINED_MAX = 25

async function retrieveEpisodes(
  dependencies: RetrievalDependencies,
  request: ContextRequest,
  text: string,
  sectionMax: number,
): Promise<Candidates> {
  const query = { text, categories: ['episode'] } as const
  const isAboutTopic = hasTopic(text)
  if (isAboutTopic || parseTimeSpan(text, request.at) !== null) {
    const episodes = await recallCandidates(dependencies, request, query, sectionMax)
    // A session that is not distilled yet has no episode, but its turns can be found.
    const all = await recallCandidates(dependencies, request, { text })
    if (isAboutTopic || episodes.documents.length > 0) {
      const episodeIds = new Set(episodes.documents.map(({ id }) => id))
      const others = all.recalled.filter(({ memory }) => !episodeIds.has(memory.id))
      return toCandidates([...episodes.recalled, ...others])
    }
  }
  // "Where did we leave off?" names no topic, so the newest episodes are what it refers to.
  const { rows } = await dependencies.ports.store.find('memory', await request.resolveScope(), {
    where: { ...buildActiveFilter(request.at), categories: ['episode'] },
    limit: EPISODES_EXAMINED_MAX,
  })
  const ids = rows
    .toSorted(compareNewestFirst)
    .slice(0, limitTo(request, sectionMax))
    .map(({ id }) => id)
  if (ids.length === 0) {
    const { transcript } = computeSectionSizes(request.tokensMax)
    return retrieveQuotedTurns(dependencies, request, text, transcript)
  }
  const newest = { ...query, ids, strategy: 'recent' } as const
  const { recalled } = await recallCandidates(dependencies, request, newest, sectionMax)
  return toCandidates(recalled.toSorted((a, b) => compareNewestFirst(a.memory, b.memory)))
}

type DatedDocument = Pick<SearchDocument, 'id' | 'validFrom' | 'createdAt'>

function compareNewestFirst(a: DatedDocument, b: DatedDocument): number {
  return (b.validFrom ?? b.createdAt) - (a.validFrom ?? a.createdAt) || (a.id < b.id ? 1 : -1)
}

const QUOTED_DAYS = 365

/** More turns than can be quoted, because some are dropped later. */
const CANDIDATES_PER_QUOTE = 4

/** The roles whose words can be quoted; tool results are nobody's words. */
const QUOTED_ROLES = ['user', 'assistant'] as const

/** Turns that match the text or, when the message names no topic, the last turns. */
async function retrieveQuotedTurns(
  { ports: { store } }: RetrievalDependencies,
  request: ContextRequest,
  text: string,
  sectionMax: number,
): Promise<Candidates> {
  const { resolveScope, at, shownMessages = NO_MESSAGES } = request
  const count = limitTo(request, sectionMax)
  const saidFrom = addMs(at, -QUOTED_DAYS * DAY_MS)
  const limit = CANDIDATES_PER_QUOTE * count + shownMessages.size
  const scope = await resolveScope()
  const turns = hasTopic(text)
    ? await searchTurns(store, scope, { text, limit, saidFrom })
    : await loadLastTurns(store, scope, { limit, saidFrom })
  const unseen = turns.filter(({ content }) => !shownMessages.has(content.trim()))
  return { ...NO_CANDIDATES, documents: unseen.slice(0, count) }
}

/** Without a similarity threshold: who asks for exact words wants the best match in any case. */
async function searchTurns(
  store: Store,
  scope: Scope,
  { text, limit, saidFrom }: { text: string; limit: number; saidFrom: Instant },
): Promise<readonly SearchDocument[]> {
  const where = { createdFrom: saidFrom, statuses: ['active'], trusts: QUOTED_ROLES } as const
  const hits = await retrieveTurns(store, scope, { text, limit, where })
  return hits.map(({ turn }) => toTurnDocument(turn))
}

async function loadLastTurns(
  store: Store,
  scope: Scope,
  { limit, saidFrom }: { limit: number; saidFrom: Instant },
): Promise<readonly SearchDocument[]> {
  const where: TurnFilter = { saidFrom, roles: QUOTED_ROLES, disabled: false }
  const { rows } = await store.find('turn', scope, { where, order: 'lastSaid', limit })
  return rows.map(toTurnDocument)
}
