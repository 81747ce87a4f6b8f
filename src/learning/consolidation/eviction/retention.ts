/** What can't be brought back: entries past their time, and what has been in the bin for long enough. */

import type { MemoryId } from '../../../domain/ids.ts'
import type { Memory } from '../../../domain/memory.ts'
import type { Scope } from '../../../domain/scope.ts'
import { yieldToEventLoop } from '../../../lib/event-loop.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { eraseMatching } from '../../../memory/memory-editor.ts'
import { pages } from '../../../storage/access/row-pages.ts'
import { SYSTEM_SCOPE } from '../../../storage/access/system-entries.ts'
import type { EntryFilter } from '../../../storage/store.ts'
import type { ConsolidationRun } from '../consolidation-run.ts'
import { formatDays } from './eviction-policy.ts'

/** So few that others are answered between two commits. */
const ROWS_PER_COMMIT = 20

/** The owner's own entries, and those about it in the logs of the system. */
export async function deleteExpiredEntries(run: ConsolidationRun): Promise<number> {
  const { scope, now } = run
  const trimmed =
    (await deleteExpiredIn(run, scope, { expiredBy: now })) +
    (await deleteExpiredIn(run, SYSTEM_SCOPE, {
      kinds: ['audit', 'answer'],
      about: scope.owner,
      expiredBy: now,
    }))
  if (trimmed > 0) {
    const because = `${trimmed} entries of logs are past their time.`
    run.actions.add({ kind: 'delete-expired-entries', memories: [], reason: because, change: null })
  }
  return trimmed
}

async function deleteExpiredIn(
  run: ConsolidationRun,
  scope: Scope,
  where: EntryFilter,
): Promise<number> {
  const { ports, isDryRun } = run
  let trimmed = 0
  for await (const page of pages(ports.store, 'entry', scope, { where, limit: ROWS_PER_COMMIT })) {
    run.reportProgress({ step: 'delete-expired-entries', done: trimmed, total: null })
    trimmed += page.length
    if (isDryRun) continue
    await ports.store.commit(
      page.map(({ id }) => ({ op: 'remove', table: 'entry', scope, id, expect: 'any' })),
    )
    await yieldToEventLoop()
  }
  return trimmed
}

export function computeTrashCutoff({ now, settings }: ConsolidationRun): number {
  return now - settings['retention.trashDays'] * DAY_MS
}

/** Erases what was put into the bin more than `binDays` ago and is still there. */
export async function deleteOldTrash(
  run: ConsolidationRun,
  ids: readonly MemoryId[],
): Promise<number> {
  const { ports, scope, isDryRun, settings } = run
  const isMeant = ({ status, updatedAt }: Memory) =>
    status === 'forgotten' && updatedAt <= computeTrashCutoff(run)
  let emptied = isDryRun ? ids.length : 0
  for (const [index, id] of isDryRun ? [] : ids.entries()) {
    run.reportProgress({ step: 'empty-trash', done: index, total: ids.length })
    if ((await eraseMatching(ports, scope, id, isMeant)) !== null) emptied++
    await yieldToEventLoop()
  }
  if (emptied > 0) {
    const because = `${emptied} memories were in the bin for more than ${formatDays(settings['retention.trashDays'])}.`
    // Whoever looks first is told which; afterwards there is nothing left that could be named.
    run.actions.add({
      kind: 'empty-trash',
      memories: isDryRun ? ids : [],
      reason: because,
      change: null,
    })
  }
  return emptied
}
