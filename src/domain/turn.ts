import type { Instant } from '../lib/time.ts'
import type { TurnId } from './ids.ts'
import type { Place } from './scope.ts'

export const TURN_ROLES = ['user', 'assistant', 'system', 'tool'] as const

export type TurnRole = (typeof TURN_ROLES)[number]

/** One message of a conversation, stored verbatim. */
export type Turn = {
  readonly id: TurnId
  readonly place: Place
  readonly version: number
  readonly role: TurnRole
  readonly speaker: string | null
  readonly content: string
  readonly position: number
  readonly saidAt: Instant
  /** A disabled turn is stored and listed, but neither recalled, quoted nor learned from. */
  readonly disabled: boolean
}
