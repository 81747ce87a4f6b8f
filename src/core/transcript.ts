import type { Instant, Place, SignalId, TurnId } from './ids.ts'

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
}

export const SIGNAL_STATUSES = ['pending', 'processed', 'dead'] as const

/** Something noticed in a session that may become a memory. */
export type Signal = {
  readonly id: SignalId
  readonly place: Place
  readonly version: number
  readonly turns: readonly TurnId[]
  readonly status: (typeof SIGNAL_STATUSES)[number]
  readonly attempts: number
  readonly createdAt: Instant
}
