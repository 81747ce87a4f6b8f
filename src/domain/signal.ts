/** Signals as they are stored: one for each exchange, written in the commit that keeps its turns. */

import { sha256 } from '../lib/hash.ts'
import { addMs, DAY_MS, type Instant } from '../lib/time.ts'
import type { Entry } from './entry.ts'
import type { ChangeId, EntryId, SignalId, TurnId } from './ids.ts'
import type { Place } from './scope.ts'

const HASH_CHARACTERS = 40

/** How long one that was learned from, or is not to be, can still be looked at. */
const OVER_KEPT_MS = 30 * DAY_MS

/** Of an exchange, named by its first turn: recorded again, it is the same signal. */
export function buildSignalId(first: TurnId): SignalId {
  return `sig_${sha256(first).slice(0, HASH_CHARACTERS)}` as SignalId // made from what it stands for
}

type SignalOptions = Partial<Pick<Signal, 'position' | 'isHistory' | 'isPatternScanned'>>

/** Something new to learn from, or the same again after it has changed. `isPatternScanned`: patterns read it where it comes from. */
export function createPendingSignal(
  place: Place,
  turns: readonly [TurnId, ...TurnId[]],
  at: Instant,
  before: Entry | null,
  { position = 0, isHistory = false, isPatternScanned = false }: SignalOptions = {},
): Entry {
  return toSignalEntry({
    id: buildSignalId(turns[0]),
    place,
    version: (before?.version ?? 0) + 1,
    turns,
    position,
    isHistory,
    status: 'pending',
    isPatternScanned,
    attempts: 0,
    error: null,
    change: null,
    createdAt: at,
  })
}

/** `now` matters for one that is over: it is kept for a while. */
export function toSignalEntry(signal: Signal, now: Instant = signal.createdAt): Entry {
  const { id, place, version, createdAt, isPatternScanned, ...rest } = signal
  const isOver = !isLearnable(signal)
  return {
    id: id as string as EntryId, // an entry of its own kind
    place,
    kind: 'signal',
    about: null,
    at: createdAt,
    expiresAt: isOver ? addMs(now, OVER_KEPT_MS) : null,
    version,
    // `isRead` is the name of the field in databases of earlier versions.
    body: { ...rest, isRead: isPatternScanned },
  }
}

/** Whether something is still to be learned from it, be it after a person had a look. */
export function isLearnable({ status }: Pick<Signal, 'status'>): boolean {
  return status === 'pending' || status === 'dead'
}

/** Null when it is none that this version knows how to read. */
export function parseSignal({ id, place, kind, at, version, body }: Entry): Signal | null {
  const status = SIGNAL_STATUSES.find((known) => known === body.status)
  const { turns } = body
  if (kind !== 'signal' || status === undefined || !Array.isArray(turns)) return null
  return {
    id: id as string as SignalId, // as written above, like the rest
    place,
    version,
    turns: turns as readonly TurnId[],
    position: typeof body.position === 'number' ? body.position : 0,
    isHistory: body.isHistory === true,
    status,
    // Before this was noted, nearly all came through the gateway, which reads what it keeps.
    isPatternScanned: body.isRead !== false,
    attempts: typeof body.attempts === 'number' ? body.attempts : 0,
    error: typeof body.error === 'string' ? body.error : null,
    change: typeof body.change === 'string' ? (body.change as ChangeId) : null,
    createdAt: at,
  }
}

export const SIGNAL_STATUSES = ['pending', 'processed', 'dead', 'forgotten'] as const

export type SignalStatus = (typeof SIGNAL_STATUSES)[number]

/**
 * That something was said which is to be learned from: an exchange. `dead`: that failed too often, and waits for a person.
 * `forgotten`: a person doesn't want it to be learned from.
 */
export type Signal = {
  readonly id: SignalId
  readonly place: Place
  readonly version: number
  readonly turns: readonly TurnId[]
  /** Of the exchange in its session: orders the signals of one commit. */
  readonly position: number
  /** Whether the exchange was part of the history of a request, and said at an unknown time before it. */
  readonly isHistory: boolean
  readonly status: SignalStatus
  /** Whether patterns have read it: once is enough, however long it waits for a model. */
  readonly isPatternScanned: boolean
  /** How often learning from it failed. */
  readonly attempts: number
  /** Why it failed the last time: a code, never text. */
  readonly error: string | null
  /** What came of it, to be looked at or undone; null when nothing did. */
  readonly change: ChangeId | null
  readonly createdAt: Instant
}
