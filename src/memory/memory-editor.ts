/** Correcting: edits, switching off and on, forgetting, restoring, erasing. */

import type { MemoryId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import {
  DISTILLATION_EXTRACTOR,
  type Memory,
  type MemoryStatus,
  PATTERN_EXTRACTOR,
  type Tombstone,
} from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import { resolveSettings } from '../domain/settings/settings.ts'
import { buildTombstones } from '../domain/tombstone.ts'
import { AppError } from '../lib/errors.ts'
import { DAY_MS, type Instant } from '../lib/time.ts'
import {
  commitWithRetry,
  createChangeStamp,
  type PlannedCommit,
} from '../storage/access/optimistic-commit.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Change } from '../storage/store.ts'
import { type Edit, type EditInput, parseEdit } from './draft.ts'
import { buildReplacement, getMemoryOrThrow } from './memory-changes.ts'
import { confirmPin } from './pins.ts'
import {
  planLinkErasure,
  planRelease,
  planSuppression,
  type SuppressionPlan,
} from './turn-suppression.ts'
import type { MemoryDependencies } from './types.ts'

export type ErasureCounts = {
  readonly memories: number
  readonly revisions: number
  /** Turns that stated them and are out of use now. */
  readonly turnsDisabled: number
}

export type Forgotten = Memory & {
  /** Turns that stated it and are out of use as long as it is forgotten. */
  readonly turnsDisabled: number
}

export type Restored = Memory & {
  /** Turns that were out of use because it was forgotten. */
  readonly turnsEnabled: number
}

/** Changes what is given and leaves the rest. With `version`, only if nobody changed it since that one. */
export async function edit(
  ports: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
  input: EditInput,
  version?: number,
): Promise<Memory> {
  const given = parseEdit(input)
  const { memory } = await changeMemory(ports, scope, id, (memory) => {
    if (version !== undefined && memory.version !== version) {
      throw new AppError(
        'conflict',
        `Memory ${id} has changed: it is at version ${memory.version}, not ${version}.`,
        { id, version: memory.version },
      )
    }
    if (memory.status === 'forgotten') {
      throw new AppError('conflict', `Memory ${id} is forgotten. Restore it first.`, { id })
    }
    return confirmPin(applyEdit(memory, given))
  })
  return memory
}

function applyEdit(memory: Memory, given: Edit): Memory {
  const next = { ...memory, ...given, provenance: provenanceOf(memory, given) }
  if (next.validFrom !== null && next.validUntil !== null && next.validUntil < next.validFrom) {
    throw new AppError('invalid_input', 'validUntil must not be earlier than validFrom.')
  }
  return next
}

/** What extracts single facts from turns. */
const FACT_EXTRACTORS: ReadonlySet<string | null> = new Set([
  PATTERN_EXTRACTOR,
  DISTILLATION_EXTRACTOR,
])

/** A fact in new words is no extractor's any more: it stands for its turns, which still have the old ones. */
function provenanceOf(memory: Memory, { content }: Edit): Memory['provenance'] {
  const { provenance, category } = memory
  const isReworded = content !== undefined && content !== memory.content
  const isExtracted = category !== 'episode' && FACT_EXTRACTORS.has(provenance.extractor)
  if (!isReworded || !isExtracted) return provenance
  return { ...provenance, extractor: null, extractorVersion: null }
}

/** Takes a memory out of recall without forgetting it. */
export async function disable(
  ports: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<Memory> {
  const { memory } = await changeMemory(ports, scope, id, (memory) => {
    if (memory.status === 'disabled') return memory
    assertStatus(memory, ['active'], 'disabled')
    return { ...memory, status: 'disabled' }
  })
  return memory
}

/**
 * Brings back a memory that was forgotten, disabled or superseded. With `version`, it also gets back what it said
 * in that version.
 */
export async function restore(
  ports: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
  version?: number,
): Promise<Restored> {
  const past = version === undefined ? null : await loadVersion(ports, scope, id, version)
  const restored = await changeMemory(
    ports,
    scope,
    id,
    (memory) => {
      if (memory.status === 'active' && past === null) return memory
      const wasSuperseded = memory.supersededBy !== null
      return confirmPin({
        ...memory,
        ...(past === null ? {} : restoreContent(past)),
        status: 'active',
        supersededBy: null,
        // Whatever took its place still says otherwise.
        conflictsWith: memory.supersededBy ?? memory.conflictsWith,
        validUntil: past === null ? (wasSuperseded ? null : memory.validUntil) : past.validUntil,
      })
    },
    // Another memory with the same key may have been forgotten; its traces are not this one's to lift.
    async (memory, now) => {
      if (memory.status !== 'forgotten') return NOTHING_BESIDES
      const { changes, turns } = await planRelease(ports, [memory], now)
      return { changes: [...(await buildTombstoneRemovals(ports, memory)), ...changes], turns }
    },
  )
  return { ...restored.memory, turnsEnabled: restored.turns }
}

async function loadVersion(
  ports: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
  version: number,
): Promise<Memory> {
  const current = await getMemoryOrThrow(ports, scope, id)
  if (current.version === version) return current
  const where = { memories: [id] }
  for await (const page of pages(ports.store, 'revision', scope, { where })) {
    const found = page.find((revision) => revision.memory.version === version)
    if (found !== undefined) return found.memory
  }
  throw new AppError('not_found', `Memory ${id} has no version ${version}.`, { id, version })
}

function restoreContent(past: Memory): Partial<Memory> {
  const { content, key, type, category, importance, entities, language, metadata } = past
  const { pinned, trust, expiresAt, validFrom, salience } = past
  return {
    ...{ content, key, type, category, importance, entities, language, metadata },
    ...{ pinned, trust, expiresAt, validFrom, salience },
  }
}

/** Puts a memory into the bin, disables the turns that state it, and keeps work that is under way from bringing it back. */
export async function forget(
  ports: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<Forgotten> {
  const forgotten = await changeMemory(
    ports,
    scope,
    id,
    (memory) => (memory.status === 'forgotten' ? memory : { ...memory, status: 'forgotten' }),
    async (memory, now) => {
      const { changes, turns } = await planSuppression(ports, [memory], now)
      return { changes: [...(await buildTombstoneChanges(ports, memory, now)), ...changes], turns }
    },
  )
  return { ...forgotten.memory, turnsDisabled: forgotten.turns }
}

/**
 * Removes a memory and its whole history for good. Only the tombstones stay: hashes, no text. Turns that state it are disabled,
 * and receipts lose their lines.
 */
export async function erase(
  ports: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<ErasureCounts> {
  const suppress = (memory: Memory) =>
    planSuppression(ports, [memory], ports.clock.now(), { isErasure: true })
  const erased = await eraseMatching(ports, scope, id, () => true, suppress)
  if (erased === null) throw new AppError('not_found', `There is no memory ${id} here.`, { id })
  return erased
}

/** Null when it is not there, or no longer as it must be: someone may have restored it in the meantime. */
export async function eraseMatching(
  ports: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
  isMeant: (memory: Memory) => boolean,
  planTurns: (memory: Memory) => Promise<SuppressionPlan> = (memory) =>
    planLinkErasure(ports, memory),
): Promise<ErasureCounts | null> {
  return commitWithRetry(ports, async (): Promise<PlannedCommit<ErasureCounts | null>> => {
    const memory = await ports.store.get('memory', scope, id)
    if (memory === null || !isMeant(memory)) return { changes: [], result: null }
    const { revisions, rest } = await buildErasure(ports, memory)
    const { changes, turns } = await planTurns(memory)
    await removeExcessRevisions(ports, revisions)
    return {
      changes: [...revisions.slice(-REVISIONS_PER_COMMIT), ...rest, ...changes],
      result: { memories: 1, revisions: revisions.length, turnsDisabled: turns },
    }
  })
}

/** What erasing a memory changes: its history goes, it goes itself, and traces stay that hold no text. */
export async function buildErasure(
  ports: MemoryDependencies,
  memory: Memory,
): Promise<{ readonly revisions: readonly Change[]; readonly rest: readonly Change[] }> {
  const home = toUserScope(memory)
  const revisions: Change[] = []
  const where = { memories: [memory.id] }
  for await (const page of pages(ports.store, 'revision', home, { where })) {
    for (const { id } of page) {
      revisions.push({ op: 'remove', table: 'revision', scope: home, id, expect: 'any' })
    }
  }
  const removal: Change = {
    op: 'remove',
    table: 'memory',
    scope: home,
    id: memory.id,
    expect: { version: memory.version },
  }
  return {
    revisions,
    rest: [removal, ...(await buildTombstoneChanges(ports, memory, ports.clock.now()))],
  }
}

/** Leaves room for the removal itself, its tombstones, and the turns that state it. */
const REVISIONS_PER_COMMIT = COMMIT_CHANGES_MAX / 4

/** A history too long for one commit is removed from its old end first; the memory goes with the last part. */
async function removeExcessRevisions(
  { store }: MemoryDependencies,
  revisions: readonly Change[],
): Promise<void> {
  const surplus = revisions.slice(0, -REVISIONS_PER_COMMIT)
  for (let start = 0; start < surplus.length; start += COMMIT_CHANGES_MAX) {
    await store.commit(surplus.slice(start, start + COMMIT_CHANGES_MAX))
  }
}

/** Erases what has been in the bin for longer than `binDays`, or than the days given. */
export async function emptyTrash(
  ports: MemoryDependencies,
  scope: Scope,
  days?: number,
): Promise<ErasureCounts> {
  const { 'retention.trashDays': keepDays } = resolveSettings(
    ports.settings,
    days === undefined ? {} : { 'retention.trashDays': days },
  )
  const before = ports.clock.now() - keepDays * DAY_MS
  const total = { memories: 0, revisions: 0, turnsDisabled: 0 }
  const where = { statuses: ['forgotten'] } as const
  for await (const page of pages(ports.store, 'memory', scope, { where })) {
    for (const memory of page) {
      if (memory.updatedAt > before) continue
      const erased = await eraseMatching(
        ports,
        toUserScope(memory),
        memory.id,
        (now) => now.version === memory.version,
      )
      total.memories += erased?.memories ?? 0
      total.revisions += erased?.revisions ?? 0
    }
  }
  return total
}

/** Changes one memory: `next` says what it becomes, or returns it untouched when there is nothing to do. */
async function changeMemory(
  ports: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
  next: (memory: Memory) => Memory,
  also: (memory: Memory, now: Instant) => Promise<SuppressionPlan> = async () => NOTHING_BESIDES,
): Promise<{ readonly memory: Memory; readonly turns: number }> {
  return commitWithRetry(ports, async () => {
    const memory = await getMemoryOrThrow(ports, scope, id)
    const mark = createChangeStamp(ports)
    const wanted = next(memory)
    if (wanted === memory) return { changes: [], result: { memory, turns: 0 } }
    const after: Memory = {
      ...wanted,
      version: memory.version + 1,
      change: mark.change,
      updatedAt: mark.now,
    }
    const { changes, turns } = await also(memory, mark.now)
    return {
      changes: [...buildReplacement(ports, memory, after), ...changes],
      result: { memory: after, turns },
    }
  })
}

const NOTHING_BESIDES: SuppressionPlan = { changes: [], turns: 0 }

function assertStatus(memory: Memory, allowed: readonly MemoryStatus[], wanted: string): void {
  if (allowed.includes(memory.status)) return
  throw new AppError(
    'conflict',
    `Memory ${memory.id} is ${memory.status}; it can't be ${wanted}.`,
    {
      id: memory.id,
      status: memory.status,
    },
  )
}

export async function buildTombstoneChanges(
  ports: MemoryDependencies,
  memory: Memory,
  now: Instant,
): Promise<readonly Change[]> {
  const known = await loadTombstones(ports, memory)
  return buildTombstones(memory, known, now).map((row) => ({
    op: 'put',
    table: 'tombstone',
    row,
    expect: row.version === 1 ? 'absent' : { version: row.version - 1 },
  }))
}

export async function buildTombstoneRemovals(
  ports: MemoryDependencies,
  memory: Memory,
): Promise<readonly Change[]> {
  return (await loadTombstones(ports, memory)).map((tombstone) => ({
    op: 'remove',
    table: 'tombstone',
    scope: toUserScope(memory),
    id: tombstone.id,
    expect: { version: tombstone.version },
  }))
}

async function loadTombstones(
  { store }: MemoryDependencies,
  memory: Memory,
): Promise<readonly Tombstone[]> {
  const ids = buildTombstones(memory, [], memory.updatedAt).map((tombstone) => tombstone.id)
  const { rows } = await store.find('tombstone', toUserScope(memory), { where: { ids }, limit: 10 })
  return rows
}

export function toUserScope(memory: Memory): Scope {
  return { owner: memory.place.owner, user: memory.place.user }
}
