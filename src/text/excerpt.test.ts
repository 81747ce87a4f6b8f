import { expect, it } from 'vitest'
import { extractExcerpt } from './excerpt.ts'

const FILLING = 'so it went on and on. '.repeat(30)

it('[LD4] an excerpt shows where a text says what was looked for, and where it was cut', () => {
  expect(extractExcerpt('Short  and\nwhole.', 'whole', 300)).toBe('Short and whole.')
  const middle = extractExcerpt(`${FILLING}We met Clara in Rome. ${FILLING}`, 'who is Clara?', 100)
  expect(middle).toContain('We met Clara in Rome.')
  expect(middle).toMatch(/^….*…$/u)
  expect([...middle].length).toBeLessThanOrEqual(100)
  expect(extractExcerpt(`Clara. ${FILLING}`, 'Clara', 100)).toMatch(/^Clara\. .*…$/u)
  expect(extractExcerpt(`${FILLING}Clara`, 'Clara', 100)).toMatch(/^….*Clara$/u)
  expect(extractExcerpt(`First. ${FILLING}`, 'volcano', 100)).toMatch(/^First\./u)
})

it('[LD4] an excerpt counts characters as people do, and cuts none in two', () => {
  const found = extractExcerpt(`${'😀'.repeat(200)} İzmir ${'😀'.repeat(200)}`, 'izmir', 50)
  expect([...found].length).toBeLessThanOrEqual(50)
  expect(found).not.toMatch(/\p{Surrogate}/u)
  expect(extractExcerpt('あ'.repeat(400), '東京', 300).length).toBe(299)
})
