/** What can't be brought back: entries past their time, and what has been in the bin for long enough. */
import { days } from '../../core/consolidation/leaving.ts'
import { DAY_MS } from '../../core/decay.ts'
import type { Scope } from '../../core/ids.ts'
import type { EntryFilter } from '../../ports/store.ts'
import { emptyBin } from '../correct.ts'
import { pages } from '../paging.ts'
import { SYSTEM } from '../system/entries.ts'
import { nextTurn } from '../turns.ts'
import type { Run } from './run.ts'

const ROWS_PER_COMMIT = 100

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

/** Erases what was put into the bin more than `binDays` ago. */
export async function emptyOldBin(run: Run): Promise<number> {
  const { ports, scope, isDryRun, settings } = run
  run.tell({ step: 'empty', done: 0, total: null })
  const emptied = isDryRun ? await countOld(run) : (await emptyBin(ports, scope)).memories
  if (emptied > 0) {
    const because = `${emptied} memories were in the bin for more than ${days(settings.binDays)}.`
    run.actions.add({ kind: 'emptyBin', memories: [], because, change: null })
  }
  return emptied
}

async function countOld({ ports, scope, now, settings }: Run): Promise<number> {
  const before = now - settings.binDays * DAY_MS
  const where = { statuses: ['forgotten'] } as const
  let count = 0
  for await (const page of pages(ports.store, 'memory', scope, { where })) {
    count += page.filter(({ updatedAt }) => updatedAt <= before).length
  }
  return count
}
