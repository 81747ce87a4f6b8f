/** Deterministic answers of the demo provider. */
import { FENCE_CLOSE, FENCE_OPEN, stripBlocks } from '../../../domain/context-block.ts'
import { estimateTokens } from '../../../text/tokens.ts'
import type { DemoMessage, DemoRequest } from './demo-request.ts'

export type DemoAnswer = {
  /** One element per counted token. */
  readonly pieces: readonly string[]
  readonly isTruncated: boolean
  readonly inputTokens: number
}

const LABEL =
  "This is Recollect's built-in demo, not a real model: it can only show what it was given."
const QUOTE_CHARACTERS_MAX = 160

export function composeDemoAnswer({ messages, outputTokensMax }: DemoRequest): DemoAnswer {
  const all = [LABEL, memoryPart(messages), userPart(messages)].join('\n\n').match(/\S+\s*/g) ?? []
  const pieces = all.slice(0, outputTokensMax ?? all.length)
  return {
    pieces,
    isTruncated: pieces.length < all.length,
    inputTokens: countTokens(messages),
  }
}

export function countTokens(messages: readonly DemoMessage[]): number {
  return messages.reduce((sum, { text }) => sum + estimateTokens(text), 0)
}

function memoryPart(messages: readonly DemoMessage[]): string {
  const lines = givenMemories(messages)
  if (lines.length === 0) return 'I was given no memories with this message.'
  return ['I was given this from memory:', ...lines.map((line) => `> ${line}`)].join('\n')
}

/** Context blocks in the last user message take precedence, then those in the instructions, then others, latest first. */
function givenMemories(messages: readonly DemoMessage[]): readonly string[] {
  const last = messages.findLastIndex(isPersons)
  const order = [
    ...messages.slice(last, last + 1),
    ...messages.filter(({ role }) => role === 'system' || role === 'developer'),
    ...messages.toReversed(),
  ]
  for (const { text } of order) {
    const start = text.lastIndexOf(FENCE_OPEN)
    if (start < 0) continue
    const inside = text.slice(start + FENCE_OPEN.length).split(FENCE_CLOSE, 1)[0] ?? ''
    // The current date is not a memory.
    return inside.split('\n').filter((line) => line.startsWith('- '))
  }
  return []
}

function userPart(messages: readonly DemoMessage[]): string {
  const text = stripBlocks(messages.findLast(isPersons)?.text ?? '')
  const words = [...text.replace(/\s+/g, ' ').trim()]
  if (words.length === 0) return 'You said nothing that I could read.'
  const isLong = words.length > QUOTE_CHARACTERS_MAX
  return `You said: “${words.slice(0, QUOTE_CHARACTERS_MAX).join('')}${isLong ? '…' : ''}”`
}

/** A message of nothing but memories is not theirs. */
function isPersons({ role, text }: DemoMessage): boolean {
  return role === 'user' && stripBlocks(text).trim() !== ''
}
