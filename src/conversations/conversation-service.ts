/** Conversations, put together: `prepare` before a request, `record` after it, receipts of both. */

import type { OwnerId } from '../domain/ids.ts'
import { parseScope } from '../domain/scope.ts'
import { resolveSettings, type Settings } from '../domain/settings/settings.ts'
import { Courtesy, type GiveWay, NOT_AT_ALL } from '../lib/backpressure.ts'
import { Backlog } from '../lib/bounded-queue.ts'
import { Patience } from '../lib/overdue-circuit-breaker.ts'
import { withinTime } from '../lib/timeout.ts'
import { polite } from '../storage/access/yielding-store.ts'
import { StickyBlocks } from './context/context-cache.ts'
import {
  type PreparingParts,
  prepareAtOnce,
  prepareBlock,
  stickyName,
} from './context/context-preparation.ts'
import type { Conversations, Outcome, Prepared } from './conversations.ts'
import { Receipts } from './receipts/receipts.ts'
import {
  type Ended,
  finishRecording,
  type Recording,
  type RecordingParts,
  recordingOf,
  recordTranscripts,
} from './recording/recorder.ts'
import { type QueuedItem, RecordingQueue } from './recording/recording-queue.ts'
import { RecordingWindow } from './recording/recording-window.ts'
import { responseOwner } from './session/response-owner.ts'

export type ConversationParts = Omit<PreparingParts, 'defaults' | 'sticky' | 'patience'> &
  RecordingParts

