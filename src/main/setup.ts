/** What commands work with, made from the configuration. */
import type { McpOptions, Setup } from '../doors/cli/host.ts'
import type { Config, Environment } from './config.ts'
import { createDatabase } from './database.ts'
import { embeddingProvidersOf } from './providers.ts'

export type SetupOptions = {
  readonly config: Config
  readonly environment: Environment
  readonly now: () => number
  /** Asks a person for the passphrase of the database; null when nobody can be asked. */
  readonly askPassphrase: (() => Promise<string>) | null
  readonly serveMcp: (options: McpOptions) => Promise<void>
}

export function createSetup(options: SetupOptions): Setup {
  const { config, environment, now, askPassphrase, serveMcp } = options
  return {
    scope: config.scope,
    named: config.named,
    dataNamed: config.dataNamed,
    remote: config.remote,
    server: config.server,
    mcpCompatibility: config.mcpCompatibility,
    embeddingProviders: embeddingProvidersOf(environment),
    settings: config.settings,
    listen: config.listen,
    keyOrigin: config.key?.origin ?? null,
    database: createDatabase({ config, now, askPassphrase }),
    serve: async (given) => {
      // A server needs much that a single command need not wait for.
      const [{ serveObserved }, { serveWithMcp }, { serveWithGateway }, { readProviders }] =
        await Promise.all([
          import('./telemetry.ts'),
          import('./mcp.ts'),
          import('./gateway.ts'),
          import('./providers-file.ts'),
        ])
      const { providersFile: path, isProvidersFileNamed: isNamed, bodyBytesMax } = config.gateway
      const registry = readProviders({ path, isNamed, environment })
      const gateway = { registry, ...(bodyBytesMax === null ? {} : { bodyBytesMax }) }
      return serveObserved(given, config, (observed) =>
        serveWithGateway(observed, gateway, (options) =>
          serveWithMcp(options, config.mcpCompatibility),
        ),
      )
    },
    openScratch: async () => (await import('./compose.ts')).createEngine({ embedding: false }),
    openImport: async (source) => (await import('./importing.ts')).openImport(source),
    serveMcp,
  }
}
