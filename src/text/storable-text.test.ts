import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromStorable, toStorable } from './storable-text.ts'

const anyText = fc
  .array(fc.constantFrom('a', '\0', '\ue000', '\ud83d', '\ude00', '😀', '0041', 'é'))
  .map((parts) => parts.join(''))

it('round-trips any text and never contains what a database rejects', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = toStorable(text)
      expect(fromStorable(stored)).toBe(text)
      expect(stored).not.toContain('\0')
      expect(Buffer.from(stored, 'utf8').toString('utf8')).toBe(stored)
    }),
  )
})

it('does not change ordinary text', () => {
  expect(toStorable('Grüße aus 北京 😀')).toBe('Grüße aus 北京 😀')
})
