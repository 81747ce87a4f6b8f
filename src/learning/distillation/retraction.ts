/**
 * Retracts what was learned from corrected turns: those memories go to the trash and the ones they superseded become
 * active again. Memories with other sources stay and drop the corrected turns from their provenance.
 */
import type { ChangeId, MemoryId, TurnId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import type { SessionPlace } from '../../domain/scope.ts'
import { buildReplacement, type ChangeStamp, stampMemory } from '../../memory/memory-changes.ts'
import { isUserPinned } from '../../memory/pins.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Change } from '../../storage/store.ts'

export type CorrectedTurns = {
  /** Turns that were changed or removed. */
  readonly changed: ReadonlySet<TurnId>
  /** All turns that are distilled again; memories with other source turns stay. */
  readonly all: ReadonlySet<TurnId>
}

/** One list of changes per memory; each list must be committed atomically. */
export async function buildRetractions(
  ports: MemoryDependencies,
  place: SessionPlace,
  { changed, all }: CorrectedTurns,
  mark: ChangeStamp,
): Promise<readonly (readonly Change[])[]> {
  if (changed.size === 0) return []
  const retractions: (readonly Change[])[] = []
  const where = { statuses: ['active', 'disabled', 'superseded'] } as const
  for await (const page of pages(ports.store, 'memory', place, { where })) {
    for (const memory of page) {
      const { turns, extractor } = memory.provenance
      // Memories that no extractor wrote are never retracted, whatever source they name.
      if (extractor === null || !turns.some((id) => changed.has(id))) continue
      const hasNoOtherSource = turns.every((id) => all.has(id))
      retractions.push(
        hasNoOtherSource && !isRetained(memory)
          ? await buildTrashChange(ports, place, memory, mark)
          : buildReplacement(ports, memory, removeSources(memory, changed, mark)),
      )
    }
  }
  return retractions
}

/** The distinct change ids that undo the retractions. */
export function listChangeIds(retractions: readonly (readonly Change[])[]): readonly ChangeId[] {
  const ids = retractions
    .flat()
    .flatMap((each) => (each.op === 'put' && each.table === 'memory' ? [each.row.change] : []))
  return [...new Set(ids)]
}

/** Memories that were pinned by a user or confirmed by another source stay. */
function isRetained(memory: Memory): boolean {
  return isUserPinned(memory) || (memory.sourceCount > 1 && memory.category !== 'episode')
}

function removeSources(memory: Memory, changed: ReadonlySet<TurnId>, mark: ChangeStamp): Memory {
  const turns = memory.provenance.turns.filter((id) => !changed.has(id))
  return { ...stampMemory(memory, mark), provenance: { ...memory.provenance, turns } }
}

/** Leaves no tombstone, so that the same statement can be learned again. */
async function buildTrashChange(
  ports: MemoryDependencies,
  place: SessionPlace,
  memory: Memory,
  { now, ...shared }: ChangeStamp,
): Promise<readonly Change[]> {
  // The session gets a new episode, so restoring this one may fail; that must not block restoring the rest.
  const isEpisode = memory.category === 'episode'
  const mark = { now, change: isEpisode ? ports.ids.next('chg', now) : shared.change }
  const trashed: Memory = { ...stampMemory(memory, mark), status: 'forgotten' }
  const replaced = await loadSuperseded(ports, place, memory)
  return [
    // First, because it may hold the key of a memory that it superseded.
    ...buildReplacement(ports, memory, trashed),
    ...replaced.flatMap(({ current, before: { status, validUntil } }) =>
      buildReplacement(ports, current, {
        ...stampMemory(current, mark),
        ...{ status, validUntil, supersededBy: null },
      }),
    ),
  ]
}

type SupersededMemory = { readonly current: Memory; readonly before: Memory }

/** Memories that were superseded when this one was created, and still are. */
async function loadSuperseded(
  { store }: MemoryDependencies,
  { owner, user }: SessionPlace,
  { id, change, version }: Memory,
): Promise<readonly SupersededMemory[]> {
  if (version > 1) return []
  const home = { owner, user }
  const replaced = new Map<MemoryId, SupersededMemory>()
  for await (const page of pages(store, 'revision', home, { where: { replacedBy: change } })) {
    for (const { memory: before } of page) {
      const current = await store.get('memory', home, before.id)
      if (current?.status === 'superseded' && current.supersededBy === id) {
        replaced.set(current.id, { current, before })
      }
    }
  }
  return [...replaced.values()]
}
