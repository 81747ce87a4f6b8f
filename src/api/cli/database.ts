import type { Engine } from '../../engine/engine.ts'
import type {
  MigrationPhase,
  MigrationUndoResult,
  StoreMigrationResult,
} from '../../portability/store-migration/store-migration.ts'

/** The database in the configured data folder. An encrypted database without a key prompts on the terminal. */
export interface Database {
  readonly folder: string
  readonly file: string
  state(): DatabaseState
  /** With `create: false`, a missing database appears empty and is not created. */
  openEngine(options: { readonly create: boolean }): Promise<Engine>
  /** Writes a consistent copy to a new path, encrypted like the original. */
  backup(path: string): Promise<void>
  /** Writes such a copy into a folder, named by time, and removes all but the latest `keep`. */
  snapshot(
    folder: string,
    keep: number,
  ): Promise<{ readonly file: string; readonly removed: number }>
  /** Restores a backup: a file, or the latest one in a folder up to a time. */
  restoreBackup(from: string, options: RestoreOptions): Promise<RestoreResult>
  encrypt(key: NewKey, onProgress: ProgressHandler): Promise<EncryptionResult>
  decrypt(onProgress: ProgressHandler): Promise<EncryptionResult>
  rekey(key: NewKey, onProgress: ProgressHandler): Promise<EncryptionResult>
  /** Recovers readable rows into a new database. The damaged file is kept. */
  salvage(onProgress: ProgressHandler): Promise<SalvageResult>
  /** Migration to another store. */
  readonly migrator: StoreMigrator
}

export type RestoreOptions = {
  /** Null: the latest. */
  readonly at: number | null
  /** Replaces an existing database, which is kept beside the new one. */
  readonly force: boolean
}

export type RestoreResult = {
  readonly file: string
  /** The path of the replaced database. */
  readonly previousFile: string | null
}

export interface StoreMigrator {
  /** Counts the rows to migrate. */
  preview(): Promise<MigrationPreview>
  /** Online; an interrupted migration resumes. */
  migrate(target: MigrationTarget, options: MigrationOptions): Promise<MigrationResult>
  /** Null when there is nothing to undo. */
  undo(): Promise<MigrationUndoResult | null>
}

export type MigrationTarget =
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string | null }
  /** A data folder. Without a key, it is encrypted like the source. */
  | { readonly kind: 'folder'; readonly folder: string; readonly key: NewKey | null }

export type MigrationOptions = {
  readonly onProgress: (phase: MigrationPhase, done: number, total: number) => void
  readonly signal: AbortSignal
}

export type MigrationPreview = Pick<StoreMigrationResult, 'from' | 'rows' | 'vectors'>
export type MigrationResult = StoreMigrationResult & {
  /** Environment variables for the new store, as shell lines. */
  readonly settings: readonly string[]
}

/** `unreadable`: the header is neither a plain nor an encrypted database. */
export type DatabaseState = 'missing' | 'plain' | 'encrypted' | 'unreadable'

export type ProgressHandler = (done: number, total: number) => void

/** The source of a new encryption key. */
export type NewKey =
  | { readonly kind: 'configured' }
  | { readonly kind: 'file'; readonly path: string }
  /** A random key in the keychain of the system. */
  | { readonly kind: 'keychain' }
  /** The path of a new file with a random key. */
  | { readonly kind: 'generated'; readonly path: string }
  | { readonly kind: 'passphrase'; readonly passphrase: string }

export type EncryptionResult = {
  readonly isChanged: boolean
  /** Unencrypted copies beside an encrypted database. */
  readonly plainCopies: readonly string[]
}

export type SalvageResult = {
  readonly recovered: Readonly<Record<string, number>>
  /** Descriptions of unreadable parts. */
  readonly losses: readonly string[]
  /** The new path of the damaged database. */
  readonly quarantineFile: string
}
