import { expect, it } from 'vitest'
import { extractPatterns, patternRules } from '../../learning/patterns/extractor.ts'
import { listContradictionPatterns, warmUpPatterns } from './pattern-warmup.ts'

it('[CN15] warms patterns up step by step without changing their results', () => {
  const text = 'I live in Oslo, and my dog is called Rex. 我住在北京。'
  const before = extractPatterns(text)
  const patterns = [...patternRules(), ...listContradictionPatterns()]
  expect(patterns.length).toBeGreaterThan(400)
  const steps = [...warmUpPatterns(patterns)].length
  expect(steps).toBeGreaterThan(patterns.length)
  expect(patterns.every(({ lastIndex }) => lastIndex === 0)).toBe(true)
  expect(extractPatterns(text)).toEqual(before)
  expect(before.length).toBeGreaterThan(1)
})
