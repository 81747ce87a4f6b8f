/** Conversations, put together: `prepare` before a request, `record` after it, receipts of both. */

import type { OwnerId } from '../domain/ids.ts'
import { parseScope } from '../domain/scope.ts'
import { resolveSettings, type Settings } from '../domain/settings/settings.ts'
import { NO_YIELD, RequestBackpressure, type YieldTurn } from '../lib/backpressure.ts'
import { BoundedQueue } from '../lib/bounded-queue.ts'
import { createStallBreaker } from '../lib/circuit-breaker.ts'
import { withTimeout } from '../lib/timeout.ts'
import { yieldingStore } from '../storage/access/yielding-store.ts'
import { ContextCache } from './context/context-cache.ts'
import {
  buildContextCacheKey,
  type ContextPreparationDependencies,
  prepareContext,
  prepareWithoutLookup,
} from './context/context-preparation.ts'
import type { Conversations, PreparedRequest, RequestOutcome } from './conversations.ts'
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

export type ConversationDependencies = Omit<
  ContextPreparationDependencies,
  'defaults' | 'sticky' | 'patience'
> &
  RecorderDependencies

/** With what the engine needs of it besides. */
export interface ConversationService extends Conversations {
  /** Lets go of everything that waits to be kept for an owner. */
  dropPending(owner: OwnerId): Promise<void>
  /** Lets go of texts of memories. */
  purgeCaches(): void
  /** Waits for what is under way, but not for ever. */
  close(): Promise<void>
}

/** Beyond this the oldest is given up. */
const WAITING_MAX = 10_000

/** What waits holds on to whole histories. */
const WAITING_CHARACTERS_MAX = 50_000_000

/** When more than this waits, keeping no longer gives way to requests: it would never catch up. */
const PATIENT_WAITING_MAX = 16

/** How long a reader of receipts waits for those of requests that have just ended. */
const RECEIPT_WAIT_MS = 1_000
const CLOSE_WAIT_MS = 5_000

/** How many answers are recorded in one commit. */
const BATCH_MAX = 32

