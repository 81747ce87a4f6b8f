/**
 * Migrates everything between stores: a data folder, encrypted or not, and a PostgreSQL server.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { MigrationTarget, NewKey, StoreMigrator } from '../../api/cli/database.ts'
import {
  type MigratableStore,
  migrateStore,
  type StoreMigrationTarget,
  undoMigration,
} from '../../portability/store-migration/store-migration.ts'
import { openPostgresStore, redactConnectionString } from '../../storage/postgres/postgres-store.ts'
import { openSqliteFile } from '../../storage/sqlite/connection/database-file.ts'
import type { DatabaseKey } from '../../storage/sqlite/connection/sqlite-driver.ts'

export type StoreMigratorOptions = {
  readonly now: () => number
  /** The configured store. */
  readonly openSource: () => Promise<MigratableStore>
  readonly databaseFile: string
  readonly isPostgres: boolean
  readonly keyFor: (key: NewKey | null) => Promise<DatabaseKey | null>
}

export function createStoreMigrator(options: StoreMigratorOptions): StoreMigrator {
  const onSource = async <T>(work: (source: MigratableStore) => Promise<T>): Promise<T> => {
    const source = await options.openSource()
    try {
      return await work(source)
    } finally {
      await source.close()
    }
  }
  return {
    preview: () =>
      onSource(async (source) => {
        const { location, rows } = await source.getReport()
        const spaces = (await source.vectors?.spaces()) ?? []
        const vectors = spaces.reduce((sum, space) => sum + space.vectors, 0)
        return { from: location, rows, vectors }
      }),
    migrate: (target, { onProgress, signal }) =>
      onSource(async (source) => {
        const opened = await openTarget(options, target)
        try {
          const { now } = options
          const moved = await migrateStore({ source, target: opened, now, onProgress, signal })
          return { ...moved, settings: renderSettings(options, target) }
        } finally {
          await opened.close()
        }
      }),
    undo: () => onSource(undoMigration),
  }
}

async function openTarget(
  options: StoreMigratorOptions,
  target: MigrationTarget,
): Promise<StoreMigrationTarget> {
  if (target.kind === 'postgres') {
    const { url, schema } = target
    return openPostgresStore({ connectionString: url, ...(schema === null ? {} : { schema }) })
  }
  const path = join(resolve(target.folder), options.databaseFile)
  const key = await options.keyFor(existingKey(target.key, existsSync(path)))
  mkdirSync(resolve(target.folder), { recursive: true, mode: 0o700 })
  return openSqliteFile({ path, now: options.now, key })
}

/** A resumed migration finds the key that it created. */
function existingKey(key: NewKey | null, isBegun: boolean): NewKey | null {
  const isMade = key?.kind === 'generated' && isBegun && existsSync(key.path)
  return isMade ? { kind: 'file', path: key.path } : key
}

function renderSettings(
  { isPostgres }: StoreMigratorOptions,
  target: MigrationTarget,
): readonly string[] {
  if (target.kind === 'postgres') {
    const { url, schema } = target
    return [
      `RECOLLECT_POSTGRES_URL=${redactConnectionString(url)}`,
      ...(schema === null ? [] : [`RECOLLECT_POSTGRES_SCHEMA=${schema}`]),
    ]
  }
  const { key } = target
  const keyFile = key?.kind === 'generated' || key?.kind === 'file' ? key.path : null
  return [
    `RECOLLECT_DATA=${resolve(target.folder)}`,
    ...(isPostgres ? ['RECOLLECT_POSTGRES_URL='] : []),
    ...(keyFile === null ? [] : [`RECOLLECT_ENCRYPTION_KEY_FILE=${resolve(keyFile)}`]),
  ]
}
