/** What the steps of one consolidation share. */

import type { ChangeId, MemoryId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import { throwIfAborted } from '../../lib/abort.ts'
import type { Instant } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { ConsolidationAction, ConsolidationStep } from './report.ts'

/** Of a run; a dry run, which is there to be read, tells all of them. */
const ACTIONS_TOLD_MAX = 1_000

export type ConsolidationProgress = {
  readonly step: ConsolidationStep
  readonly done: number
  /** Null while nobody knows. */
  readonly total: number | null
}

export type ConsolidationRun = {
  readonly ports: MemoryDependencies
  readonly scope: Scope
  /** The same for all of it, so that steps agree with each other. */
  readonly now: Instant
  readonly settings: Settings
  readonly isDryRun: boolean
  /** Tells how far it is; throws when it is to stop. */
  readonly reportProgress: (progress: ConsolidationProgress) => void
  readonly actions: ActionLog
  /** What this run put into the bin, or would. */
  readonly trashed: Set<MemoryId>
}

/** Counts all of them and remembers the first ones, or all for somebody who wants to see them before. */
export class ActionLog {
  readonly told: ConsolidationAction[] = []
  readonly #toldMax: number
  total = 0

  constructor({ isDryRun }: Pick<ConsolidationRun, 'isDryRun'>) {
    this.#toldMax = isDryRun ? Number.POSITIVE_INFINITY : ACTIONS_TOLD_MAX
  }

  add(action: ConsolidationAction): void {
    this.total++
    if (this.told.length < this.#toldMax) this.told.push(action)
  }
}

export function createChangeId({ ports, now }: ConsolidationRun): ChangeId {
  return ports.ids.next('chg', now)
}

/** As they are now, in the order of the ids; those that are gone are left out. */
export async function loadMemories(
  { ports, scope }: ConsolidationRun,
  ids: readonly MemoryId[],
): Promise<readonly Memory[]> {
  const { rows } = await ports.store.find('memory', scope, { where: { ids }, limit: ids.length })
  const byId = new Map(rows.map((memory) => [memory.id, memory]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

export function throwIfConsolidationAborted(signal: AbortSignal | undefined): void {
  throwIfAborted(
    signal,
    'Consolidation was stopped. What was done stays; the next one goes on from there.',
  )
}
