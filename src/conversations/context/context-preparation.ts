/** What memory has to say to a request, and how much of it fits. */

import type { StoredSettings } from '../../admin/stored-settings.ts'
import { stripBlocks } from '../../domain/context-block.ts'
import { parseScope, type Scope } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import { raceAbort } from '../../lib/abort.ts'
import type { CircuitBreaker } from '../../lib/circuit-breaker.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import { hashParts } from '../../lib/hash.ts'
import type { Instant } from '../../lib/time.ts'
import { type TimedResult, withTimeout } from '../../lib/timeout.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { RecalledMemory } from '../../recall/recall-result.ts'
import { estimateTokens } from '../../text/tokens.ts'
import type { ConversationRequest, PreparedRequest, SkipReason } from '../conversations.ts'
import type { ReceiptGate, ReceiptMemory } from '../receipts/receipt.ts'
import { resolveSession } from '../recording/transcript-writer.ts'
import { removeNumericWords } from '../session/exchange-hashes.ts'
import type { Conversation } from '../session/session-resolver.ts'
import type { BlockDecision, ContextCache, InjectedBlock } from './context-cache.ts'
import { collectShownMessages } from './shown-messages.ts'
import type { ContextBuilder } from './types.ts'
import type { UserScope } from './user-cache.ts'

export type ContextPreparationDependencies = {
  readonly ports: MemoryDependencies
  readonly settings: Pick<StoredSettings, 'resolve' | 'peek'>
  /** In force while those of the owner can't be read. */
  readonly defaults: Settings
  readonly read: ContextBuilder['buildContext']
  readonly sticky: ContextCache
  /** With the store, before anything else is asked of it: one that hangs holds up one request, not each of them. */
  readonly patience: CircuitBreaker
}

/** What came of it. */
export type ContextPreparation = {
  readonly at: Instant
  /** Null when they could not be read. */
  readonly settings: Settings | null
  /** What is given, or in shadow mode would have been. */
  readonly block: InjectedBlock | null
  readonly skipped: SkipReason | null
  readonly error: ErrorCode | null
  /** What kind of memories the message was found to need; null when that was not asked. */
  readonly gate: ReceiptGate | null
  /** What was found, also where nothing of it was given. */
  readonly recalled: readonly ReceiptMemory[]
  /** What failed, so that less was found than could have been. */
  readonly degraded: readonly string[]
  readonly milliseconds: number
}

/** What each part of recall may take of the time that all of it has: one that hangs must not cost the others. */
const LEG_SHARE = 0.4
const LEG_MS_MIN = 10

export function prepareWithoutLookup(
  { settings, defaults }: ContextPreparationDependencies,
  { options: wants, scope }: Pick<ConversationRequest, 'scope' | 'options'>,
): PreparedRequest | null {
  if (!wants.memory) return { ...NOTHING, settings: defaults, skipped: 'memory-disabled' }
  const known = ignoreErrors(() => settings.peek(parseScope(scope).owner))
  return known === null || known['gateway.enabled']
    ? null
    : { ...NOTHING, settings: known, skipped: 'off' }
}

const NOTHING = { receipt: null, block: null, count: 0, tokens: 0, degraded: [] } as const

/** Never fails, and takes no longer than the setting `injectDeadlineMs`. */
export async function prepareContext(
  parts: ContextPreparationDependencies,
  request: ConversationRequest,
): Promise<ContextPreparation> {
  const { ports } = parts
  const started = performance.now()
  const at = ports.clock.now()
  let settings: Settings | null = null
  const degraded = new Set<string>()
  const end = (
    outcome: Pick<ContextPreparation, 'skipped'> & Partial<ContextPreparation>,
  ): ContextPreparation => ({
    at,
    settings,
    block: null,
    gate: null,
    recalled: [],
    error: null,
    degraded: [...degraded],
    ...outcome,
    milliseconds: Math.round((performance.now() - started) * 1_000) / 1_000,
  })
  const failed = ({
    error,
    isTimeout: isLate,
  }: Extract<TimedResult<unknown>, { kind: 'failed' }>) =>
    end({ skipped: isLate ? 'timeout' : 'failed', error: error.code })

  const read = await loadSettings(parts, request)
  if (read.kind === 'failed') return failed(read)
  settings = read.result
  if (!settings['gateway.enabled']) return end({ skipped: 'off' })
  const skipped = getSkipReason(request, settings)
  if (skipped !== null) return end({ skipped })

  const { 'gateway.contextTimeoutMs': injectDeadlineMs, 'gateway.dryRun': shadow } = settings
  const left = Math.max(1, injectDeadlineMs - (performance.now() - started))
  const leftMs = () => injectDeadlineMs - (performance.now() - started)
  const call = { parts, request, settings, at, degraded, leftMs }
  const made = await withTimeout(left, (late) => raceAbort(buildBlock(call, late), request.signal))
  if (made.kind === 'failed') return failed(made)
  const { block, ...found } = made.result
  if (typeof block === 'string') return end({ ...found, skipped: block })
  return end({ ...found, block, skipped: shadow ? 'dry-run' : null })
}

