import { expect, it } from 'vitest'
import type { Instant } from '../../lib/time.ts'
import { citeText, lastUntil, type ReceiptText, TEXTS_PER_DOCUMENT_MAX } from './line-citations.ts'

const DAY = 86_400_000
const at = (days: number) => (days * DAY) as Instant
const line = (name: string, days: number): ReceiptText => ({
  ...{ key: name, text: `- ${name}`, until: at(days) },
})

it('[RC11] citing a line again writes nothing within a day, and extends it afterwards', () => {
  const first = citeText([], line('a', 10), at(0))
  expect(first).toEqual({ key: 'a', texts: [line('a', 11)] })
  const again = citeText(first.texts, { ...line('a', 11), key: 'b' }, at(1))
  expect(again.texts).toBe(first.texts)
  expect(again.key).toBe('a')
  const later = citeText(first.texts, { ...line('a', 12), key: 'b' }, at(2))
  expect(later).toEqual({ key: 'a', texts: [line('a', 13)] })
})

it('[RC12] lines that have expired are dropped with the next one', () => {
  const { texts } = citeText([line('a', 3), line('b', 9)], line('c', 12), at(5))
  expect(texts).toEqual([line('b', 9), line('c', 13)])
  expect(lastUntil(texts)).toBe(at(13))
  expect(lastUntil([])).toBeNull()
})

it('[RC14] of too many lines of one turn, those that expire first are dropped', () => {
  let texts: readonly ReceiptText[] = []
  for (let n = 0; n < TEXTS_PER_DOCUMENT_MAX + 3; n++) {
    texts = citeText(texts, line(`excerpt ${n}`, 100 + n), at(0)).texts
  }
  expect(texts).toHaveLength(TEXTS_PER_DOCUMENT_MAX)
  const keys = texts.map(({ key }) => key)
  expect(keys).not.toContain('excerpt 2')
  expect(keys).toContain('excerpt 3')
})
