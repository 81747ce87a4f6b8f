/** Reads and writes tombstones, see `domain/tombstone.ts`. */
import type { TombstoneId } from '../domain/ids.ts'
import type { Memory, Tombstone } from '../domain/memory.ts'
import { type Place, toUserScope } from '../domain/scope.ts'
import { buildTombstones, getBlockingTombstoneIds } from '../domain/tombstone.ts'
import type { Instant } from '../lib/time.ts'
import type { Change } from '../storage/store.ts'
import type { MemoryDependencies } from './types.ts'

export type BlockingTombstones = {
  readonly tombstones: readonly Tombstone[]
  /** Fail the commit if a memory is forgotten between this read and the commit. */
  readonly guards: ReadonlyMap<TombstoneId, Change>
}

/** The tombstones that block a statement. */
export async function loadBlockingTombstones(
  { store }: MemoryDependencies,
  place: Place,
  statement: { readonly content: string; readonly key: string | null },
): Promise<BlockingTombstones> {
  const scope = toUserScope(place)
  const ids = getBlockingTombstoneIds(place, statement)
  const { rows } = await store.find('tombstone', scope, { where: { ids }, limit: ids.length })
  const guards = ids.map((id): [TombstoneId, Change] => {
    const tombstone = rows.find((row) => row.id === id)
    const expect = tombstone === undefined ? 'absent' : { version: tombstone.version }
    return [id, { op: 'check', table: 'tombstone', scope, id, expect }]
  })
  return { tombstones: rows, guards: new Map(guards) }
}

export async function buildTombstoneChanges(
  deps: MemoryDependencies,
  memory: Memory,
  now: Instant,
): Promise<readonly Change[]> {
  const { tombstones } = await loadBlockingTombstones(deps, memory.place, memory)
  return buildTombstones(memory, tombstones, now).map((row) => ({
    op: 'put',
    table: 'tombstone',
    row,
    expect: row.version === 1 ? 'absent' : { version: row.version - 1 },
  }))
}

export async function buildTombstoneRemovals(
  deps: MemoryDependencies,
  memory: Memory,
): Promise<readonly Change[]> {
  const { tombstones } = await loadBlockingTombstones(deps, memory.place, memory)
  return tombstones.map(({ id, version }) => ({
    op: 'remove',
    table: 'tombstone',
    scope: toUserScope(memory.place),
    id,
    expect: { version },
  }))
}

/** Memories with equal content share a tombstone; one commit must write or remove it once. */
export function deduplicateTombstones(changes: readonly Change[]): readonly Change[] {
  const seen = new Set<string>()
  return changes.filter((change) => {
    if (change.op === 'count' || change.table !== 'tombstone') return true
    const id = change.op === 'put' ? change.row.id : change.id
    if (seen.has(id)) return false
    seen.add(id)
    return true
  })
}
