import fc from 'fast-check'
import { expect, it } from 'vitest'
import { instant, memory } from '../../../test/fakes/memories.ts'
import type { TurnId } from '../ids.ts'
import type { Memory } from '../memory.ts'
import { estimateTokens } from '../tokens.ts'
import type { Turn } from '../transcript.ts'
import { blockFrame, renderBlock } from './block.ts'
import { type BlockCandidates, fitBlock } from './fitting.ts'

const turnOf = (content: string, index: number): Turn => ({
  id: `turn_${index}` as TurnId, // as ids are written
  place: memory().place,
  version: 1,
  role: 'user',
  speaker: null,
  content,
  position: index,
  saidAt: instant(0),
})
const lengths = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 8 })
const text = (length: number) => 'a '.repeat(length)

it('[PL7] keeps whole items from the top, within the budget and the window', () => {
  fc.assert(
    fc.property(
      fc.record({ identity: lengths, memories: lengths, turns: lengths }),
      fc.integer({ min: 1, max: 2_000 }),
      fc.integer({ min: 1, max: 2_000 }),
      (given, most, window) => {
        const of = (contents: readonly number[]): readonly Memory[] =>
          contents.map((length) => memory({ content: text(length) }))
        const candidates: BlockCandidates = {
          today: instant(0),
          identity: of(given.identity),
          memories: of(given.memories),
          turns: given.turns.map((length, index) => turnOf(text(length), index)),
          question: '',
        }
        const budget = Math.min(most, window)
        const fitted = fitBlock(candidates, { budget, window }, estimateTokens)
        if (typeof fitted === 'string') {
          const { memories, turns } = candidates
          const hasFound = memories.length + turns.length > 0
          expect(fitted).toBe(hasFound ? 'no-room' : 'nothing')
          return
        }
        const found = fitted.memories.length + fitted.turns.length
        expect(fitted.tokens).toBeLessThanOrEqual(window)
        if (found !== 1) expect(fitted.tokens).toBeLessThanOrEqual(budget)
        expect(fitted.memories).toEqual(candidates.memories.slice(0, fitted.memories.length))
        expect(fitted.turns).toEqual(candidates.turns.slice(0, fitted.turns.length))
        expect(candidates.identity).toEqual(expect.arrayContaining([...fitted.identity]))
        const alone = { ...fitted.content, memories: fitted.identity, turns: [] }
        if (fitted.identity.length > 0) {
          const frame = estimateTokens(blockFrame(instant(0)))
          const share = frame + (budget - frame) / 2
          expect(estimateTokens(renderBlock(alone))).toBeLessThanOrEqual(share)
        }
        expect(fitted.text).toBe(renderBlock(fitted.content))
      },
    ),
    { numRuns: 300 },
  )
})

it('[PL7] says who the person is also within the smallest budget that can be set', () => {
  const identity = [memory({ content: 'The user is called Ada' })]
  const memories = [memory({ content: 'The dog of the user is called Rex' })]
  const candidates = { today: instant(0), identity, memories, turns: [], question: '' }
  const fitted = fitBlock(candidates, { budget: 100, window: 4_000 }, estimateTokens)
  expect(fitted).toMatchObject({ identity, memories })
  expect(typeof fitted === 'string' ? null : fitted.tokens).toBeLessThanOrEqual(100)
})
