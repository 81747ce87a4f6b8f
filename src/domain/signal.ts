/** Learning signals: one for each recorded exchange, written in the commit that stores its turns. */
import { sha256 } from '../lib/hash.ts'
import { addMs, DAY_MS, type Instant } from '../lib/time.ts'
import type { ChangeId, SignalId, TurnId } from './ids.ts'
import type { Place } from './scope.ts'

export const SIGNAL_STATUSES = ['pending', 'processed', 'dead', 'forgotten'] as const

export type SignalStatus = (typeof SIGNAL_STATUSES)[number]

/**
 * An exchange to learn from. `dead`: learning from it failed too often, and it waits for a person. `forgotten`: a person
 * excluded it from learning.
 */
export type Signal = {
  readonly id: SignalId
  readonly place: Place
  readonly version: number
  readonly turns: readonly TurnId[]
  /** The position of the exchange in its session: orders the signals of one commit. */
  readonly position: number
  /** Whether the exchange was part of the history of a request, and took place at an unknown time before it. */
  readonly isHistory: boolean
  readonly status: SignalStatus
  /** Whether patterns have read it: once is enough, however long it waits for a model. */
  readonly isPatternScanned: boolean
  /** How often learning from it failed. */
  readonly attempts: number
  /** The code of the last failure, never its text. */
  readonly error: string | null
  /** The change that learning from it made; null when it made none. */
  readonly change: ChangeId | null
  readonly createdAt: Instant
  readonly expiresAt: Instant | null
}

const HASH_CHARACTERS = 40

/** How long a processed or forgotten signal can still be inspected. */
const SETTLED_TTL_MS = 30 * DAY_MS

/** The signal of an exchange is named by its first turn, so that recording it again writes the same signal. */
export function buildSignalId(first: TurnId): SignalId {
  return `sig_${sha256(first).slice(0, HASH_CHARACTERS)}` as SignalId // derived from the turn
}

type SignalOptions = Partial<Pick<Signal, 'position' | 'isHistory' | 'isPatternScanned'>>

/** A signal to learn from, or the same again after its exchange has changed. */
export function createPendingSignal(
  place: Place,
  turns: readonly [TurnId, ...TurnId[]],
  at: Instant,
  before: Pick<Signal, 'version'> | null,
  { position = 0, isHistory = false, isPatternScanned = false }: SignalOptions = {},
): Signal {
  return {
    id: buildSignalId(turns[0]),
    place,
    version: (before?.version ?? 0) + 1,
    turns,
    ...{ position, isHistory, isPatternScanned },
    ...{ status: 'pending', attempts: 0, error: null, change: null },
    createdAt: at,
    expiresAt: null,
  }
}

/** The next version of a signal. Once nothing is left to learn from it, it expires. */
export function updateSignal(before: Signal, changes: Partial<Signal>, now: Instant): Signal {
  const signal = { ...before, ...changes, version: before.version + 1 }
  return { ...signal, expiresAt: isLearnable(signal) ? null : addMs(now, SETTLED_TTL_MS) }
}

/** Whether something is still to be learned from it, be it after a person has decided. */
export function isLearnable({ status }: Pick<Signal, 'status'>): boolean {
  return status === 'pending' || status === 'dead'
}
