/**
 * The environment of the command line: streams, prompts, and the configured database. Commands access the system only
 * through it, so that tests run them as a terminal does.
 */

import type { FailureListener } from '../../conversations/failures.ts'
import type { SettingValues } from '../../domain/settings/settings.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ImportReader, ImportSource } from '../../portability/import-source.ts'
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
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly stopSignal: AbortSignal
  now(): number
  /** Prompts on the terminal; requires one. */
  confirm(question: string): Promise<boolean>
  /** Prompts without echo; requires a terminal. */
  askSecret(question: string): Promise<string>
  /** Configuration from flags, then environment, then defaults. */
  configure(flags: GlobalFlags): CliEnvironment
  /** Creates an empty temporary folder. */
  makeTemporaryFolder(): string
  /** Runs a tool of the repository and returns its exit code; null outside of a clone. */
  runTool(name: 'eval' | 'bench', argv: readonly string[]): Promise<number | null>
  /** The command that starts this installation; null when it is in a cache that may be cleared, as that of `npx`. */
  readonly program: readonly [string, ...string[]] | null
  /** The folder for per-user configuration of programs. */
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
  /** Resolves when the output accepts more; rejects with `OutputClosed` when its reader has gone. */
  write(text: string): Promise<void>
}

/** The reader of the output has gone, as with `head`. Not a failure. */
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

/** The resolved scope. */
export type ScopeNames = {
  readonly owner: string
  readonly user?: string
  readonly session?: string
}

export type CliEnvironment = {
  readonly scope: ScopeNames
  /** The explicitly configured parts of the scope. */
  readonly explicitScope: Partial<ScopeNames>
  /** The configured server; null for the local database. */
  readonly remote: RemoteServer | null
  readonly server: ServerNetworkOptions
  readonly mcpTools: ToolSets
  readonly embeddingProviders: readonly EmbeddingProvider[]
  readonly settings: SettingValues
  readonly listen: { readonly host: string; readonly port: number }
  readonly database: Database
  /** The explicitly configured data folder; null for the default. */
  readonly explicitDataFolder: string | null
  /** A description of the key's source; null without a key. */
  readonly keyOrigin: string | null
  /** An engine without persistence. */
  openInMemoryEngine(): Promise<Engine>
  serve(options: ServeOptions): Promise<RunningServer>
  /** Detects the format of an import source and opens it. */
  openImport(source: ImportSource): Promise<ImportReader>
  /** Serves MCP over stdio until the client disconnects or `stop` is aborted. */
  serveMcp(options: McpStdioOptions): Promise<void>
}

export type RemoteServer = {
  /** Without a trailing slash. */
  readonly url: string
  readonly key: string | null
  /** A description of where the address was configured. */
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
  /** 0 selects a free port. */
  readonly port: number
  readonly engine: Engine
  readonly version: string
  /** `off` disables authentication. Default: `keys`. */
  readonly auth?: 'keys' | 'off'
  readonly embeddingProviders?: readonly EmbeddingProvider[]
} & Pick<
    HttpServerOptions,
    'metrics' | 'hasPublicMetrics' | 'onRequest' | 'mounts' | 'studioFolder' | 'docsFolder'
  > & {
    readonly onAnswer?: ProviderAnswerListener
    /** Called when memory fails in the gateway and the request continues without it. */
    readonly onFailure?: FailureListener
    /** Default: the system clock. */
    readonly clock?: Clock
    /** The grace period for running requests on close. */
    readonly graceMs?: number
  }

export type RunningServer = {
  readonly url: string
  /** Warnings about the configuration. */
  readonly warnings?: readonly string[]
  /** The management key that was created because none existed; shown only once. */
  readonly managementKey?: string | null
  /** Signs a browser on this machine in to the Studio, once; null where that is not possible. */
  readonly signInUrl?: string | null
  /** Stops accepting requests, waits for running ones up to the grace period, then aborts them. */
  close(): Promise<void>
}
