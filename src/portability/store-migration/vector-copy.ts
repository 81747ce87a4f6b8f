/** Copies vectors, because embedding everything again would take a model and hours. */
import { hashEmbeddingText } from '../../domain/embedding-text.ts'
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { DOCUMENT_TYPES } from '../../domain/search-document.ts'
import { AppError } from '../../lib/errors.ts'
import { innerProduct, isZeroVector } from '../../lib/vector-math.ts'
import type { Store } from '../../storage/store.ts'
import type { SpaceReport, VectorEntry, VectorIndex } from '../../storage/vector-index.ts'

export type VectorCopyEnds = {
  readonly memories: Store
  readonly from: VectorIndex | null
  readonly to: VectorIndex | null
}

const PAGE_VECTORS = 500

/** Vector stores differ in precision: bytes, half floats or single floats. */
const SAME_SIMILARITY_MIN = 0.99

export class VectorCopy {
  readonly #ends: VectorCopyEnds
  #spaces: readonly SpaceReport[] = []
  /** Spaces that the target cannot store, with the reason. */
  readonly refused = new Map<string, string>()
  copied = 0

  constructor(ends: VectorCopyEnds) {
    this.#ends = ends
  }

  /** Reads the list of spaces, which may have grown. */
  async refreshSpaces(): Promise<void> {
    const { from, to } = this.#ends
    this.#spaces = from === null ? [] : await from.spaces()
    if (to !== null) return
    for (const { signature } of this.#spaces)
      this.refused.set(signature, 'the target store has no vector index')
  }

  get #copyableSpaces(): readonly SpaceReport[] {
    return this.#spaces.filter(({ signature }) => !this.refused.has(signature))
  }

  /** Copies the vectors of an owner that are missing or different in the target. */
  async copyOwner(owner: OwnerId): Promise<void> {
    const { from, to } = this.#ends
    if (from === null || to === null) return
    for (const space of this.#copyableSpaces) {
      for (let after: MemoryId | undefined; ; ) {
        const page: Awaited<ReturnType<VectorIndex['list']>> = await from.list(
          space,
          { owner },
          { limit: PAGE_VECTORS, ...(after === undefined ? {} : { after }) },
        )
        if (page.length === 0) break
        const ids = page.map(({ id }) => id)
        const here = await from.vectorsOf(space, { owner }, ids)
        const there = await to.vectorsOf(space, { owner }, ids)
        await this.#copy(
          space,
          owner,
          ids.filter((id) => !isSame(here.get(id), there.get(id))),
        )
        after = ids.at(-1)
      }
    }
  }

  /** Copies the current vectors of some memories and turns, and removes the others of them. */
  async copyDocuments(owner: OwnerId, ids: readonly MemoryId[]): Promise<void> {
    for (const space of this.#copyableSpaces) {
      const copied = await this.#copy(space, owner, ids)
      const removed = ids.filter((id) => !copied.has(id))
      if (removed.length > 0) await this.#ends.to?.remove(space, { owner }, removed)
    }
  }

  /** Resolves to the ids that have a vector. */
  async #copy(
    space: SpaceReport,
    owner: OwnerId,
    ids: readonly MemoryId[],
  ): Promise<ReadonlySet<MemoryId>> {
    const { from, to } = this.#ends
    if (from === null || to === null || ids.length === 0) return new Set()
    const entries = await this.#read(from, space, owner, ids)
    try {
      await to.put(space, entries)
      this.copied += entries.length
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error
      this.refused.set(space.signature, error.message)
    }
    return new Set(entries.map(({ id }) => id))
  }

  /** Reads documents before vectors: a text that changes in between is in the change log and copied again. */
  async #read(
    from: VectorIndex,
    space: SpaceReport,
    owner: OwnerId,
    ids: readonly MemoryId[],
  ): Promise<readonly VectorEntry[]> {
    const { rows } = await this.#ends.memories.findDocuments(
      { owner },
      { where: { ids, types: DOCUMENT_TYPES }, limit: ids.length },
    )
    const vectors = await from.vectorsOf(space, { owner }, ids)
    return rows.flatMap((memory) => {
      const vector = vectors.get(memory.id)
      if (vector === undefined) return []
      return [{ place: memory.place, id: memory.id, vector, textHash: hashEmbeddingText(memory) }]
    })
  }
}

function isSame(here: Float32Array | undefined, there: Float32Array | undefined): boolean {
  if (here === undefined || there === undefined) return here === there
  if (isZeroVector(here) || isZeroVector(there)) return isZeroVector(here) && isZeroVector(there)
  return innerProduct(here, there) >= SAME_SIMILARITY_MIN
}
