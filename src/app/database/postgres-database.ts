/** The database on a PostgreSQL server. Backups and encryption are up to the server. */
import { join } from 'node:path'
import type { Database, StoreMigrator } from '../../api/cli/database.ts'
import { AppError } from '../../lib/errors.ts'
import type { LanguageModel } from '../../models/language-model.ts'
import { createEngine, type EngineOptions } from '../composition.ts'
import type { Config } from '../config/config.ts'
import type { FilesOptions } from '../file-composition.ts'
import type { VectorStoreOptions } from './vector-store-selection.ts'

export function createPostgresDatabase(
  config: Config,
  url: string,
  languageModel: LanguageModel,
  { files, moving }: { readonly files: FilesOptions; readonly moving: StoreMigrator },
): Database {
  const elsewhere = async (): Promise<never> => {
    throw new AppError(
      'invalid_input',
      'The memories are in PostgreSQL (RECOLLECT_POSTGRES_URL). Use its own tools, such as pg_dump.',
    )
  }
  return {
    folder: config.dataFolder,
    file: withoutSecret(url),
    state: () => 'plain',
    // Files are on this machine, and so is everything derived from them.
    openEngine: () =>
      createEngine({
        ...engineOptions(config),
        postgres: url,
        postgresOptions: config.postgresOptions,
        ...{ languageModel, files },
      }),
    backup: elsewhere,
    snapshot: elsewhere,
    restoreBackup: elsewhere,
    encrypt: elsewhere,
    decrypt: elsewhere,
    rekey: elsewhere,
    salvage: elsewhere,
    migrator: moving,
  }
}

/** The engine options of the configuration, independent of the store. */
export function engineOptions(config: Config): EngineOptions {
  const { embedding, vectorForm, providerKeys, rerank, settings } = config
  return {
    ...{ embedding, vectorForm, providerKeys, settings },
    vectorStore: vectorStoreOptions(config),
    ...(rerank === null ? {} : { rerank }),
  }
}

function vectorStoreOptions({ dataFolder, qdrantKey, settings }: Config): VectorStoreOptions {
  return {
    folder: join(dataFolder, 'lancedb'),
    ...(qdrantKey === null ? {} : { qdrantKey }),
    ...(settings['vectorStore.qdrantUrl'] === undefined
      ? {}
      : { qdrantKeyUrl: settings['vectorStore.qdrantUrl'] }),
  }
}

/** The address without the password. An address that cannot be parsed is hidden entirely. */
function withoutSecret(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url)
    return `${protocol}//${host}${pathname}`
  } catch {
    return 'postgresql'
  }
}
