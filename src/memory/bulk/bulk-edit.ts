/** Edits, disables, restores or moves many memories by filter. One call is one change, so it can be undone in one step. */

import type { ChangeId, MemoryId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
import { createChangeStamp, type PlannedCommit } from '../../storage/access/optimistic-commit.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Change, MemoryFilter } from '../../storage/store.ts'
import { planRelease } from '../deletion/turn-suppression.ts'
import { type Edit, type EditInput, parseEdit } from '../draft.ts'
import {
  buildReplacement,
  type ChangeStamp,
  commitInBatches,
  isJsonEqual,
  stampMemory,
} from '../memory-changes.ts'
import { applyEdit, reactivate } from '../memory-editor.ts'
import { type ReadFilter, toMemoryFilter } from '../memory-reader.ts'
import { confirmPin } from '../pins.ts'
import { buildTombstoneRemovals, deduplicateTombstones } from '../tombstones.ts'
import type { MemoryDependencies } from '../types.ts'
import { parseTargetUser, planMove } from './bulk-move.ts'

export type BulkAction =
  | { readonly kind: 'edit'; readonly edit: EditInput }
  | { readonly kind: 'disable' }
  | { readonly kind: 'restore' }
  /** To another user of the owner; null: to no user. */
  | { readonly kind: 'move'; readonly toUser: string | null }

export type BulkProgress = (done: number, total: number) => void

export type BulkEditOptions = {
  /** Only counts the matches. */
  readonly dryRun?: boolean
  readonly onProgress?: BulkProgress
}

export type BulkEditResult = {
  readonly matched: number
  readonly changed: number
  /** The change to undo; null when nothing changed. */
  readonly change: ChangeId | null
  /** The first matches. */
  readonly ids: readonly MemoryId[]
}

const REPORTED_IDS_MAX = 100

/** How often progress is reported. */
export const MEMORIES_PER_REPORT = 200

/** The next state of a memory; null when the action does not apply to it or changes nothing. */
type Transition = (memory: Memory) => Memory | null

export async function editMatching(
  deps: MemoryDependencies,
  scope: Scope,
  query: ReadFilter,
  action: BulkAction,
  { dryRun = false, onProgress }: BulkEditOptions,
): Promise<BulkEditResult> {
  const plan = createPlan(deps, scope, action)
  const stamp = createChangeStamp(deps)
  const where = toMemoryFilter(query, stamp.now)
  const { total } = await deps.store.countMemories(scope, where)
  const ids: MemoryId[] = []
  const created = new Set<MemoryId>()
  let [matched, changed] = [0, 0]
  const matching = { where, order: 'oldest', limit: MEMORIES_PER_REPORT } as const
  for await (const rows of pages(deps.store, 'memory', scope, matching)) {
    const page = rows.filter(({ id }) => !created.has(id))
    ids.push(...page.slice(0, REPORTED_IDS_MAX - ids.length).map(({ id }) => id))
    const counts = dryRun
      ? []
      : await commitInBatches(deps, page, async (batch) =>
          plan(await reloadMatching(deps, batch, where), stamp),
        )
    matched += page.length
    for (const { count, createdIds } of counts) {
      changed += count
      for (const id of createdIds) created.add(id)
    }
    onProgress?.(Math.min(total, matched), total)
  }
  return { matched, changed, change: changed > 0 ? stamp.change : null, ids }
}

type Done = { readonly count: number; readonly createdIds: readonly MemoryId[] }
type Plan = (matches: readonly Memory[], stamp: ChangeStamp) => Promise<PlannedCommit<Done>>

function createPlan(deps: MemoryDependencies, scope: Scope, action: BulkAction): Plan {
  if (action.kind !== 'move') {
    const transition = createTransition(action)
    return (matches, stamp) => planBatch(deps, matches, transition, stamp)
  }
  const user = parseTargetUser(scope, action.toUser)
  return async (matches, stamp) => {
    const { changes, result } = await planMove(deps, matches, user, stamp)
    return { changes, result: { count: result.length, createdIds: result } }
  }
}

function createTransition(action: Exclude<BulkAction, { kind: 'move' }>): Transition {
  switch (action.kind) {
    case 'edit': {
      const fields = parseBulkEdit(action.edit)
      return (memory) => {
        if (memory.status === 'forgotten') return null
        const after = confirmPin(applyEdit(memory, fields))
        return isJsonEqual(after, memory) ? null : after
      }
    }
    case 'disable':
      return (memory) => (memory.status === 'active' ? { ...memory, status: 'disabled' } : null)
    case 'restore':
      return (memory) => (memory.status === 'active' ? null : reactivate(memory))
  }
}

/** Fields that are unique to a memory cannot be set for many. */
function parseBulkEdit(edit: EditInput): Edit {
  for (const field of ['content', 'key'] as const) {
    if (edit[field] === undefined) continue
    throw new AppError('invalid_input', `\`${field}\` must not be set for several memories.`, {
      field,
    })
  }
  return parseEdit(edit)
}

async function planBatch(
  deps: MemoryDependencies,
  matches: readonly Memory[],
  transition: Transition,
  stamp: ChangeStamp,
): Promise<PlannedCommit<Done>> {
  const next = matches.flatMap((before) => {
    const after = transition(before)
    return after === null ? [] : [{ before, after: stampMemory(after, stamp) }]
  })
  const replacements = await dropTakenKeys(deps, next)
  const changes: Change[] = []
  for (const { before, after } of replacements) {
    changes.push(...buildReplacement(deps, before, after))
    if (before.status === 'forgotten') changes.push(...(await buildTombstoneRemovals(deps, before)))
  }
  const released = replacements.flatMap(({ before }) =>
    before.status === 'forgotten' ? [before] : [],
  )
  const release = await planRelease(deps, released, stamp.now)
  return {
    changes: [...deduplicateTombstones(changes), ...release.changes],
    result: { count: replacements.length, createdIds: [] },
  }
}

type Replacement = { readonly before: Memory; readonly after: Memory }

/** Leaves out memories whose key another memory has taken since they were forgotten or superseded. */
async function dropTakenKeys(
  { store }: MemoryDependencies,
  replacements: readonly Replacement[],
): Promise<readonly Replacement[]> {
  const kept: Replacement[] = []
  const taken = new Set<string>()
  for (const replacement of replacements) {
    const { id, key, place, status } = replacement.before
    if (key === null || status === 'active' || status === 'disabled') {
      kept.push(replacement)
      continue
    }
    const slot = JSON.stringify([place.user, key])
    const scope = { owner: place.owner, user: place.user }
    const { rows } = await store.find('memory', scope, {
      where: { key, statuses: ['active', 'disabled'] },
      limit: 1,
    })
    if (taken.has(slot) || rows.some((row) => row.id !== id)) continue
    taken.add(slot)
    kept.push(replacement)
  }
  return kept
}

/** The memories of a batch that still match: some may have changed since they were read. */
export async function reloadMatching(
  { store }: MemoryDependencies,
  batch: readonly Memory[],
  where: MemoryFilter,
): Promise<readonly Memory[]> {
  const [first] = batch
  if (first === undefined) return []
  const { rows } = await store.find(
    'memory',
    { owner: first.place.owner },
    { where: { ...where, ids: batch.map(({ id }) => id) }, limit: batch.length },
  )
  return rows
}
