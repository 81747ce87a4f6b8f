import { hashEmbeddingText } from '../../domain/embedding-text.ts'
import type { MemoryId } from '../../domain/ids.ts'
import type { Scope } from '../../domain/scope.ts'
import { DOCUMENT_TYPES, type SearchDocument } from '../../domain/search-document.ts'
import type { Store } from '../../storage/store.ts'
import type { VectorIndex, VectorSpace } from '../../storage/vector-index.ts'

const PAGE = 500

/** Compares store and index page by page: how many documents were looked at, and which of them lack their vector. */
export async function* diffIndex(
  { store, vectors }: { readonly store: Store; readonly vectors: VectorIndex },
  scope: Scope,
  space: VectorSpace,
): AsyncGenerator<{ readonly seen: number; readonly missing: readonly SearchDocument[] }> {
  let after: string | undefined
  do {
    const page = await store.findDocuments(scope, {
      where: { types: DOCUMENT_TYPES },
      limit: PAGE,
      order: 'oldest',
      ...(after === undefined ? {} : { after }),
    })
    const listed = await vectors.list(space, scope, {
      limit: PAGE,
      ...(after === undefined ? {} : { after: after as MemoryId }), // an id of the page before
    })
    const known = new Map(listed.map(({ id, textHash }) => [id, textHash]))
    const missing = page.rows.filter((row) => known.get(row.id) !== hashEmbeddingText(row))
    yield { seen: page.rows.length, missing }
    after = page.next ?? undefined
  } while (after !== undefined)
}
