/** Provider configuration: which providers exist, how models resolve to them, and what they support. */
import type { ApiFormat } from '../domain/model-call.ts'

export const PROVIDER_KINDS = [
  'openai',
  'anthropic',
  'gemini',
  'azure',
  'bedrock',
  'ollama',
  'demo',
] as const

export type ProviderKind = (typeof PROVIDER_KINDS)[number]

/** `leading`: only at the beginning; `none`: unsupported. */
export const SYSTEM_ROLES = ['any', 'leading', 'none'] as const

export type SystemRole = (typeof SYSTEM_ROLES)[number]

export type ProviderModelConfig = {
  readonly id: string
  readonly contextWindow: number | null
  /** Null inherits from the provider. */
  readonly systemRole: SystemRole | null
  /** Null inherits from the provider. */
  readonly supportsTools: boolean | null
}

export type Provider = {
  /** As in `openai/gpt-6.1-terra`: letters, digits and `_.-`. */
  readonly name: string
  readonly kind: ProviderKind
  /** Without a trailing slash, such as `https://api.openai.com/v1`. Empty for the demo. */
  readonly baseUrl: string
  /** Null passes the client's key on; see `api/gateway`. Never shown. */
  readonly key: string | null
  /** Of Amazon Bedrock only. */
  readonly aws?: AwsAccess
  readonly models: readonly ProviderModelConfig[]
  /** Null uses the table of known models. */
  readonly systemRole: SystemRole | null
  /** Null uses the table of known models. */
  readonly supportsTools: boolean | null
  /** Whether the host name may resolve to a private address. Literal private addresses are always allowed. */
  readonly isPrivate: boolean
  /** Added to every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly timeouts: ProviderTimeouts
}

export type AwsCredentials = {
  readonly accessKeyId: string
  /** Never shown. */
  readonly secretAccessKey: string
  /** Of temporary credentials. Never shown. */
  readonly sessionToken: string | null
}

export type AwsAccess = {
  readonly region: string
  /** Requests are signed with these. Null when the provider has a key of its own instead. */
  readonly credentials: AwsCredentials | null
}

export type ProviderTimeouts = {
  readonly connectMs: number
  /** Until the response starts. */
  readonly firstByteMs: number
  /** Between two chunks of the response. */
  readonly idleMs: number
}

export type ProviderRegistry = {
  readonly providers: readonly Provider[]
  /** Aliases, such as `fast` for `openai/gpt-6-luna`. */
  readonly aliases: Readonly<Record<string, string>>
  /** Provider for models without a provider name; null when there is none. */
  readonly defaults: Readonly<Record<ApiFormat, string | null>>
  /** Formats for which the operator chose the default; those also accept names with a slash. */
  readonly chosenDefaults?: readonly ApiFormat[]
}

export type ModelRoute = {
  readonly provider: Provider /** As the provider knows it. */
  readonly model: string
}
