import type { Engine } from '../../engine/engine.ts'
import type {
  MigrationPhase,
  MigrationUndoResult,
  StoreMigrationResult,
} from '../../portability/store-migration/store-migration.ts'

/** The database in the configured data folder. When it is encrypted and no key is given, a terminal is asked. */
export interface Database {
  readonly folder: string
  readonly file: string
  state(): DatabaseState
  /** With `create: false`, a database that isn't there yet looks empty and is not made. */
  openEngine(options: { readonly create: boolean }): Promise<Engine>
  /** Writes a consistent copy to a path where nothing is yet, encrypted as the original is. */
  backup(path: string): Promise<void>
  /** Writes such a copy into a folder, under the time it was made, and removes the oldest beyond `keep`. */
  snapshot(
    folder: string,
    keep: number,
  ): Promise<{ readonly file: string; readonly removed: number }>
  /** Puts a copy in the place of the database: a file, or the last in a folder that was made by then. */
  restoreBackup(from: string, options: RestoreOptions): Promise<RestoreResult>
  encrypt(key: NewKey, onProgress: ProgressHandler): Promise<EncryptionResult>
  decrypt(onProgress: ProgressHandler): Promise<EncryptionResult>
  rekey(key: NewKey, onProgress: ProgressHandler): Promise<EncryptionResult>
  /** Reads what can still be read into a new database and puts it in the place of the damaged one, which is kept. */
  salvage(onProgress: ProgressHandler): Promise<SalvageResult>
  /** Moving everything to another place. */
  readonly migrator: StoreMigrator
}

export type RestoreOptions = {
  /** Null: the last there is. */
  readonly at: number | null
  /** Also where there is a database; that is kept beside the new one. */
  readonly force: boolean
}

export type RestoreResult = {
  readonly file: string
  /** Where the database was put that had been there. */
  readonly previousFile: string | null
}

export interface StoreMigrator {
  /** How much there is to move. */
  preview(): Promise<MigrationPreview>
  /** While it is used; what was stopped goes on where it was. */
  migrate(target: MigrationTarget, options: MigrationOptions): Promise<MigrationResult>
  /** Null when there is nothing to undo. */
  undo(): Promise<MigrationUndoResult | null>
}

export type MigrationTarget =
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string | null }
  /** A data folder. Without a key, the database is encrypted as this one is. */
  | { readonly kind: 'folder'; readonly folder: string; readonly key: NewKey | null }

export type MigrationOptions = {
  readonly onProgress: (phase: MigrationPhase, done: number, total: number) => void
  readonly signal: AbortSignal
}

export type MigrationPreview = Pick<StoreMigrationResult, 'from' | 'rows' | 'vectors'>
export type MigrationResult = StoreMigrationResult & {
  /** What to set from now on, as lines for a shell. */
  readonly settings: readonly string[]
}

/** `unreadable`: it begins neither like a database nor like an encrypted one. */
export type DatabaseState = 'missing' | 'plain' | 'encrypted' | 'unreadable'

export type ProgressHandler = (done: number, total: number) => void

/** Where the key of a database that is being encrypted comes from. */
export type NewKey =
  | { readonly kind: 'configured' }
  | { readonly kind: 'file'; readonly path: string }
  /** A file that is made with a new random key. */
  | { readonly kind: 'generated'; readonly path: string }
  | { readonly kind: 'passphrase'; readonly passphrase: string }

export type EncryptionResult = {
  readonly isChanged: boolean
  /** Copies beside an encrypted database that anyone can still read. */
  readonly plainCopies: readonly string[]
}

export type SalvageResult = {
  readonly recovered: Readonly<Record<string, number>>
  /** What could not be read, in words. */
  readonly losses: readonly string[]
  /** Where the damaged database was put. */
  readonly quarantineFile: string
}
