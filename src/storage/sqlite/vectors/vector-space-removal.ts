/**
 * Dropping a space. It loses its name at once, so that nobody finds it any more; its vectors are removed in small
 * parts, so that nobody waits for a million of them. What an interruption leaves is removed with the next drop.
 */

import type { TimeSlice } from '../../../lib/event-loop.ts'
import type { VectorSpace } from '../../vector-index.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'

const ROWS_PER_STEP = 500

export function markSpaceDropped(session: SqliteDatabase, space: VectorSpace): void {
  session.run('UPDATE vector_space SET signature = NULL WHERE signature = ?', [space.signature])
}

export async function removeDroppedSpacesAsync(
  session: SqliteDatabase,
  breather: TimeSlice,
): Promise<void> {
  while (await session.withBusyRetry(() => removeDroppedBatch(session))) {
    if (breather.isExpired) await breather.yieldThread()
  }
}

/** Removes some vectors of spaces that were discarded. False when none are left. */
export function removeDroppedBatch(session: SqliteDatabase): boolean {
  const [space] = session.all('SELECT number FROM vector_space WHERE signature IS NULL LIMIT 1')
  if (space === undefined) return false
  const number = Number(space.number)
  session.ownerCache.clear()
  session.runInTransaction(() => {
    const { changes } = session.run(
      `DELETE FROM vector WHERE space = ?1 AND (owner_number, sequence) IN
         (SELECT owner_number, sequence FROM vector WHERE space = ?1 LIMIT ${ROWS_PER_STEP})`,
      [number],
    )
    if (changes === ROWS_PER_STEP) return
    session.run('DELETE FROM vector_owner WHERE space = ?', [number])
    session.run('DELETE FROM vector_space WHERE number = ?', [number])
  })
  return true
}
