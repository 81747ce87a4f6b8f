import { expect, it } from 'vitest'
import type { Instant } from '../../lib/time.ts'
import {
  CITED_LINES_PER_DOCUMENT_MAX,
  type CitedLine,
  citeLine,
  getLatestExpiry,
} from './line-citations.ts'

const DAY = 86_400_000
const at = (days: number) => (days * DAY) as Instant
const line = (name: string, days: number): CitedLine => ({
  ...{ key: name, text: `- ${name}`, expiresAt: at(days) },
})

it('[RC11] citing a line again writes nothing within a day, and extends it afterwards', () => {
  const first = citeLine([], line('a', 10), at(0))
  expect(first).toEqual({ key: 'a', texts: [line('a', 11)] })
  const again = citeLine(first.texts, { ...line('a', 11), key: 'b' }, at(1))
  expect(again.texts).toBe(first.texts)
  expect(again.key).toBe('a')
  const later = citeLine(first.texts, { ...line('a', 12), key: 'b' }, at(2))
  expect(later).toEqual({ key: 'a', texts: [line('a', 13)] })
})

it('[RC12] lines that have expired are dropped with the next one', () => {
  const { texts } = citeLine([line('a', 3), line('b', 9)], line('c', 12), at(5))
  expect(texts).toEqual([line('b', 9), line('c', 13)])
  expect(getLatestExpiry(texts)).toBe(at(13))
  expect(getLatestExpiry([])).toBeNull()
})

it('[RC14] of too many lines of one turn, those that expire first are dropped', () => {
  let texts: readonly CitedLine[] = []
  for (let n = 0; n < CITED_LINES_PER_DOCUMENT_MAX + 3; n++) {
    texts = citeLine(texts, line(`excerpt ${n}`, 100 + n), at(0)).texts
  }
  expect(texts).toHaveLength(CITED_LINES_PER_DOCUMENT_MAX)
  const keys = texts.map(({ key }) => key)
  expect(keys).not.toContain('excerpt 2')
  expect(keys).toContain('excerpt 3')
})
