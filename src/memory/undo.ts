/** Undoing: everything one change did is taken back together. */
import { AppError } from '../domain/errors.ts'
import type { ChangeId, MemoryId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import type { Memory } from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import type { EnginePorts } from '../engine/engine-dependencies.ts'
import { nextTurn } from '../lib/event-loop.ts'
import { type Decided, decideAndCommit, stamp } from '../storage/access/optimistic-commit.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Change } from '../storage/store.ts'
import { eachTraceOnce, replacing } from './memory-changes.ts'
import { leaveTombstones, liftTombstones } from './memory-editor.ts'
import { revert } from './reversion.ts'
import { planRelease, planSuppression } from './turn-suppression.ts'

export type Undone = {
  readonly memories: readonly Memory[]
  /** Fields that later changes have touched and that therefore stay, as `<memory id>.<field>`. */
  readonly kept: readonly string[]
  /** Turns that were out of use because the change forgot what they state. */
  readonly turnsEnabled: number
}

/** So few that others are answered between two commits. */
const MEMORIES_PER_COMMIT = 50

export async function undo(ports: EnginePorts, scope: Scope, target: ChangeId): Promise<Undone> {
  const touched = await touchedBy(ports, scope, target)
  const mark = stamp(ports)
  const memories: Memory[] = []
  const kept: string[] = []
  let turnsEnabled = 0
  for (let start = 0; start < touched.length; start += MEMORIES_PER_COMMIT) {
    const part = touched.slice(start, start + MEMORIES_PER_COMMIT)
    const undone = await undoTogether(ports, scope, part, mark)
    memories.push(...undone.memories)
    kept.push(...undone.kept)
    turnsEnabled += undone.turnsEnabled
    await nextTurn()
  }
  if (memories.length === 0) {
    throw new AppError('not_found', `There is no change ${target} here.`, { change: target })
  }
  return { memories, kept, turnsEnabled }
}

async function undoTogether(
  ports: EnginePorts,
  scope: Scope,
  touched: readonly Touched[],
  mark: ReturnType<typeof stamp>,
): Promise<Undone> {
  const undone = await decideAndCommit(ports, async (): Promise<Decided<Undone | null>> => {
    const decided = await undoing(ports, scope, touched, mark)
    const isTooMuch = decided.changes.length > COMMIT_CHANGES_MAX && touched.length > 1
    return isTooMuch ? { changes: [], result: null } : decided
  })
  if (undone !== null) return undone
  const half = Math.ceil(touched.length / 2)
  const first = await undoTogether(ports, scope, touched.slice(0, half), mark)
  const second = await undoTogether(ports, scope, touched.slice(half), mark)
  return {
    memories: [...first.memories, ...second.memories],
    kept: [...first.kept, ...second.kept],
    turnsEnabled: first.turnsEnabled + second.turnsEnabled,
  }
}

async function undoing(
  ports: EnginePorts,
  scope: Scope,
  touched: readonly Touched[],
  mark: ReturnType<typeof stamp>,
): Promise<Decided<Undone>> {
  const changes: Change[] = []
  const memories: Memory[] = []
  const kept: string[] = []
  const restored: Memory[] = []
  const forgottenAgain: Memory[] = []
  for (const { before, after } of touched) {
    const current = await ports.store.get('memory', scope, after.id)
    if (current === null) continue
    const reversion = revert(current, before, after, mark)
    memories.push(reversion.memory)
    kept.push(...reversion.kept.map((field) => `${current.id}.${field}`))
    changes.push(...replacing(ports, current, reversion.memory))
    const [was, is] = [current.status, reversion.memory.status]
    if (was === 'forgotten' && is !== 'forgotten') {
      changes.push(...(await liftTombstones(ports, current)))
      restored.push(current)
    }
    if (was !== 'forgotten' && is === 'forgotten') {
      changes.push(...(await leaveTombstones(ports, current, mark.now)))
      // Taking back that something was learned does not make its source wrong; forgetting it once more does.
      if (before !== null) forgottenAgain.push(current)
    }
  }
  const released = await planRelease(ports, restored, mark.now)
  const suppressed = await planSuppression(ports, forgottenAgain, mark.now)
  return {
    changes: [...eachTraceOnce(changes), ...released.changes, ...suppressed.changes],
    result: { memories, kept, turnsEnabled: released.turns },
  }
}

/** A memory that the change touched: as it was before, and right after. */
type Touched = { readonly before: Memory | null; readonly after: Memory }

async function touchedBy(
  { store }: EnginePorts,
  scope: Scope,
  target: ChangeId,
): Promise<readonly Touched[]> {
  const afters = new Map<MemoryId, Memory>()
  for await (const page of pages(store, 'memory', scope, { where: { change: target } })) {
    for (const memory of page) afters.set(memory.id, memory)
  }
  for await (const page of pages(store, 'revision', scope, { where: { madeBy: target } })) {
    for (const { memory } of page) afters.set(memory.id, memory)
  }
  const befores = new Map<MemoryId, Memory>()
  for await (const page of pages(store, 'revision', scope, { where: { replacedBy: target } })) {
    for (const { memory } of page) befores.set(memory.id, memory)
  }
  // What the change created goes first, so that a key it holds is free for what it replaced.
  return [...afters.values()]
    .map((after) => ({ before: befores.get(after.id) ?? null, after }))
    .sort((a, b) => Number(a.before !== null) - Number(b.before !== null))
}
