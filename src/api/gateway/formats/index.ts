import type { FormatName } from '../../../domain/model-call.ts'
import { messages } from './anthropic-messages.ts'
import { chat } from './chat-completions.ts'
import type { Format } from './format.ts'
import { responses } from './openai-responses.ts'

export const FORMATS: Readonly<Record<FormatName, Format>> = { chat, responses, messages }

/** The format that is spoken at an address, as `/v1/messages`; null where none is. */
export function formatAt(path: string): Format | null {
  return Object.values(FORMATS).find((format) => format.path === path) ?? null
}
