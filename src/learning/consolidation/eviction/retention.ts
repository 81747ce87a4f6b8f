/** What can't be brought back: entries past their time, and what has been in the bin for long enough. */

import type { MemoryId } from '../../../domain/ids.ts'
import type { Memory } from '../../../domain/memory.ts'
import type { Scope } from '../../../domain/scope.ts'
import { DAY_MS } from '../../../lib/decay.ts'
import { nextTurn } from '../../../lib/event-loop.ts'
import { eraseIf } from '../../../memory/memory-editor.ts'
import { pages } from '../../../storage/access/row-pages.ts'
import { SYSTEM } from '../../../storage/access/system-entries.ts'
import type { EntryFilter } from '../../../storage/store.ts'
import type { Run } from '../consolidation-run.ts'
import { days } from './eviction-policy.ts'

/** So few that others are answered between two commits. */
const ROWS_PER_COMMIT = 20

/** The owner's own entries, and those about it in the logs of the system. */
export async function trimEntries(run: Run): Promise<number> {
  const { scope, now } = run
  const trimmed =
    (await trimIn(run, scope, { expiredBy: now })) +
    (await trimIn(run, SYSTEM, {
      kinds: ['audit', 'answer'],
      about: scope.owner,
      expiredBy: now,
    }))
  if (trimmed > 0) {
    const because = `${trimmed} entries of logs are past their time.`
    run.actions.add({ kind: 'trim', memories: [], because, change: null })
  }
  return trimmed
}

async function trimIn(run: Run, scope: Scope, where: EntryFilter): Promise<number> {
  const { ports, isDryRun } = run
  let trimmed = 0
  for await (const page of pages(ports.store, 'entry', scope, { where, limit: ROWS_PER_COMMIT })) {
    run.tell({ step: 'trim', done: trimmed, total: null })
    trimmed += page.length
    if (isDryRun) continue
    await ports.store.commit(
      page.map(({ id }) => ({ op: 'remove', table: 'entry', scope, id, expect: 'any' })),
    )
    await nextTurn()
  }
  return trimmed
}

export function binnedBefore({ now, settings }: Run): number {
  return now - settings.binDays * DAY_MS
}

/** Erases what was put into the bin more than `binDays` ago and is still there. */
export async function emptyOldBin(run: Run, ids: readonly MemoryId[]): Promise<number> {
  const { ports, scope, isDryRun, settings } = run
  const isMeant = ({ status, updatedAt }: Memory) =>
    status === 'forgotten' && updatedAt <= binnedBefore(run)
  let emptied = isDryRun ? ids.length : 0
  for (const [index, id] of isDryRun ? [] : ids.entries()) {
    run.tell({ step: 'empty', done: index, total: ids.length })
    if ((await eraseIf(ports, scope, id, isMeant)) !== null) emptied++
    await nextTurn()
  }
  if (emptied > 0) {
    const because = `${emptied} memories were in the bin for more than ${days(settings.binDays)}.`
    // Whoever looks first is told which; afterwards there is nothing left that could be named.
    run.actions.add({ kind: 'emptyBin', memories: isDryRun ? ids : [], because, change: null })
  }
  return emptied
}
