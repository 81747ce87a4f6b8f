/** How much of what there is to say fits into a block: whole items, who the person is before what was found. */
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

export type FittedBlock = BlockCandidates & {
  readonly text: string
  readonly tokens: number
  readonly content: BlockContent
}

/** Of the room that the fence leaves: what is always said must leave some for what was asked. */
const IDENTITY_SHARE = 0.5
/** Less of a memory says nothing. */
const SHORTENED_CHARACTERS_MIN = 40
/** More than a token of any text has. */
const CHARACTERS_PER_TOKEN_MAX = 8

/**
 * The block, or why there is none; never more than the budget, in tokens, fence and all. What is too long makes way for
 * what comes after it, and where nothing fits of what was found, the best memory is given as far as it does.
 */
export function fitBlock(
  candidates: BlockCandidates,
  budget: number,
  count: CountTokens,
): FittedBlock | 'nothing' | 'no-room' {
  const frame = count(blockFrame(candidates.today))
  const share = frame + (budget - frame) * IDENTITY_SHARE
  const nothing = blockOf({ ...candidates, identity: [], memories: [], turns: [] }, count)
  const always = filled(nothing, 'identity', candidates.identity, share, count)
  const whole = blockOf({ ...candidates, identity: always.identity }, count)
  if (whole.text === '') return 'nothing'
  if (whole.tokens <= budget) return whole
  const { memories, turns } = candidates
  const remembered = filled(always, 'memories', memories, budget, count)
  const fitted = filled(remembered, 'turns', turns, budget, count)
  const isEmpty = fitted.memories.length + fitted.turns.length === 0
  const block = (isEmpty ? shortened(always, memories, budget, count) : null) ?? fitted
  return block.text === '' ? 'no-room' : block
}

/** With those that fit, in their order. */
function filled<Part extends 'identity' | 'memories' | 'turns'>(
  block: FittedBlock,
  part: Part,
  items: BlockCandidates[Part],
  room: number,
  count: CountTokens,
): FittedBlock {
  const all = blockOf({ ...block, [part]: items }, count)
  if (all.tokens <= room) return all
  let fitted = block
  for (const item of items) {
    const longer = blockOf({ ...fitted, [part]: [...fitted[part], item] }, count)
    if (longer.tokens <= room) fitted = longer
  }
  return fitted
}

/** With as much of the best memory as there is room for; null where that is too little to say something. */
function shortened(
  block: FittedBlock,
  [best]: readonly Memory[],
  room: number,
  count: CountTokens,
): FittedBlock | null {
  if (best === undefined) return null
  const upTo = (characters: number) =>
    blockOf({ ...block, memories: [best] }, count, { memory: best.id, characters })
  let fitted = upTo(SHORTENED_CHARACTERS_MIN)
  if (fitted.tokens > room) return null
  let fits = SHORTENED_CHARACTERS_MIN
  let exceeds = Math.min(best.content.length, Math.ceil(room * CHARACTERS_PER_TOKEN_MAX)) + 1
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2)
    const longer = upTo(middle)
    if (longer.tokens <= room) {
      fitted = longer
      fits = middle
    } else {
      exceeds = middle
    }
  }
  return fitted
}

function blockOf(
  parts: BlockCandidates,
  count: CountTokens,
  shortened?: BlockContent['shortened'],
): FittedBlock {
  const { today, identity, memories, turns, question } = parts
  const content = {
    ...{ today, memories: [...identity, ...memories], turns, question },
    ...(shortened === undefined ? {} : { shortened }),
  }
  const text = renderBlock(content)
  const tokens = text === '' ? 0 : count(text)
  return { today, identity, memories, turns, question, content, text, tokens }
}
