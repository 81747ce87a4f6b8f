/**
 * Undoing a change: field by field, so that what was changed since stays as it is.
 */
import type { ChangeId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import { isJsonEqual } from '../lib/json.ts'
import type { Instant } from '../lib/time.ts'

/** Bookkeeping of every version, not part of what a change meant. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'version',
  'change',
  'updatedAt',
  'useCount',
  'lastUsedAt',
])

export type Reversion = {
  readonly memory: Memory
  /** Fields that later changes have touched; they keep their newer value. */
  readonly conflictingFields: readonly string[]
}

/**
 * Takes back what the step from `before` to `after` did to `current`, the memory as it is now.
 * A memory that the change created (`before` is null) is forgotten.
 */
export function revertChange(
  current: Memory,
  before: Memory | null,
  after: Memory,
  stamp: { readonly change: ChangeId; readonly now: Instant },
): Reversion {
  const version = {
    version: current.version + 1,
    change: stamp.change,
    updatedAt: stamp.now,
  }
  if (before === null) {
    // What was changed since goes into the bin with it; it is told, because it was not part of the change.
    const kept = changedFields(after, current)
    return { memory: { ...current, status: 'forgotten', ...version }, conflictingFields: kept }
  }
  const reverted: { [field: string]: unknown } = { ...current }
  const kept: string[] = []
  const now: { readonly [field: string]: unknown } = { ...current }
  const then: { readonly [field: string]: unknown } = { ...after }
  for (const [field, value] of Object.entries(before)) {
    if (BOOKKEEPING.has(field) || isJsonEqual(value, then[field])) continue
    if (isJsonEqual(now[field], then[field])) reverted[field] = value
    else kept.push(field)
  }
  return { memory: { ...(reverted as Memory), ...version }, conflictingFields: kept } // fields of memories, each from a memory
}

/** Whether taking the step back would change anything: it may have been taken back, or written over, since. */
export function isRevertible(current: Memory, before: Memory | null, after: Memory): boolean {
  if (before === null) return current.status !== 'forgotten'
  const now: { readonly [field: string]: unknown } = { ...current }
  const then: { readonly [field: string]: unknown } = { ...after }
  return changedFields(before, after).some((field) => isJsonEqual(now[field], then[field]))
}

function changedFields(from: Memory, to: Memory): readonly string[] {
  const then: { readonly [field: string]: unknown } = { ...from }
  return Object.entries(to)
    .filter(([field, value]) => !BOOKKEEPING.has(field) && !isJsonEqual(value, then[field]))
    .map(([field]) => field)
}
