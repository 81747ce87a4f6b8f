/**
 * Conversations: what memory does around one request to a model. `prepare` comes before it and says what to inject;
 * `record` comes after it and keeps what was said. Neither ever fails or holds a request up for longer than the setting
 * `injectDeadlineMs`: where memory has a problem, the request goes on without it, and the receipt says so.
 */

import type { ReceiptId } from '../domain/ids.ts'
import type { ApiFormat, ModelAnswer, ModelRequest } from '../domain/model-call.ts'
import type { ScopeInput } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Page } from '../storage/store.ts'
import type { CountTokens } from '../text/tokens.ts'
import type { FailureListener } from './failures.ts'
import type { Receipt, ReceiptDetail, ToolMemoryIds } from './receipts/receipt.ts'

/** Whose an answer is that a provider keeps. */
export type ResponseOwner = 'own' | 'foreign' | 'unknown'

/** Why nothing was injected. */
export const CONTEXT_SKIP_REASONS = {
  off: 'Memory is switched off for this owner: the setting `enabled`.',
  'memory-disabled': 'The request asked for no memory at all.',
  'context-disabled': 'The request, or the setting `inject`, said to inject nothing.',
  'no-user-message': 'Nobody says anything in the request.',
  'no-budget':
    'There is no room: the setting `contextTokensMax`, or the window of the model is full.',
  'not-needed': 'The message needs no memories: the setting `relevanceGateMode`.',
  'no-relevant-memories': 'No memory was near enough to the question.',
  'no-insertion-point': 'The request has no place for it.',
  'dry-run':
    'The setting `shadow` is on: it was computed and written into the receipt, but not sent.',
  timeout: 'Recall took longer than the setting `injectDeadlineMs` allows.',
  failed: 'Recall failed.',
} as const

export type SkipReason = keyof typeof CONTEXT_SKIP_REASONS

export type ConversationRequest = {
  readonly requestId: string
  /** Without a session unless the client named one. */
  readonly scope: ScopeInput
  readonly format: ApiFormat
  /** As the client named it. */
  readonly model: string
  readonly provider: string
  readonly request: ModelRequest
  /** Of the model, in tokens, where it is known. */
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
  /** Null where memory has no part in the request: then nobody needs to read the answer either. */
  readonly receipt: ReceiptId | null
  /** Those in force for the owner; the defaults when they couldn't be read. */
  readonly settings: Settings
  /** What to inject, fence and all; null for nothing. */
  readonly block: string | null
  /** Memories and quotations in it. */
  readonly count: number
  readonly tokens: number
  /** Why there is nothing to inject; null when there is something. */
  readonly skipped: SkipReason | null
  /** What failed or rests, so that less was found than could have been: legs of recall, `recall`, `identity`. */
  readonly degraded: readonly string[]
}

export type RequestOutcome = {
  /** What became of the block: where it was put, or null when it wasn't (then `skipped` says why). */
  readonly placement: string | null
  readonly skipped: SkipReason | null
  /** What the provider answered with; null when there was no answer. */
  readonly status: number | null
  /** Null when nothing was answered, or it couldn't be read. */
  readonly answer: ModelAnswer | null
  readonly firstByteMs: number | null
  readonly totalMs: number
  /** Calls of memory tools that were answered here. */
  readonly toolCalls: readonly string[]
  /** What they came by; nothing where it is left out. */
  readonly toolMemories?: ToolMemoryIds
}

export type ReceiptQuery = {
  readonly session?: string
  readonly limit?: number
  readonly after?: string
}

export interface Conversations {
  /**
   * What `prepare` would say of a request that memory has no part in, where that can be told at once: as a rule, since
   * settings are at hand. Such a request waits for nothing. Null for all others.
   */
  prepareWithoutMemory(
    request: Pick<ConversationRequest, 'scope' | 'format' | 'options'>,
  ): PreparedRequest | null
  prepare(request: ConversationRequest): Promise<PreparedRequest>
  /**
   * Returns at once; what was said is recorded in the background, together with whatever else waits, and learned from
   * after that, in turn for each owner and user. Says how much
   * earlier work had to be given up since the last call, because there was too much of it or the store failed for long:
   * 0, as a rule.
   */
  recordOutcome(prepared: PreparedRequest, outcome: RequestOutcome): number
  /**
   * Whether an answer that is about to end may end before it is recorded. A few may, so that a killed process loses only
   * what was answered a moment ago; while there are more, an answer is recorded first: `record`, then `recorded`.
   */
  canRelease(prepared: PreparedRequest): boolean
  /** Waits until what was given to `record` is recorded or has failed, unless the store has ceased to record anything. */
  waitUntilRecorded(prepared: PreparedRequest): Promise<void>
  /**
   * Whether an answer that a provider keeps was made for this owner, whichever of its users asked, or for another one.
   * Unknown where nothing was recorded, or too long ago.
   */
  getResponseOwner(scope: ScopeInput, responseId: string): Promise<ResponseOwner>
  /** Waits until everything that was given to `record` so far is kept, or has failed. */
  flush(): Promise<void>
  /**
   * Subscribes to failures of memory that did not fail a request. Returns a function that ends the subscription.
   *
   * @example
   * const unsubscribe = engine.conversations.onFailure(({ stage, error }) => console.warn(stage, error))
   */
  onFailure(listener: FailureListener): () => void
  /** Newest first, without texts. */
  listReceipts(scope: ScopeInput, query?: ReceiptQuery): Promise<Page<Receipt>>
  /** With the block that the model read. Also what was recorded a moment ago, like those of the list. */
  getReceipt(scope: ScopeInput, id: string): Promise<ReceiptDetail | null>
}
