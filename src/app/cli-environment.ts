/** The environment of commands, built from the configuration. */
import type { CliEnvironment, McpStdioOptions } from '../api/cli/host.ts'
import { openKeychain } from '../storage/sqlite/encryption/keychain.ts'
import type { Config, Environment } from './config/config.ts'
import { createDatabase } from './database/local-database.ts'
import { listEmbeddingProviders } from './models/embedding-provider-list.ts'
import { openProviderAccess } from './models/provider-connections.ts'

export type CliEnvironmentOptions = {
  readonly config: Config
  readonly environment: Environment
  readonly now: () => number
  /** Prompts for the database passphrase; null when there is no terminal. */
  readonly askPassphrase: (() => Promise<string>) | null
  readonly serveMcp: (options: McpStdioOptions) => Promise<void>
}

export function createCliEnvironment(options: CliEnvironmentOptions): CliEnvironment {
  const { config, environment, now, askPassphrase, serveMcp } = options
  const providers = openProviderAccess(config, environment)
  const { languageModel } = providers
  return {
    scope: config.scope,
    explicitScope: config.explicitScope,
    explicitDataFolder: config.explicitDataFolder,
    remote: config.remote,
    server: config.server,
    mcpTools: config.mcpTools,
    embeddingProviders: listEmbeddingProviders(environment),
    settings: config.settings,
    listen: config.listen,
    keyOrigin: config.key?.origin ?? null,
    database: createDatabase({
      ...{ config, now, askPassphrase, languageModel },
      keychain: openKeychain({ platform: process.platform, environment }),
    }),
    serve: async (given) => {
      // A server needs much that a single command does not have to wait for.
      const [{ serveWithTelemetry: serveObserved }, { serveWithMcp }, { serveWithGateway }] =
        await Promise.all([
          import('./server-telemetry.ts'),
          import('./mcp-mount.ts'),
          import('./gateway-mount.ts'),
        ])
      const { bodyBytesMax } = config.gateway
      // The engine closes them after the last model call.
      const { registry, upstream } = await providers.open()
      const gateway = { registry, upstream, ...(bodyBytesMax === null ? {} : { bodyBytesMax }) }
      return serveObserved(given, config, (observed) =>
        serveWithGateway(observed, gateway, (options) => serveWithMcp(options, config.mcpTools)),
      )
    },
    openInMemoryEngine: async () =>
      (await import('./composition.ts')).createEngine({ embedding: false }),
    openImport: async (source) => {
      const [{ openImport }, { foreignDrivers }] = await Promise.all([
        import('../portability/import-source.ts'),
        import('./foreign-drivers.ts'),
      ])
      return openImport(source, foreignDrivers)
    },
    serveMcp,
  }
}
