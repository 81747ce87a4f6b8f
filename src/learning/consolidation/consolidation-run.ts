/** State shared by the steps of one consolidation. */

import type { ChangeId, MemoryId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { Instant } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { ConsolidationAction, ConsolidationStep } from './report.ts'

/** Recorded actions per run; a dry run records all of them. */
const RECORDED_ACTIONS_MAX = 1_000

export type ConsolidationProgress = {
  readonly step: ConsolidationStep
  readonly done: number
  /** Null while unknown. */
  readonly total: number | null
}

export type ConsolidationRun = {
  readonly ports: MemoryDependencies
  readonly scope: Scope
  /** One instant for all steps, so that they agree with each other. */
  readonly now: Instant
  readonly settings: Settings
  readonly isDryRun: boolean
  /** Reports progress; throws when the run was aborted. */
  readonly reportProgress: (progress: ConsolidationProgress) => void
  readonly actions: ActionLog
  /** Memories that this run moved to the trash, or would move. */
  readonly trashed: Set<MemoryId>
}

/** Counts all actions and records the first ones; in a dry run, all of them. */
export class ActionLog {
  readonly recorded: ConsolidationAction[] = []
  readonly #recordedMax: number
  total = 0

  constructor({ isDryRun }: Pick<ConsolidationRun, 'isDryRun'>) {
    this.#recordedMax = isDryRun ? Number.POSITIVE_INFINITY : RECORDED_ACTIONS_MAX
  }

  add(action: ConsolidationAction): void {
    this.total++
    if (this.recorded.length < this.#recordedMax) this.recorded.push(action)
  }
}

export function createChangeId({ ports, now }: ConsolidationRun): ChangeId {
  return ports.ids.next('chg', now)
}

/** The current memories in the order of the ids; removed ones are missing. */
export async function loadMemories(
  { ports, scope }: ConsolidationRun,
  ids: readonly MemoryId[],
): Promise<readonly Memory[]> {
  const { rows } = await ports.store.find('memory', scope, { where: { ids }, limit: ids.length })
  const byId = new Map(rows.map((memory) => [memory.id, memory]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
