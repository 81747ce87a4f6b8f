/**
 * Everything the command line needs from outside: streams, questions, and the database that flags and environment
 * point at. Commands reach the system only through this, so that they run in tests as they run in a terminal.
 */

import type { FailureListener } from '../../conversations/failures.ts'
import type { SettingValues } from '../../domain/settings/settings.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ImportRecord } from '../../portability/importers/foreign-record.ts'
import type { ImportFormat } from '../../portability/importers/format-detection.ts'
import type { ProviderAnswerListener } from '../gateway/gateway-request.ts'
import type { HttpServerOptions, ServerNetworkOptions } from '../http/server-options.ts'
import type { ToolSets } from '../mcp/tool-registry.ts'
import type { EmbeddingProvider } from '../operations/operation.ts'
import type { Database } from './database.ts'

export interface Host {
  readonly version: string
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly hasColor: boolean
  /** Fires when the person wants to stop: Ctrl-C, or a request to terminate. */
  readonly stopSignal: AbortSignal
  now(): number
  /** Asks on the terminal. Only called when there is one. */
  confirm(question: string): Promise<boolean>
  /** Asks without showing what is typed. Only called when there is a terminal. */
  askSecret(question: string): Promise<string>
  /** Flags over environment over defaults. */
  configure(flags: GlobalFlags): CliEnvironment
  /** Makes an empty folder that the system may clear away some day. */
  makeTemporaryFolder(): string
  /** Runs a tool that only a clone of the repository has, and returns its exit code; null where there is none. */
  runTool(name: 'eval' | 'bench', argv: readonly string[]): Promise<number | null>
  /** How this very program is started; null when it was installed as a package, which `npx` finds. */
  readonly program: readonly [string, ...string[]] | null
  /** Where programs of this person keep their configuration. */
  readonly homes: ConfigurationHomes
}

export type ConfigurationHomes = {
  readonly platform: string
  readonly home: string
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
  readonly url?: string
  readonly key?: string
}

/** Whose memories. */
export type ScopeNames = {
  readonly owner: string
  readonly user?: string
  readonly session?: string
}

export type CliEnvironment = {
  readonly scope: ScopeNames
  /** What was said about whose memories are meant; what was not said is left out. */
  readonly explicitScope: Partial<ScopeNames>
  /** The server that is to do it instead, or null for the database on this machine. */
  readonly remote: RemoteServer | null
  readonly server: ServerNetworkOptions
  readonly mcpTools: ToolSets
  readonly embeddingProviders: readonly EmbeddingProvider[]
  readonly settings: SettingValues
  readonly listen: { readonly host: string; readonly port: number }
  readonly database: Database
  /** The data folder that was named by flag or variable, or null for the usual one. */
  readonly explicitDataFolder: string | null
  /** Where the key in force comes from, in words, or null when there is none. */
  readonly keyOrigin: string | null
  /** An engine that forgets everything with the process. */
  openInMemoryEngine(): Promise<Engine>
  serve(options: ServeOptions): Promise<RunningServer>
  /** Finds out what a file is, and gives what it holds. */
  openImport(source: ImportSource): Promise<ImportReader>
  /** Speaks MCP on standard input and output until the client goes or `stop` fires. */
  serveMcp(options: McpStdioOptions): Promise<void>
}

export type ImportSource = {
  /** A file, or bytes that come from elsewhere, with a name for messages. */
  readonly source: string | { readonly bytes: AsyncIterable<Uint8Array>; readonly name: string }
  /** What it is, where that can't be told from how it begins. */
  readonly from?: string
  /** Called with the number of bytes read so far, of `sizeBytes`. */
  readonly onBytes?: (bytes: number) => void
}

export type ImportReader = {
  readonly format: ImportFormat
  /** Null where it is not known beforehand. */
  readonly sizeBytes: number | null
  /** Nothing stays open after this; a source that was read to its end is closed already. */
  close(): void
} & (
  | { readonly kind: 'lines'; readonly lines: AsyncIterable<string> }
  | {
      readonly kind: 'records'
      readonly records: AsyncIterable<ImportRecord>
      /** When the file was last changed; null where that is not known. */
      readonly observedAt: number | null
    }
)

export type RemoteServer = {
  /** Without a slash at its end. */
  readonly url: string
  readonly key: string | null
  /** Where the address was given, in words. */
  readonly origin: string
}

export type McpStdioOptions = {
  readonly engine: Engine
  readonly version: string
  readonly scope: ScopeNames
  readonly tools: ToolSets
  readonly embeddingProviders: readonly EmbeddingProvider[]
  readonly stop: AbortSignal
}

export type ServeOptions = Partial<ServerNetworkOptions> & {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly engine: Engine
  readonly version: string
  /** `off` lets everybody in who reaches the port. Default: `keys`. */
  readonly auth?: 'keys' | 'off'
  readonly embeddingProviders?: readonly EmbeddingProvider[]
} & Pick<
    HttpServerOptions,
    'metrics' | 'hasPublicMetrics' | 'onRequest' | 'mounts' | 'studioFolder'
  > & {
    readonly onAnswer?: ProviderAnswerListener
    /** Called when memory fails in the gateway and the request continues without it. */
    readonly onFailure?: FailureListener
    /** Default: the system's. */
    readonly clock?: Clock
    /** How long requests under way may take to finish when it is closed. */
    readonly graceMs?: number
  }

export type RunningServer = {
  readonly url: string
  /** What a person should know about how it is reached, in words. */
  readonly warnings?: readonly string[]
  /** Of the key that was made because there was none: shown once and never again. */
  readonly managementKey?: string | null
  /** Stops taking requests, lets those under way finish, then cuts what is left. */
  close(): Promise<void>
}
