export type ModelMessage = {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export type CompletionRequest = {
  /** `provider/model`, or an alias. */
  readonly model: string
  readonly messages: readonly ModelMessage[]
  /** Whether the answer is to be one JSON object, where the provider can promise that. */
  readonly json: boolean
  readonly outputTokensMax: number
  readonly signal: AbortSignal
}

export type Completion = {
  readonly text: string
  /** Whether it was cut off at the limit of tokens. */
  readonly isTruncated: boolean
  /** As told by the provider, or estimated where it tells nothing. */
  readonly tokens: { readonly input: number; readonly output: number }
}

/** Somebody who can be asked. */
export type ModelProvider = {
  /** As in `openai/gpt-5`. */
  readonly name: string
  readonly kind: string
  /** Or it needs none. */
  readonly hasKey: boolean
  /** Those that are written down, without the provider's name; others can be asked for as well. */
  readonly models: readonly string[]
}

/**
 * LanguageModel: one question to a model, one answer, nothing kept. Failures are AppErrors: `not_found` (no such model),
 * `unavailable` and `timeout` (may heal), `invalid_input` (the provider refuses), `cancelled` (by the signal); none holds
 * a secret or any text. An answer of more than a few megabytes is a failure.
 */
export interface LanguageModel {
  complete(request: CompletionRequest): Promise<Completion>
  /** Who can be asked, and what else models are called; left out where that is not known. */
  providers?(): Promise<{
    readonly providers: readonly ModelProvider[]
    readonly aliases: readonly string[]
  }>
  /** Where there is something to close. Called once nobody asks any more. */
  close?(): Promise<void>
}
