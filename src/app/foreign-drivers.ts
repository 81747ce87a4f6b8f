/** Access to databases of other systems that need an optional package. Packages load on first use. */
import { AppError } from '../lib/errors.ts'
import type { ForeignDatabaseDrivers } from '../portability/import-source.ts'
import { isOpenInProcess } from '../storage/sqlite/connection/database-file.ts'

export const foreignDrivers: ForeignDatabaseDrivers = {
  openCipher: async (path, key) => {
    const { openSqlcipher } = await import('../storage/sqlite/connection/sqlite-driver.ts')
    return openSqlcipher(path, key)
  },
  readLanceTable: async function* (folder) {
    const { readPluginRows } = await import('../storage/lancedb/plugin-memory-table.ts')
    yield* await readPluginRows(folder)
  },
  readPostgresTable: async function* (url) {
    const { readForeignTable } = await import('../storage/postgres/connection/postgres-driver.ts')
    yield* readForeignTable(url, 'memories')
  },
  assertNotInUse: (path) => {
    if (!isOpenInProcess(path)) return
    throw new AppError('invalid_input', `${path} is the database currently in use.`, { path })
  },
}