export function createConversations(parts: ConversationDependencies): ConversationService {
  const { ports, settings } = parts
  const sticky = new ContextCache()
  const defaults = resolveSettings(ports.settings)
  const preparing = { ...parts, sticky, defaults, patience: createStallBreaker(ports.clock) }
  const limits = { tasksMax: WAITING_MAX, sizeMax: WAITING_CHARACTERS_MAX }
  const window = new RecordingWindow()
  const courtesy = new RequestBackpressure()
  const receipts = new ReceiptLog(
    ports,
    (owner) => settings.resolve(owner),
    () => courtesy.yieldToRequests()(),
  )
  /** For each answer that is given to `record`, its recording. */
  const recordings = new WeakMap<PreparedRequest, Promise<void>>()
  const prepared = new WeakMap<PreparedRequest, Omit<EndedRequest, 'outcome' | 'endedAt'>>()
  /** For each request under way, what tells that it has ended. */
  const underWay = new WeakMap<PreparedRequest, () => void>()
  let isClosed = false
  let failed = 0

  /** What was said is recorded first, because a killed process loses what is not. */
  const record = async (batch: readonly QueuedRecording[]): Promise<void> => {
    const isUrgent = batch.length > 1 || queue.waiting > 0 || window.isAwaited
    const { ports: unhurried } = withYieldingStore(
      parts,
      isUrgent ? NO_YIELD : courtesy.yieldToRequests(),
    )
    const started = await Promise.all(batch.map((item) => startRecording(parts, item)))
    const enabled = started.filter((each) => each !== null)
    failed += started.filter((each) => each === null).length
    const wanted = enabled.filter(({ recording }) => recording.settings['gateway.enabled'])
    await recordTranscripts(
      { ports: unhurried, noteSaid: parts.noteSaid },
      wanted.map(({ recording }) => recording),
    )
    const recorded = new Set(
      wanted.filter(({ recording }) => recording.transcript !== null).map(({ item }) => item),
    )
    for (const item of batch) item.settle(recorded.has(item))
    for (const { item, recording } of wanted) {
      failed += backlog.add({ ...item, run: () => finish(recording) })
    }
  }
  const queue = new RecordingQueue<QueuedRecording>({
    limits,
    batchMax: BATCH_MAX,
    run: record,
    onDropped: (item) => item.settle(false),
  })
  /** Learning and receipts come after it, in turn for each owner and user. */
  const backlog = new BoundedQueue(limits)
  const finish = async (recording: Recording): Promise<void> => {
    try {
      const giveWay = backlog.waiting > PATIENT_WAITING_MAX ? NO_YIELD : courtesy.yieldToRequests()
      const {
        receipt,
        lines,
        isComplete: isWhole,
      } = await finishRecording(withYieldingStore(parts, giveWay), recording)
      if (!isWhole) failed++
      receipts.add(receipt, lines, recording.settings)
    } catch {
      failed++ // nobody waits for it, and the count is what tells
    }
  }
  const kept = async (isMeant?: (lane: string) => boolean): Promise<void> => {
    await queue.settled(isMeant)
    await backlog.drained(isMeant)
  }
  const settled = async (): Promise<void> => {
    await kept()
    await receipts.flush()
  }
  /** What has just ended may be on its way. */
  const arrived = (owner: string) =>
    withTimeout(RECEIPT_WAIT_MS, () => kept((lane) => parseQueueKeyOwner(lane) === owner))

  return {
    prepareWithoutMemory: (request) => prepareWithoutLookup(preparing, request),
    prepare: async (request) => {
      const passing = prepareWithoutLookup(preparing, request)
      if (passing !== null) return passing
      const ended = courtesy.trackRequest()
      const preparation = await window.preparing(() => prepareContext(preparing, request))
      const { block, skipped, at } = preparation
      const receipt = skipped === 'off' ? null : ports.ids.next('rcp', at)
      const isGiven = skipped === null && block !== null
      const answer: PreparedRequest = {
        receipt,
        settings: preparation.settings ?? preparing.defaults,
        block: isGiven ? block.text : null,
        count: isGiven ? block.content.lines.length : 0,
        tokens: isGiven ? block.tokens : 0,
        skipped,
        degraded: preparation.degraded,
      }
      underWay.set(answer, ended)
      if (receipt !== null) prepared.set(answer, { receipt, request, preparation })
      return answer
    },
    recordOutcome: (given: PreparedRequest, outcome: RequestOutcome) => {
      underWay.get(given)?.()
      const known = prepared.get(given)
      let dropped = 0
      if (known !== undefined && !isClosed) {
        prepared.delete(given) // once is enough
        if (isAnswered(outcome)) sticky.drop(buildContextCacheKey(known.request))
        const { scope, request: asked } = known.request
        const endedAt = ports.clock.now()
        window.begin(given)
        let resolve = () => {}
        recordings.set(given, new Promise((resolved) => (resolve = resolved)))
        dropped = queue.add({
          ended: { ...known, outcome, endedAt },
          lane: buildQueueKey(scope.owner, scope.user ?? null),
          size: asked.characters + (outcome.answer?.text.length ?? 0),
          settle: (isRecorded) => {
            window.leave(given, isRecorded)
            resolve()
          },
        })
      } else {
        window.leave(given, false)
      }
      const lost = dropped + failed + receipts.takeLost()
      failed = 0
      return lost
    },
    canRelease: (given) => !prepared.has(given) || window.enter(given),
    waitUntilRecorded: async (given) => {
      const recording = recordings.get(given)
      if (recording !== undefined) await window.wait(recording)
    },
    getResponseOwner: async (scope, responseId) => {
      const { owner } = parseScope(scope)
      await arrived(owner)
      return getResponseOwner(ports, owner, responseId)
    },
    flush: settled,
    listReceipts: async (scope, query = {}) => {
      await arrived(parseScope(scope).owner)
      return receipts.list(scope, query)
    },
    getReceipt: async (scope, id) => {
      await arrived(parseScope(scope).owner)
      return receipts.get(scope, id)
    },
    dropPending: async (owner) => {
      const isOwners = (lane: string) => parseQueueKeyOwner(lane) === owner
      queue.dropAll(isOwners)
      backlog.dropAll(isOwners)
      sticky.clear()
      await withTimeout(CLOSE_WAIT_MS, () => kept(isOwners))
      await receipts.forget(owner)
    },
    purgeCaches: () => sticky.clear(),
    close: async () => {
      isClosed = true
      await withTimeout(CLOSE_WAIT_MS, settled)
    },
  }
}

function withYieldingStore(
  parts: ConversationDependencies,
  giveWay: YieldTurn,
): RecorderDependencies {
  const { ports, learn, noteSaid } = parts
  return {
    ports: { ...ports, store: yieldingStore(ports.store, giveWay) },
    learn: (scope, text, options) => learn(scope, text, options, giveWay),
    noteSaid,
  }
}

type QueuedRecording = QueuedItem & {
  readonly ended: EndedRequest
  /** Called once: it is recorded, or won't be. */
  settle(isRecorded: boolean): void
}

type StartedRecording = { readonly item: QueuedRecording; readonly recording: Recording }

/** Null where the settings can't be read. */
async function startRecording(
  parts: ConversationDependencies,
  item: QueuedRecording,
): Promise<StartedRecording | null> {
  try {
    return { item, recording: createRecording(item.ended, await loadSettings(parts, item.ended)) }
  } catch {
    return null
  }
}

/** Those that were in force when it was asked; where they couldn't be read then, they may be by now. */
async function loadSettings(
  { settings }: ConversationDependencies,
  { preparation, request }: EndedRequest,
): Promise<Settings> {
  return preparation.settings ?? settings.resolve(parseScope(request.scope).owner)
}

/** Whether the model is done with the user message: a tool loop goes on, and what broke off is asked for again. */
function isAnswered({ answer }: RequestOutcome): boolean {
  if (answer === null || answer.hasToolCalls === true) return false
  return answer.isComplete || answer.isTruncated === true
}

function buildQueueKey(owner: string, user: string | null): string {
  return JSON.stringify([owner, user])
}

function parseQueueKeyOwner(lane: string): unknown {
  const [owner]: readonly unknown[] = JSON.parse(lane)
  return owner
}
