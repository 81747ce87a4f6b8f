import { expect, it } from 'vitest'
import { extractPatterns, patternRules } from '../learning/patterns/extractor.ts'
import { listContradictionPatterns } from '../memory/contradiction/pattern-warmup.ts'
import { warmUpPatterns } from './regex-warmup.ts'

it('[CN15] rules are warmed up a piece at a time, and answer as before', () => {
  const said = 'I live in Oslo, and my dog is called Rex. 我住在北京。'
  const before = extractPatterns(said)
  const rules = [...patternRules(), ...listContradictionPatterns()]
  expect(rules.length).toBeGreaterThan(400)
  const pieces = [...warmUpPatterns(rules)].length
  expect(pieces).toBeGreaterThan(rules.length)
  expect(rules.every(({ lastIndex }) => lastIndex === 0)).toBe(true)
  expect(extractPatterns(said)).toEqual(before)
  expect(before.length).toBeGreaterThan(1)
})
