import type { ApiFormat } from '../../../domain/model-call.ts'
import { messagesFormat } from './anthropic-messages.ts'
import { chatFormat } from './chat-completions.ts'
import type { WireFormat } from './format.ts'
import { createGeminiFormat, findGeminiFormat } from './gemini-generate-content.ts'
import { responsesFormat } from './openai-responses.ts'

export const WIRE_FORMATS: Readonly<Record<ApiFormat, WireFormat>> = {
  chat: chatFormat,
  responses: responsesFormat,
  messages: messagesFormat,
  gemini: createGeminiFormat({ model: 'gemini-3.8-flash', action: 'generateContent' }),
}

/** The format of a path, for example `/v1/messages`, with what the path says; null when the path belongs to none. */
export function findFormatByPath(path: string): WireFormat | null {
  const fixed = [chatFormat, responsesFormat, messagesFormat]
  return fixed.find((format) => format.path === path) ?? findGeminiFormat(path)
}
