/** Exchanges of a conversation, from messages of any framework. */
import type { Exchange } from './memory-access.ts'

/** A message with the role that its framework gives it, reduced to `user`, `assistant` and others. */
export type SpokenMessage = { readonly role: string; readonly text: string }

/** What was said, turn by turn, without tools and system messages. Words before the first user message have no exchange. */
export function groupExchanges(messages: readonly SpokenMessage[]): readonly Exchange[] {
  const exchanges: { user: string; assistant: string | null }[] = []
  for (const { role, text } of messages) {
    if (text === '') continue
    const open = exchanges.at(-1)
    if (role === 'user') exchanges.push({ user: text, assistant: null })
    else if (role === 'assistant' && open !== undefined) {
      open.assistant = open.assistant === null ? text : `${open.assistant}\n${text}`
    }
  }
  return exchanges
}

/** The text of a message: a string, or parts of which some are texts. */
export function readText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const parts = content as readonly { readonly text?: unknown; readonly type?: unknown }[] // of any kind
  return parts
    .flatMap(({ type, text }) =>
      typeof text === 'string' && type !== 'reasoning' && type !== 'thinking' ? [text] : [],
    )
    .join('\n')
}
