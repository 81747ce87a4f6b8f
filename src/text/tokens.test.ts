import fc from 'fast-check'
import { expect, it } from 'vitest'
import { estimateTokens } from './tokens.ts'

it.each([
  ['', 0],
  ['a', 1],
  ['I prefer tea over coffee.', 7],
  ['我喜欢喝茶', 4],
  ['お茶が好きです', 5],
  ['tea 茶', 2],
  ['é', 1],
  ['🦊', 1],
  ['\ud800', 1],
  [' ', 1],
])('[RA12] estimates the tokens of "%s" as %d', (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens)
})

it('[RA12] any text has an integer number of tokens, at least one unless empty, at most its bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, more) => {
      const tokens = estimateTokens(text)
      expect(Number.isInteger(tokens)).toBe(true)
      expect(tokens > 0).toBe(text !== '')
      expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(text))
      expect(estimateTokens(text + more)).toBeGreaterThanOrEqual(tokens)
    }),
  )
})
