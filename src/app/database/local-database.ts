/**
 * The database in a data folder: open with the configured or entered key, back up, convert,
 * salvage.
 */
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type {
  Database,
  DatabaseState,
  EncryptionResult,
  NewKey,
  ProgressHandler,
  SalvageResult,
} from '../../api/cli/database.ts'
import { AppError, type ErrorCode, toAppError } from '../../lib/errors.ts'
import { getSystemErrorCode } from '../../lib/system-error.ts'
import type { LanguageModel } from '../../models/language-model.ts'
import { openPostgresStore } from '../../storage/postgres/postgres-store.ts'
import { detectFileKind, openSqliteFile } from '../../storage/sqlite/connection/database-file.ts'
import {
  type DatabaseKey,
  describeMissingCipher,
} from '../../storage/sqlite/connection/sqlite-driver.ts'
import {
  generateKeyFile,
  loadKeyFile,
  parseKey,
  parsePassphrase,
} from '../../storage/sqlite/encryption/encryption-key.ts'
import { isMatchingKey, readKeyVerifier } from '../../storage/sqlite/encryption/key-verifier.ts'
import type { Keychain } from '../../storage/sqlite/encryption/keychain.ts'
import { rekeyDatabase } from '../../storage/sqlite/encryption/rekey.ts'
import {
  findSnapshotBefore,
  restoreSnapshot,
  takeSnapshot,
} from '../../storage/sqlite/maintenance/snapshots.ts'
import {
  type RecoveryReport,
  recoverDatabase,
} from '../../storage/sqlite/recovery/database-recovery.ts'
import { createEngine, type EngineOptions } from '../composition.ts'
import type { Config, KeySource } from '../config/config.ts'
import { removeIndex } from '../file-composition.ts'
import { createStoreMigrator } from './database-migration.ts'
import { forgetKeychainKeys, readKeychainKey, storeNewKey } from './keychain-key.ts'
import { createPostgresDatabase, engineOptions } from './postgres-database.ts'

export const DATABASE_FILE = 'recollect.db'
const CACHE_FILE = 'embedding-cache.db'

export const FILES_FILE = 'files.db'

export type DatabaseOptions = {
  readonly config: Config
  readonly now: () => number
  /** Prompts for the database passphrase; null when there is no terminal. */
  readonly askPassphrase: (() => Promise<string>) | null
  /** The language model for distillation. */
  readonly languageModel: LanguageModel
  readonly keychain: Keychain
}

