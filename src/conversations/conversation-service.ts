/** The conversations feature: the request lifecycle, recorded conversations and prompt hooks as one service. */

import type { OwnerId, ReceiptId } from '../domain/ids.ts'
import { parseScope, type ScopeInput } from '../domain/scope.ts'
import { resolveSettings, type Settings } from '../domain/settings/settings.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { RequestBackpressure } from '../lib/backpressure.ts'
import { createStallBreaker } from '../lib/circuit-breaker.ts'
import { withTimeout } from '../lib/timeout.ts'
import type { DraftInput } from '../memory/draft.ts'
import type { RememberResult } from '../memory/memory-writer.ts'
import { type ConversationAdmin, createConversationAdmin } from './admin.ts'
import { ContextCache } from './context/context-cache.ts'
import {
  buildContextCacheKey,
  type ContextPreparation,
  type ContextPreparationDependencies,
  prepareContext,
  prepareWithoutLookup,
} from './context/context-preparation.ts'
import type { PreparedRequest, RequestLifecycle, RequestOutcome } from './conversations.ts'
import type { FailureChannel } from './failures.ts'
import { createPromptHooks, type PromptHooks } from './prompt-hooks.ts'
import { BackgroundRecorder } from './recording/background-recorder.ts'
import { CompactionWatch } from './recording/compaction-watch.ts'
import type { EndedRequest, RecorderDependencies } from './recording/recorder.ts'
import { RecordingWindow } from './recording/recording-window.ts'
import { claimProviderIds, getResponseOwner } from './session/response-owner.ts'

export interface Conversations extends RequestLifecycle, ConversationAdmin, PromptHooks {}

export type RequestLifecycleDependencies = Omit<
  ContextPreparationDependencies,
  'defaults' | 'contextCache' | 'circuitBreaker' | 'onFailure'
> &
  Omit<RecorderDependencies, 'onFailure'> & { readonly failures: FailureChannel }

export type ConversationDependencies = RequestLifecycleDependencies & {
  readonly jobs: Jobs
  readonly remember: (scope: ScopeInput, draft: DraftInput) => Promise<RememberResult>
  /** Purges caches that may hold erased text, this feature's own included. */
  readonly purgeCaches: () => Promise<void>
}

/** The lifecycle with what only the engine calls. */
export interface RequestLifecycleService extends RequestLifecycle {
  /** Drops everything queued for an owner. */
  dropPending(owner: OwnerId): Promise<void>
  /** Drops cached text of memories. */
  purgeCaches(): void
  /** Records what is queued, for a few seconds at most. */
  close(): Promise<void>
}

/** The feature with what only the engine calls. */
export interface ConversationService extends Omit<RequestLifecycleService, keyof RequestLifecycle> {
  readonly api: Conversations
}

export function createConversations(dependencies: ConversationDependencies): ConversationService {
  const { dropPending, purgeCaches, close, ...lifecycle } = createRequestLifecycle(dependencies)
  return {
    api: {
      ...lifecycle,
      ...createConversationAdmin(dependencies),
      ...createPromptHooks(dependencies),
    },
    ...{ dropPending, purgeCaches, close },
  }
}

const CLOSE_WAIT_MS = 5_000

