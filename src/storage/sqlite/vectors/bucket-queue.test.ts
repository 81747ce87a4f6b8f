import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BucketQueue } from './bucket-queue.ts'
import { EXCLUDED_SCORE } from './wasm/scan-kernel.ts'

const value = fc.oneof(
  fc.float({ min: -1.25, max: 1.25, noNaN: true }),
  fc.constantFrom(0, -0, 1, -1, 0.5, EXCLUDED_SCORE),
)

it('[VI1] rows are taken from the highest on, all of them once, and the bound is never too low', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 1_500 }), fc.nat(200), (values, count) => {
      const most = Float32Array.from(values)
      const ranking = new BucketQueue(most.length)
      ranking.pushAll(most)
      const taken: number[] = []
      for (let bound = ranking.maxRemaining; bound !== null; bound = ranking.maxRemaining) {
        const rows = ranking.popMany(count + 1)
        for (const row of rows) expect(most[row]).toBeLessThanOrEqual(bound)
        taken.push(...rows)
      }
      const expected = [...most].filter((each) => each !== EXCLUDED_SCORE).sort((a, b) => b - a)
      expect(taken.map((row) => (most[row] ?? 0) + 0)).toEqual(expected.map((each) => each + 0))
      expect(new Set(taken).size).toBe(taken.length)
    }),
  )
})

it('[VI1] a queue of selected rows holds these alone, whatever was taken before', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(value, fc.boolean()), { maxLength: 500 }), (rows) => {
      const most = Float32Array.from(rows, ([each]) => each)
      const queue = new BucketQueue(most.length)
      queue.pushAll(most)
      queue.popMany(3)
      const selected = queue.select(Uint8Array.from(rows, ([, isSelected]) => Number(isSelected)))
      const taken: number[] = []
      while (selected.maxRemaining !== null) taken.push(...selected.popMany(7))
      const expected = rows.flatMap(([, isSelected], row) =>
        isSelected && most[row] !== EXCLUDED_SCORE ? [row] : [],
      )
      expect(taken.toSorted((a, b) => a - b)).toEqual(expected)
    }),
  )
})
