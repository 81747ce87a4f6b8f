import { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqliteConnection } from '../connection/sqlite-driver.ts'
import { DocumentCache } from './document-cache.ts'
import { OwnerCache, type OwnerCacheOptions } from './owner-cache.ts'

/** A database with the caches of the store. Whoever writes a document or a vector invalidates its cached copies. */
export class CachedDatabase extends SqliteDatabase {
  /** All documents of recently used owners. */
  readonly ownerCache: OwnerCache
  /** Single documents that were read by id. */
  readonly documentCache = new DocumentCache(this)

  constructor(connection: SqliteConnection, options?: OwnerCacheOptions) {
    super(connection)
    this.ownerCache = new OwnerCache(this, options)
    this.registerCache(this.ownerCache)
    this.registerCache(this.documentCache)
  }
}
