/**
 * The vector index in memory: the executable specification of `VectorIndex`. It compares vectors one by one, and reads
 * the store in every call to skip stale vectors.
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
  const getVectors = (space: VectorSpace): Vectors =>
    spaces.get(space.signature)?.vectors ?? new Map()

  /** Vectors of matching documents that are not stale, by id. */
  async function loadCurrent(space: VectorSpace, scope: Scope, where: DocumentFilter) {
    const vectors = getVectors(space)
    const current = new Map<MemoryId, StoredVector>()
    if (vectors.size === 0) return current
    for (const document of await loadDocuments(store, scope, where)) {
      const stored = vectors.get(document.id)
      if (stored !== undefined && isCurrent(stored, document)) current.set(document.id, stored)
    }
    return current
  }

  return {
    async put(space, entries) {
      for (const { vector } of entries) assertVectorFits(space.dimensions, vector)
      const current: VectorEntry[] = []
      for (const entry of entries) {
        const where = { ids: [entry.id], types: DOCUMENT_TYPES }
        const [document] = await loadDocuments(store, toUserScope(entry.place), where)
        if (document !== undefined && isCurrent(entry, document)) current.push(entry)
      }
      const { vectors } = spaces.get(space.signature) ?? {
        vectors: new Map<MemoryId, StoredVector>(),
      }
      for (const { id, place, textHash, vector } of current) {
        const encoded = isByteSpace(space.signature)
          ? dequantizeVector(quantizeVector(vector))
          : vector.slice()
        vectors.set(id, { place, textHash, vector: encoded })
      }
      spaces.set(space.signature, { space, vectors })
    },

    async remove(space, scope, ids) {
      for (const id of ids) {
        const documents = await loadDocuments(store, scope, { ids: [id], types: DOCUMENT_TYPES })
        if (documents.length > 0) getVectors(space).delete(id)
      }
    },

    async search(space, scope, query) {
      assertVectorFits(space.dimensions, query.vector)
      if (query.limit <= 0 || isZeroVector(query.vector)) return []
      return [...(await loadCurrent(space, scope, query.where))]
        .filter(([, { vector }]) => !isZeroVector(vector))
        .map(([id, { vector }]) => ({ id, similarity: innerProduct(query.vector, vector) }))
        .sort((a, b) => b.similarity - a.similarity || compareText(b.id, a.id))
        .slice(0, query.limit)
    },

    async vectorsOf(space, scope, ids) {
      const current = await loadCurrent(space, scope, { ids, types: DOCUMENT_TYPES })
      return new Map([...current].map(([id, { vector }]) => [id, vector.slice()]))
    },

    async list(space, scope, { limit, after }) {
      return [...(await loadCurrent(space, scope, { types: DOCUMENT_TYPES }))]
        .filter(([id]) => after === undefined || compareText(id, after) > 0)
        .sort(([a], [b]) => compareText(a, b))
        .slice(0, Math.max(0, limit))
        .map(([id, { textHash }]) => ({ id, textHash }))
    },

    async count(space, scope) {
      return (await loadCurrent(space, scope, { types: DOCUMENT_TYPES })).size
    },

    async spaces() {
      const owners = [...new Set((await store.listPlaces()).map((place) => place.owner))]
      const reports = await Promise.all(
        [...spaces.values()].map(async ({ space }) => {
          const counts = await Promise.all(
            owners.map(async (owner) => {
              const scope = { owner } as Scope // as the store returned it
              return (await loadCurrent(space, scope, { types: DOCUMENT_TYPES })).size
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

/** Whether a vector was made from the current text of its document. */
function isCurrent(stored: StoredVector, document: SearchDocument): boolean {
  return (
    isWithinScope(toUserScope(stored.place), document.place) &&
    stored.textHash === hashEmbeddingText(document)
  )
}

/** A document never changes its owner and user; its session is only where it comes from. */
function toUserScope({ owner, user }: Place): Scope {
  return { owner, user }
}

async function loadDocuments(
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
