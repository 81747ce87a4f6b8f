/**
 * Context for a chat request: settings, reasons to skip, the token budget, the cache for tool loops and the time limit
 * around `buildContext`.
 */

import type { StoredSettings } from '../../admin/stored-settings.ts'
import { stripBlocks } from '../../domain/context-block.ts'
import type { ModelRequest } from '../../domain/model-call.ts'
import { parseScope, type Scope } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import { raceAbort } from '../../lib/abort.ts'
import type { CircuitBreaker } from '../../lib/circuit-breaker.ts'
import type { AppError } from '../../lib/errors.ts'
import { hashParts } from '../../lib/hash.ts'
import type { Instant } from '../../lib/time.ts'
import { type TimedResult, withTimeout } from '../../lib/timeout.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { RecalledMemory } from '../../recall/recall-result.ts'
import { estimateTokens } from '../../text/tokens.ts'
import type { ConversationRequest, PreparedRequest, SkipReason } from '../conversations.ts'
import type { FailureListener, FailureStage } from '../failures.ts'
import type { ReceiptGate, ReceiptMemory } from '../receipts/receipt.ts'

import { resolveSession, toConversation } from '../session/session-resolver.ts'
import type { ContextBuilder } from './context-builder.ts'
import type { BlockDecision, ContextCache, InjectedBlock } from './context-cache.ts'
import type { UserScope } from './user-cache.ts'

export type ContextPreparationDependencies = {
  readonly ports: MemoryDependencies
  readonly settings: Pick<StoredSettings, 'resolve' | 'peek'>
  /** Used while the settings of the owner cannot be read. */
  readonly defaults: Settings
  readonly buildContext: ContextBuilder['buildContext']
  readonly contextCache: ContextCache
  /** Guards reading settings, the first access to the store: a store that hangs delays one request, not each. */
  readonly circuitBreaker: CircuitBreaker
  readonly onFailure?: FailureListener
}

export type ContextPreparation = {
  readonly at: Instant
  /** Null when they could not be read. */
  readonly settings: Settings | null
  /** The block to inject; in a dry run the block that would have been injected. */
  readonly block: InjectedBlock | null
  readonly skipped: SkipReason | null
  readonly error: AppError | null
  /** Null when the gate was not asked. */
  readonly gate: ReceiptGate | null
  /** All recalled memories, injected or not. */
  readonly recalled: readonly ReceiptMemory[]
  /** Parts that failed. */
  readonly degraded: readonly string[]
  readonly milliseconds: number
}

/** The share of the time limit that one retriever may take, so that a hanging one leaves time for the others. */
const RETRIEVER_SHARE = 0.4
const RETRIEVER_MS_MIN = 10

const NOT_PREPARED = { receipt: null, block: null, count: 0, tokens: 0, degraded: [] } as const

/** The result for a request without memory, if cached settings tell so; otherwise null. */
export function prepareWithoutLookup(
  { settings, defaults }: ContextPreparationDependencies,
  { options, scope }: Pick<ConversationRequest, 'scope' | 'options'>,
): PreparedRequest | null {
  if (!options.memory) return { ...NOT_PREPARED, settings: defaults, skipped: 'memory-disabled' }
  const cached = peekSettings(settings, scope)
  return cached === null || cached['gateway.enabled']
    ? null
    : { ...NOT_PREPARED, settings: cached, skipped: 'off' }
}

