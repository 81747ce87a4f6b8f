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
  disabled: false,
})
const lengths = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 8 })
const text = (length: number) => 'a '.repeat(length)

const of = (contents: readonly number[]): readonly Memory[] =>
  contents.map((length) => memory({ content: text(length) }))

it('[PL7] keeps whole items in their order within the budget, or the best as far as it fits', () => {
  fc.assert(
    fc.property(
      fc.record({ identity: lengths, memories: lengths, turns: lengths }),
      fc.integer({ min: 1, max: 2_000 }),
      (given, budget) => {
        const candidates: BlockCandidates = {
          today: instant(0),
          identity: of(given.identity),
          memories: of(given.memories),
          turns: given.turns.map((length, index) => turnOf(text(length), index)),
          question: '',
        }
        const fitted = fitBlock(candidates, budget, estimateTokens)
        const { memories, turns } = candidates
        if (typeof fitted === 'string') {
          expect(fitted).toBe(memories.length + turns.length > 0 ? 'no-room' : 'nothing')
          return
        }
        expect(fitted.tokens).toBeLessThanOrEqual(budget)
        for (const part of ['identity', 'memories', 'turns'] as const) {
          const kept: readonly object[] = fitted[part]
          expect(candidates[part].filter((each) => kept.includes(each))).toEqual(kept)
        }
        expect(fitted.content.shortened === undefined || fitted.memories.length === 1).toBe(true)
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

it('[CV5] passes over what is too long, and shortens the best where all of it is', () => {
  const report = (about: string) => memory({ content: `${about} ${'and so on '.repeat(5_000)}` })
  const long = report('The tea of the user is jasmine')
  const short = memory({ content: 'The user drinks tea' })
  const candidates = { today: instant(0), identity: [], turns: [], question: 'Which tea?' }
  const both = fitBlock({ ...candidates, memories: [long, short] }, 800, estimateTokens)
  expect(both).toMatchObject({ memories: [short] })
  const others = [long, report('The user drinks tea')]
  const fitted = fitBlock({ ...candidates, memories: others }, 800, estimateTokens)
  expect(fitted).toMatchObject({ memories: [long], text: expect.stringMatching(/jasmine .*… \(/) })
  const { tokens } = Object(fitted)
  expect(tokens).toBeLessThanOrEqual(800)
  expect(tokens).toBeGreaterThan(700)
  expect(fitBlock({ ...candidates, memories: others }, 50, estimateTokens)).toBe('no-room')
})

it('[PL7] says who the person is also within the smallest budget that can be set', () => {
  const identity = [memory({ content: 'The user is called Ada' })]
  const memories = [memory({ content: 'The dog of the user is called Rex' })]
  const candidates = { today: instant(0), identity, memories, turns: [], question: '' }
  const fitted = fitBlock(candidates, 100, estimateTokens)
  expect(fitted).toMatchObject({ identity, memories })
  expect(typeof fitted === 'string' ? null : fitted.tokens).toBeLessThanOrEqual(100)
})
