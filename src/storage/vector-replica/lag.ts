/**
 * Replication lag: the changes that the replica does not have yet, tracked by memory id, or so many
 * that a full comparison is due.
 */
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import type { VectorSpace } from '../vector-index.ts'

export type LagBatch = { readonly owner: OwnerId; readonly ids: readonly MemoryId[] }

export class ReplicaLag {
  readonly #idsMax: number
  readonly #owners = new Map<OwnerId, Set<MemoryId>>()
  /** Spaces to drop first: a put after a drop must not be lost with it. */
  readonly #drops = new Map<string, VectorSpace>()
  #count = 0
  #underWay: LagBatch | null = null
  #isEverything = false

  constructor(idsMax: number) {
    this.#idsMax = idsMax
  }

  /** The number of tracked memories; null when a full comparison is due. */
  get count(): number | null {
    return this.#isEverything ? null : this.#count + (this.#underWay?.ids.length ?? 0)
  }

  get isUnbounded(): boolean {
    return this.#isEverything
  }

  get isEmpty(): boolean {
    return this.count === 0 && this.#drops.size === 0
  }

  /** Whether a search of this owner could miss something. */
  affectsOwner(owner: OwnerId): boolean {
    const isNamed = this.#owners.has(owner) || this.#underWay?.owner === owner
    return isNamed || this.#isEverything || this.#drops.size > 0
  }

  add(owner: OwnerId, ids: Iterable<MemoryId>): void {
    if (this.#isEverything) return
    const known = this.#owners.get(owner) ?? new Set()
    const before = known.size
    for (const id of ids) known.add(id)
    if (known.size === 0) return
    this.#owners.set(owner, known)
    this.#count += known.size - before
    if (this.#count > this.#idsMax) this.addEverything()
  }

  addEverything(): void {
    this.#isEverything = true
    this.#owners.clear()
    this.#count = 0
  }

  addDrop(space: VectorSpace): void {
    this.#drops.set(space.signature, space)
  }

  listDrops(): readonly VectorSpace[] {
    return [...this.#drops.values()]
  }

  removeDrop({ signature }: VectorSpace): void {
    this.#drops.delete(signature)
  }

  /**
   * Tracks changes one by one again from here on. Called before a comparison, which covers earlier
   * ones.
   */
  resetForComparison(): void {
    this.#isEverything = false
  }

  /** Some memories of one owner, who counts as lagging until `done` or `undone` is called. */
  takeBatch(limit: number): LagBatch | null {
    const [owner, waiting] = this.#owners.entries().next().value ?? []
    if (owner === undefined || waiting === undefined) return null
    const ids = [...waiting].slice(0, limit)
    for (const id of ids) waiting.delete(id)
    this.#count -= ids.length
    if (waiting.size === 0) this.#owners.delete(owner)
    this.#underWay = { owner, ids }
    return this.#underWay
  }

  completeBatch(): void {
    this.#underWay = null
  }

  returnBatch(): void {
    const batch = this.#underWay
    this.#underWay = null
    if (batch !== null) this.add(batch.owner, batch.ids)
  }

  clear(): void {
    this.#owners.clear()
    this.#drops.clear()
    this.#count = 0
    this.#isEverything = false
  }
}
