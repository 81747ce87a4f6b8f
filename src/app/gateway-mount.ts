/** Mounts the gateway on the server's port. */

import type { RunningServer, ServeOptions } from '../api/cli/host.ts'
import { createGateway } from '../api/gateway/gateway-routes.ts'
import { createUpstream } from '../models/providers/provider-upstream.ts'
import type { Upstream } from '../models/upstream.ts'
import type { ConfiguredRegistry } from './config/providers-file.ts'
import { createTokenizers } from './models/openai-tokenizers.ts'
import { systemClock } from './system-clock.ts'

export type GatewaySettings = {
  readonly registry: ConfiguredRegistry
  /** Closed by its creator; default: own connections. */
  readonly upstream?: Upstream
  readonly bodyBytesMax?: number
}

export async function serveWithGateway(
  options: ServeOptions,
  { registry, bodyBytesMax, upstream: shared }: GatewaySettings,
  start: (options: ServeOptions) => Promise<RunningServer>,
): Promise<RunningServer> {
  const { engine, version, auth, embeddingProviders, onAnswer, onFailure } = options
  const { mounts = [], clock = systemClock } = options
  const upstream = shared ?? createUpstream()
  const closeOwn = async () => {
    if (shared === undefined) await upstream.close()
  }
  const tokenizers = createTokenizers()
  const gateway = createGateway({
    engine,
    version,
    clock,
    registry,
    upstream,
    isAuthDisabled: auth === 'off',
    tokenizerFor: (model) => tokenizers.for(model),
    loadTokenDecoder: () => tokenizers.reader(),
    ...(embeddingProviders === undefined ? {} : { embeddingProviders }),
    ...(onAnswer === undefined ? {} : { onAnswer }),
    ...(onFailure === undefined ? {} : { onFailure }),
    ...(bodyBytesMax === undefined ? {} : { bodyBytesMax }),
  })
  try {
    if (registry.providers.some(({ kind }) => kind === 'openai')) await tokenizers.load()
    const serving = await start({ ...options, mounts: [...mounts, ...gateway] })
    return {
      ...serving,
      warnings: [...(serving.warnings ?? []), ...registry.warnings],
      close: async () => {
        await serving.close()
        await closeOwn()
      },
    }
  } catch (error) {
    await closeOwn()
    throw error
  }
}
