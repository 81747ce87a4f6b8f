/** State machine of a replica. Transitions that are not in the table do not happen. */
import type { ReplicaState } from '../vector-replication.ts'

/** Events of a replica. */
export const REPLICA_EVENTS = {
  configured: 'The settings select a replica, or a different one.',
  switchedOff: 'The settings no longer select a replica.',
  proven: 'A test point was written and read back.',
  caughtUp: 'The replica equals the primary index.',
  missed: 'A change could not be replicated.',
  differed: 'A comparison found differences.',
  overwhelmed: 'More changes are pending than are tracked one by one.',
  emptied: 'The replica is unexpectedly empty.',
  failed: 'The replica was unreachable or timed out.',
  due: 'The retry delay has elapsed.',
  doubted: 'The replica rejects requests that it accepted before.',
  refused: 'The replica cannot work with this configuration.',
} as const
export type ReplicaEvent = keyof typeof REPLICA_EVENTS

type TransitionTable = { readonly [Event in ReplicaEvent]?: ReplicaState }

/** From any state: the settings take precedence. */
const ALWAYS: TransitionTable = {
  configured: 'checking',
  switchedOff: 'off',
  refused: 'misconfigured',
}

export const REPLICA_TRANSITIONS: Readonly<Record<ReplicaState, TransitionTable>> = {
  off: ALWAYS,
  checking: { ...ALWAYS, proven: 'backfilling', failed: 'down' },
  backfilling: { ...ALWAYS, caughtUp: 'active', failed: 'down' },
  active: {
    ...ALWAYS,
    missed: 'lagging',
    differed: 'lagging',
    overwhelmed: 'lagging',
    emptied: 'backfilling',
    failed: 'down',
    doubted: 'checking',
  },
  lagging: {
    ...ALWAYS,
    caughtUp: 'active',
    emptied: 'backfilling',
    failed: 'down',
    doubted: 'checking',
  },
  down: { ...ALWAYS, due: 'recovering' },
  recovering: {
    ...ALWAYS,
    caughtUp: 'active',
    emptied: 'backfilling',
    failed: 'down',
    doubted: 'checking',
  },
  misconfigured: ALWAYS,
}

/**
 * Null where the event has no meaning in this state, such as a late response of a replica that is
 * already down.
 */
export function findNextState(from: ReplicaState, event: ReplicaEvent): ReplicaState | null {
  return REPLICA_TRANSITIONS[from][event] ?? null
}
