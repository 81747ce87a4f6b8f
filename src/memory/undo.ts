/** Undoes a change: reverts everything it did, field by field, so that later changes of other fields stay. */

import type { ChangeId, MemoryId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import { createChangeStamp, type PlannedCommit } from '../storage/access/optimistic-commit.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Change } from '../storage/store.ts'
import { planRelease, planSuppression } from './deletion/turn-suppression.ts'
import {
  buildReplacement,
  type ChangeStamp,
  commitInBatches,
  isJsonEqual,
} from './memory-changes.ts'
import {
  buildTombstoneChanges,
  buildTombstoneRemovals,
  deduplicateTombstones,
} from './tombstones.ts'
import type { MemoryDependencies } from './types.ts'

export type UndoResult = {
  readonly memories: readonly Memory[]
  /** Fields that later changes have modified and that therefore stay, as `<memory id>.<field>`. */
  readonly conflictingFields: readonly string[]
  /** Turns that were disabled because the change forgot the facts that they state. */
  readonly turnsEnabled: number
}

export async function undoChange(
  deps: MemoryDependencies,
  scope: Scope,
  change: ChangeId,
): Promise<UndoResult> {
  const touched = await loadTouched(deps, scope, change)
  const stamp = createChangeStamp(deps)
  const results = await commitInBatches(deps, touched, (batch) =>
    planUndo(deps, scope, batch, stamp),
  )
  const memories = results.flatMap((result) => result.memories)
  if (memories.length === 0) {
    throw new AppError('not_found', `Change ${change} not found.`, { change })
  }
  return {
    memories,
    conflictingFields: results.flatMap(({ conflictingFields }) => conflictingFields),
    turnsEnabled: results.reduce((sum, { turnsEnabled }) => sum + turnsEnabled, 0),
  }
}

async function planUndo(
  deps: MemoryDependencies,
  scope: Scope,
  touched: readonly TouchedMemory[],
  stamp: ChangeStamp,
): Promise<PlannedCommit<UndoResult>> {
  const changes: Change[] = []
  const memories: Memory[] = []
  const conflictingFields: string[] = []
  const restored: Memory[] = []
  const forgotten: Memory[] = []
  for (const { before, after } of touched) {
    const current = await deps.store.get('memory', scope, after.id)
    if (current === null) continue
    const reversion = revertChange(current, before, after, stamp)
    memories.push(reversion.memory)
    conflictingFields.push(...reversion.conflictingFields.map((field) => `${current.id}.${field}`))
    changes.push(...buildReplacement(deps, current, reversion.memory))
    const [was, is] = [current.status, reversion.memory.status]
    if (was === 'forgotten' && is !== 'forgotten') {
      changes.push(...(await buildTombstoneRemovals(deps, current)))
      restored.push(current)
    }
    if (was !== 'forgotten' && is === 'forgotten') {
      changes.push(...(await buildTombstoneChanges(deps, current, stamp.now)))
      // Undoing that a fact was learned does not disable its turns; forgetting the fact again does.
      if (before !== null) forgotten.push(current)
    }
  }
  const release = await planRelease(deps, restored, stamp.now)
  const suppression = await planSuppression(deps, forgotten, stamp.now)
  return {
    changes: [...deduplicateTombstones(changes), ...release.changes, ...suppression.changes],
    result: { memories, conflictingFields, turnsEnabled: release.turns },
  }
}

/** A memory that the change touched: before the change (null if created) and right after. */
type TouchedMemory = { readonly before: Memory | null; readonly after: Memory }

async function loadTouched(
  { store }: MemoryDependencies,
  scope: Scope,
  change: ChangeId,
): Promise<readonly TouchedMemory[]> {
  const afters = new Map<MemoryId, Memory>()
  for await (const page of pages(store, 'memory', scope, { where: { change } })) {
    for (const memory of page) afters.set(memory.id, memory)
  }
  for await (const page of pages(store, 'revision', scope, { where: { madeBy: change } })) {
    for (const { memory } of page) afters.set(memory.id, memory)
  }
  const befores = new Map<MemoryId, Memory>()
  for await (const page of pages(store, 'revision', scope, { where: { replacedBy: change } })) {
    for (const { memory } of page) befores.set(memory.id, memory)
  }
  // Created memories go first, so that their keys are free for the memories they replaced.
  return [...afters.values()]
    .map((after) => ({ before: befores.get(after.id) ?? null, after }))
    .sort((a, b) => Number(a.before !== null) - Number(b.before !== null))
}

/** Fields that every version sets, whatever the change was about. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'version',
  'change',
  'updatedAt',
  'useCount',
  'lastUsedAt',
])

type Reversion = {
  readonly memory: Memory
  /** Fields that later changes have modified; they keep their newer value. */
  readonly conflictingFields: readonly string[]
}

/** Reverts the step from `before` to `after` in `current`. A memory that the step created is forgotten. */
function revertChange(
  current: Memory,
  before: Memory | null,
  after: Memory,
  { change, now }: ChangeStamp,
): Reversion {
  const version = { version: current.version + 1, change, updatedAt: now }
  if (before === null) {
    // Later edits are lost with the memory, so they are reported.
    const conflictingFields = listChangedFields(after, current)
    return { memory: { ...current, status: 'forgotten', ...version }, conflictingFields }
  }
  const reverted: { [field: string]: unknown } = { ...current }
  const conflictingFields: string[] = []
  const [currentFields, afterFields] = [toFields(current), toFields(after)]
  for (const [field, value] of Object.entries(before)) {
    if (BOOKKEEPING.has(field) || isJsonEqual(value, afterFields[field])) continue
    if (isJsonEqual(currentFields[field], afterFields[field])) reverted[field] = value
    else conflictingFields.push(field)
  }
  return { memory: { ...(reverted as Memory), ...version }, conflictingFields } // every value comes from a memory
}

/** Whether an undo would change anything: the change may have been undone or overwritten since. */
export function isRevertible(current: Memory, before: Memory | null, after: Memory): boolean {
  if (before === null) return current.status !== 'forgotten'
  const [currentFields, afterFields] = [toFields(current), toFields(after)]
  return listChangedFields(before, after).some((field) =>
    isJsonEqual(currentFields[field], afterFields[field]),
  )
}

function listChangedFields(from: Memory, to: Memory): readonly string[] {
  const fromFields = toFields(from)
  return Object.entries(to)
    .filter(([field, value]) => !BOOKKEEPING.has(field) && !isJsonEqual(value, fromFields[field]))
    .map(([field]) => field)
}

function toFields(memory: Memory): { readonly [field: string]: unknown } {
  return { ...memory }
}
