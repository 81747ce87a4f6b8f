export const API_FORMATS = ['chat', 'responses', 'messages'] as const

export type ApiFormat = (typeof API_FORMATS)[number]

/** What a person said, and what was answered to it; several answers in a row, as between tool calls, are one. */
export type Exchange = {
  readonly user: string
  /** Null when there is no answer yet. */
  readonly assistant: string | null
}

/** A request, as far as memory is concerned. Blocks of memories that the client sent back are not part of any text. */
export type ModelRequest = {
  readonly model: string
  readonly isStreaming: boolean
  /** Whom the client says it asks for. */
  readonly endUser: string | null
  /** What the model is told to be and to do: system messages, and what stands in their place. Empty without any. */
  readonly instructions: string
  /** In order; the last one is being asked now. Empty when nobody says anything. */
  readonly exchanges: readonly Exchange[]
  /** What tools returned since the person last said something. */
  readonly toolResults: readonly string[]
  /** Whether the answer to the last user message has begun: tool calls, tool results or words of the model follow it. */
  readonly isMidAnswer: boolean
  /** The answer that this request goes on from, where the provider keeps the conversation. */
  readonly previousResponseId: string | null
  /** The conversation by the provider's own name for it. */
  readonly conversationId: string | null
  /** Of all text in the request, tools included, images not: for guessing how much room is left. */
  readonly characters: number
  /** How many tokens the answer may have, if the client says so. */
  readonly outputTokensMax: number | null
}

/**
 * Where the block goes.
 * `turn-end`: after the person's last words. All that comes before stays as it was, so prompt caches hold.
 * `turn-start`: before the person's last words.
 * `system`: as a system message before all others, or where the format has a place for it.
 * `system-merged`: in front of the leading system message; as `system` when there is none.
 * `message`: as a message of the person's, before the last one, for models that know no system role.
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
  /** Of the input, what the provider had in its cache; null when it doesn't say. */
  readonly cached: number | null
}

export type ModelAnswer = {
  readonly id: string | null
  /** What the model said; without its reasoning and its tool calls. */
  readonly text: string
  /** False when it was cut off, or ended in an error. */
  readonly isComplete: boolean
  /** Whether it ended in good order, but only because it had become too long. */
  readonly isTruncated?: boolean
  /** Whether the client has to run tools before the model goes on. */
  readonly hasToolCalls?: boolean
  readonly usage: TokenUsage | null
}
