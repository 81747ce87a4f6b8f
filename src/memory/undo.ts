/** Undoing: everything one change did is taken back together. */

import type { ChangeId, MemoryId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import type { Memory } from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import {
  commitWithRetry,
  createChangeStamp,
  type PlannedCommit,
} from '../storage/access/optimistic-commit.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Change } from '../storage/store.ts'
import { buildReplacement, deduplicateTombstones } from './memory-changes.ts'
import { buildTombstoneChanges, buildTombstoneRemovals } from './memory-editor.ts'
import { revertChange } from './reversion.ts'
import { planRelease, planSuppression } from './turn-suppression.ts'
import type { MemoryDependencies } from './types.ts'

export type UndoResult = {
  readonly memories: readonly Memory[]
  /** Fields that later changes have touched and that therefore stay, as `<memory id>.<field>`. */
  readonly conflictingFields: readonly string[]
  /** Turns that were out of use because the change forgot what they state. */
  readonly turnsEnabled: number
}

/** So few that others are answered between two commits. */
const MEMORIES_PER_COMMIT = 50

export async function undoChange(
  ports: MemoryDependencies,
  scope: Scope,
  target: ChangeId,
): Promise<UndoResult> {
  const touched = await loadTouched(ports, scope, target)
  const mark = createChangeStamp(ports)
  const memories: Memory[] = []
  const kept: string[] = []
  let turnsEnabled = 0
  for (let start = 0; start < touched.length; start += MEMORIES_PER_COMMIT) {
    const part = touched.slice(start, start + MEMORIES_PER_COMMIT)
    const undone = await undoTogether(ports, scope, part, mark)
    memories.push(...undone.memories)
    kept.push(...undone.conflictingFields)
    turnsEnabled += undone.turnsEnabled
    await yieldToEventLoop()
  }
  if (memories.length === 0) {
    throw new AppError('not_found', `There is no change ${target} here.`, { change: target })
  }
  return { memories, conflictingFields: kept, turnsEnabled }
}

async function undoTogether(
  ports: MemoryDependencies,
  scope: Scope,
  touched: readonly TouchedMemory[],
  mark: ReturnType<typeof createChangeStamp>,
): Promise<UndoResult> {
  const undone = await commitWithRetry(
    ports,
    async (): Promise<PlannedCommit<UndoResult | null>> => {
      const decided = await planUndo(ports, scope, touched, mark)
      const isTooMuch = decided.changes.length > COMMIT_CHANGES_MAX && touched.length > 1
      return isTooMuch ? { changes: [], result: null } : decided
    },
  )
  if (undone !== null) return undone
  const half = Math.ceil(touched.length / 2)
  const first = await undoTogether(ports, scope, touched.slice(0, half), mark)
  const second = await undoTogether(ports, scope, touched.slice(half), mark)
  return {
    memories: [...first.memories, ...second.memories],
    conflictingFields: [...first.conflictingFields, ...second.conflictingFields],
    turnsEnabled: first.turnsEnabled + second.turnsEnabled,
  }
}

async function planUndo(
  ports: MemoryDependencies,
  scope: Scope,
  touched: readonly TouchedMemory[],
  mark: ReturnType<typeof createChangeStamp>,
): Promise<PlannedCommit<UndoResult>> {
  const changes: Change[] = []
  const memories: Memory[] = []
  const kept: string[] = []
  const restored: Memory[] = []
  const forgottenAgain: Memory[] = []
  for (const { before, after } of touched) {
    const current = await ports.store.get('memory', scope, after.id)
    if (current === null) continue
    const reversion = revertChange(current, before, after, mark)
    memories.push(reversion.memory)
    kept.push(...reversion.conflictingFields.map((field) => `${current.id}.${field}`))
    changes.push(...buildReplacement(ports, current, reversion.memory))
    const [was, is] = [current.status, reversion.memory.status]
    if (was === 'forgotten' && is !== 'forgotten') {
      changes.push(...(await buildTombstoneRemovals(ports, current)))
      restored.push(current)
    }
    if (was !== 'forgotten' && is === 'forgotten') {
      changes.push(...(await buildTombstoneChanges(ports, current, mark.now)))
      // Taking back that something was learned does not make its source wrong; forgetting it once more does.
      if (before !== null) forgottenAgain.push(current)
    }
  }
  const released = await planRelease(ports, restored, mark.now)
  const suppressed = await planSuppression(ports, forgottenAgain, mark.now)
  return {
    changes: [...deduplicateTombstones(changes), ...released.changes, ...suppressed.changes],
    result: { memories, conflictingFields: kept, turnsEnabled: released.turns },
  }
}

/** A memory that the change touched: as it was before, and right after. */
type TouchedMemory = { readonly before: Memory | null; readonly after: Memory }

async function loadTouched(
  { store }: MemoryDependencies,
  scope: Scope,
  target: ChangeId,
): Promise<readonly TouchedMemory[]> {
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
