/** Types of the request lifecycle: memory around one request to a model. */

import type { ReceiptId } from '../domain/ids.ts'
import type { ApiFormat, ModelAnswer, ModelRequest } from '../domain/model-call.ts'
import type { ScopeInput } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Page } from '../storage/store.ts'
import type { CountTokens } from '../text/tokens.ts'
import type { FailureListener } from './failures.ts'
import type { Receipt, ReceiptDetail, ToolMemoryIds } from './receipts/receipt.ts'

/** Who a response that a provider stores was created for. */
export type ResponseOwner = 'own' | 'foreign' | 'unknown'

/** Why no block was injected. */
export const CONTEXT_SKIP_REASONS = {
  off: 'Memory is off for this owner: the setting `gateway.enabled`.',
  'memory-disabled': 'The request opted out of memory.',
  'context-disabled': 'The request or the setting `gateway.contextEnabled` turned injection off.',
  'no-user-message': 'The request holds no user message.',
  'no-budget':
    'No tokens are left: the setting `gateway.contextTokensMax`, or the context window is full.',
  'not-needed': 'The gate decided that the message needs no memories: `gateway.gateMode`.',
  'no-relevant-memories': 'No memory reached the similarity threshold.',
  'no-insertion-point': 'The request has no position for a context block.',
  'dry-run': 'Dry run (`gateway.dryRun`): the block is in the receipt, but was not sent.',
  'too-large': 'The request has more text than memory reads: 4 million characters.',
  timeout: 'Recall exceeded `gateway.contextTimeoutMs`.',
  failed: 'Recall failed.',
} as const

export type SkipReason = keyof typeof CONTEXT_SKIP_REASONS

export type ConversationRequest = {
  readonly requestId: string
  /** Without a session unless the client names one. */
  readonly scope: ScopeInput
  readonly format: ApiFormat
  /** As the client names it. */
  readonly model: string
  readonly provider: string
  readonly request: ModelRequest
  /** Tokens; null when unknown. */
  readonly contextWindow: number | null
  readonly countTokens?: CountTokens | undefined
  readonly options: {
    readonly memory: boolean
    readonly inject: boolean
    readonly extract: boolean
  }
  readonly signal: AbortSignal
}

export type PreparedRequest = {
  /** Null when memory has no part in the request; its response then needs no parsing. */
  readonly receipt: ReceiptId | null
  /** The owner's settings; defaults when they could not be read. */
  readonly settings: Settings
  /** The block to inject with its fence; null for none. */
  readonly block: string | null
  /** Memories and quoted turns in the block. */
  readonly count: number
  readonly tokens: number
  /** Null when there is a block. */
  readonly skipped: SkipReason | null
  /** Parts that failed or were skipped: retrievers, `recall`, `identity`. */
  readonly degraded: readonly string[]
}

export type RequestOutcome = {
  /** Where the block was inserted; null when it was not, for the reason in `skipped`. */
  readonly placement: string | null
  readonly skipped: SkipReason | null
  /** HTTP status of the provider; null without a response. */
  readonly status: number | null
  /** Null when there was no response or it could not be parsed. */
  readonly answer: ModelAnswer | null
  readonly firstByteMs: number | null
  readonly totalMs: number
  /** Calls of memory tools that the gateway answered. */
  readonly toolCalls: readonly string[]
  /** Memories that those calls found or changed. */
  readonly toolMemories?: ToolMemoryIds
  /** The provider only repeats its input, as the demo does: the answer is recorded, but never recalled. */
  readonly isEcho?: boolean
}

export type ReceiptQuery = {
  readonly session?: string
  readonly limit?: number
  readonly after?: string
}

/**
 * Memory around one request to a model: `prepare` before it, `recordOutcome` after it. Neither fails or delays a request
 * for longer than `gateway.contextTimeoutMs`: without memory the request continues, and its receipt names the reason.
 */
