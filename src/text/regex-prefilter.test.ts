import { describe, expect, it } from 'vitest'
import { execPattern, matchesAnyPattern, mayMatch, testPattern } from './regex-prefilter.ts'

describe('mayMatch', () => {
  it('rules out a text that lacks a literal of the pattern', () => {
    expect(mayMatch(/\bsold\b/, 'I bought a bike')).toBe(false)
    expect(mayMatch(/(?:can|could) (?:you )?translate/i, 'Could we meet?')).toBe(false)
    expect(mayMatch(/^(?:remember|note)(?: that|:)/, 'Where does Ada live?')).toBe(false)
    expect(mayMatch(/(?<!\p{L})(?:verkauft|gekündigt)(?!\p{L})/u, 'Ich wohne in Köln')).toBe(false)
  })

  it('requires what a repeated group, a lookahead or a counted repetition requires', () => {
    expect(mayMatch(/(?:abc)+/, 'ab')).toBe(false)
    expect(mayMatch(/a(?=.*xyz)/, 'abc')).toBe(false)
    expect(mayMatch(/(?:xyz){2,3}/, 'abc')).toBe(false)
    expect(mayMatch(/(?:xyz){0,3}/, 'abc')).toBe(true)
    expect(mayMatch(/(?:xyz)?/, 'abc')).toBe(true)
    expect(mayMatch(/(?!xyz)a/, 'abc')).toBe(true)
  })

  it('counts as possible what it does not understand', () => {
    expect(mayMatch(/[a-z]+/, 'ABC')).toBe(true)
    expect(mayMatch(/\p{Lu}\d/u, 'abc')).toBe(true)
    expect(mayMatch(/Ω/iu, 'ω')).toBe(true)
    expect(mayMatch(/(?=xyz)?/, 'abc')).toBe(true)
  })

  it('looks at long texts with the pattern itself', () => {
    expect(mayMatch(/xyz/, 'a'.repeat(5_000))).toBe(true)
    expect(testPattern(/xyz/, 'a'.repeat(5_000))).toBe(false)
  })
})

describe('every match', () => {
  const cases: readonly (readonly [RegExp, string])[] = [
    [/colou?rs/, 'colors'],
    [/colou?rs/, 'colours'],
    [/ab+c/, 'abbbc'],
    [/ab{2}c/, 'abbc'],
    [/ab*c/, 'ac'],
    [/straße/i, 'STRASSE straße'],
    [/\bkelvin/iu, '\u212aelvin'],
    [/ſ|s/iu, 'S'],
    [/ÄPFEL/i, 'äpfel'],
    [/(?<year>\d{4})-\k<year>/, '2026-2026'],
    [/a\.b\/c/, 'a.b/c'],
    [/\u0041bc/, 'Abc'],
    [/(?:a|(?:b|cd)e)f/, 'cdef'],
    [/[(|)]x/, '|x'],
    [/(?<=my )dog/, 'my dog'],
    [/住在(?:東京|大阪)/u, '我住在大阪'],
    [/a(?:b|)c/, 'ac'],
    [/x{,3}/, 'x{,3}'],
  ]
  it.each(cases)('of %s in "%s" is found', (pattern, text) => {
    expect(pattern.test(text)).toBe(testPattern(pattern, text))
    expect(execPattern(pattern, text)?.[0]).toBe(pattern.exec(text)?.[0])
    expect(matchesAnyPattern([/(?!)/, pattern], text)).toBe(pattern.test(text))
  })
})
