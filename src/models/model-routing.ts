/** Resolves a model name to a provider. */

import type { ApiFormat } from '../domain/model-call.ts'
import { AppError } from '../lib/errors.ts'
import type { ModelRoute, Provider, ProviderRegistry } from './provider.ts'

/**
 * Resolution order: alias, provider before the first slash, provider that lists the model, default of the format. A name
 * with a slash falls back only to a default that the operator configured, so that no request reaches a provider it was
 * not meant for.
 */
export function routeModel(
  registry: ProviderRegistry,
  format: ApiFormat,
  model: string,
): ModelRoute {
  const { aliases, providers } = registry
  const named = Object.hasOwn(aliases, model) ? (aliases[model] ?? model) : model
  const route = routeByProvider(providers, named) ?? routeByList(providers, named)
  if (route !== null) return route
  const fallback = findProvider(providers, registry.defaults[format])
  if (named !== '' && fallback !== null) {
    const isChosen = registry.chosenDefaults?.includes(format) === true
    if (isChosen || !hasProviderPrefix(fallback, named)) return { provider: fallback, model: named }
  }
  throw createUnknownModelError(registry, format, model, named)
}

function routeByProvider(providers: readonly Provider[], model: string): ModelRoute | null {
  const slash = model.indexOf('/')
  const provider = slash < 0 ? null : findProvider(providers, model.slice(0, slash))
  const rest = model.slice(slash + 1)
  return provider === null || rest === '' ? null : { provider, model: rest }
}

/** The demo must be named explicitly. */
function routeByList(providers: readonly Provider[], model: string): ModelRoute | null {
  const provider = providers.find(
    ({ kind, models }) => kind !== 'demo' && models.some(({ id }) => id === model),
  )
  return provider === undefined ? null : { provider, model }
}

function findProvider(providers: readonly Provider[], name: string | null): Provider | null {
  const wanted = name?.toLowerCase()
  return providers.find((provider) => provider.name.toLowerCase() === wanted) ?? null
}

/** Gemini model names contain slashes; elsewhere the part before a slash is most likely a provider. */
function hasProviderPrefix({ kind }: Provider, model: string): boolean {
  if (kind === 'gemini' && /^(?:models|tunedModels)\//.test(model)) return false
  return model.includes('/')
}

function createUnknownModelError(
  { aliases, providers }: ProviderRegistry,
  format: ApiFormat,
  model: string,
  named: string,
): AppError {
  const asked =
    named === model
      ? truncateForMessage(model)
      : `${truncateForMessage(model)}, an alias of ${truncateForMessage(named)},`
  const names = providers.map(({ name }) => name).join(', ')
  const known = names === '' ? 'No provider is configured' : `The providers are ${names}`
  const others = Object.keys(aliases).length === 0 ? '' : ', or an alias of the configuration'
  const message =
    `Unknown model ${asked}, and no default provider for ${format} accepts it. ` +
    `${known}: name one before the model, as in "demo/echo"${others}; or configure the one you mean.`
  return new AppError('not_found', message, { model: model.slice(0, MODEL_CHARACTERS_SHOWN) })
}

const MODEL_CHARACTERS_SHOWN = 200

function truncateForMessage(model: string): string {
  return `"${model.slice(0, MODEL_CHARACTERS_SHOWN)}"`
}
