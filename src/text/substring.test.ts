import { expect, it } from 'vitest'
import { containsFolded, foldCase } from './substring.ts'

const contains = (text: string, needle: string) => containsFolded(text, foldCase(needle))

it('[ST31] matches regardless of case', () => {
  expect(contains('äPFEL im Garten', 'Äpfel')).toBe(true)
  expect(contains('ΛΟΓΟΣ', 'λογος')).toBe(true)
  expect(contains('λογος', 'ΛΟΓΟΣ')).toBe(true)
  expect(contains('snakexcase', 'e_c')).toBe(false)
  expect(contains('', '')).toBe(true)
  expect(contains('', 'a')).toBe(false)
})

it('[ST31] matches whole characters only', () => {
  expect(contains('😀', '😀')).toBe(true)
  expect(contains('😀', '\ud83d')).toBe(false)
  expect(contains('😀', '\ude00')).toBe(false)
  expect(contains('😀 \ude00', '\ude00')).toBe(true)
  expect(contains('\ud83d', '\ud83d')).toBe(true)
})

it('[ST31] lowers every character by itself, whatever surrounds it', () => {
  for (let codePoint = 0; codePoint <= 0x1ffff; codePoint++) {
    const letter = String.fromCodePoint(codePoint)
    const together = foldCase(`a${letter}`)
    if (together !== `a${foldCase(letter)}`) expect.fail(`U+${codePoint.toString(16)}`)
  }
})
