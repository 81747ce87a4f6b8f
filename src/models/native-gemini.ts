/** Gemini's own API, whose base URL and key differ from those of the API that is compatible with OpenAI's. */
import type { Provider } from './provider.ts'

const COMPATIBLE_PATH = /\/openai$/
const VERSION = /\/v1(?:beta)?$/
const KEY_HEADER = 'x-goog-api-key'

export type GeminiVersion = 'v1' | 'v1beta'

/** Upstreams keep connections by provider, so each has one counterpart for a version. */
const counterparts = {
  v1: new WeakMap<Provider, Provider>(),
  v1beta: new WeakMap<Provider, Provider>(),
}

/** The provider at a version of its own API; another kind of provider is reached as it is configured. */
export function toNativeGemini(provider: Provider, version: GeminiVersion): Provider {
  if (provider.kind !== 'gemini') return provider
  const known = counterparts[version].get(provider)
  if (known !== undefined) return known
  const { key, baseUrl, headers } = provider
  const native = {
    ...provider,
    baseUrl: baseUrl.replace(COMPATIBLE_PATH, '').replace(VERSION, `/${version}`),
    key: null,
    headers: key === null ? headers : { [KEY_HEADER]: key, ...headers },
  }
  counterparts[version].set(provider, native)
  return native
}
