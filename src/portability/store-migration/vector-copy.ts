/** Vectors are copied, not made again: that would take a model, and hours. */
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

/** Places round differently: in bytes, in half precision, or not at all. */
const SAME_SIMILARITY_MIN = 0.99

export class VectorCopy {
  readonly #ends: VectorCopyEnds
  #spaces: readonly SpaceReport[] = []
  /** Spaces that the new place can't hold, and why. */
  readonly refused = new Map<string, string>()
  copied = 0

  constructor(ends: VectorCopyEnds) {
    this.#ends = ends
  }

  /** Looks which spaces there are: more may have come. */
  async look(): Promise<void> {
    const { from, to } = this.#ends
    this.#spaces = from === null ? [] : await from.spaces()
    if (to !== null) return
    for (const { signature } of this.#spaces)
      this.refused.set(signature, 'there is no vector search there')
  }

  get #held(): readonly SpaceReport[] {
    return this.#spaces.filter(({ signature }) => !this.refused.has(signature))
  }

  /** Copies what an owner has and the new place has not, or has otherwise. */
  async copyOwner(owner: OwnerId): Promise<void> {
    const { from, to } = this.#ends
    if (from === null || to === null) return
    for (const space of this.#held) {
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

  /** Brings the vectors of some memories and turns over, as they are now. */
  async copyDocuments(owner: OwnerId, ids: readonly MemoryId[]): Promise<void> {
    for (const space of this.#held) {
      const copied = await this.#copy(space, owner, ids)
      const others = ids.filter((id) => !copied.has(id))
      if (others.length > 0) await this.#ends.to?.remove(space, { owner }, others)
    }
  }

  /** Says which of them have a vector. */
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

  /** Documents are read before their vectors: a text that changes in between is noted, and comes again. */
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
