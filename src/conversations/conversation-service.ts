/** The conversations feature: the request lifecycle, recorded conversations and prompt hooks as one service. */

import type { OwnerId, ReceiptId } from '../domain/ids.ts'
import { parseScope, type ScopeInput } from '../domain/scope.ts'
import { resolveSettings, type Settings } from '../domain/settings/settings.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { NO_YIELD, RequestBackpressure, type YieldTurn } from '../lib/backpressure.ts'
import { BoundedQueue } from '../lib/bounded-queue.ts'
import { createStallBreaker } from '../lib/circuit-breaker.ts'
import { withTimeout } from '../lib/timeout.ts'
import type { DraftInput } from '../memory/draft.ts'
import type { RememberResult } from '../memory/memory-writer.ts'
import { yieldingStore } from '../storage/access/yielding-store.ts'
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
import { createPromptHooks, type PromptHooks } from './prompt-hooks.ts'
import { ReceiptLog } from './receipts/receipts.ts'
import {
  createRecording,
  type EndedRequest,
  finishRecording,
  type RecorderDependencies,
  type Recording,
  recordTranscripts,
} from './recording/recorder.ts'
import { type QueuedItem, RecordingQueue } from './recording/recording-queue.ts'
import { RecordingWindow } from './recording/recording-window.ts'
import { getResponseOwner } from './session/response-owner.ts'

export interface Conversations extends RequestLifecycle, ConversationAdmin, PromptHooks {}

export type RequestLifecycleDependencies = Omit<
  ContextPreparationDependencies,
  'defaults' | 'sticky' | 'patience'
> &
  RecorderDependencies

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

/** Beyond these limits the oldest queued requests are dropped: each holds the whole history of a conversation. */
const QUEUE_LIMITS = { tasksMax: 10_000, sizeMax: 50_000_000 }

/** With a longer backlog, recording stops yielding to requests: it would never catch up. */
const YIELDING_BACKLOG_MAX = 16

/** How long a reader of receipts waits for those of requests that have just ended. */
const RECEIPT_WAIT_MS = 1_000
const CLOSE_WAIT_MS = 5_000

/** How many responses are recorded in one commit. */
const BATCH_MAX = 32