export function createDatabase(options: DatabaseOptions): Database {
  const { config, now, askPassphrase, languageModel, keychain } = options
  if (config.postgres !== null) {
    const { postgres, postgresOptions } = config
    return createPostgresDatabase(config, postgres, languageModel, {
      files: { path: join(config.dataFolder, FILES_FILE) },
      moving: createStoreMigrator({
        ...{ now, databaseFile: DATABASE_FILE, isPostgres: true },
        openSource: () => openPostgresStore({ ...postgresOptions, connectionString: postgres }),
        keyFor: async (key) => {
          if (key !== null) return toNewKey(key, config)
          return config.key === null ? null : toKey(config.key)
        },
      }),
    })
  }
  const folder = config.dataFolder
  const path = join(folder, DATABASE_FILE)
  const files = join(folder, FILES_FILE)
  let passphrase: DatabaseKey | undefined
  const currentKey = async (): Promise<DatabaseKey | null> => {
    if (config.key !== null) return toKey(config.key)
    if (passphrase === undefined && stateOf(path) === 'encrypted') {
      passphrase = (await readKeychainKey(keychain, path)) ?? undefined
    }
    if (passphrase === undefined && askPassphrase !== null && stateOf(path) === 'encrypted') {
      passphrase = parsePassphrase(await askPassphrase())
    }
    return passphrase ?? null
  }
  const convert = async (
    from: DatabaseKey | null,
    to: DatabaseKey | null,
    onProgress: ProgressHandler,
  ) => {
    requireDatabase(path)
    const converted = toConverted(await rekeyDatabase({ path, from, to, now, onProgress }))
    // The index is derived data; it is rebuilt under the new encryption.
    if (converted.isChanged) removeIndex(files)
    return converted
  }
  const convertWithKeychain = async (from: DatabaseKey | null, onProgress: ProgressHandler) => {
    const stored = await storeNewKey(keychain, path)
    try {
      const converted = await convert(from, parseKey(stored.hex), onProgress)
      await stored.commit()
      return converted
    } catch (error) {
      const verifier = readKeyVerifier(path)
      const isConverted = verifier !== null && isMatchingKey(verifier, parseKey(stored.hex))
      if (!isConverted) await stored.discard()
      throw error
    }
  }
  return {
    folder,
    file: path,
    state: () => stateOf(path),
    openEngine: async ({ create }) => {
      if (!create && stateOf(path) === 'missing') {
        return createEngine({ embedding: false, files: { path: ':memory:' } })
      }
      makeFolder(folder)
      const key = await currentKey()
      const store = await openSqliteFile({ path, now, key, ...vectorOptions(config) })
      const isEncrypted = stateOf(path) === 'encrypted'
      if (isEncrypted) removeCache(folder)
      return createEngine({
        ...fileOptions(config, isEncrypted),
        store,
        languageModel,
        files: { path: files, key: isEncrypted ? key : null },
      })
    },
    backup: async (target) => {
      requireDatabase(path)
      const copy = resolve(target)
      if (!existsSync(dirname(copy))) {
        throw new AppError('not_found', `The folder ${dirname(copy)} does not exist.`, {
          path: copy,
        })
      }
      const store = await openSqliteFile({ path, now, key: await currentKey() })
      try {
        await store.backup(copy)
      } finally {
        await store.close()
      }
    },
    snapshot: async (target, keep) => {
      requireDatabase(path)
      const into = resolve(target)
      makeFolder(into)
      const key = await currentKey()
      const store = await openSqliteFile({ path, now, key })
      try {
        const { taken, removed } = await takeSnapshot(store, into, { now: now(), keep, key })
        return { file: taken.path, removed: removed.length }
      } finally {
        await store.close()
      }
    },
    restoreBackup: async (from, { at, force }) => {
      const source = backupIn(resolve(from), at)
      if (existsSync(path) && !force) {
        throw new AppError(
          'conflict',
          `A database already exists at ${path}. Use --force to move it aside first.`,
          { path },
        )
      }
      makeFolder(folder)
      const key = await currentKey()
      const keptAt = await restoreSnapshot({ from: source, path, key, now: now() })
      return { file: source, previousFile: keptAt }
    },
    encrypt: async (key, onProgress) => {
      requireDatabase(path)
      if (key.kind === 'keychain') {
        requireCipher() // checked before a key is stored that would encrypt nothing
        const converted = await convertWithKeychain(null, onProgress)
        removeCache(folder)
        return converted
      }
      const to = toNewKey(key, config)
      requireCipher()
      try {
        const converted = await convert(null, to, onProgress)
        removeCache(folder)
        return converted
      } catch (error) {
        // Nothing is encrypted with this key, and a leftover file would block the next attempt.
        if (key.kind === 'generated' && stateOf(path) === 'plain') rmSync(key.path, { force: true })
        throw error
      }
    },
    decrypt: async (onProgress) => {
      const converted = await convert(await currentKey(), null, onProgress)
      await forgetKeychainKeys(keychain, path)
      return converted
    },
    rekey: async (key, onProgress) => {
      requireDatabase(path)
      const from = await currentKey()
      if (key.kind === 'keychain') return convertWithKeychain(from, onProgress)
      const converted = await convert(from, toNewKey(key, config), onProgress)
      await forgetKeychainKeys(keychain, path)
      return converted
    },
    salvage: async (onProgress) => {
      const key = await currentKey()
      await assertDamaged(() => openSqliteFile({ path, now, key }))
      return toSalvaged(await recoverDatabase({ path, key, now, onProgress }))
    },
    migrator: createStoreMigrator({
      ...{ now, databaseFile: DATABASE_FILE, isPostgres: false },
      openSource: async () => {
        requireDatabase(path)
        return openSqliteFile({ path, now, key: await currentKey() })
      },
      keyFor: async (key) => (key === null ? currentKey() : toNewKey(key, config)),
    }),
  }
}

/** A database that is intact, in use, or of a newer version must not be salvaged. */
async function assertDamaged(open: () => ReturnType<typeof openSqliteFile>): Promise<void> {
  try {
    const store = await open()
    try {
      const faults = await store.checkIntegrity({ repair: false })
      if (faults.some((fault) => !fault.repairable)) return
    } finally {
      await store.close()
    }
  } catch (error) {
    const { code } = toAppError(error)
    if (code === 'schema_mismatch' || code === 'busy' || code === 'missing_part') throw error
    return
  }
  throw new AppError('conflict', 'The database is intact: there is nothing to salvage.')
}

