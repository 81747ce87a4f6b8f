/** Edits, disables, forgets, restores and erases single memories. */

import type { MemoryId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import {
  DISTILLATION_EXTRACTOR,
  type Memory,
  type MemoryStatus,
  PATTERN_EXTRACTOR,
} from '../domain/memory.ts'
import { type Scope, toUserScope } from '../domain/scope.ts'
import { resolveSettings } from '../domain/settings/settings.ts'
import { AppError } from '../lib/errors.ts'
import { DAY_MS, type Instant } from '../lib/time.ts'
import {
  commitWithRetry,
  createChangeStamp,
  type PlannedCommit,
} from '../storage/access/optimistic-commit.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Change } from '../storage/store.ts'
import {
  planLinkErasure,
  planRelease,
  planSuppression,
  type SuppressionPlan,
} from './deletion/turn-suppression.ts'
import { type Edit, type EditInput, parseEdit } from './draft.ts'
import { buildReplacement, createMemoryNotFoundError, getMemoryOrThrow } from './memory-changes.ts'
import { confirmPin, keepPinAutomatic } from './pins.ts'
import { buildTombstoneChanges, buildTombstoneRemovals } from './tombstones.ts'
import type { MemoryDependencies } from './types.ts'

export type ErasureCounts = {
  readonly memories: number
  readonly revisions: number
  /** Turns that state the memories and are disabled now. */
  readonly turnsDisabled: number
}

export type Forgotten = Memory & {
  /** Turns that state the memory and are disabled while it is forgotten. */
  readonly turnsDisabled: number
}

export type Restored = Memory & {
  /** Turns that were disabled because the memory was forgotten. */
  readonly turnsEnabled: number
}

export type EditOptions = {
  readonly version?: number
  /** Whether no person makes the edit: it then confirms no automatic pin, and a pin that it sets is automatic. */
  readonly isAutomatic?: boolean
}

/** Changes the given fields. With `version`, fails if the memory has another version. */
export async function edit(
  deps: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
  input: EditInput,
  options: EditOptions = {},
): Promise<Memory> {
  const fields = parseEdit(input)
  const { memory } = await changeMemory(deps, scope, id, (current) => {
    assertEditable(current, options)
    const edited = applyEdit(current, fields)
    return options.isAutomatic === true ? keepPinAutomatic(current, edited) : confirmPin(edited)
  })
  return memory
}

/** The memory as an edit would find it. Fails as the edit would. */
export async function loadForEdit(
  deps: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
  options: EditOptions = {},
): Promise<Memory> {
  const memory = await getMemoryOrThrow(deps, scope, id)
  assertEditable(memory, options)
  return memory
}

function assertEditable({ id, version, status }: Memory, options: EditOptions): void {
  if (options.version !== undefined && version !== options.version) {
    throw new AppError(
      'conflict',
      `Memory ${id} has changed: it is at version ${version}, not ${options.version}. Read it again and repeat the edit.`,
      { id, version },
    )
  }
  if (status === 'forgotten') {
    throw new AppError('conflict', `Memory ${id} is forgotten. Restore it first.`, { id })
  }
}

export function applyEdit(memory: Memory, fields: Edit): Memory {
  const next = { ...memory, ...fields, provenance: buildEditedProvenance(memory, fields) }
  if (next.validFrom !== null && next.validUntil !== null && next.validUntil < next.validFrom) {
    throw new AppError('invalid_input', '`validUntil` must not be earlier than `validFrom`.')
  }
  return next
}

const FACT_EXTRACTORS: ReadonlySet<string | null> = new Set([
  PATTERN_EXTRACTOR,
  DISTILLATION_EXTRACTOR,
])

/** A reworded fact loses its extractor, because its turns still have the old wording. */
function buildEditedProvenance(memory: Memory, { content }: Edit): Memory['provenance'] {
  const { provenance, category } = memory
  const isReworded = content !== undefined && content !== memory.content
  const isExtracted = category !== 'episode' && FACT_EXTRACTORS.has(provenance.extractor)
  if (!isReworded || !isExtracted) return provenance
  return { ...provenance, extractor: null, extractorVersion: null }
}

/** Excludes a memory from recall without forgetting it. */
export async function disable(
  deps: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<Memory> {
  const { memory } = await changeMemory(deps, scope, id, (current) => {
    if (current.status === 'disabled') return current
    assertStatus(current, ['active'], 'disabled')
    return { ...current, status: 'disabled' }
  })
  return memory
}

/** Reactivates a forgotten, disabled or superseded memory. With `version`, also restores the fields of that version. */
export async function restore(
  deps: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
  version?: number,
): Promise<Restored> {
  const past = version === undefined ? null : await loadVersion(deps, scope, id, version)
  const restored = await changeMemory(
    deps,
    scope,
    id,
    (memory) => (memory.status === 'active' && past === null ? memory : reactivate(memory, past)),
    // Tombstones may belong to another forgotten memory with the same key, so only a forgotten one removes them.
    async (memory, now) => {
      if (memory.status !== 'forgotten') return EMPTY_PLAN
      const { changes, turns } = await planRelease(deps, [memory], now)
      return { changes: [...(await buildTombstoneRemovals(deps, memory)), ...changes], turns }
    },
  )
  return { ...restored.memory, turnsEnabled: restored.turns }
}

/** The memory as active; with `past`, also with the fields of that version. */
export function reactivate(memory: Memory, past: Memory | null = null): Memory {
  const wasSuperseded = memory.supersededBy !== null
  return confirmPin({
    ...memory,
    ...(past === null ? {} : pickContent(past)),
    status: 'active',
    supersededBy: null,
    // The memory that superseded it still contradicts it.
    conflictsWith: memory.supersededBy ?? memory.conflictsWith,
    validUntil: past === null ? (wasSuperseded ? null : memory.validUntil) : past.validUntil,
  })
}

async function loadVersion(
  deps: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
  version: number,
): Promise<Memory> {
  const current = await getMemoryOrThrow(deps, scope, id)
  if (current.version === version) return current
  const where = { memories: [id] }
  for await (const page of pages(deps.store, 'revision', scope, { where })) {
    const revision = page.find(({ memory }) => memory.version === version)
    if (revision !== undefined) return revision.memory
  }
  throw new AppError('not_found', `Memory ${id} has no version ${version}.`, { id, version })
}

function pickContent(past: Memory): Partial<Memory> {
  const { content, key, type, category, importance, entities, language, metadata } = past
  const { pinned, trust, expiresAt, validFrom, salience } = past
  return {
    ...{ content, key, type, category, importance, entities, language, metadata },
    ...{ pinned, trust, expiresAt, validFrom, salience },
  }
}

/** Moves a memory to the trash, disables the turns that state it, and leaves tombstones. */
export async function forget(
  deps: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<Forgotten> {
  const forgotten = await changeMemory(
    deps,
    scope,
    id,
    (memory) => (memory.status === 'forgotten' ? memory : { ...memory, status: 'forgotten' }),
    async (memory, now) => {
      const { changes, turns } = await planSuppression(deps, [memory], now)
      return { changes: [...(await buildTombstoneChanges(deps, memory, now)), ...changes], turns }
    },
  )
  return { ...forgotten.memory, turnsDisabled: forgotten.turns }
}

/**
 * Removes a memory and its history permanently. Only tombstones stay, which contain no text. Turns that state the memory
 * are disabled, and receipts lose its lines.
 */
export async function erase(
  deps: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<ErasureCounts> {
  const suppress = (memory: Memory) =>
    planSuppression(deps, [memory], deps.clock.now(), { isErasure: true })
  const erased = await eraseMatching(deps, scope, id, () => true, suppress)
  if (erased === null) throw createMemoryNotFoundError(id)
  return erased
}

/** Erases a memory if it still matches. Null when it is gone or no longer matches, for example because it was restored. */
export async function eraseMatching(
  deps: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
  matches: (memory: Memory) => boolean,
  planTurns: (memory: Memory) => Promise<SuppressionPlan> = (memory) =>
    planLinkErasure(deps, memory),
): Promise<ErasureCounts | null> {
  return commitWithRetry(deps, async (): Promise<PlannedCommit<ErasureCounts | null>> => {
    const memory = await deps.store.get('memory', scope, id)
    if (memory === null || !matches(memory)) return { changes: [], result: null }
    const { revisions, rest } = await buildErasure(deps, memory)
    const { changes, turns } = await planTurns(memory)
    await removeExcessRevisions(deps, revisions)
    return {
      changes: [...revisions.slice(-REVISIONS_PER_COMMIT), ...rest, ...changes],
      result: { memories: 1, revisions: revisions.length, turnsDisabled: turns },
    }
  })
}

/** The changes that erase a memory: remove its history and itself, and write tombstones. */
export async function buildErasure(
  deps: MemoryDependencies,
  memory: Memory,
): Promise<{ readonly revisions: readonly Change[]; readonly rest: readonly Change[] }> {
  const scope = toUserScope(memory.place)
  const revisions: Change[] = []
  const where = { memories: [memory.id] }
  for await (const page of pages(deps.store, 'revision', scope, { where })) {
    for (const { id } of page) {
      revisions.push({ op: 'remove', table: 'revision', scope, id, expect: 'any' })
    }
  }
  const removal: Change = {
    op: 'remove',
    table: 'memory',
    scope,
    id: memory.id,
    expect: { version: memory.version },
  }
  return {
    revisions,
    rest: [removal, ...(await buildTombstoneChanges(deps, memory, deps.clock.now()))],
  }
}

/** Leaves room for the removal itself, its tombstones and the turns that state the memory. */
const REVISIONS_PER_COMMIT = COMMIT_CHANGES_MAX / 4

/** A history too long for one commit is removed from its old end first; the memory goes with the last part. */
async function removeExcessRevisions(
  { store }: MemoryDependencies,
  revisions: readonly Change[],
): Promise<void> {
  const excess = revisions.slice(0, -REVISIONS_PER_COMMIT)
  for (let start = 0; start < excess.length; start += COMMIT_CHANGES_MAX) {
    await store.commit(excess.slice(start, start + COMMIT_CHANGES_MAX))
  }
}

/** Erases memories that have been in the trash for longer than `days`; default: `retention.trashDays`. */
export async function emptyTrash(
  deps: MemoryDependencies,
  scope: Scope,
  days?: number,
): Promise<ErasureCounts> {
  const { 'retention.trashDays': trashDays } = resolveSettings(
    deps.settings,
    days === undefined ? {} : { 'retention.trashDays': days },
  )
  const before = deps.clock.now() - trashDays * DAY_MS
  const total = { memories: 0, revisions: 0, turnsDisabled: 0 }
  const where = { statuses: ['forgotten'] } as const
  for await (const page of pages(deps.store, 'memory', scope, { where })) {
    for (const { id, place, version, updatedAt } of page) {
      if (updatedAt > before) continue
      const isUnchanged = (memory: Memory) => memory.version === version
      const erased = await eraseMatching(deps, toUserScope(place), id, isUnchanged)
      total.memories += erased?.memories ?? 0
      total.revisions += erased?.revisions ?? 0
    }
  }
  return total
}

/**
 * Changes one memory in a commit. `change` returns the new version, or the memory itself when there is nothing to do;
 * `planFurther` adds changes to the commit.
 */
async function changeMemory(
  deps: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
  change: (memory: Memory) => Memory,
  planFurther: (memory: Memory, now: Instant) => Promise<SuppressionPlan> = async () => EMPTY_PLAN,
): Promise<{ readonly memory: Memory; readonly turns: number }> {
  return commitWithRetry(deps, async () => {
    const memory = await getMemoryOrThrow(deps, scope, id)
    const stamp = createChangeStamp(deps)
    const next = change(memory)
    if (next === memory) return { changes: [], result: { memory, turns: 0 } }
    const after: Memory = {
      ...next,
      version: memory.version + 1,
      change: stamp.change,
      updatedAt: stamp.now,
    }
    const { changes, turns } = await planFurther(memory, stamp.now)
    return {
      changes: [...buildReplacement(deps, memory, after), ...changes],
      result: { memory: after, turns },
    }
  })
}

const EMPTY_PLAN: SuppressionPlan = { changes: [], turns: 0 }

function assertStatus(
  { id, status }: Memory,
  allowed: readonly MemoryStatus[],
  action: string,
): void {
  if (allowed.includes(status)) return
  throw new AppError('conflict', `Memory ${id} is ${status}; it cannot be ${action}.`, {
    id,
    status,
  })
}
