import type { EntryId, OwnerId } from '../domain/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Table, Tables } from './store.ts'

/** A row that was written or removed; which of them, looking tells. A memory also counts when its vectors changed. */
export type ChangedRow = {
  [T in Table]: { readonly table: T; readonly owner: OwnerId; readonly id: Tables[T]['id'] }
}[Table]

/** Changes that were noted, each row once, and what to call them by when they are done with. */
export type LoggedChanges = {
  readonly rows: readonly ChangedRow[]
  readonly sequenceNumbers: readonly number[]
}

/** What writes to a store are answered with after it was left: the beginning of the message. */
export const MOVED_MESSAGE = 'This store has moved to '

/**
 * Leaving: what a store can do so that everything in it can be moved elsewhere while it is used.
 *
 * All of it works inside the database, so it holds for every process that writes there, also for those that were
 * started earlier or by another version.
 */
export interface MigrationSource {
  /** From now on changes are noted. `going on`: they have been for some time, nothing of it was lost. */
  startChangeLog(): Promise<'begun' | 'going on'>
  /** What was noted first, up to so many notes. */
  readChangeLog(limit: number): Promise<LoggedChanges>
  /** Forgets notes that were taken care of. */
  acknowledgeChanges(numbers: readonly number[]): Promise<void>
  /**
   * Runs `work` while every write waits, of this process too: nothing may be committed here meanwhile. Ends with what
   * `depart` has done, or, when `work` fails, with nothing changed.
   */
  freezeWrites<T>(work: (held: WriteFreeze) => Promise<T>): Promise<T>
  /** Takes writes again, and notes nothing any more. */
  resumeWrites(): Promise<void>
}

export interface WriteFreeze {
  /** Since when others may have waited, by `performance.now()`: waiting for the lock is among it. */
  readonly since: number
  /** Refuses every further write with the message, notes nothing any more, and writes the body into an entry that is there. */
  handOver(departure: MigrationHandover): Promise<void>
}

export type MigrationHandover = {
  readonly entry: EntryId
  readonly body: JsonObject
  readonly message: string
}
