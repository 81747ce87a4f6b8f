/**
 * Memories that were read by their ids, as recall reads the best hundred of every question: those that one question finds,
 * the next one often finds as well.
 *
 * A row is given up as soon as its memory is written here, and all are when another process has written anything.
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

type KnownRow = {
  readonly row: SqlRow
  /** For looking at only: what is given out is read anew, because others may change what they get. */
  readonly memory: SearchDocument
}

export class DocumentCache {
  readonly #session: SqliteDatabase
  readonly #rows = new LruCache<MemoryId, KnownRow>({
    entriesMax: ROWS_MAX,
    weightMax: CHARACTERS_MAX,
    weigh: ({ memory }) => memory.content.length,
  })

  constructor(session: SqliteDatabase) {
    this.#session = session
  }

  /** Those of the ids that pass, the newest first. */
  find(scope: Scope, ids: readonly MemoryId[], where: DocumentFilter): readonly SearchDocument[] {
    const wanted = [...new Set(ids)]
    const unknown = wanted.filter((id) => !this.#rows.peek(id))
    const read = unknown.length === 0 ? [] : this.#read(scope, unknown)
    const known = wanted.flatMap((id) => this.#rows.get(id) ?? [])
    for (const each of read) this.#rows.set(each.memory.id, each)
    return [...known, ...read]
      .filter(
        ({ memory }) => isWithinScope(scope, memory.place) && isMatchingDocument(memory, where),
      )
      .sort((a, b) => compareText(b.memory.id, a.memory.id))
      .map(({ row }) => toDocument(row))
  }

  evict(id: MemoryId): void {
    this.#rows.delete(id)
  }

  clear(): void {
    this.#rows.clear()
  }

  #read({ owner }: Scope, ids: readonly MemoryId[]): readonly KnownRow[] {
    const conditions = toDocumentConditions({ ids, types: DOCUMENT_TYPES })
    const where = joinConditions([
      ...toScopeConditions('memory', { owner }, this.#session, conditions),
      ...conditions,
    ])
    return this.#session
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