export function createRequestLifecycle(
  dependencies: RequestLifecycleDependencies,
): RequestLifecycleService {
  const { ports } = dependencies
  const contextCache = new ContextCache()
  const backpressure = new RequestBackpressure()
  const window = new RecordingWindow()
  const recorder = new BackgroundRecorder(dependencies, backpressure, window)
  const { receipts } = recorder
  const preparation: ContextPreparationDependencies = {
    ...dependencies,
    sticky: contextCache,
    defaults: resolveSettings(ports.settings),
    patience: createStallBreaker(ports.clock),
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
    flush: () => recorder.flush(),
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

/**
 * Records ended requests in two stages: transcripts first and in batches, because a killed process loses what is not
 * recorded; then learning and receipts, in order for each owner and user.
 */
class BackgroundRecorder {
  readonly receipts: ReceiptLog
  readonly #dependencies: RequestLifecycleDependencies
  readonly #backpressure: RequestBackpressure
  readonly #window: RecordingWindow
  readonly #queue: RecordingQueue<QueuedRecording>
  readonly #backlog = new BoundedQueue(QUEUE_LIMITS)
  #dropped = 0

  constructor(
    dependencies: RequestLifecycleDependencies,
    backpressure: RequestBackpressure,
    window: RecordingWindow,
  ) {
    this.#dependencies = dependencies
    this.#backpressure = backpressure
    this.#window = window
    this.#queue = new RecordingQueue<QueuedRecording>({
      limits: QUEUE_LIMITS,
      batchMax: BATCH_MAX,
      run: (batch) => this.#record(batch),
      onDropped: (item) => item.onSettled(false),
    })
    this.receipts = new ReceiptLog(
      dependencies.ports,
      (owner) => dependencies.settings.resolve(owner),
      () => backpressure.yieldToRequests()(),
    )
  }

  /** `onSettled` is called once, when the transcript is recorded or will not be. */
  add(ended: EndedRequest, onSettled: (isRecorded: boolean) => void): void {
    const { request, outcome } = ended
    const { owner, user = null } = request.scope
    this.#dropped += this.#queue.add({
      ...{ ended, onSettled },
      lane: buildQueueKey(owner, user),
      size: request.request.characters + (outcome.answer?.text.length ?? 0),
    })
  }

  /** Requests and receipts that were lost since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped + this.receipts.takeLost()
    this.#dropped = 0
    return dropped
  }

  async flush(): Promise<void> {
    await this.#settle()
    await this.receipts.flush()
  }

  /** Waits a moment for requests of an owner that have just ended. */
  async settleRecent(owner: string): Promise<void> {
    await withTimeout(RECEIPT_WAIT_MS, () => this.#settle(isLaneOf(owner)))
  }

  async drop(owner: OwnerId): Promise<void> {
    const isOwnLane = isLaneOf(owner)
    this.#queue.dropAll(isOwnLane)
    this.#backlog.dropAll(isOwnLane)
    await withTimeout(CLOSE_WAIT_MS, () => this.#settle(isOwnLane))
    await this.receipts.forget(owner)
  }

  async #settle(isMeant?: (lane: string) => boolean): Promise<void> {
    await this.#queue.settled(isMeant)
    await this.#backlog.drained(isMeant)
  }

  async #record(batch: readonly QueuedRecording[]): Promise<void> {
    const isUrgent = batch.length > 1 || this.#queue.waiting > 0 || this.#window.isAwaited
    const yieldTurn = isUrgent ? NO_YIELD : this.#backpressure.yieldToRequests()
    const started = await Promise.all(batch.map((item) => this.#start(item)))
    const recordings = started.filter((each) => each !== null)
    this.#dropped += started.length - recordings.length
    const enabled = recordings.filter(({ recording }) => recording.settings['gateway.enabled'])
    await recordTranscripts(
      withYieldingStore(this.#dependencies, yieldTurn),
      enabled.map(({ recording }) => recording),
    )
    const recorded = new Set(
      enabled.filter(({ recording }) => recording.transcript !== null).map(({ item }) => item),
    )
    for (const item of batch) item.onSettled(recorded.has(item))
    for (const { item, recording } of enabled) {
      this.#dropped += this.#backlog.add({ ...item, run: () => this.#finish(recording) })
    }
  }

  /** Null when the settings cannot be read. */
  async #start(item: QueuedRecording): Promise<StartedRecording | null> {
    const { preparation, request } = item.ended
    try {
      // The settings at the time of the request; readable now where they were not then.
      const settings =
        preparation.settings ??
        (await this.#dependencies.settings.resolve(parseScope(request.scope).owner))
      return { item, recording: createRecording(item.ended, settings) }
    } catch {
      return null
    }
  }

  async #finish(recording: Recording): Promise<void> {
    try {
      const isBehind = this.#backlog.waiting > YIELDING_BACKLOG_MAX
      const yieldTurn = isBehind ? NO_YIELD : this.#backpressure.yieldToRequests()
      const { receipt, lines, isComplete } = await finishRecording(
        withYieldingStore(this.#dependencies, yieldTurn),
        recording,
      )
      if (!isComplete) this.#dropped++
      this.receipts.add(receipt, lines, recording.settings)
    } catch {
      this.#dropped++ // reported by the next recordOutcome
    }
  }
}

type QueuedRecording = QueuedItem & {
  readonly ended: EndedRequest
  onSettled(isRecorded: boolean): void
}

type StartedRecording = { readonly item: QueuedRecording; readonly recording: Recording }

function withYieldingStore(
  { ports, learn, noteSaid }: RequestLifecycleDependencies,
  yieldTurn: YieldTurn,
): RecorderDependencies {
  return {
    ports: { ...ports, store: yieldingStore(ports.store, yieldTurn) },
    learn: (scope, text, options) => learn(scope, text, options, yieldTurn),
    noteSaid,
  }
}

/** Whether the model is done with the user message. Tool loops continue, and incomplete responses are asked again. */
function isAnswered({ answer }: RequestOutcome): boolean {
  if (answer === null || answer.hasToolCalls === true) return false
  return answer.isComplete || answer.isTruncated === true
}

function buildQueueKey(owner: string, user: string | null): string {
  return JSON.stringify([owner, user])
}

function isLaneOf(owner: string): (lane: string) => boolean {
  return (lane) => {
    const [laneOwner]: readonly unknown[] = JSON.parse(lane)
    return laneOwner === owner
  }
}