/** As a rule they are known; waiting for nothing would cost more than everything else when memory is off. */
async function loadSettings(
  { settings, defaults, patience }: ContextPreparationDependencies,
  request: ConversationRequest,
): Promise<TimedResult<Settings>> {
  const owner = () => parseScope(request.scope).owner
  const known = ignoreErrors(() => settings.peek(owner()))
  if (known !== null) return { kind: 'done', result: known }
  return patience.run(defaults['gateway.contextTimeoutMs'], async () => settings.resolve(owner()))
}

function ignoreErrors<Result>(work: () => Result): Result | null {
  try {
    return work()
  } catch {
    return null
  }
}

/** What can be told without looking at any memory. */
function getSkipReason(request: ConversationRequest, settings: Settings): SkipReason | null {
  if (!settings['gateway.contextEnabled'] || !request.options.inject) return 'context-disabled'
  if (getQuestion(request) === '') return 'no-user-message'
  return computeTokenBudget(request, settings) <= 0 ? 'no-budget' : null
}

function getQuestion({ request: asked }: ConversationRequest): string {
  return stripBlocks(asked.exchanges.at(-1)?.user ?? '').trim()
}

/** Text in a prompt has about four characters a token, code and other scripts fewer. */
const CHARACTERS_PER_TOKEN = 3

/** Kept free for the answer when the client doesn't say how long it may be. */
const ANSWER_TOKENS = 4_096
const ANSWER_SHARE_MAX = 1 / 8

/** A follow-up question is searched together with so many messages before it. */
const CONTEXT_MESSAGES = 2

/** Of the answer to each, so much: it begins with what it is about. */
const ANSWERED_CHARACTERS = 200

/** How many tokens the block may take. */
function computeTokenBudget(
  request: ConversationRequest,
  { 'gateway.contextTokensMax': contextTokensMax }: Settings,
): number {
  return Math.min(contextTokensMax, computeWindowRoom(request))
}

function computeWindowRoom({ request: asked, contextWindow }: ConversationRequest): number {
  if (contextWindow === null) return Number.POSITIVE_INFINITY
  const answer =
    asked.outputTokensMax ?? Math.min(ANSWER_TOKENS, Math.floor(contextWindow * ANSWER_SHARE_MAX))
  return contextWindow - Math.ceil(asked.characters / CHARACTERS_PER_TOKEN) - answer
}

type ContextCall = {
  readonly parts: ContextPreparationDependencies
  readonly request: ConversationRequest
  readonly settings: Settings
  readonly at: Instant
  /** Noted as soon as it is known: it is told whatever becomes of the block. */
  readonly degraded: Set<string>
  readonly leftMs: () => number
}

