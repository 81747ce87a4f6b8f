/** Permanent deletion: expired entries, and memories past the retention of the trash. */

import type { MemoryId } from '../../../domain/ids.ts'
import type { Memory } from '../../../domain/memory.ts'
import type { Scope } from '../../../domain/scope.ts'
import { yieldToEventLoop } from '../../../lib/event-loop.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { eraseMatching } from '../../../memory/memory-editor.ts'
import { pages } from '../../../storage/access/row-pages.ts'
import { SYSTEM_SCOPE } from '../../../storage/access/system-entries.ts'
import type { Change, Tables } from '../../../storage/store.ts'
import type { ConsolidationRun } from '../consolidation-run.ts'
import { formatDays } from './eviction-policy.ts'

/** Small commits let other requests run in between. */
const ROWS_PER_COMMIT = 20

/** The owner's own entries and signals, and the entries about it in the logs of the system. */
export async function deleteExpiredEntries(run: ConsolidationRun): Promise<number> {
  const { scope, now } = run
  const logs = { kinds: ['audit', 'idempotency'], about: scope.owner } as const
  const deleted =
    (await deleteExpiredRows(run, 'entry', scope, { expiredBy: now })) +
    (await deleteExpiredRows(run, 'signal', scope, { expiredBy: now })) +
    (await deleteExpiredRows(run, 'entry', SYSTEM_SCOPE, { ...logs, expiredBy: now }))
  if (deleted > 0) {
    const reason = `${deleted} log entries have expired.`
    run.actions.add({ kind: 'delete-expired-entries', memories: [], reason, change: null })
  }
  return deleted
}

async function deleteExpiredRows<T extends 'entry' | 'signal'>(
  run: ConsolidationRun,
  table: T,
  scope: Scope,
  where: Tables[T]['where'],
): Promise<number> {
  const { ports, isDryRun } = run
  let deleted = 0
  for await (const page of pages(ports.store, table, scope, { where, limit: ROWS_PER_COMMIT })) {
    run.reportProgress({ step: 'delete-expired-entries', done: deleted, total: null })
    deleted += page.length
    if (isDryRun) continue
    await ports.store.commit(
      page.map(({ id }) => ({ op: 'remove', table, scope, id, expect: 'any' }) as Change), // an id of this table
    )
    await yieldToEventLoop()
  }
  return deleted
}

export function computeTrashCutoff({ now, settings }: ConsolidationRun): number {
  return now - settings['retention.trashDays'] * DAY_MS
}

/** Erases memories that have been in the trash for more than `retention.trashDays`. */
export async function deleteOldTrash(
  run: ConsolidationRun,
  ids: readonly MemoryId[],
): Promise<number> {
  const { ports, scope, isDryRun, settings } = run
  const isOldTrash = ({ status, updatedAt }: Memory) =>
    status === 'forgotten' && updatedAt <= computeTrashCutoff(run)
  let purged = isDryRun ? ids.length : 0
  for (const [index, id] of isDryRun ? [] : ids.entries()) {
    run.reportProgress({ step: 'empty-trash', done: index, total: ids.length })
    if ((await eraseMatching(ports, scope, id, isOldTrash)) !== null) purged++
    await yieldToEventLoop()
  }
  if (purged > 0) {
    const reason = `${purged} memories were in the trash for more than ${formatDays(settings['retention.trashDays'])}.`
    // After the deletion, the ids name nothing.
    run.actions.add({
      kind: 'empty-trash',
      memories: isDryRun ? ids : [],
      reason,
      change: null,
    })
  }
  return purged
}
