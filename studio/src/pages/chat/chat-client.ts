/** Sends messages through the gateway of this server, as any other client does. */
import { ApiError } from '../../api/client.ts'

export type ChatMessage = { readonly role: 'user' | 'assistant'; readonly content: string }

export type ChatRequest = {
  readonly owner: string
  readonly session: string
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly hasMemory: boolean
  readonly signal: AbortSignal
  readonly onText: (text: string) => void
}

export type ChatAnswer = {
  readonly text: string
  /** The receipt of the request; null without memory. */
  readonly receipt: string | null
}

export async function sendChat(request: ChatRequest): Promise<ChatAnswer> {
  const { owner, session, model, messages, hasMemory, signal, onText } = request
  const response = await fetch('/v1/chat/completions', {
    method: 'POST',
    credentials: 'same-origin',
    signal,
    headers: {
      'content-type': 'application/json',
      'x-recollect-agent': owner,
      'x-recollect-session': session,
      ...(hasMemory ? {} : { 'x-recollect-no-memory': 'true' }),
    },
    body: JSON.stringify({ model, messages, stream: true }),
  })
  if (!response.ok || response.body === null) {
    const body = await response.json().catch(() => ({}))
    throw new ApiError(response.status, body.error ?? {})
  }
  let text = ''
  for await (const event of readEvents(response.body)) {
    text += readDelta(event)
    onText(text)
  }
  const receipt = /receipt=(\S+)/.exec(response.headers.get('x-recollect-memory') ?? '')
  return { text, receipt: receipt?.[1] ?? null }
}

/** The data of each server-sent event. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    const lines = `${rest}${decoder.decode(value, { stream: !done })}`.split(/\r?\n/)
    rest = done ? '' : (lines.pop() ?? '')
    for (const line of lines) if (line.startsWith('data:')) yield line.slice(5).trim()
    if (done) return
  }
}

function readDelta(event: string): string {
  if (event === '[DONE]') return ''
  const chunk: unknown = JSON.parse(event)
  const { choices = [], error } = chunk as {
    choices?: { delta?: { content?: string | null } }[]
    error?: { message?: string }
  } // the format of chat completions
  if (error !== undefined) throw new ApiError(502, error)
  return choices[0]?.delta?.content ?? ''
}