async function buildBlock(call: ContextCall, late: AbortSignal): Promise<BlockDecision> {
  const { parts, request, settings, at } = call
  const { sticky, ports, read } = parts
  const key = { name: buildContextCacheKey(request), settings }
  const home = getUserScope(request)
  const budget = computeTokenBudget(request, settings)
  // Outside of a tool loop the message is asked for the first time, or again: then it is recalled afresh.
  const isLoop = request.request.isMidAnswer
  const before = isLoop ? await sticky.find(ports.store, home, key, at) : null
  if (before !== null && (typeof before.block === 'string' || before.block.tokens <= budget)) {
    return before
  }
  const { gate, block, ...found } = await read({
    home,
    place: () => getSearchScope(call),
    text: getQuestion(request),
    shown: collectShownMessages(request.request),
    context: loadPreviousMessages(request),
    at,
    settings,
    budget,
    countTokens: request.countTokens ?? ports.countTokens ?? estimateTokens,
    retrieverTimeoutMs: Math.max(
      LEG_MS_MIN,
      Math.min(
        settings['recall.retrieverTimeoutMs'],
        Math.floor(settings['gateway.contextTimeoutMs'] * LEG_SHARE),
      ),
    ),
    getRemainingMs: call.leftMs,
    signal: late,
    degraded: call.degraded,
  })
  const recalled = found.recalled.map(toReceiptMemory)
  if (typeof block === 'string') {
    // What was not found because something failed may be found by the next request.
    if (call.degraded.size === 0) sticky.keep(key, { gate, recalled, block }, at)
    return { gate, recalled, block }
  }
  const { text, tokens, content, identity } = block
  const given: InjectedBlock = {
    text,
    tokens,
    content,
    identity: identity.map(({ id }) => id),
    gate,
    recalled,
  }
  const decision = { gate, recalled, block: given }
  sticky.keep(key, decision, at)
  return decision
}

/** The user's messages before the one that is asked now, newest first. */
function loadPreviousMessages({ request: asked }: ConversationRequest): readonly string[] {
  return asked.exchanges
    .slice(0, -1)
    .slice(-CONTEXT_MESSAGES)
    .reverse()
    .map(({ user, assistant }) => {
      const said = stripBlocks(user).trim()
      // "Where is it?" may be about what the answer named.
      const answered = stripBlocks(assistant ?? '').slice(0, ANSWERED_CHARACTERS)
      return `${said}\n${answered}`.trim()
    })
    .filter((text) => text !== '')
}

/** A request that names no user is nobody's in particular: what others told the same owner is not for it. */
function getUserScope({ scope }: ConversationRequest): UserScope {
  const { owner, user } = parseScope(scope)
  return { owner, user: user ?? null }
}

/** Everything of the user, or the session when the settings say so. */
async function getSearchScope({ parts, request, settings, at }: ContextCall): Promise<Scope> {
  const home = getUserScope(request)
  if (settings['recall.scope'] !== 'session') return home
  const conversation = toConversation(request, at)
  return {
    ...home,
    session: conversation.named ?? (await resolveSession(parts.ports, conversation)),
  }
}

function toReceiptMemory({ memory, score, coverage, trail }: RecalledMemory): ReceiptMemory {
  return {
    memory: memory.id,
    score,
    coverage,
    trail: trail.map((step) => ({ stage: step.stage, score: step.score })),
  }
}

/** Equal for the requests of one conversation that wait for an answer to the same words. */
export function buildContextCacheKey({ scope, request: asked }: ConversationRequest): string {
  const { exchanges, conversationId: conversation, previousResponseId: previous } = asked
  const opening = exchanges[0]?.user ?? null
  return hashParts(
    scope.owner,
    scope.user ?? null,
    scope.session ?? conversation ?? previous ?? opening,
    exchanges.at(-1)?.user ?? null,
  )
}

/** The conversation that a request is part of, without what memory itself has put into it. */
export function toConversation(request: ConversationRequest, at: Instant): Conversation {
  const { scope, request: asked, format } = request
  const { owner, user, session } = parseScope(scope)
  const instructions = hashParts(removeNumericWords(stripBlocks(asked.instructions)))
  return {
    owner,
    user: user ?? null,
    named: session ?? null,
    exchanges: asked.exchanges.map((exchange) => ({
      user: stripBlocks(exchange.user),
      assistant: exchange.assistant === null ? null : stripBlocks(exchange.assistant),
    })),
    toolResults: asked.toolResults.map(stripBlocks),
    instructions,
    previous: asked.previousResponseId,
    // Where no provider keeps it, programs give one name to all that they ask for: answers, but also titles and topics.
    conversation:
      asked.conversationId !== null && format === 'messages'
        ? hashParts(asked.conversationId, instructions)
        : asked.conversationId,
    at,
  }
}
