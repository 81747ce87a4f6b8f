import type { ChangeId, Instant, Place, SignalId, TurnId } from './ids.ts'

export const TURN_ROLES = ['user', 'assistant', 'system', 'tool'] as const
export type TurnRole = (typeof TURN_ROLES)[number]

/** One message of a conversation, as it was said. */
export type Turn = {
  readonly id: TurnId
  readonly place: Place
  readonly version: number
  readonly role: TurnRole
  readonly speaker: string | null
  readonly content: string
  readonly position: number
  readonly saidAt: Instant
  /** Somebody took it out of use: it is kept and shown, and neither found, quoted nor learned from. */
  readonly disabled: boolean
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
  readonly isRead: boolean
  /** How often learning from it failed. */
  readonly attempts: number
  /** Why it failed the last time: a code, never text. */
  readonly error: string | null
  /** What came of it, to be looked at or undone; null when nothing did. */
  readonly change: ChangeId | null
  readonly createdAt: Instant
}
