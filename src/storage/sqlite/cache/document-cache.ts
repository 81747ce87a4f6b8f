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
import type { SqlRow } from '../connection/sqlite-driver.ts'
import { MEMORY_SELECTION, toDocument } from '../store/row-codec.ts'
import { joinConditions, toDocumentConditions, toScopeConditions } from '../store/sql-filters.ts'

const ROWS_MAX = 10_000
const CHARACTERS_MAX = 8_000_000

type CachedDocument = {
  readonly row: SqlRow
  /** For filters only. Results are decoded anew, because callers may modify them. */
  readonly memory: SearchDocument
}

export class DocumentCache {
  readonly #database: SqliteDatabase
  readonly #rows = new LruCache<MemoryId, CachedDocument>({
    entriesMax: ROWS_MAX,
    weightMax: CHARACTERS_MAX,
    weigh: ({ memory }) => memory.content.length,
  })

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  /** The matching documents among the ids, newest first. */
  find(scope: Scope, ids: readonly MemoryId[], where: DocumentFilter): readonly SearchDocument[] {
    const unique = [...new Set(ids)]
    const missing = unique.filter((id) => !this.#rows.peek(id))
    const loaded = missing.length === 0 ? [] : this.#load(scope, missing)
    const cached = unique.flatMap((id) => this.#rows.get(id) ?? [])
    for (const row of loaded) this.#rows.set(row.memory.id, row)
    return [...cached, ...loaded]
      .filter(
        ({ memory }) => isWithinScope(scope, memory.place) && isMatchingDocument(memory, where),
      )
      .sort((a, b) => compareText(b.memory.id, a.memory.id))
      .map(({ row }) => toDocument(row))
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

  #load({ owner }: Scope, ids: readonly MemoryId[]): readonly CachedDocument[] {
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
      .map((row) => ({ row, memory: toDocument(row) }))
  }
}
