/** What memory has to say to a request, and how much of it fits. */
import { parseScope } from '../../core/draft.ts'
import type { AppError, ErrorCode } from '../../core/errors.ts'
import { gate } from '../../core/gate/index.ts'
import type { DecideRecall } from '../../core/gate.ts'
import type { Instant, Scope } from '../../core/ids.ts'
import { renderBlock, stripBlocks } from '../../core/prompting/block.ts'
import { pointOf } from '../../core/prompting/question.ts'
import type { ReceiptMemory } from '../../core/receipt.ts'
import type { Settings } from '../../core/settings.ts'
import { type CountTokens, estimateTokens } from '../../core/tokens.ts'
import { orCancelled, withinTime } from '../deadline.ts'
import type { EnginePorts } from '../ports.ts'
import type { Recalled, RecallQuery, Recollection } from '../recall.ts'
import type { Slots } from '../slots.ts'
import type { StoredSettings } from '../system/settings.ts'
import type { ConversationRequest, SkipReason } from './conversations.ts'
import { hashOf, steady } from './hashing.ts'
import type { GivenBlock, StickyBlocks } from './sticky.ts'
import type { Conversation } from './threads.ts'
import { findSession } from './transcript.ts'

export type PreparingParts = {
  readonly ports: EnginePorts
  readonly settings: Pick<StoredSettings, 'effective' | 'known'>
  /** In force while those of the owner can't be read. */
  readonly defaults: Settings
  /** Counts as a use of what it finds. */
  readonly recall: (scope: Scope, query: RecallQuery) => Promise<Recollection>
  readonly decideRecall: DecideRecall
  readonly sticky: StickyBlocks
  /** For recalls that run at once. */
  readonly slots: Slots
}

/** What came of it. */
export type Preparation = {
  readonly at: Instant
  /** Null when they could not be read. */
  readonly settings: Settings | null
  /** What is given, or in shadow mode would have been. */
  readonly block: GivenBlock | null
  readonly skipped: SkipReason | null
  readonly error: ErrorCode | null
  /** Legs of recall that failed, so that it found less than it could have. */
  readonly degraded: readonly string[]
  readonly milliseconds: number
}

/** What each part of recall may take of the time that all of it has: one that hangs must not cost the others. */
const LEG_SHARE = 0.4
const LEG_MS_MIN = 10

/** Never fails, and takes no longer than the setting `injectDeadlineMs`. */
export async function prepareBlock(
  parts: PreparingParts,
  request: ConversationRequest,
): Promise<Preparation> {
  const { ports } = parts
  const started = performance.now()
  const at = ports.clock.now()
  let settings: Settings | null = null
  const degraded = new Set<string>()
  const end = (outcome: Pick<Preparation, 'skipped'> & Partial<Preparation>): Preparation => ({
    at,
    settings,
    block: null,
    error: null,
    degraded: [...degraded],
    ...outcome,
    milliseconds: Math.round((performance.now() - started) * 1_000) / 1_000,
  })
  if (!request.wants.memory) return end({ skipped: 'no-memory' })
  const failed = ({ error, isLate }: Failure) =>
    end({ skipped: isLate ? 'late' : 'failed', error: error.code })

  const read = await settingsIn(parts, request)
  if (read.kind === 'failed') return failed(read)
  settings = read.result
  if (!settings.enabled) return end({ skipped: 'off' })
  const skipped = reasonToSkip(parts, request, settings)
  if (skipped !== null) return end({ skipped })

  const { injectDeadlineMs, shadow } = settings
  const left = Math.max(1, injectDeadlineMs - (performance.now() - started))
  const call = { parts, request, settings, at, degraded }
  const made = await inTime(left, request, (late) => blockFor(call, late))
  if (made.kind === 'failed') return failed(made)
  if (typeof made.result === 'string') return end({ skipped: made.result })
  return end({ block: made.result, skipped: shadow ? 'shadow' : null })
}