/** Never fails, and takes no longer than `gateway.contextTimeoutMs`. */
export async function prepareContext(
  dependencies: ContextPreparationDependencies,
  request: ConversationRequest,
): Promise<ContextPreparation> {
  const { clock } = dependencies.ports
  const started = performance.now()
  const at = clock.now()
  let settings: Settings | null = null
  const degraded = new Set<string>()
  const finish = (
    result: Pick<ContextPreparation, 'skipped'> & Partial<ContextPreparation>,
  ): ContextPreparation => ({
    ...{ at, settings, block: null, gate: null, recalled: [], error: null },
    ...result,
    degraded: [...degraded],
    milliseconds: Math.round((performance.now() - started) * 1_000) / 1_000,
  })
  const fail = (
    stage: FailureStage,
    { error, isTimeout }: Extract<TimedResult<unknown>, { kind: 'failed' }>,
  ) => {
    if (!request.signal.aborted) {
      const { owner } = request.scope
      dependencies.onFailure?.({ stage, owner, requestId: request.requestId, error })
    }
    return finish({ skipped: isTimeout ? 'timeout' : 'failed', error })
  }

  const loaded = await loadSettings(dependencies, request)
  if (loaded.kind === 'failed') return fail('settings', loaded)
  settings = loaded.result
  const skipped = getSkipReason(request, settings)
  if (skipped !== null) return finish({ skipped })

  const timeoutMs = settings['gateway.contextTimeoutMs']
  const getRemainingMs = () => timeoutMs - (performance.now() - started)
  const preparing = { dependencies, request, settings, at, degraded, getRemainingMs }
  const decision = await withTimeout(Math.max(1, getRemainingMs()), (signal) =>
    raceAbort(decideBlock(preparing, signal), request.signal),
  )
  if (decision.kind === 'failed') return fail('context', decision)
  const { block, ...rest } = decision.result
  if (typeof block === 'string') return finish({ ...rest, skipped: block })
  return finish({ ...rest, block, skipped: settings['gateway.dryRun'] ? 'dry-run' : null })
}

/** Cached settings avoid a wait that would take longer than all else when memory is off. */
async function loadSettings(
  { settings, defaults, circuitBreaker }: ContextPreparationDependencies,
  { scope }: ConversationRequest,
): Promise<TimedResult<Settings>> {
  const cached = peekSettings(settings, scope)
  if (cached !== null) return { kind: 'done', result: cached }
  return circuitBreaker.run(defaults['gateway.contextTimeoutMs'], async () =>
    settings.resolve(parseScope(scope).owner),
  )
}

/** Null also for an invalid scope, which `loadSettings` then reports. */
function peekSettings(
  settings: ContextPreparationDependencies['settings'],
  scope: ConversationRequest['scope'],
): Settings | null {
  try {
    return settings.peek(parseScope(scope).owner)
  } catch {
    return null
  }
}

/** Reasons that are known before anything is retrieved. */
function getSkipReason(request: ConversationRequest, settings: Settings): SkipReason | null {
  if (!settings['gateway.enabled']) return 'off'
  if (!settings['gateway.contextEnabled'] || !request.options.inject) return 'context-disabled'
  if (getQuestion(request) === '') return 'no-user-message'
  return computeTokenBudget(request, settings) <= 0 ? 'no-budget' : null
}

function getQuestion({ request }: ConversationRequest): string {
  return stripBlocks(request.exchanges.at(-1)?.user ?? '').trim()
}

/** A conservative estimate: prompts have about four characters per token, code and other scripts fewer. */
const CHARACTERS_PER_TOKEN = 3

/** Reserved for the answer when the request sets no limit. */
const ANSWER_TOKENS = 4_096
const ANSWER_SHARE_MAX = 1 / 8

/** What the delimiters of a block and the beginning of a memory take. */
const ONE_MEMORY_TOKENS = 80

/** Every budget but 0 has room for one memory. */
export function toBlockBudget({ 'gateway.contextTokensMax': tokensMax }: Settings): number {
  return tokensMax === 0 ? 0 : Math.max(tokensMax, ONE_MEMORY_TOKENS)
}

/** The tokens that the block may take: the setting, or what is left of the model's context window. */
function computeTokenBudget(
  { request, contextWindow }: ConversationRequest,
  settings: Settings,
): number {
  const contextTokensMax = toBlockBudget(settings)
  if (contextWindow === null) return contextTokensMax
  const answerTokens =
    request.outputTokensMax ?? Math.min(ANSWER_TOKENS, Math.floor(contextWindow * ANSWER_SHARE_MAX))
  const promptTokens = Math.ceil(request.characters / CHARACTERS_PER_TOKEN)
  return Math.min(contextTokensMax, contextWindow - promptTokens - answerTokens)
}

type PreparingRequest = {
  readonly dependencies: ContextPreparationDependencies
  readonly request: ConversationRequest
  readonly settings: Settings
  readonly at: Instant
  readonly degraded: Set<string>
  readonly getRemainingMs: () => number
}

