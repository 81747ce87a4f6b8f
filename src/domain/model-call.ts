/** A call to a language model API, independent of the wire format. */
export const API_FORMATS = ['chat', 'responses', 'messages', 'gemini'] as const

export type ApiFormat = (typeof API_FORMATS)[number]

/** A user turn and its answer. Several answers in a row, as between tool calls, count as one. */
export type Exchange = {
  readonly user: string
  /** Null while there is no answer. */
  readonly assistant: string | null
}

/** The parts of a model request that memory uses. Texts contain no context blocks that the client sent back. */
export type ModelRequest = {
  readonly model: string
  readonly isStreaming: boolean
  /** The end user that the client names. */
  readonly endUser: string | null
  /** System messages and their equivalents; empty when there are none. */
  readonly instructions: string
  /** In order; the last exchange is the one to be answered. Empty without user messages. */
  readonly exchanges: readonly Exchange[]
  /** Tool results after the last user message. */
  readonly toolResults: readonly string[]
  /** Whether tool calls, tool results or assistant text follow the last user message. */
  readonly isMidAnswer: boolean
  /** The response that this request continues, where the provider stores the conversation. */
  readonly previousResponseId: string | null
  /** The provider's id of the conversation. */
  readonly conversationId: string | null
  /** All text in the request, tools included, images excluded; used to estimate the free context window. */
  readonly characters: number
  /** The maximum length of the answer, if the client sets one. */
  readonly outputTokensMax: number | null
}

/**
 * Where the context block is inserted.
 * `turn-end`: after the last user message. Everything before it stays unchanged, so prompt caches stay valid.
 * `turn-start`: before the last user message.
 * `system`: as a system message before all others, or in the system field of the format.
 * `system-merged`: at the beginning of the first system message; as `system` when there is none.
 * `message`: as a user message before the last one, for models without a system role.
 */
export const BLOCK_PLACEMENTS = [
  'turn-end',
  'turn-start',
  'system',
  'system-merged',
  'message',
] as const

export type BlockPlacement = (typeof BLOCK_PLACEMENTS)[number]

export type TokenUsage = {
  readonly input: number
  readonly output: number
  /** Input tokens that the provider read from its cache; null when it does not say. */
  readonly cached: number | null
}

export type ModelAnswer = {
  readonly id: string | null
  /** The text of the answer without reasoning and tool calls. */
  readonly text: string
  /** False when the answer was truncated or ended in an error. */
  readonly isComplete: boolean
  /** Whether the answer ended regularly, but at its length limit. */
  readonly isTruncated?: boolean
  /** Whether the client has to run tools before the model continues. */
  readonly hasToolCalls?: boolean
  readonly usage: TokenUsage | null
}
