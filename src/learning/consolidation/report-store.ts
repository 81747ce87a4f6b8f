/** Reports of consolidation: the last ones of each owner are kept, without what would fill them. */

import { parseEntries } from '../../domain/entries/entry.ts'
import type { ReportId } from '../../domain/ids.ts'
import type { Scope } from '../../domain/scope.ts'
import { addMs, type Instant } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { buildEntryChange } from '../../storage/access/system-entries.ts'
import type { Change } from '../../storage/store.ts'
import type { ConsolidationReport, StoredConsolidationReport } from './report.ts'
import { addUndoStates } from './undo-state.ts'

export const REPORTS_MAX = 30
const STORED_ACTIONS_MAX = 200
const SURPLUS_MAX = 100

export async function saveReport(
  { store, ids }: MemoryDependencies,
  scope: Scope,
  report: ConsolidationReport,
): Promise<ConsolidationReport> {
  const id = ids.next('rpt', report.startedAt)
  const { id: _, ...body } = { ...report, actions: report.actions.slice(0, STORED_ACTIONS_MAX) }
  const { change } = buildEntryChange(
    {
      ...{ id, kind: 'consolidation-report', about: scope.owner, at: report.startedAt, body },
      place: { owner: scope.owner, user: scope.user ?? null, session: null },
    },
    null,
  )
  const { rows: surplus } = await store.find('entry', scope, {
    where: { kinds: ['consolidation-report'] },
    order: 'newest',
    offset: REPORTS_MAX - 1,
    limit: SURPLUS_MAX,
  })
  await store.commit([
    change,
    ...surplus.map(
      (entry): Change => ({ op: 'remove', table: 'entry', scope, id: entry.id, expect: 'any' }),
    ),
  ])
  return { ...report, id }
}

/** Newest first, at most thirty. */
export async function listReports(
  ports: MemoryDependencies,
  scope: Scope,
): Promise<readonly StoredConsolidationReport[]> {
  const { rows } = await ports.store.find('entry', scope, {
    where: { kinds: ['consolidation-report'] },
    order: 'newest',
    limit: REPORTS_MAX,
  })
  const reports = parseEntries('consolidation-report', rows).map(({ body, id }) => ({
    ...body,
    id: id as ReportId, // the id of an entry of this kind
  }))
  return addUndoStates(ports, scope, reports)
}

/** When the last one began that is not later than now: a later one was made by a clock that has been set back since. */
export async function getLastConsolidation(
  { store }: MemoryDependencies,
  scope: Scope,
  now: Instant,
): Promise<Instant | null> {
  const { rows } = await store.find('entry', scope, {
    where: { kinds: ['consolidation-report'], atBefore: addMs(now, 1) },
    order: 'newest',
    limit: 1,
  })
  return rows[0]?.at ?? null
}
