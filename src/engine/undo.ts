/** Undoing: everything one change did is taken back together. */
import { AppError } from '../core/errors.ts'
import type { ChangeId, MemoryId, Scope } from '../core/ids.ts'
import { PAGE_ROWS_MAX } from '../core/limits.ts'
import type { Memory } from '../core/memory.ts'
import { revert } from '../core/undoing.ts'
import type { Change } from '../ports/store.ts'
import { decideAndCommit, replacing, stamp } from './changes.ts'
import { leaveTombstones, liftTombstones } from './correct.ts'
import type { EnginePorts } from './ports.ts'

export type Undone = {
  readonly memories: readonly Memory[]
  /** Fields that later changes have touched and that therefore stay, as `<memory id>.<field>`. */
  readonly kept: readonly string[]
}

export async function undo(ports: EnginePorts, scope: Scope, target: ChangeId): Promise<Undone> {
  return decideAndCommit(ports, async () => {
    const steps = await stepsOf(ports, scope, target)
    if (steps.length === 0) {
      throw new AppError('not_found', `There is no change ${target} here.`, { change: target })
    }
    const mark = stamp(ports)
    const changes: Change[] = []
    const memories: Memory[] = []
    const kept: string[] = []
    for (const { before, after, current } of steps) {
      const reversion = revert(current, before, after, mark)
      memories.push(reversion.memory)
      kept.push(...reversion.kept.map((field) => `${current.id}.${field}`))
      changes.push(...replacing(ports, current, reversion.memory))
      const [was, is] = [current.status, reversion.memory.status]
      if (was === 'forgotten' && is !== 'forgotten') {
        changes.push(...(await liftTombstones(ports, current)))
      }
      if (was !== 'forgotten' && is === 'forgotten') {
        changes.push(...(await leaveTombstones(ports, current, mark.now)))
      }
    }
    return { changes, result: { memories, kept } }
  })
}

/** A memory that the change touched: as it was before, right after, and as it is now. */
type UndoStep = {
  readonly before: Memory | null
  readonly after: Memory
  readonly current: Memory
}

async function stepsOf(
  { store }: EnginePorts,
  scope: Scope,
  target: ChangeId,
): Promise<readonly UndoStep[]> {
  const limit = PAGE_ROWS_MAX
  const untouchedSince = await store.find('memory', scope, { where: { change: target }, limit })
  const madeByIt = await store.find('revision', scope, { where: { madeBy: target }, limit })
  const endedByIt = await store.find('revision', scope, { where: { replacedBy: target }, limit })
  const afters = new Map<MemoryId, Memory>(
    [...untouchedSince.rows, ...madeByIt.rows.map((revision) => revision.memory)].map((memory) => [
      memory.id,
      memory,
    ]),
  )
  const befores = new Map(endedByIt.rows.map(({ memory }) => [memory.id, memory]))
  const steps: UndoStep[] = []
  for (const [id, after] of afters) {
    const current = await store.get('memory', scope, id)
    if (current !== null) steps.push({ before: befores.get(id) ?? null, after, current })
  }
  // What the change created goes first, so that a key it holds is free for what it replaced.
  return steps.sort((a, b) => Number(a.before !== null) - Number(b.before !== null))
}
