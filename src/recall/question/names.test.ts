import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canContainName,
  containsAnyName,
  containsName,
  extractInnerNames,
  removeNames,
} from './names.ts'

describe('names of speakers in a question', () => {
  it.each([
    [
      'When did Caroline go to the support group?',
      ['Caroline'],
      'When did go to the support group?',
    ],
    ["What is CAROLINE's favourite book?", ['Caroline'], 'What is favourite book?'],
    ['What is Ann’s job?', ['Ann'], 'What is job?'],
    ['Do Ann and Mary Jane both paint?', ['Mary Jane', 'Ann'], 'Do and both paint?'],
    ['Does Annabel know what Ann paints?', ['Ann'], 'Does Annabel know what paints?'],
    ['Wo wohnt Anna in Berlin?', ['Anna'], 'Wo wohnt in Berlin?'],
    ['小明喜欢什么？', ['小明'], '喜欢什么？'],
  ])('[RA8] "%s" is embedded without %j', (question, names, left) => {
    expect(removeNames(question, names)).toBe(left)
  })

  it.each([
    ['Who is Ann?', ['Ann']],
    ['Ann', ['Ann']],
    ['Ann and Bob?', ['Ann', 'Bob']],
    ['What does Tom paint?', ['Ann']],
    ['Annabel paints', ['Ann']],
    ['İnci paints Ann', ['Ann']],
    ['anything  at all', ['', ' ']],
  ])('[RA8] "%s" does not change for the speakers %j', (question, names) => {
    expect(removeNames(question, names)).toBe(question)
  })

  it.each([
    ['When did Caroline go?', true],
    ['Caroline went where?', true],
    ['Что сказала Анна?', true],
    ['What did I do there?', false],
    ['where is the cat', false],
    ['', false],
  ])('[RA8] "%s" may contain a name: %s', (question, may) => {
    expect(canContainName(question)).toBe(may)
  })

  it('[CR32] a word that only begins a sentence is no name', () => {
    expect(extractInnerNames("What about Marguerite's health? Keep Ann in mind.")).toEqual([
      'Marguerite',
      'Ann',
    ])
    expect(extractInnerNames('Pardon the delay')).toEqual([])
  })

  it('[CR32] limits the number of names, and reads rows of marks once', () => {
    const names = Array.from(
      { length: 60 },
      (_, n) => `and Name${String.fromCharCode(97 + (n % 26))}`,
    )
    expect(extractInnerNames(`ask ${names.join(' ')}`)).toHaveLength(20)
    expect(extractInnerNames(`a${'.'.repeat(200_000)} Then ask Marguerite`)).toEqual(['Marguerite'])
    expect(containsAnyName('We met MARGUERITE there', ['Ann', 'Marguerite'])).toBe(true)
    expect(containsAnyName('We met Annabel there', ['Ann'])).toBe(false)
  })

  it('[RA8] adds nothing to a question and removes names completely', () => {
    const word = fc.constantFrom('Ann', "Ann's", 'paints', 'and', 'Bob', 'İ', '  ', 'annab')
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const question = words.join(' ')
        const left = removeNames(question, ['Ann', 'Bob'])
        expect(left === question || !containsName(left, 'ann')).toBe(true)
        expect(left.length).toBeLessThanOrEqual(question.length)
      }),
    )
  })
})
