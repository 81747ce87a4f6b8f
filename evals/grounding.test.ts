import { expect, it } from 'vitest'
import { judgePart, keptShare, rejectedShare } from './grounding.ts'

it('[DI23] the development part holds its floors without an embedder, in every language', async () => {
  const judged = await judgePart('development', null)
  expect(judged.length).toBeGreaterThanOrEqual(500)
  expect(new Set(judged.map(({ language }) => language)).size).toBe(7)
  expect(keptShare(judged)).toBeGreaterThanOrEqual(0.8)
  expect(rejectedShare(judged)).toBeGreaterThanOrEqual(0.99)
})
