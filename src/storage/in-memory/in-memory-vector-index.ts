/**
 * Vectors in memory, compared one by one: the executable specification that every other index is compared with.
 *
 * Whether a vector is still that of its memory is asked of the store each time, so nothing is ever out of date.
 */
import { hashEmbeddingText, isByteSpace } from '../../domain/embedding-text.ts'
import type { MemoryId } from '../../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../../domain/limits.ts'
import { isWithinScope, type Place, type Scope } from '../../domain/scope.ts'
import { DOCUMENT_TYPES, type SearchDocument } from '../../domain/search-document.ts'
import { compareText } from '../../lib/compare.ts'
import {
  dequantizeVector,
  innerProduct,
  isZeroVector,
  quantizeVector,
} from '../../lib/vector-math.ts'
import type { DocumentFilter, Store } from '../store.ts'
import {
  assertVectorFits,
  type VectorEntry,
  type VectorIndex,
  type VectorSpace,
} from '../vector-index.ts'

type StoredVector = Omit<VectorEntry, 'id'>
type Vectors = Map<MemoryId, StoredVector>

export function createInMemoryVectorIndex(store: Store): VectorIndex {
  const spaces = new Map<string, { readonly space: VectorSpace; readonly vectors: Vectors }>()
  const vectorsIn = (space: VectorSpace): Vectors =>
    spaces.get(space.signature)?.vectors ?? new Map()

  /** Vectors that are still those of their documents, by id. */
  async function valid(space: VectorSpace, scope: Scope, where: DocumentFilter) {
    const vectors = vectorsIn(space)
    const found = new Map<MemoryId, StoredVector>()
    if (vectors.size === 0) return found
    for (const document of await documentsOf(store, scope, where)) {
      const kept = vectors.get(document.id)
      if (kept !== undefined && isOf(kept, document)) found.set(document.id, kept)
    }
    return found
  }

  return {
    async put(space, entries) {
      for (const { vector } of entries) assertVectorFits(space.dimensions, vector)
      const fitting: VectorEntry[] = []
      for (const entry of entries) {
        const where = { ids: [entry.id], types: DOCUMENT_TYPES }
        const [document] = await documentsOf(store, homeOf(entry.place), where)
        if (document !== undefined && isOf(entry, document)) fitting.push(entry)
      }
      const { vectors } = spaces.get(space.signature) ?? {
        vectors: new Map<MemoryId, StoredVector>(),
      }
      for (const { id, place, textHash, vector } of fitting) {
        const form = isByteSpace(space.signature)
          ? dequantizeVector(quantizeVector(vector))
          : vector.slice()
        vectors.set(id, { place, textHash, vector: form })
      }
      spaces.set(space.signature, { space, vectors })
    },

    async remove(space, scope, ids) {
      for (const id of ids) {
        const known = await documentsOf(store, scope, { ids: [id], types: DOCUMENT_TYPES })
        if (known.length > 0) vectorsIn(space).delete(id)
      }
    },

    async search(space, scope, query) {
      assertVectorFits(space.dimensions, query.vector)
      if (query.limit <= 0 || isZeroVector(query.vector)) return []
      return [...(await valid(space, scope, query.where))]
        .filter(([, { vector }]) => !isZeroVector(vector))
        .map(([id, { vector }]) => ({ id, similarity: innerProduct(query.vector, vector) }))
        .sort((a, b) => b.similarity - a.similarity || compareText(b.id, a.id))
        .slice(0, query.limit)
    },

    async vectorsOf(space, scope, ids) {
      const found = await valid(space, scope, { ids, types: DOCUMENT_TYPES })
      return new Map([...found].map(([id, { vector }]) => [id, vector.slice()]))
    },

    async list(space, scope, { limit, after }) {
      return [...(await valid(space, scope, { types: DOCUMENT_TYPES }))]
        .filter(([id]) => after === undefined || compareText(id, after) > 0)
        .sort(([a], [b]) => compareText(a, b))
        .slice(0, Math.max(0, limit))
        .map(([id, { textHash }]) => ({ id, textHash }))
    },

    async count(space, scope) {
      return (await valid(space, scope, { types: DOCUMENT_TYPES })).size
    },

    async spaces() {
      const owners = [...new Set((await store.listPlaces()).map((place) => place.owner))]
      const reports = await Promise.all(
        [...spaces.values()].map(async ({ space }) => {
          const counts = await Promise.all(
            owners.map(async (owner) => {
              const scope = { owner } as Scope // names come back as they went in
              return (await valid(space, scope, { types: DOCUMENT_TYPES })).size
            }),
          )
          return { ...space, vectors: counts.reduce((sum, count) => sum + count, 0) }
        }),
      )
      return reports.filter(({ vectors }) => vectors > 0)
    },

    async drop(space) {
      spaces.delete(space.signature)
    },

    report() {
      return { kind: 'reference', spaces: spaces.size }
    },

    async close() {},
  }
}

/** Whether a vector is that of the document as it is now. */
function isOf(kept: StoredVector, document: SearchDocument): boolean {
  return (
    isWithinScope(homeOf(kept.place), document.place) &&
    kept.textHash === hashEmbeddingText(document)
  )
}

/** A document stays with its owner and user; the session is only where it comes from. */
function homeOf({ owner, user }: Place): Scope {
  return { owner, user }
}

async function documentsOf(
  store: Store,
  scope: Scope,
  where: DocumentFilter,
): Promise<readonly SearchDocument[]> {
  const documents: SearchDocument[] = []
  for (let after: string | undefined; ; ) {
    const page = await store.findDocuments(scope, {
      where,
      limit: PAGE_ROWS_MAX,
      order: 'oldest',
      ...(after === undefined ? {} : { after }),
    })
    documents.push(...page.rows)
    if (page.next === null) return documents
    after = page.next
  }
}