/** With what the engine needs of it besides. */
export interface ConversationKeeper extends Conversations {
  /** Lets go of everything that waits to be kept for an owner. */
  forget(owner: OwnerId): Promise<void>
  /** Lets go of texts of memories. */
  letGo(): void
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

export function createConversations(parts: ConversationParts): ConversationKeeper {
  const { ports, settings } = parts
  const sticky = new StickyBlocks()
  const defaults = resolveSettings(ports.settings)
  const preparing = { ...parts, sticky, defaults, patience: new Patience(ports.clock) }
  const limits = { count: WAITING_MAX, size: WAITING_CHARACTERS_MAX }
  const window = new RecordingWindow()
  const courtesy = new Courtesy()
  const receipts = new Receipts(
    ports,
    (owner) => settings.effective(owner),
    () => courtesy.manners()(),
  )
  /** For each answer that is given to `record`, its recording. */
  const recordings = new WeakMap<Prepared, Promise<void>>()
  const prepared = new WeakMap<Prepared, Omit<Ended, 'outcome' | 'endedAt'>>()
  /** For each request under way, what tells that it has ended. */
  const underWay = new WeakMap<Prepared, () => void>()
  let isClosed = false
  let failed = 0

  /** What was said is recorded first, because a killed process loses what is not. */
  const record = async (batch: readonly QueuedRecording[]): Promise<void> => {
    const isUrgent = batch.length > 1 || queue.waiting > 0 || window.isAwaited
    const { ports: unhurried } = inPieces(parts, isUrgent ? NOT_AT_ALL : courtesy.manners())
    const started = await Promise.all(batch.map((item) => start(parts, item)))
    const enabled = started.filter((each) => each !== null)
    failed += started.filter((each) => each === null).length
    const wanted = enabled.filter(({ recording }) => recording.settings.enabled)
    await recordTranscripts(
      { ports: unhurried, noteSaid: parts.noteSaid },
      wanted.map(({ recording }) => recording),
    )
    const recorded = new Set(
      wanted.filter(({ recording }) => recording.kept !== null).map(({ item }) => item),
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
  const backlog = new Backlog(limits)
  const finish = async (recording: Recording): Promise<void> => {
    try {
      const giveWay = backlog.waiting > PATIENT_WAITING_MAX ? NOT_AT_ALL : courtesy.manners()
      const { receipt, lines, isWhole } = await finishRecording(inPieces(parts, giveWay), recording)
      if (!isWhole) failed++
      receipts.add(receipt, lines, recording.settings)
    } catch {
      failed++ // nobody waits for it, and the count is what tells
    }
  }
  const kept = async (isMeant?: (lane: string) => boolean): Promise<void> => {
    await queue.settled(isMeant)
    await backlog.settled(isMeant)
  }
  const settled = async (): Promise<void> => {
    await kept()
    await receipts.flush()
  }
  /** What has just ended may be on its way. */
  const arrived = (owner: string) =>
    withinTime(RECEIPT_WAIT_MS, () => kept((lane) => ownerOf(lane) === owner))

  return {
    passing: (request) => prepareAtOnce(preparing, request),
    prepare: async (request) => {
      const passing = prepareAtOnce(preparing, request)
      if (passing !== null) return passing
      const ended = courtesy.hurry()
      const preparation = await window.preparing(() => prepareBlock(preparing, request))
      const { block, skipped, at } = preparation
      const receipt = skipped === 'off' ? null : ports.ids.next('rcp', at)
      const isGiven = skipped === null && block !== null
      const answer: Prepared = {
        receipt,
        settings: preparation.settings ?? preparing.defaults,
        block: isGiven ? block.text : null,
        count: isGiven ? block.content.pieces.length : 0,
        tokens: isGiven ? block.tokens : 0,
        skipped,
        degraded: preparation.degraded,
      }
      underWay.set(answer, ended)
      if (receipt !== null) prepared.set(answer, { receipt, request, preparation })
      return answer
    },
    record: (given: Prepared, outcome: Outcome) => {
      underWay.get(given)?.()
      const known = prepared.get(given)
      let dropped = 0
      if (known !== undefined && !isClosed) {
        prepared.delete(given) // once is enough
        if (isAnswered(outcome)) sticky.drop(stickyName(known.request))
        const { scope, asked } = known.request
        const endedAt = ports.clock.now()
        window.begin(given)
        let resolve = () => {}
        recordings.set(given, new Promise((resolved) => (resolve = resolved)))
        dropped = queue.add({
          ended: { ...known, outcome, endedAt },
          lane: laneOf(scope.owner, scope.user ?? null),
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
    mayEnd: (given) => !prepared.has(given) || window.enter(given),
    recorded: async (given) => {
      const recording = recordings.get(given)
      if (recording !== undefined) await window.wait(recording)
    },
    knowsResponse: async (scope, responseId) => {
      const { owner } = parseScope(scope)
      await arrived(owner)
      return responseOwner(ports, owner, responseId)
    },
    settled,
    receipts: async (scope, query = {}) => {
      await arrived(parseScope(scope).owner)
      return receipts.list(scope, query)
    },
    receipt: async (scope, id) => {
      await arrived(parseScope(scope).owner)
      return receipts.get(scope, id)
    },
    forget: async (owner) => {
      const isOwners = (lane: string) => ownerOf(lane) === owner
      queue.dropAll(isOwners)
      backlog.dropAll(isOwners)
      sticky.clear()
      await withinTime(CLOSE_WAIT_MS, () => kept(isOwners))
      await receipts.forget(owner)
    },
    letGo: () => sticky.clear(),
    close: async () => {
      isClosed = true
      await withinTime(CLOSE_WAIT_MS, settled)
    },
  }
}

function inPieces(parts: ConversationParts, giveWay: GiveWay): RecordingParts {
  const { ports, learn, noteSaid } = parts
  return {
    ports: { ...ports, store: polite(ports.store, giveWay) },
    learn: (scope, text, options) => learn(scope, text, options, giveWay),
    noteSaid,
  }
}

type QueuedRecording = QueuedItem & {
  readonly ended: Ended
  /** Called once: it is recorded, or won't be. */
  settle(isRecorded: boolean): void
}

type StartedRecording = { readonly item: QueuedRecording; readonly recording: Recording }

/** Null where the settings can't be read. */
async function start(
  parts: ConversationParts,
  item: QueuedRecording,
): Promise<StartedRecording | null> {
  try {
    return { item, recording: recordingOf(item.ended, await settingsFor(parts, item.ended)) }
  } catch {
    return null
  }
}

/** Those that were in force when it was asked; where they couldn't be read then, they may be by now. */
async function settingsFor(
  { settings }: ConversationParts,
  { preparation, request }: Ended,
): Promise<Settings> {
  return preparation.settings ?? settings.effective(parseScope(request.scope).owner)
}

/** Whether the model is done with the user message: a tool loop goes on, and what broke off is asked for again. */
function isAnswered({ answer }: Outcome): boolean {
  if (answer === null || answer.callsTools === true) return false
  return answer.isComplete || answer.isCutOff === true
}

function laneOf(owner: string, user: string | null): string {
  return JSON.stringify([owner, user])
}

function ownerOf(lane: string): unknown {
  const [owner]: readonly unknown[] = JSON.parse(lane)
  return owner
}
