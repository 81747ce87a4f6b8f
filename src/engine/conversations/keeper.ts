/** Conversations, put together: `prepare` before a request, `record` after it, receipts of both. */
import { parseScope } from '../../core/draft.ts'
import type { OwnerId } from '../../core/ids.ts'
import { resolveSettings, type Settings } from '../../core/settings.ts'
import { withinTime } from '../deadline.ts'
import { Patience } from '../patience.ts'
import { Backlog } from './backlog.ts'
import type { Conversations, Outcome, Prepared } from './conversations.ts'
import { Courtesy, type GiveWay, NOT_AT_ALL, polite } from './courtesy.ts'
import { type PreparingParts, prepareAtOnce, prepareBlock, stickyName } from './preparing.ts'
import { Receipts } from './receipts.ts'
import { type Ended, keepEnded, type RecordingParts } from './recording.ts'
import { responseOwner } from './responses.ts'
import { StickyBlocks } from './sticky.ts'

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

export function createConversations(parts: ConversationParts): ConversationKeeper {
  const { ports, settings } = parts
  const sticky = new StickyBlocks()
  const defaults = resolveSettings(ports.settings)
  const preparing = { ...parts, sticky, defaults, patience: new Patience(ports.clock) }
  const backlog = new Backlog({ count: WAITING_MAX, size: WAITING_CHARACTERS_MAX })
  const courtesy = new Courtesy()
  const receipts = new Receipts(
    ports,
    (owner) => settings.effective(owner),
    () => courtesy.manners()(),
  )
  const prepared = new WeakMap<Prepared, Omit<Ended, 'outcome' | 'endedAt'>>()
  /** For each request under way, what tells that it has ended. */
  const underWay = new WeakMap<Prepared, () => void>()
  let isClosed = false
  let failed = 0

  const keep = async (ended: Ended): Promise<void> => {
    try {
      const inForce = await settingsFor(parts, ended)
      if (!inForce.enabled) return
      const giveWay = backlog.waiting > PATIENT_WAITING_MAX ? NOT_AT_ALL : courtesy.manners()
      const { receipt, lines, isWhole } = await keepEnded(inPieces(parts, giveWay), ended, inForce)
      if (!isWhole) failed++
      receipts.add(receipt, lines, inForce)
    } catch {
      failed++ // nobody waits for it, and the count is what tells
    }
  }
  const settled = async (): Promise<void> => {
    await backlog.settled()
    await receipts.flush()
  }
  /** What has just ended may be on its way. */
  const arrived = (owner: string) =>
    withinTime(RECEIPT_WAIT_MS, () => backlog.settled((lane) => ownerOf(lane) === owner))

  return {
    passing: (request) => prepareAtOnce(preparing, request),
    prepare: async (request) => {
      const passing = prepareAtOnce(preparing, request)
      if (passing !== null) return passing
      const ended = courtesy.hurry()
      const preparation = await prepareBlock(preparing, request)
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
        dropped = backlog.add({
          lane: laneOf(scope.owner, scope.user ?? null),
          size: asked.characters + (outcome.answer?.text.length ?? 0),
          run: () => keep({ ...known, outcome, endedAt }),
        })
      }
      const lost = dropped + failed + receipts.takeLost()
      failed = 0
      return lost
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
      backlog.dropAll(isOwners)
      sticky.clear()
      await withinTime(CLOSE_WAIT_MS, () => backlog.settled(isOwners))
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
