export type ModelMessage = {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export type CompletionRequest = {
  /** `provider/model`, or an alias. */
  readonly model: string
  readonly messages: readonly ModelMessage[]
  /** Requests one JSON object, where the provider supports it. */
  readonly json: boolean
  readonly outputTokensMax: number
  readonly signal: AbortSignal
}

export type Completion = {
  readonly text: string
  /** Whether the output token limit truncated the answer. */
  readonly isTruncated: boolean
  /** As reported by the provider, else estimated. */
  readonly tokens: { readonly input: number; readonly output: number }
}

/** A configured provider. */
export type ModelProvider = {
  /** As in `openai/gpt-6.1-terra`. */
  readonly name: string
  readonly kind: string
  /** Also true when no key is needed. */
  readonly hasKey: boolean
  /** Declared models, without the provider's name; others may be requested too. */
  readonly models: readonly string[]
}

/**
 * LanguageModel: stateless completion. Failures are AppErrors: `not_found` (no such model), `unavailable` and `timeout`
 * (retryable), `invalid_input` (rejected by the provider), `cancelled` (aborted); none holds a secret or text. A response
 * of more than a few megabytes is a failure.
 */
export interface LanguageModel {
  complete(request: CompletionRequest): Promise<Completion>
  /** Providers and aliases; absent when unknown. */
  providers?(): Promise<{
    readonly providers: readonly ModelProvider[]
    readonly aliases: readonly string[]
  }>
  /** Called once, after the last call. */
  close?(): Promise<void>
}
