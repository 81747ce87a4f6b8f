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

/** The format that is spoken at an address, as `/v1/messages`; null where none is. */
export function findFormatByPath(path: string): WireFormat | null {
  return Object.values(WIRE_FORMATS).find((format) => format.path === path) ?? null
}
