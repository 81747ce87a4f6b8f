/** Every way that a mirror can get from one state into another. What is not in the table does not happen. */
import type { ReplicaState } from '../vector-replication.ts'

/** What can happen to a mirror. */
export const REPLICA_EVENTS = {
  configured: 'The settings name a mirror, or another one than before.',
  switchedOff: 'The settings name none any more.',
  proven: 'Something was written there and found again.',
  caughtUp: 'It holds what the index of the memories holds.',
  missed: 'It could not be told of a change.',
  differed: 'A comparison found that something is not the same.',
  overwhelmed: 'More has changed than is remembered one by one.',
  emptied: 'It holds nothing any more, though it should.',
  failed: 'It could not be reached, or was too slow.',
  due: 'It is time to try again.',
  doubted: 'It refuses what it took before.',
  refused: 'It will never work as it is configured.',
} as const
export type ReplicaEvent = keyof typeof REPLICA_EVENTS

type TransitionTable = { readonly [Event in ReplicaEvent]?: ReplicaState }

/** From anywhere: the settings have the last word. */
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

/** Null where the event means nothing in this state: a late answer of a mirror that is down already, for one. */
export function findNextState(from: ReplicaState, event: ReplicaEvent): ReplicaState | null {
  return REPLICA_TRANSITIONS[from][event] ?? null
}
