/**
 * An LRU cache of documents that were read by id, as recall reads the best hundred of every query: consecutive queries
 * often return the same documents. A write evicts its document; a write of another process drops the whole cache.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import { isWithinScope, type Scope } from '../../../domain/scope.ts'
import { DOCUMENT_TYPES, type SearchDocument } from '../../../domain/search-document.ts'
import { compareText } from '../../../lib/compare.ts'
import { LruCache } from '../../../lib/lru-cache.ts'
import { isMatchingDocument } from '../../document-filter.ts'
import type { DocumentFilter } from '../../store.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import { MEMORY_SELECTION, toDocument } from '../store/row-codec.ts'
import { joinConditions, toDocumentConditions, toScopeConditions } from '../store/sql-filters.ts'

const ROWS_MAX = 10_000
const CHARACTERS_MAX = 8_000_000

export class DocumentCache {
  readonly #database: SqliteDatabase
  readonly #rows = new LruCache<MemoryId, SearchDocument>({
    entriesMax: ROWS_MAX,
    weightMax: CHARACTERS_MAX,
    weigh: ({ content }) => content.length,
  })

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  /** The matching documents among the ids, newest first. Shared by all queries. */
  find(scope: Scope, ids: readonly MemoryId[], where: DocumentFilter): readonly SearchDocument[] {
    const unique = [...new Set(ids)]
    const missing = unique.filter((id) => !this.#rows.peek(id))
    const loaded = missing.length === 0 ? [] : this.#load(scope, missing)
    const cached = unique.flatMap((id) => this.#rows.get(id) ?? [])
    for (const document of loaded) this.#rows.set(document.id, document)
    return [...cached, ...loaded]
      .filter(
        (document) => isWithinScope(scope, document.place) && isMatchingDocument(document, where),
      )
      .sort((a, b) => compareText(b.id, a.id))
  }

  evict(id: MemoryId): void {
    this.#rows.delete(id)
  }

  /** To be called when another process has written. */
  invalidate(): void {
    this.clear()
  }

  clear(): void {
    this.#rows.clear()
  }

  #load({ owner }: Scope, ids: readonly MemoryId[]): readonly SearchDocument[] {
    const conditions = toDocumentConditions({ ids, types: DOCUMENT_TYPES })
    const where = joinConditions([
      ...toScopeConditions('memory', { owner }, this.#database, conditions),
      ...conditions,
    ])
    return this.#database
      .selectPacked(
        {
          columns: MEMORY_SELECTION,
          from: `FROM memory JOIN place ON place.number = memory.place_number WHERE ${where.sql}`,
        },
        where.values,
      )
      .map(toDocument)
  }
}
