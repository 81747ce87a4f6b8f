/** The database on a PostgreSQL server. Copies and encryption are that server's own business. */
import { AppError } from '../core/errors.ts'
import type { Database } from '../doors/cli/host.ts'
import type { LanguageModel } from '../ports/language-model.ts'
import { createEngine, type EngineOptions } from './compose.ts'
import type { Config } from './config.ts'
import type { FilesOptions } from './files.ts'

export function createPostgresDatabase(
  config: Config,
  url: string,
  languageModel: LanguageModel,
  files: FilesOptions,
): Database {
  const elsewhere = async (): Promise<never> => {
    throw new AppError(
      'invalid_input',
      'The memories are in PostgreSQL (RECOLLECT_POSTGRES): use its own tools for this, as pg_dump.',
    )
  }
  return {
    folder: config.dataFolder,
    file: withoutSecret(url),
    state: () => 'plain',
    // Files are on this machine, and so is what is made of them.
    openEngine: () =>
      createEngine({ ...engineOptions(config), postgres: url, languageModel, files }),
    backup: elsewhere,
    encrypt: elsewhere,
    decrypt: elsewhere,
    rekey: elsewhere,
    salvage: elsewhere,
  }
}

/** What the configuration says about an engine, wherever its memories are. */
export function engineOptions(config: Config): EngineOptions {
  const { embedding, vectorForm, rerank, settings } = config
  return { embedding, vectorForm, settings, ...(rerank === null ? {} : { rerank }) }
}

/** Where it is, without the password. What is no address may be anything, so nothing of it is told. */
function withoutSecret(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url)
    return `${protocol}//${host}${pathname}`
  } catch {
    return 'postgresql'
  }
}
