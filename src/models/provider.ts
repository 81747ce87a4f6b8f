/** Providers of models: which there are, which one a model is asked from, and what it can take. */
import type { ApiFormat } from '../domain/model-call.ts'

export const PROVIDER_KINDS = ['openai', 'anthropic', 'gemini', 'ollama', 'demo'] as const

export type ProviderKind = (typeof PROVIDER_KINDS)[number]

/** `leading`: only at the beginning; `none`: not at all. */
export const SYSTEM_ROLES = ['any', 'leading', 'none'] as const

export type SystemRole = (typeof SYSTEM_ROLES)[number]

export type ProviderModelConfig = {
  readonly id: string
  readonly contextWindow: number | null
  /** Null: as the provider. */
  readonly systemRole: SystemRole | null
  /** Null: as the provider. */
  readonly supportsTools: boolean | null
}

export type Provider = {
  /** As in `openai/gpt-5`: letters, digits and any of `_.-`. */
  readonly name: string
  readonly kind: ProviderKind
  /** Ends without a slash, as `https://api.openai.com/v1`. Empty for the demo. */
  readonly baseUrl: string
  /** Null: what the client brings is passed on, see `doors/gateway`. Never shown. */
  readonly key: string | null
  readonly models: readonly ProviderModelConfig[]
  /** Null: by the table of known ones. */
  readonly systemRole: SystemRole | null
  /** Null: by the table of known ones. */
  readonly supportsTools: boolean | null
  /** Whether its name may stand for an address of a private network. Those that are written as such always may. */
  readonly isPrivate: boolean
  /** Sent along with every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly timeouts: ProviderTimeouts
}

export type ProviderTimeouts = {
  readonly connectMs: number
  /** Until the answer begins. */
  readonly firstByteMs: number
  /** Between two pieces of it. */
  readonly idleMs: number
}

export type ProviderRegistry = {
  readonly providers: readonly Provider[]
  /** Other names for models, as `fast` for `openai/gpt-5-mini`. */
  readonly aliases: Readonly<Record<string, string>>
  /** Who is asked for a model that names nobody; null where there is no such provider. */
  readonly defaults: Readonly<Record<ApiFormat, string | null>>
  /** For which formats the operator chose it; such a one is asked for names with a slash, too. */
  readonly chosenDefaults?: readonly ApiFormat[]
}

export type ModelRoute = {
  readonly provider: Provider /** As the provider knows it. */
  readonly model: string
}
