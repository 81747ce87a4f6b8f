/** Reports of consolidation: the last ones of each owner are kept, without what would fill them. */
import type { ConsolidationReport } from '../../core/consolidation/report.ts'
import type { Entry } from '../../core/entry.ts'
import type { Instant, ReportId, Scope } from '../../core/ids.ts'
import type { JsonObject } from '../../core/memory.ts'
import type { Change } from '../../ports/store.ts'
import type { EnginePorts } from '../ports.ts'

export const REPORTS_KEPT = 30
const ACTIONS_KEPT = 200
const SURPLUS_MAX = 100

export async function saveReport(
  { store, ids }: EnginePorts,
  scope: Scope,
  report: ConsolidationReport,
): Promise<ConsolidationReport> {
  const { finishedAt, actions, ...rest } = report
  const id = ids.next('rpt', report.startedAt)
  const body = { ...rest, id, finishedAt, actions: actions.slice(0, ACTIONS_KEPT) } as JsonObject // plain data
  const row: Entry = {
    id,
    place: { owner: scope.owner, user: scope.user ?? null, session: null },
    kind: 'report',
    about: scope.owner,
    at: report.startedAt,
    expiresAt: null,
    version: 1,
    body,
  }
  const { rows: surplus } = await store.find('entry', scope, {
    where: { kinds: ['report'] },
    order: 'newest',
    offset: REPORTS_KEPT - 1,
    limit: SURPLUS_MAX,
  })
  await store.commit([
    { op: 'put', table: 'entry', row, expect: 'absent' },
    ...surplus.map(
      (entry): Change => ({ op: 'remove', table: 'entry', scope, id: entry.id, expect: 'any' }),
    ),
  ])
  return { ...report, id }
}

/** Newest first, at most thirty. */
export async function listReports(
  { store }: EnginePorts,
  scope: Scope,
): Promise<readonly ConsolidationReport[]> {
  const { rows } = await store.find('entry', scope, {
    where: { kinds: ['report'] },
    order: 'newest',
    limit: REPORTS_KEPT,
  })
  return rows.map(({ body, id }) => ({ ...(body as ConsolidationReport), id: id as ReportId })) // as saved above
}

/** When the last one began that is not later than now: a later one was made by a clock that has been set back since. */
export async function lastConsolidatedAt(
  { store }: EnginePorts,
  scope: Scope,
  now: Instant,
): Promise<Instant | null> {
  const { rows } = await store.find('entry', scope, {
    where: { kinds: ['report'], atBefore: (now + 1) as Instant },
    order: 'newest',
    limit: 1,
  })
  return rows[0]?.at ?? null
}
