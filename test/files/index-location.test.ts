import fc from 'fast-check'
import { expect, it } from 'vitest'
import { numberChunks } from '../../src/files/indexing/chunk-numbers.ts'

const texts = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 12 })

it('[FX5] numbers follow the order of the file, and no change takes more than there are chunks', () => {
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 30 }), fc.nat(3), (states, after) => {
      let known: { number: number; text: string }[] = []
      for (const state of states) {
        const { numbers, removed: gone } = numberChunks(known, state, after)
        expect(numbers).toHaveLength(state.length)
        const all = [after, ...numbers]
        for (const [index, number] of numbers.entries()) {
          expect(number).toBeGreaterThan(all[index] ?? 0)
          expect(Number.isInteger(number)).toBe(true)
        }
        const before = new Set(known.map(({ number }) => number))
        const remaining = numbers.filter((number) => before.has(number))
        expect(new Set([...remaining, ...gone])).toEqual(before)
        expect(remaining.length + gone.length).toBe(before.size)
        expect(gone.length + numbers.length).toBeLessThanOrEqual(
          Math.max(before.size, numbers.length),
        )
        known = state.map((text, index) => ({ number: numbers[index] ?? 0, text }))
      }
    }),
  )
})

it('[FX5] what stands before and behind an edit keeps its number', () => {
  const known = ['a', 'b', 'c', 'd'].map((text, index) => ({ number: 1_000 * (index + 1), text }))
  expect(numberChunks(known, ['a', 'b', 'x', 'c', 'd']).numbers).toEqual([
    1_000, 2_000, 2_500, 3_000, 4_000,
  ])
  expect(numberChunks(known, ['a', 'x', 'd'])).toEqual({
    numbers: [1_000, 2_000, 4_000],
    removed: [3_000],
  })
  expect(numberChunks(known, ['x', 'a', 'b', 'c', 'd']).numbers).toEqual([
    500, 1_000, 2_000, 3_000, 4_000,
  ])
  expect(numberChunks(known, ['a', 'b', 'c', 'd', 'e']).numbers.at(-1)).toBe(5_000)
  const tight = ['a', 'b'].map((text, index) => ({ number: index + 1, text }))
  expect(numberChunks(tight, ['a', 'x', 'b'])).toEqual({ numbers: [1, 2, 1_002], removed: [] })
})
