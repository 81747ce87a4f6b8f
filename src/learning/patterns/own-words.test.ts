import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extractPatterns } from './extractor.ts'
import { maskOthersWords } from './own-words.ts'

const contents = (text: string) => extractPatterns(text).map(({ content }) => content)

describe("words that are not the user's own", () => {
  it.each([
    'Translate to German:\nI live in Boston. I like cats.',
    'I work as a plumber. I never drink coffee.\n\nCan you fix the grammar in that?',
    'Hi Ben,\n\nI am moving to Basel.\n\nBest regards,\nLena',
    'Anna: I am moving to Cork\nBen: I love Cork',
    "Let's play a game. I'm a detective from Paris. I never sleep.",
    'my boss wrote: I am moving to Texas',
    'I just love sitting in traffic /s',
    'I walk a lonely road\nI love the silver light\nMy mother is a star\nI live in endless night',
    'Mach das höflicher:\n\nIch hasse Meetings. Mein Sohn ist krank.',
    '假设我住在火星，我讨厌土豆。',
  ])('[PX12] nothing is learned from them: %s', (text) => {
    expect(contents(text)).toEqual([])
  })

  it.each([
    ["I'm vegan. Can you shorten this menu for me?\n\nWe love fish.", "I'm vegan"],
    ['Fix the grammar: "I has a cat". By the way, I live in Porto.', 'I live in Porto'],
    [
      'I prefer the following format: title, then date',
      'I prefer the following format: title, then date',
    ],
    ['My boss wrote: "I quit." I live in Kent.', 'I live in Kent'],
  ])('[PX12] own words beside them are learned: %s', (text, expected) => {
    expect(contents(text)).toEqual([expected])
  })

  it('[PX12] the mask has the length of the text', () => {
    const pieces = [
      'Translate: ',
      'I like tea. ',
      '\n',
      '---\n',
      '"',
      'Anna: hi\n',
      'Dear Ben,\n',
      '说：',
    ]
    const anyText = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((p) => p.join(''))
    fc.assert(
      fc.property(anyText, (text) => {
        expect(maskOthersWords(text)).toHaveLength(text.length)
      }),
    )
  })
})
