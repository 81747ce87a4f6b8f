import type { EntryId, OwnerId } from '../domain/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Table, Tables } from './store.ts'

/** A row that was written or removed: reading it tells which. A changed vector counts as a change of its memory. */
export type ChangedRow = {
  [T in Table]: { readonly table: T; readonly owner: OwnerId; readonly id: Tables[T]['id'] }
}[Table]

/** Logged changes, each row once, with the sequence numbers that acknowledge them. */
export type LoggedChanges = {
  readonly rows: readonly ChangedRow[]
  readonly sequenceNumbers: readonly number[]
}

/** How the error begins that a migrated store answers writes with. */
export const MOVED_MESSAGE = 'This store has moved to '

/**
 * The source side of a store migration, which copies a store to another one while it is in use.
 *
 * Change log, write freeze and handover live inside the database, so they bind every process that writes there,
 * including processes that started earlier or run another version.
 */
export interface MigrationSource {
  /** Starts to log changes. `going on`: the log of an earlier run continues, without gaps. */
  startChangeLog(): Promise<'begun' | 'going on'>
  /** The oldest logged changes. */
  readChangeLog(limit: number): Promise<LoggedChanges>
  /** Deletes changes from the log. */
  acknowledgeChanges(numbers: readonly number[]): Promise<void>
  /**
   * Runs `work` while all writers wait, those of this process included: `work` must not commit here. Commits what
   * `handOver` did, or nothing when `work` fails.
   */
  freezeWrites<T>(work: (freeze: WriteFreeze) => Promise<T>): Promise<T>
  /** Accepts writes again and stops the change log. */
  resumeWrites(): Promise<void>
}

export interface WriteFreeze {
  /** When writers may have begun to wait, by `performance.now()`. Includes the wait for the lock. */
  readonly since: number
  /** Blocks all further writes with `message`, stops the change log, and replaces the body of an existing entry. */
  handOver(handover: MigrationHandover): Promise<void>
}

export type MigrationHandover = {
  readonly entry: EntryId
  readonly body: JsonObject
  readonly message: string
}
