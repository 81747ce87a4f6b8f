/** Stores consolidation reports: the latest ones of each owner, with a limited number of actions. */

import { parseEntries } from '../../domain/entries/entry.ts'
import type { ChangeId, MemoryId, ReportId } from '../../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../../domain/limits.ts'
import type { Memory, Revision } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { addMs, type Instant } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { isRevertible } from '../../memory/undo.ts'
import { pages } from '../../storage/access/row-pages.ts'
import { buildEntryChange } from '../../storage/access/system-entries.ts'
import type { Change } from '../../storage/store.ts'
import type {
  ConsolidationAction,
  ConsolidationReport,
  StoredConsolidationReport,
  UndoState,
} from './report.ts'

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

/** The start of the last consolidation; reports from the future come from a clock that was set back since. */
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

/** Derives from current memories and revisions which actions can still be undone. */
async function addUndoStates(
  ports: MemoryDependencies,
  scope: Scope,
  reports: readonly ConsolidationReport[],
): Promise<readonly StoredConsolidationReport[]> {
  const undoable = reports.flatMap(({ actions }) => actions.filter(({ change }) => change !== null))
  const past = await ChangeHistory.of(ports, scope, [
    ...new Set(undoable.flatMap(({ memories }) => memories)),
  ])
  return reports.map((report) => ({
    ...report,
    actions: report.actions.map((action) => ({ ...action, undo: past.undoStateOf(action) })),
  }))
}

/** Current memories with their revisions. */
class ChangeHistory {
  readonly #current = new Map<MemoryId, Memory>()
  readonly #versions = new Map<MemoryId, Revision[]>()

  static async of(
    { store }: MemoryDependencies,
    scope: Scope,
    ids: readonly MemoryId[],
  ): Promise<ChangeHistory> {
    const past = new ChangeHistory()
    for (let start = 0; start < ids.length; start += PAGE_ROWS_MAX) {
      const some = ids.slice(start, start + PAGE_ROWS_MAX)
      for await (const page of pages(store, 'memory', scope, { where: { ids: some } })) {
        for (const memory of page) past.#current.set(memory.id, memory)
      }
      for await (const page of pages(store, 'revision', scope, { where: { memories: some } })) {
        for (const revision of page) {
          const known = past.#versions.get(revision.memory.id) ?? []
          past.#versions.set(revision.memory.id, [...known, revision])
        }
      }
    }
    return past
  }

  undoStateOf({ change, memories }: ConsolidationAction): UndoState {
    if (change === null) return 'impossible'
    const touched = memories.flatMap((id) => this.#isInEffect(id, change) ?? [])
    if (touched.length === 0) return 'impossible'
    return touched.includes(true) ? 'possible' : 'done'
  }

  /** Whether an effect of the change on a memory persists; null when unknown. */
  #isInEffect(id: MemoryId, change: ChangeId): boolean | null {
    const now = this.#current.get(id)
    const versions = this.#versions.get(id) ?? []
    const after =
      now?.change === change ? now : versions.find(({ memory }) => memory.change === change)?.memory
    if (now === undefined || after === undefined) return null
    const before = versions.find(({ replacedBy }) => replacedBy === change)?.memory ?? null
    return isRevertible(now, before, after)
  }
}