export interface RequestLifecycle {
  /** What was injected into requests, and why. */
  readonly receipts: Receipts
  /**
   * Recalls memories for a request and renders the block to inject.
   *
   * @example
   * async function inject(request: ConversationRequest, messages: { role: string; content: string }[]) {
   *   const { block } = await engine.conversations.prepare(request)
   *   return block === null ? messages : [...messages, { role: 'system', content: block }]
   * }
   */
  prepare(request: ConversationRequest): Promise<PreparedRequest>
  /**
   * Answers at once, usually from cached settings, when memory has no part in the request; null for all others, which
   * `prepare` handles.
   *
   * @example
   * const prepared = engine.conversations.prepareWithoutMemory({
   *   scope: { owner: 'ada' },
   *   format: 'chat',
   *   options: { memory: false, inject: false, extract: false },
   * })
   */
  prepareWithoutMemory(
    request: Pick<ConversationRequest, 'scope' | 'format' | 'options'>,
  ): PreparedRequest | null
  /**
   * Queues the request and its answer for recording and learning, and returns at once. The result counts requests that
   * were dropped since the last call because the queue was full or the store failed: normally 0.
   *
   * @example
   * function onResponse(prepared: PreparedRequest, outcome: RequestOutcome) {
   *   const dropped = engine.conversations.recordOutcome(prepared, outcome)
   *   if (dropped > 0) console.warn(`${dropped} requests were not recorded`)
   * }
   */
  recordOutcome(prepared: PreparedRequest, outcome: RequestOutcome): number
  /**
   * Ends a prepared request without a receipt and without recording it, when it is not sent: to count its tokens, for
   * example.
   *
   * @example
   * async function count(request: ConversationRequest) {
   *   const prepared = await engine.conversations.prepare(request)
   *   engine.conversations.discard(prepared)
   *   return prepared.tokens
   * }
   */
  discard(prepared: PreparedRequest): void
  /**
   * Whether the response may end before it is recorded. A few may, so that a killed process loses only the last
   * moments; under load, call `recordOutcome` and `waitUntilRecorded` first.
   *
   * @example
   * async function beforeEnd(prepared: PreparedRequest, outcome: RequestOutcome) {
   *   if (engine.conversations.canRelease(prepared)) return
   *   engine.conversations.recordOutcome(prepared, outcome)
   *   await engine.conversations.waitUntilRecorded(prepared)
   * }
   */
  canRelease(prepared: PreparedRequest): boolean
  /**
   * Resolves when the request is recorded or has failed, or when the store is stalled.
   *
   * @example
   * const onRecorded = (prepared: PreparedRequest) => engine.conversations.waitUntilRecorded(prepared)
   */
  waitUntilRecorded(prepared: PreparedRequest): Promise<void>
  /**
   * Whether a response that a provider stores was created for this owner or another one. `unknown`: it was not
   * recorded, or too long ago.
   *
   * @example
   * const owner = await engine.conversations.getResponseOwner({ owner: 'ada' }, 'resp_68a1')
   */
  getResponseOwner(scope: ScopeInput, responseId: string): Promise<ResponseOwner>
  /**
   * Binds ids of state that a provider keeps (responses, items, conversations, threads, containers) to an owner. An id
   * that has an owner keeps it.
   *
   * @example
   * await engine.conversations.claimProviderIds({ owner: 'ada' }, ['resp_68a1', 'conv_1'])
   */
  claimProviderIds(scope: ScopeInput, ids: readonly string[]): Promise<void>
  /**
   * Resolves when everything queued so far is recorded and its receipts are written.
   *
   * @example
   * await engine.conversations.flush()
   */
  flush(): Promise<void>
  /**
   * Subscribes to failures of memory that did not fail a request. Returns a function that ends the subscription.
   *
   * @example
   * const unsubscribe = engine.conversations.onFailure(({ stage, error }) => console.warn(stage, error))
   */
  onFailure(listener: FailureListener): () => void
}

export interface Receipts {
  /**
   * Newest first, without texts. Includes requests that ended a moment ago.
   *
   * @example
   * const page = await engine.conversations.receipts.list({ owner: 'ada' }, { limit: 20 })
   */
  list(scope: ScopeInput, query?: ReceiptQuery): Promise<Page<Receipt>>
  /**
   * A receipt with the block that the model read; null when there is none with this id.
   *
   * @example
   * const receipt = await engine.conversations.receipts.get({ owner: 'ada' }, 'rcp_01jf8t3z9k')
   */
  get(scope: ScopeInput, id: string): Promise<ReceiptDetail | null>
}