function fileOptions(config: Config, isEncrypted: boolean): EngineOptions {
  const { embedding, dataFolder } = config
  const options = engineOptions(config)
  return {
    ...options,
    vectorStore: { ...options.vectorStore, isEncrypted },
    embedding: {
      modelFolder: join(dataFolder, 'models'),
      ...embedding,
      // Never next to an encrypted database: vectors reveal texts.
      cacheFile: isEncrypted ? null : join(dataFolder, CACHE_FILE),
    },
  }
}

function vectorOptions({ vectorSearch, vectorMemoryBytes }: Config) {
  return {
    ...(vectorSearch === null ? {} : { vectorSearchEngine: vectorSearch }),
    ...(vectorMemoryBytes === null ? {} : { vectorCacheBytes: vectorMemoryBytes }),
  }
}

/** Vectors that were cached before the database was encrypted. */
function removeCache(folder: string): void {
  for (const end of ['', '-wal', '-shm', '.damaged']) {
    rmSync(join(folder, `${CACHE_FILE}${end}`), { force: true })
  }
}

function stateOf(path: string): DatabaseState {
  const kind = existsSync(path) ? detectFileKind(path) : 'absent'
  if (kind === 'absent' || kind === 'empty') return 'missing'
  return kind === 'unknown' ? 'unreadable' : kind
}

function requireDatabase(path: string): void {
  if (stateOf(path) === 'missing') {
    throw new AppError('not_found', `No database exists at ${path}.`, { path })
  }
}

function requireCipher(): void {
  const missing = describeMissingCipher()
  if (missing !== null) throw new AppError('missing_part', missing)
}

/** The backup itself, or the latest one of a folder at that time. */
function backupIn(from: string, at: number | null): string {
  const stat = statSync(from, { throwIfNoEntry: false })
  if (stat === undefined) throw new AppError('not_found', `No backup exists at ${from}.`)
  if (stat.isDirectory()) return findSnapshotBefore(from, at ?? Number.POSITIVE_INFINITY).path
  if (at === null) return from
  throw new AppError(
    'invalid_input',
    '--at selects among the backups in a folder; this path is a file.',
  )
}

/** Only this user may read it: memories are private. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    const reason = getSystemErrorCode(error) || 'unknown'
    const code: ErrorCode = reason === 'ENOSPC' ? 'disk_full' : 'read_only'
    const why =
      reason === 'EEXIST' || reason === 'ENOTDIR' ? 'a file with this name exists' : reason
    throw new AppError(code, `The data folder ${folder} cannot be created: ${why}.`, {}, error)
  }
}

function toKey({ kind, value }: KeySource): DatabaseKey {
  if (kind === 'file') return loadKeyFile(value)
  return kind === 'text' ? parseKey(value) : parsePassphrase(value)
}

function toNewKey(key: NewKey, { key: configured }: Config): DatabaseKey {
  switch (key.kind) {
    case 'file':
      return loadKeyFile(key.path)
    case 'passphrase':
      return parsePassphrase(key.passphrase)
    case 'keychain':
      throw new AppError(
        'invalid_input',
        'Only a database in its place can have its key in the keychain.',
      )
    case 'generated':
      requireCipher() // checked before a key is created that would encrypt nothing
      generateKeyFile(key.path)
      return loadKeyFile(key.path)
    case 'configured':
      if (configured === null)
        throw new AppError('invalid_input', 'No encryption key is configured.')
      return toKey(configured)
  }
}

function toConverted({
  kind,
  plainCopies,
}: Awaited<ReturnType<typeof rekeyDatabase>>): EncryptionResult {
  return { isChanged: kind === 'converted', plainCopies }
}

function toSalvaged({
  copied,
  lost,
  unnamedPlaces: namelessPlaces,
  quarantined,
}: RecoveryReport): SalvageResult {
  const { memory = 0, revision = 0, tombstone = 0 } = copied
  const several = (number: number | null, what: string) =>
    number === null || number === 0 ? [] : [`${number} ${what}`]
  return {
    recovered: {
      memories: memory,
      'earlier versions': revision,
      tombstones: tombstone,
    },
    losses: [
      ...(lost.memories === null ? ['the original number of memories is unknown'] : []),
      ...several(lost.memories, 'memories'),
      ...Object.entries(lost.rows).flatMap(([table, rows]) =>
        several(rows, `damaged rows of the table ${table}`),
      ),
      ...several(lost.pages.length, 'unreadable pages'),
      ...(lost.recentWrites ? ['the last writes before the damage'] : []),
      ...several(
        namelessPlaces,
        'names of owners or users; look for "salvaged-" in `recollect status`',
      ),
    ],
    quarantineFile: quarantined,
  }
}
