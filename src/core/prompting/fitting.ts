/** How much of what there is to say fits into a block: whole items only, who the person is before what was found. */
import type { Instant } from '../ids.ts'
import type { Memory } from '../memory.ts'
import type { CountTokens } from '../tokens.ts'
import type { Turn } from '../transcript.ts'
import { type BlockContent, blockFrame, renderBlock } from './block.ts'

/** What could be said, the best first in each list. */
export type BlockCandidates = {
  readonly today: Instant
  /** Said in every block. */
  readonly identity: readonly Memory[]
  readonly memories: readonly Memory[]
  readonly turns: readonly Turn[]
  readonly question: string
}

/** In tokens, fence and all. */
export type BlockRoom = {
  /** As the settings say, or less where the window is nearly full. */
  readonly budget: number
  /** What the window of the model has left. */
  readonly window: number
}

export type FittedBlock = BlockCandidates & {
  readonly text: string
  readonly tokens: number
  readonly content: BlockContent
}

/** Of the room that the fence leaves: what is always said must leave some for what was asked. */
const IDENTITY_SHARE = 0.5

/**
 * The block, or why there is none. What was found loses from its end until all of it fits; its best is kept whatever the
 * budget, as long as the window has room for it.
 */
export function fitBlock(
  candidates: BlockCandidates,
  { budget, window }: BlockRoom,
  count: CountTokens,
): FittedBlock | 'nothing' | 'no-room' {
  const frame = count(blockFrame(candidates.today))
  const share = frame + (budget - frame) * IDENTITY_SHARE
  const identity = thatFit(withoutFound(candidates), share, count)
  let block = blockOf({ ...candidates, identity }, count)
  while (block.tokens > budget && foundIn(block) > 1) block = blockOf(withoutLast(block), count)
  if (block.tokens > window && identity.length > 0) block = blockOf(withoutFound(block), count)
  if (block.text === '') return 'nothing'
  return block.tokens > window ? 'no-room' : block
}

function foundIn({ memories, turns }: BlockCandidates): number {
  return memories.length + turns.length
}

function withoutFound(parts: BlockCandidates): BlockCandidates {
  return { ...parts, memories: [], turns: [] }
}

function withoutLast(parts: BlockCandidates): BlockCandidates {
  const { memories, turns } = parts
  return turns.length > 0
    ? { ...parts, turns: turns.slice(0, -1) }
    : { ...parts, memories: memories.slice(0, -1) }
}

/** Of what is always said, what fits into its share, without those that are too long for it. */
function thatFit(candidates: BlockCandidates, room: number, count: CountTokens): readonly Memory[] {
  const { identity } = candidates
  if (identity.length === 0 || blockOf(candidates, count).tokens <= room) return identity
  const kept: Memory[] = []
  for (const memory of identity) {
    const { tokens } = blockOf({ ...candidates, identity: [...kept, memory] }, count)
    if (tokens <= room) kept.push(memory)
  }
  return kept
}

function blockOf(parts: BlockCandidates, count: CountTokens): FittedBlock {
  const { today, identity, memories, turns, question } = parts
  const content = { today, memories: [...identity, ...memories], turns, question }
  const text = renderBlock(content)
  return { ...parts, content, text, tokens: text === '' ? 0 : count(text) }
}
