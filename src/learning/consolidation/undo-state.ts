/** What of consolidations can still be taken back. It is read from the memories, as others may have undone it, or parts of it. */

import type { ChangeId, MemoryId } from '../../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../../domain/limits.ts'
import type { Memory, Revision } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { isRevertible } from '../../memory/undo.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type {
  ConsolidationAction,
  ConsolidationReport,
  StoredConsolidationReport,
  UndoState,
} from './report.ts'

export async function addUndoStates(
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

/** Memories as they are, with every earlier version of those that were changed since. */
class ChangeHistory {
  readonly #now = new Map<MemoryId, Memory>()
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
        for (const memory of page) past.#now.set(memory.id, memory)
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
    const touched = memories.flatMap((id) => this.#standing(id, change) ?? [])
    if (touched.length === 0) return 'impossible'
    return touched.includes(true) ? 'possible' : 'done'
  }

  /** Whether something that the change did to a memory is still so; null when nobody can tell. */
  #standing(id: MemoryId, change: ChangeId): boolean | null {
    const now = this.#now.get(id)
    const versions = this.#versions.get(id) ?? []
    const after =
      now?.change === change ? now : versions.find(({ memory }) => memory.change === change)?.memory
    if (now === undefined || after === undefined) return null
    const before = versions.find(({ replacedBy }) => replacedBy === change)?.memory ?? null
    return isRevertible(now, before, after)
  }
}
