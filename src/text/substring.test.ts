import { expect, it } from 'vitest'
import { containsFolded, foldCase } from './substring.ts'

const contains = (text: string, wanted: string) => containsFolded(text, foldCase(wanted))

it('[ST31] tells whether a text holds another, in capitals or not', () => {
  expect(contains('äPFEL im Garten', 'Äpfel')).toBe(true)
  expect(contains('ΛΟΓΟΣ', 'λογος')).toBe(true)
  expect(contains('λογος', 'ΛΟΓΟΣ')).toBe(true)
  expect(contains('snakexcase', 'e_c')).toBe(false)
  expect(contains('', '')).toBe(true)
  expect(contains('', 'a')).toBe(false)
})

it('[ST31] takes characters as a whole', () => {
  expect(contains('😀', '😀')).toBe(true)
  expect(contains('😀', '\ud83d')).toBe(false)
  expect(contains('😀', '\ude00')).toBe(false)
  expect(contains('😀 \ude00', '\ude00')).toBe(true)
  expect(contains('\ud83d', '\ud83d')).toBe(true)
})

it('[ST31] lowers every character by itself, whatever stands around it', () => {
  for (let codePoint = 0; codePoint <= 0x1ffff; codePoint++) {
    const letter = String.fromCodePoint(codePoint)
    const together = foldCase(`a${letter}`)
    if (together !== `a${foldCase(letter)}`) expect.fail(`U+${codePoint.toString(16)}`)
  }
})
