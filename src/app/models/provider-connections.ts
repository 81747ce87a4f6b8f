/**
 * The provider connections of this process, shared by the gateway and memory. Opened on first use,
 * because most commands never need them.
 */
import type { LanguageModel } from '../../models/language-model.ts'
import type { Upstream } from '../../models/upstream.ts'
import type { Config, Environment } from '../config/config.ts'
import type { ConfiguredRegistry } from '../config/providers-file.ts'

export type ProviderConnections = {
  readonly registry: ConfiguredRegistry
  readonly upstream: Upstream
}

export type ProviderAccess = {
  /** Throws when the provider configuration is invalid. */
  open(): Promise<ProviderConnections>
  /** Closes the connections. */
  readonly languageModel: LanguageModel
}

export function openProviderAccess(
  { gateway }: Pick<Config, 'gateway'>,
  environment: Environment,
): ProviderAccess {
  type Opened = ProviderConnections & { readonly languageModel: LanguageModel }
  let opened: Promise<Opened> | null = null
  const load = async (): Promise<Opened> => {
    const [
      { readProviders },
      { createUpstream },
      { createProviderLanguageModel: createLanguageModel },
      { systemClock },
    ] = await Promise.all([
      import('../config/providers-file.ts'),
      import('../../models/providers/provider-upstream.ts'),
      import('../../models/llm/provider-language-model.ts'),
      import('../system-clock.ts'),
    ])
    const { providersFile: path, hasExplicitProvidersFile: isNamed } = gateway
    const registry = readProviders({ path, isNamed, environment })
    const upstream = createUpstream()
    const languageModel = createLanguageModel({ registry, upstream, clock: systemClock })
    return { registry, upstream, languageModel }
  }
  const open = async () => {
    opened ??= load()
    try {
      return await opened
    } catch (error) {
      opened = null // the file may be fixed by the next call
      throw error
    }
  }
  return {
    open,
    languageModel: {
      complete: async (request) => (await open()).languageModel.complete(request),
      providers: async () =>
        (await (await open()).languageModel.providers?.()) ?? { providers: [], aliases: [] },
      close: async () => {
        const closing = opened
        opened = null
        await closing?.then(({ upstream }) => upstream.close()).catch(() => {}) // it was never open
      },
    },
  }
}
