/**
 * Records ended requests in the background, in two stages: transcripts first and in batches, because a killed process
 * loses what is not recorded; then learning and receipts, in order for each owner and user.
 */

import type { OwnerId } from '../../domain/ids.ts'
import { parseScope } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import { NO_YIELD, type RequestBackpressure, type YieldTurn } from '../../lib/backpressure.ts'
import { BoundedQueue } from '../../lib/bounded-queue.ts'
import { withTimeout } from '../../lib/timeout.ts'
import { yieldingStore } from '../../storage/access/yielding-store.ts'
import { ReceiptLog } from '../receipts/receipts.ts'
import {
  createRecording,
  type EndedRequest,
  finishRecording,
  type RecorderDependencies,
  type Recording,
  recordTranscripts,
} from './recorder.ts'
import { type QueuedItem, RecordingQueue } from './recording-queue.ts'
import type { RecordingWindow } from './recording-window.ts'

type BackgroundRecorderDependencies = RecorderDependencies & {
  readonly settings: { resolve(owner: OwnerId): Promise<Settings> }
}

/** Beyond these limits the oldest requests are dropped: each holds the history of its conversation. */
const QUEUE_LIMITS = { tasksMax: 10_000, sizeMax: 50_000_000 }

/** How many transcripts are recorded in one commit. */
const BATCH_MAX = 32

/** With a longer backlog, recording stops yielding to requests: it would never catch up. */
const YIELDING_BACKLOG_MAX = 16

const SETTLE_RECENT_MS = 1_000
const DROP_MS = 5_000

type QueuedRecording = QueuedItem & {
  readonly ended: EndedRequest
  onSettled(isRecorded: boolean): void
}

export class BackgroundRecorder {
  readonly receipts: ReceiptLog
  readonly #dependencies: BackgroundRecorderDependencies
  readonly #backpressure: RequestBackpressure
  readonly #window: RecordingWindow
  readonly #queue: RecordingQueue<QueuedRecording>
  readonly #backlog = new BoundedQueue(QUEUE_LIMITS)
  #dropped = 0

  constructor(
    dependencies: BackgroundRecorderDependencies,
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
    this.receipts = new ReceiptLog(dependencies, () => backpressure.yieldToRequests()())
  }

  /** Queues a request. `onSettled` is called once, when its transcript is recorded or never will be. */
  add(ended: EndedRequest, onSettled: (isRecorded: boolean) => void): void {
    const { request, outcome } = ended
    const { owner, user = null } = request.scope
    this.#dropped += this.#queue.add({
      ...{ ended, onSettled },
      lane: JSON.stringify([owner, user]),
      size: request.request.characters + (outcome.answer?.text.length ?? 0),
    })
  }

  /** How many requests and receipts were lost since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped + this.receipts.takeDropped()
    this.#dropped = 0
    return dropped
  }

  /** Resolves when everything queued so far is recorded and its receipts are written. */
  async flush(): Promise<void> {
    await this.#settle()
    await this.receipts.flush()
  }

  /** Waits a moment for requests of an owner that have just ended. */
  async settleRecent(owner: string): Promise<void> {
    await withTimeout(SETTLE_RECENT_MS, () => this.#settle(isLaneOf(owner)))
  }

  /** Drops everything queued for an owner. */
  async drop(owner: OwnerId): Promise<void> {
    const isOwnLane = isLaneOf(owner)
    this.#queue.dropAll(isOwnLane)
    this.#backlog.dropAll(isOwnLane)
    await withTimeout(DROP_MS, () => this.#settle(isOwnLane))
    await this.receipts.drop(owner)
  }

  async #settle(matches?: (lane: string) => boolean): Promise<void> {
    await this.#queue.settled(matches)
    await this.#backlog.drained(matches)
  }

  async #record(batch: readonly QueuedRecording[]): Promise<void> {
    const isUrgent = batch.length > 1 || this.#queue.waiting > 0 || this.#window.isAwaited
    const yieldTurn = isUrgent ? NO_YIELD : this.#backpressure.yieldToRequests()
    const started = await Promise.all(
      batch.map(async (item) => ({ item, recording: await this.#start(item.ended) })),
    )
    const enabled = started.flatMap(({ item, recording }) =>
      recording?.settings['gateway.enabled'] === true ? [{ item, recording }] : [],
    )
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
  async #start(ended: EndedRequest): Promise<Recording | null> {
    const { preparation, request } = ended
    try {
      // The settings at the time of the request; if they could not be read then, they may be readable now.
      const settings =
        preparation.settings ??
        (await this.#dependencies.settings.resolve(parseScope(request.scope).owner))
      return createRecording(ended, settings)
    } catch (error) {
      this.#fail(ended, error)
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
    } catch (error) {
      this.#fail(recording, error)
    }
  }

  #fail({ request: { scope, requestId } }: EndedRequest, error: unknown): void {
    this.#dropped++
    this.#dependencies.onFailure?.({ stage: 'record', owner: scope.owner, requestId, error })
  }
}

function withYieldingStore(
  dependencies: RecorderDependencies,
  yieldTurn: YieldTurn,
): RecorderDependencies {
  const { ports, learn } = dependencies
  return {
    ...dependencies,
    ports: { ...ports, store: yieldingStore(ports.store, yieldTurn) },
    learn: (scope, text, options) => learn(scope, text, options, yieldTurn),
  }
}

function isLaneOf(owner: string): (lane: string) => boolean {
  return (lane) => {
    const [laneOwner]: readonly unknown[] = JSON.parse(lane)
    return laneOwner === owner
  }
}