/** As a rule they are known; waiting for nothing would cost more than everything else when memory is off. */
async function settingsIn(
  { settings, defaults }: PreparingParts,
  request: ConversationRequest,
): Promise<Timely<Settings>> {
  const owner = () => parseScope(request.scope).owner
  const known = quietly(() => settings.known(owner()))
  if (known !== null) return { kind: 'done', result: known }
  return inTime(defaults.injectDeadlineMs, request, async () => settings.effective(owner()))
}

function quietly<Result>(work: () => Result): Result | null {
  try {
    return work()
  } catch {
    return null
  }
}

type Failure = { readonly kind: 'failed'; readonly error: AppError; readonly isLate: boolean }
type Timely<Result> = { readonly kind: 'done'; readonly result: Result } | Failure

async function inTime<Result>(
  ms: number,
  { signal }: ConversationRequest,
  work: (late: AbortSignal) => Promise<Result>,
): Promise<Timely<Result>> {
  let isLate = () => false
  const outcome = await withinTime(ms, (late) => {
    isLate = () => late.aborted
    return orCancelled(work(late), signal)
  })
  return outcome.kind === 'done' ? outcome : { ...outcome, isLate: isLate() }
}

/** What can be told without looking at any memory. */
function reasonToSkip(
  { decideRecall }: PreparingParts,
  request: ConversationRequest,
  settings: Settings,
): SkipReason | null {
  if (!settings.inject || !request.wants.inject) return 'no-inject'
  const question = questionOf(request)
  if (question === '') return 'no-question'
  if (roomIn(request, settings) <= 0) return 'no-budget'
  return decideRecall(question, settings) ? null : 'not-needed'
}

function questionOf({ asked }: ConversationRequest): string {
  return stripBlocks(asked.exchanges.at(-1)?.user ?? '').trim()
}

/** Text in a prompt has about four characters a token, code and other scripts fewer. */
const CHARACTERS_PER_TOKEN = 3
/** Kept free for the answer when the client doesn't say how long it may be. */
const ANSWER_TOKENS = 4_096
const ANSWER_SHARE_MAX = 1 / 8

/** How many tokens the block may take. */
function roomIn(request: ConversationRequest, { contextTokensMax }: Settings): number {
  return Math.min(contextTokensMax, roomInWindow(request))
}

function roomInWindow({ asked, contextWindow }: ConversationRequest): number {
  if (contextWindow === null) return Number.POSITIVE_INFINITY
  const answer =
    asked.outputTokensMax ?? Math.min(ANSWER_TOKENS, Math.floor(contextWindow * ANSWER_SHARE_MAX))
  return contextWindow - Math.ceil(asked.characters / CHARACTERS_PER_TOKEN) - answer
}

type BlockCall = {
  readonly parts: PreparingParts
  readonly request: ConversationRequest
  readonly settings: Settings
  readonly at: Instant
  /** Noted as soon as it is known: it is told whatever becomes of the block. */
  readonly degraded: Set<string>
}

async function blockFor(call: BlockCall, late: AbortSignal): Promise<GivenBlock | SkipReason> {
  const { parts, request, settings, at } = call
  const { sticky, ports } = parts
  const name = stickyName(request)
  const before = await sticky.find(ports.store, homeOf(request), name, at)
  if (before !== null && before.tokens <= roomIn(request, settings)) return before
  const memories = await recallInTurn(call, late, {
    ...askedWith(questionOf(request), settings),
    purpose: 'prompt',
    tokensMax: Math.max(1, Math.floor(roomIn(request, settings))),
    deadlineMs: Math.max(
      LEG_MS_MIN,
      Math.min(settings.legDeadlineMs, Math.floor(settings.injectDeadlineMs * LEG_SHARE)),
    ),
  })
  const fitted = bestThatFit(call, memories)
  if (typeof fitted !== 'string') sticky.keep(name, fitted, at)
  return fitted
}

/** Shorter ones, as "thanks!", mean nothing by themselves, and a model finds them near to everything. */
const TELLING_CHARACTERS_MIN = 24