export function createRequestLifecycle(
  dependencies: RequestLifecycleDependencies,
): RequestLifecycleService {
  const { ports, failures } = dependencies
  const onFailure = failures.report
  const contextCache = new ContextCache()
  const backpressure = new RequestBackpressure()
  const window = new RecordingWindow()
  const recorder = new BackgroundRecorder(
    { ...dependencies, onFailure, compactions: new CompactionWatch() },
    backpressure,
    window,
  )
  const { receipts } = recorder
  const preparation: ContextPreparationDependencies = {
    ...dependencies,
    ...{ onFailure, contextCache },
    defaults: resolveSettings(ports.settings),
    circuitBreaker: createStallBreaker(ports.clock),
  }
  /** Requests that memory takes part in and that have no outcome yet. */
  const openRequests = new WeakMap<PreparedRequest, OpenRequest>()
  const recordings = new WeakMap<PreparedRequest, Promise<void>>()
  let isClosed = false

  return {
    prepareWithoutMemory: (request) => prepareWithoutLookup(preparation, request),
    prepare: async (request) => {
      const skipped = prepareWithoutLookup(preparation, request)
      if (skipped !== null) return skipped
      const onEnd = backpressure.trackRequest()
      const context = await window.preparing(() => prepareContext(preparation, request))
      const receipt = context.skipped === 'off' ? null : ports.ids.next('rcp', context.at)
      const prepared = toPreparedRequest(context, receipt, preparation.defaults)
      const ended = receipt === null ? null : { receipt, request, preparation: context }
      openRequests.set(prepared, { onEnd, ended })
      return prepared
    },
    recordOutcome: (prepared, outcome) => {
      const open = openRequests.get(prepared)
      open?.onEnd()
      if (open?.ended == null || isClosed) {
        window.leave(prepared, false)
        return recorder.takeDropped()
      }
      openRequests.delete(prepared) // a second call records nothing
      const { request } = open.ended
      if (isAnswered(outcome)) contextCache.drop(buildContextCacheKey(request))
      const { promise, resolve } = createDeferred()
      window.begin(prepared)
      recordings.set(prepared, promise)
      recorder.add({ ...open.ended, outcome, endedAt: ports.clock.now() }, (isRecorded) => {
        window.leave(prepared, isRecorded)
        resolve()
      })
      return recorder.takeDropped()
    },
    discard: (prepared) => {
      openRequests.get(prepared)?.onEnd()
      openRequests.delete(prepared)
    },
    canRelease: (prepared) => openRequests.get(prepared)?.ended == null || window.enter(prepared),
    waitUntilRecorded: async (prepared) => {
      const recording = recordings.get(prepared)
      if (recording !== undefined) await window.wait(recording)
    },
    getResponseOwner: async (scope, responseId) => {
      const { owner } = parseScope(scope)
      await recorder.settleRecent(owner)
      return getResponseOwner(ports, owner, responseId)
    },
    claimProviderIds: (scope, ids) => claimProviderIds(ports, parseScope(scope).owner, ids),
    flush: () => recorder.flush(),
    onFailure: failures.subscribe,
    receipts: {
      list: async (scope, query = {}) => {
        await recorder.settleRecent(parseScope(scope).owner)
        return receipts.list(scope, query)
      },
      get: async (scope, id) => {
        await recorder.settleRecent(parseScope(scope).owner)
        return receipts.get(scope, id)
      },
    },
    dropPending: async (owner) => {
      contextCache.clear()
      await recorder.drop(owner)
    },
    purgeCaches: () => contextCache.clear(),
    close: async () => {
      isClosed = true
      await withTimeout(CLOSE_WAIT_MS, () => recorder.flush())
    },
  }
}

type OpenRequest = {
  /** Ends the request for the backpressure. */
  readonly onEnd: () => void
  /** Null when nothing is to be recorded. */
  readonly ended: Omit<EndedRequest, 'outcome' | 'endedAt'> | null
}

function createDeferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

function toPreparedRequest(
  { settings, block, skipped, degraded }: ContextPreparation,
  receipt: ReceiptId | null,
  defaults: Settings,
): PreparedRequest {
  const injected = skipped === null ? block : null
  return {
    receipt,
    settings: settings ?? defaults,
    block: injected?.text ?? null,
    count: injected?.content.lines.length ?? 0,
    tokens: injected?.tokens ?? 0,
    skipped,
    degraded,
  }
}

/** Whether the model is done with the user message. Tool loops continue, and incomplete responses are asked again. */
function isAnswered({ answer }: RequestOutcome): boolean {
  if (answer === null || answer.hasToolCalls === true) return false
  return answer.isComplete || answer.isTruncated === true
}
