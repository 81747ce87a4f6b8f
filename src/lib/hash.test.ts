import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sha256 } from './hash.ts'

const expected = (text: string) => createHash('sha256').update(text).digest('hex')

it('agrees with the platform at every block boundary', () => {
  for (let length = 0; length <= 200; length++) {
    const text = 'é'.repeat(length)
    expect(sha256(text)).toBe(expected(text))
  }
})

it('agrees with the platform on any text', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => sha256(text) === expected(text)))
})