async function decideBlock(
  preparing: PreparingRequest,
  signal: AbortSignal,
): Promise<BlockDecision> {
  const { dependencies, request, settings, at, degraded, getRemainingMs } = preparing
  const { contextCache, ports, buildContext } = dependencies
  const key = { name: buildContextCacheKey(request), settings }
  const userScope = getUserScope(request)
  const tokensMax = computeTokenBudget(request, settings)
  // Outside of a tool loop, the message is new or repeated, and recalled afresh.
  const cached = request.request.isMidAnswer
    ? await contextCache.find(ports.store, userScope, key, at)
    : null
  if (cached !== null && (typeof cached.block === 'string' || cached.block.tokens <= tokensMax)) {
    return cached
  }
  const { gate, block, recalled } = await buildContext({
    ...{ userScope, at, settings, tokensMax, getRemainingMs, signal, degraded },
    requestId: request.requestId,
    resolveScope: () => resolveSearchScope(preparing),
    text: getQuestion(request),
    shownMessages: collectShownMessages(request.request),
    previousMessages: listPreviousMessages(request),
    countTokens: request.countTokens ?? ports.countTokens ?? estimateTokens,
    retrieverTimeoutMs: Math.max(
      RETRIEVER_MS_MIN,
      Math.min(
        settings['recall.retrieverTimeoutMs'],
        Math.floor(settings['gateway.contextTimeoutMs'] * RETRIEVER_SHARE),
      ),
    ),
  })
  const decided = { gate, recalled: recalled.map(toReceiptMemory) }
  if (typeof block === 'string') {
    const decision = { ...decided, block }
    // After a failure, the next request may find what this one did not.
    if (degraded.size === 0) contextCache.set(key, decision, at)
    return decision
  }
  const { text, tokens, content } = block
  const identity = block.identity.map(({ id }) => id)
  const decision = { ...decided, block: { text, tokens, content, identity } }
  contextCache.set(key, decision, at)
  return decision
}

/** A follow-up question is recalled together with so many messages before it. */
const PREVIOUS_MESSAGES_MAX = 2

/** The beginning of each answer, which tells what it is about. */
const PREVIOUS_ANSWER_CHARACTERS = 200

/** Newest first. With answers, because "Where is it?" may refer to what the answer named. */
function listPreviousMessages({ request }: ConversationRequest): readonly string[] {
  return request.exchanges
    .slice(0, -1)
    .slice(-PREVIOUS_MESSAGES_MAX)
    .reverse()
    .map(({ user, assistant }) => {
      const answer = stripBlocks(assistant ?? '').slice(0, PREVIOUS_ANSWER_CHARACTERS)
      return `${stripBlocks(user).trim()}\n${answer}`.trim()
    })
    .filter((text) => text !== '')
}

/** A request without a user does not see the memories of the owner's users. */
function getUserScope({ scope }: ConversationRequest): UserScope {
  const { owner, user } = parseScope(scope)
  return { owner, user: user ?? null }
}

/** All memories of the user, or those of the session: the setting `recall.scope`. */
async function resolveSearchScope({
  dependencies: { ports },
  request,
  settings,
  at,
}: PreparingRequest): Promise<Scope> {
  const userScope = getUserScope(request)
  if (settings['recall.scope'] !== 'session') return userScope
  const conversation = toConversation(request, at)
  const session = conversation.named ?? (await resolveSession(ports, conversation))
  return { ...userScope, session }
}

function toReceiptMemory({ memory, score, coverage, trail }: RecalledMemory): ReceiptMemory {
  return {
    ...{ memory: memory.id, score, coverage },
    trail: trail.map((step) => ({ stage: step.stage, score: step.score })),
  }
}

/** Equal for requests of one conversation that wait for the answer to the same user message. */
export function buildContextCacheKey({ scope, request }: ConversationRequest): string {
  const { exchanges, conversationId, previousResponseId } = request
  const firstMessage = exchanges[0]?.user ?? null
  return hashParts(
    scope.owner,
    scope.user ?? null,
    scope.session ?? conversationId ?? previousResponseId ?? firstMessage,
    exchanges.at(-1)?.user ?? null,
  )
}

/** The messages of a request, trimmed and without blocks. The model reads them anyway, so the block does not repeat them. */
export function collectShownMessages({
  exchanges,
}: Pick<ModelRequest, 'exchanges'>): ReadonlySet<string> {
  const messages = exchanges.flatMap(({ user, assistant }) => [user, assistant ?? ''])
  return new Set(messages.map((text) => stripBlocks(text).trim()))
}
