import type { ApiFormat } from '../../../domain/model-call.ts'
import { messagesFormat } from './anthropic-messages.ts'
import { chatFormat } from './chat-completions.ts'
import type { WireFormat } from './format.ts'
import { responsesFormat } from './openai-responses.ts'

export const WIRE_FORMATS: Readonly<Record<ApiFormat, WireFormat>> = {
  chat: chatFormat,
  responses: responsesFormat,
  messages: messagesFormat,
}

/** The format of a path, for example `/v1/messages`; null when the path belongs to none. */
export function findFormatByPath(path: string): WireFormat | null {
  return Object.values(WIRE_FORMATS).find((format) => format.path === path) ?? null
}