/** By words alone where nothing in the message says that memories would help. */
function askedWith(
  message: string,
  { strategy }: Settings,
): Pick<RecallQuery, 'text' | 'strategy'> {
  const text = pointOf(message)
  const looksByMeaning = strategy === 'hybrid' || strategy === 'semantic'
  if (!looksByMeaning || text.length >= TELLING_CHARACTERS_MIN) return { text }
  return gate(text, { entities: [] }).section === 'none' ? { text, strategy: 'keyword' } : { text }
}

/** Beyond this a recall is taken for hung, and others have their turn. */
const TURN_MS_MAX = 10_000

/**
 * Few at a time, and none for a request that has gone on without: a server that is asked too much would otherwise do
 * more and more for nobody.
 */
function recallInTurn(
  call: BlockCall,
  late: AbortSignal,
  query: RecallQuery,
): Promise<Recollection['memories']> {
  const { recall, slots } = call.parts
  return slots.use(late, async () => {
    const place = await placeToLook(call)
    const recalled = await withinTime(TURN_MS_MAX, () => recall(place, query))
    if (recalled.kind === 'failed') throw recalled.error
    const { memories, legs } = recalled.result
    for (const [leg, { state }] of Object.entries(legs)) {
      if (state === 'failed') call.degraded.add(leg)
    }
    return memories
  })
}

/** A request that names no user is nobody's in particular: what others told the same owner is not for it. */
function homeOf({ scope }: ConversationRequest): Scope {
  const { owner, user } = parseScope(scope)
  return { owner, user: user ?? null }
}

/** Everything of the user, or the session when the settings say so. */
async function placeToLook({ parts, request, settings, at }: BlockCall): Promise<Scope> {
  const home = homeOf(request)
  if (settings.recallScope !== 'session') return home
  const conversation = conversationOf(request, at)
  return { ...home, session: conversation.named ?? (await findSession(parts.ports, conversation)) }
}

/** The best that fit together with what stands around them. The best one is given unless the window has no room for it. */
function bestThatFit(
  { parts, request, settings }: BlockCall,
  recalled: readonly Recalled[],
): GivenBlock | SkipReason {
  const count = request.countTokens ?? parts.ports.countTokens ?? estimateTokens
  const room = roomIn(request, settings)
  let block = blockOf(recalled, recalled, count)
  for (let left = recalled.length - 1; left > 0 && block.tokens > room; left--) {
    block = blockOf(recalled.slice(0, left), recalled, count)
  }
  if (block.text === '') return 'nothing-relevant'
  return block.tokens > roomInWindow(request) ? 'no-budget' : block
}

function blockOf(
  given: readonly Recalled[],
  recalled: readonly Recalled[],
  count: CountTokens,
): GivenBlock {
  const memories = given.map(({ memory }) => memory)
  const text = renderBlock(memories)
  const tokens = text === '' ? 0 : count(text)
  return { text, tokens, memories, recalled: recalled.map(toReceiptMemory) }
}

function toReceiptMemory({ memory, score, coverage, trail }: Recalled): ReceiptMemory {
  return {
    memory: memory.id,
    score,
    coverage,
    trail: trail.map((step) => ({ stage: step.stage, score: step.score })),
  }
}

/** Equal for the requests of one conversation that wait for an answer to the same words. */
function stickyName({ scope, asked }: ConversationRequest): string {
  const { exchanges, conversation, previous } = asked
  const opening = exchanges[0]?.user ?? null
  return hashOf(
    scope.owner,
    scope.user ?? null,
    scope.session ?? conversation ?? previous ?? opening,
    exchanges.at(-1)?.user ?? null,
  )
}

/** The conversation that a request is part of, without what memory itself has put into it. */
export function conversationOf(request: ConversationRequest, at: Instant): Conversation {
  const { scope, asked, format } = request
  const { owner, user, session } = parseScope(scope)
  const instructions = hashOf(steady(stripBlocks(asked.instructions)))
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
    previous: asked.previous,
    // Where no provider keeps it, programs give one name to all that they ask for: answers, but also titles and topics.
    conversation:
      asked.conversation !== null && format === 'messages'
        ? hashOf(asked.conversation, instructions)
        : asked.conversation,
    at,
  }
}
