/**
 * Everything the command line needs from outside: streams, questions, and the database that flags and environment
 * point at. Commands reach the system only through this, so that they run in tests as they run in a terminal.
 */
import type { ScopeInput } from '../../core/draft.ts'
import type { SettingValues } from '../../core/settings.ts'
import type { Engine } from '../../engine/engine.ts'

export interface Host {
  readonly version: string
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly hasColor: boolean
  /** Fires when the person wants to stop: Ctrl-C, or a request to terminate. */
  readonly stop: AbortSignal
  now(): number
  /** Asks on the terminal. Only called when there is one. */
  confirm(question: string): Promise<boolean>
  /** Asks without showing what is typed. Only called when there is a terminal. */
  askSecret(question: string): Promise<string>
  /** Flags over environment over defaults. */
  configure(flags: GlobalFlags): Setup
}

export interface Input {
  readonly isTerminal: boolean
  bytes(): AsyncIterable<Uint8Array>
}

export interface Output {
  readonly isTerminal: boolean
  readonly columns: number
  /** Resolves when there is room for more; rejects with `OutputClosed` once nobody reads any more. */
  write(text: string): Promise<void>
}

/** The reader of our output has gone, as `head` does. It is no failure. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed'
}

export type GlobalFlags = {
  readonly data?: string
  readonly owner?: string
  readonly user?: string
  readonly session?: string
  readonly keyFile?: string
}

export type Setup = {
  readonly scope: ScopeInput
  readonly settings: SettingValues
  readonly listen: { readonly host: string; readonly port: number }
  readonly database: Database
  /** Where the key in force comes from, in words, or null when there is none. */
  readonly keyOrigin: string | null
  serve(options: ServeOptions): Promise<Serving>
}

export type ServeOptions = {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly engine: Engine
  readonly version: string
}

export type Serving = {
  readonly url: string
  /** Stops taking requests, lets those under way finish, then cuts what is left. */
  close(): Promise<void>
}

/** The database in the configured data folder. When it is encrypted and no key is given, a terminal is asked. */
export interface Database {
  readonly folder: string
  readonly file: string
  state(): DatabaseState
  /** With `create: false`, a database that isn't there yet looks empty and is not made. */
  openEngine(options: { readonly create: boolean }): Promise<Engine>
  /** Writes a consistent copy to a path where nothing is yet, encrypted as the original is. */
  backup(path: string): Promise<void>
  encrypt(key: NewKey, onProgress: OnProgress): Promise<Converted>
  decrypt(onProgress: OnProgress): Promise<Converted>
  rekey(key: NewKey, onProgress: OnProgress): Promise<Converted>
  /** Reads what can still be read into a new database and puts it in the place of the damaged one, which is kept. */
  salvage(onProgress: OnProgress): Promise<Salvaged>
}

/** `unreadable`: it begins neither like a database nor like an encrypted one. */
export type DatabaseState = 'missing' | 'plain' | 'encrypted' | 'unreadable'

export type OnProgress = (done: number, total: number) => void

/** Where the key of a database that is being encrypted comes from. */
export type NewKey =
  | { readonly kind: 'configured' }
  | { readonly kind: 'file'; readonly path: string }
  /** A file that is made with a new random key. */
  | { readonly kind: 'generated'; readonly path: string }
  | { readonly kind: 'passphrase'; readonly passphrase: string }

export type Converted = {
  readonly isChanged: boolean
  /** Copies beside an encrypted database that anyone can still read. */
  readonly plainCopies: readonly string[]
}

export type Salvaged = {
  readonly recovered: Readonly<Record<string, number>>
  /** What could not be read, in words. */
  readonly losses: readonly string[]
  /** Where the damaged database was put. */
  readonly damagedAt: string
}
