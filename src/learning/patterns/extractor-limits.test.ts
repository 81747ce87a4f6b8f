/**
 * What holds for every text. Ordinary random strings rarely contain a statement, so the properties are also
 * tried on texts put together from fragments that the rules react to.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  EXTRACTED_CHARACTERS_MAX,
  EXTRACTED_CHARACTERS_MIN,
  EXTRACTION_BYTES_MAX,
  KEY_CHARACTERS_MAX,
} from '../../domain/limits.ts'
import { extractPatterns } from './extractor.ts'
import { toPatternKey } from './pattern-key.ts'
import { findTailStart } from './text-tail.ts'

const FRAGMENTS = [
  'I like tea',
  'I don’t like ',
  "I'm ",
  'my wife is ',
  'I never ',
  ' and I ',
  ' but ',
  ', ',
  '. ',
  '\n',
  '\n\n',
  '"',
  "'",
  '“',
  '”',
  '「',
  '」',
  '`',
  '```\n',
  '> ',
  'Assistant: ',
  'User: ',
  '?',
  '¿',
  '…',
  '  ',
  '\t',
  'ich mag ',
  'nicht ',
  'me gusta ',
  "j'aime ",
  'não gosto de ',
  '我喜欢',
  '，',
  '私は',
  'が好きです',
  '。',
  '🍕',
  'node.js',
  'e.g. ',
  '3. ',
  'x'.repeat(90),
  '\ud83c',
  '\u0000',
  'every day ',
  'next week ',
]

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 40 }).map((parts) => parts.join('')),
)

describe('every text', { timeout: 60_000 }, () => {
  it('[PX1] gives clauses that stand in it, at their offsets', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const collapsed = text.replace(/\s+/gu, ' ')
        for (const { content, start, end } of extractPatterns(text)) {
          expect(collapsed).toContain(content)
          expect(text.slice(start, end).replace(/\s+/gu, ' ')).toBe(content)
        }
      }),
    )
  })

  it('[PX5] gives contents and keys within their limits', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const { content, key, importance } of extractPatterns(text)) {
          expect(content.length).toBeGreaterThanOrEqual(EXTRACTED_CHARACTERS_MIN)
          expect(content.length).toBeLessThanOrEqual(EXTRACTED_CHARACTERS_MAX)
          expect(key.length).toBeLessThanOrEqual(KEY_CHARACTERS_MAX)
          expect(importance).toBeGreaterThanOrEqual(1)
          expect(importance).toBeLessThanOrEqual(10)
        }
      }),
    )
  })

  it('[PX6] gives each key once, and the same again', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const keys = extractPatterns(text).map(({ key }) => key)
        expect(new Set(keys).size).toBe(keys.length)
        expect(extractPatterns(text).map(({ key }) => key)).toEqual(keys)
      }),
    )
  })

  it('[PX6] says a repeated statement once', () => {
    expect(extractPatterns('I like tea. i like  TEA!\nI like tea')).toHaveLength(1)
  })
})

describe('[PX3] keys', () => {
  it.each([
    ['I like Python', "I don't like Python"],
    ['我喜欢茶', '我喜欢咖啡'],
    ['私は猫が好きです', '私は犬が好きです'],
    ['我喜欢茶', '我不喜欢茶'],
    ['I like C++', 'I like C#'],
    ['I like C', 'I like C++'],
    ['I like 🍕', 'I like 🍔'],
    [`I like ${'very '.repeat(20)}old tea`, `I like ${'very '.repeat(20)}new tea`],
  ])('differ for "%s" and "%s"', (one, other) => {
    expect(toPatternKey('preference', one)).not.toBe(toPatternKey('preference', other))
  })

  it('do not change with case, blanks, width, apostrophes or final marks', () => {
    const keys = ['I don’t like Tea', "i don't  like tea.", "I DON'T LIKE ＴＥＡ!"].map((content) =>
      toPatternKey('preference', content),
    )
    expect(new Set(keys)).toEqual(new Set(['preference:i_don_t_like_tea']))
  })

  it('stay the same from release to release', () => {
    expect(toPatternKey('fact', '我叫李明')).toBe('fact:我叫李明')
    expect(toPatternKey('preference', 'I like C++')).toMatchInlineSnapshot(
      `"preference:i_like_c_2a8cgdnutpqi0"`,
    )
  })
})

describe('[PX5] the tail', () => {
  it('reads the end of a long text and reports offsets in the whole of it', () => {
    const text = `I like tea. ${'All work and no play. '.repeat(4000)}I like coffee.`
    const found = extractPatterns(text)
    expect(found.map(({ content }) => content)).toEqual(['I like coffee'])
    expect(text.slice(found[0]?.start, found[0]?.end)).toBe('I like coffee')
  })

  it('is at most the limit in UTF-8 and begins after a sentence', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'é', '茶', '🍕', ' ', '. ', '\n'), { maxLength: 200 }),
        fc.integer({ min: 1, max: 100 }),
        (parts, bytesMax) => {
          const text = parts.join('')
          const start = findTailStart(text, bytesMax)
          const tail = text.slice(start)
          expect(new TextEncoder().encode(tail).length).toBeLessThanOrEqual(bytesMax)
          expect(start === 0 || tail === '' || /[.\s]$/u.test(text.slice(0, start))).toBe(true)
        },
      ),
    )
  })

  it('drops the sentence it cuts into, which may have begun with "if"', () => {
    const text = `If ${'x '.repeat(EXTRACTION_BYTES_MAX / 2)}I like tea. I like coffee.`
    expect(extractPatterns(text).map(({ content }) => content)).toEqual(['I like coffee'])
  })

  it('cuts a clause that is too long at a word, except in Japanese, which puts the negation last', () => {
    const [fact, ...others] = extractPatterns(`I don't like ${'very '.repeat(200)}old tea`)
    expect(others).toEqual([])
    expect(fact?.content).toMatch(/^I don't like (?:very )+very$/)
    expect(fact?.content.length).toBeLessThanOrEqual(EXTRACTED_CHARACTERS_MAX)
    expect(fact?.content.length).toBeGreaterThan(EXTRACTED_CHARACTERS_MAX - 10)
    expect(fact?.polarity).toBe('negated')
    expect(extractPatterns(`私は${'とても'.repeat(200)}古いお茶が好きではありません`)).toEqual([])
  })
})

describe('[PX7] hostile input', { timeout: 60_000 }, () => {
  /**
   * Four times the input may take sixteen times as long before this fails, plus a fixed allowance: a quadratic
   * step over 64 KiB takes many seconds, while a busy machine rarely slows one run that much.
   */
  const ALLOWANCE_MS = 2_000

  it.each([
    'I ',
    'I, ',
    'I. ',
    'my my my ',
    'and I ',
    'I like and ',
    'on I, ',
    '"',
    "'",
    " 'a",
    '“',
    '「',
    '`',
    '```\n',
    '> ',
    'a',
    ' ',
    '\n',
    '\t\n ',
    '.',
    '?!',
    '((([[[',
    ', , ',
    'I am not going to ',
    'my wife and my wife ',
    'A: ',
    'Assistant:\n\n',
    '我',
    '我，',
    '私は、',
    'ので、',
    'が好き',
    'every day I ',
    'next week ',
    'if ',
    'x@y.z ',
    '🍕',
    'yo no me ',
    'ich nicht ',
    "j'ai l'",
    'eu não ',
    'e.g. ',
    '1. ',
    '\ud800',
    'I really really ',
  ])('%j takes linear time', (unit) => {
    const small = unit.repeat(Math.ceil(EXTRACTION_BYTES_MAX / 4 / unit.length))
    const large = unit.repeat(Math.ceil(EXTRACTION_BYTES_MAX / unit.length))
    const smallMs = measure(small)
    expect(measure(large)).toBeLessThan(16 * smallMs + ALLOWANCE_MS)
  })

  it('ignores everything before the tail of a huge text', () => {
    expect(extractPatterns(`${'"I like tea. '.repeat(200_000)}\n\nI like coffee.`)).toHaveLength(1)
  })

  function measure(text: string): number {
    // Of the processor: what others do meanwhile does not count.
    const began = process.cpuUsage()
    extractPatterns(text)
    const { user, system } = process.cpuUsage(began)
    return (user + system) / 1_000
  }
})
