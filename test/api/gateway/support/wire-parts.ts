/** What the answers of the three APIs have in common. */
import type { Reply } from './scripted-upstream.ts'

/** What a model says to one request. */
export type Said = {
  readonly text?: string
  readonly toolCalls?: readonly ToolCall[]
  readonly id?: string
  /** Characters of text, or of a tool's arguments, in one event. */
  readonly step?: number
  readonly lineEnd?: '\n' | '\r\n'
  readonly cutSeed?: number
  /** Ends the stream with an error of the service in place of the rest, after so many events. */
  readonly failsAfter?: number
  readonly trouble?: Reply['trouble']
  readonly headers?: Readonly<Record<string, string>>
}

export type ToolCall = {
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

export type Event = { readonly name: string | null; readonly data: object | '[DONE]' }
export type Asked = { readonly path: string; readonly body: unknown }
export type AskedBody = {
  readonly model?: string
  readonly stream?: boolean
  readonly stream_options?: { readonly include_usage?: boolean }
  readonly previous_response_id?: string
}

export const CREATED = 1_767_225_600
export const INPUT_TOKENS = 31
export const OUTPUT_TOKENS = 17

export type Typed = { readonly type: string; readonly [field: string]: unknown }

export function steps(text: string, { step = 7 }: Said): readonly string[] {
  const characters = Array.from(text)
  return Array.from({ length: Math.ceil(characters.length / step) }, (_, index) =>
    characters.slice(index * step, (index + 1) * step).join(''),
  )
}

export function argumentsOf(call: ToolCall): string {
  return JSON.stringify(call.arguments)
}
