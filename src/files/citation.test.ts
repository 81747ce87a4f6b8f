import fc from 'fast-check'
import { expect, it } from 'vitest'
import { extractFileSnippet, SNIPPET_CHARACTERS_MAX } from '../text/query-snippet.ts'
import { extractQueryTerms } from '../text/search/terms.ts'
import { formatCitation, parseCitation } from './citation.ts'

it('[FC16] cites lines that can be resolved, for any path', () => {
  expect(formatCitation({ path: 'memory/2026-11-15.md', lineFirst: 5, lineLast: 9 })).toBe(
    'memory/2026-11-15.md#L5-L9',
  )
  expect(formatCitation({ path: 'a.md', lineFirst: 5, lineLast: 5 })).toBe('a.md#L5')
  const line = fc.integer({ min: 1, max: 999_999_999 })
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('a#L1', '#', 'C#/x#L2-L3.md', '茶')),
      fc.tuple(line, line),
      (path, [a, b]) => {
        const citation = { path, lineFirst: Math.min(a, b), lineLast: Math.max(a, b) }
        expect(parseCitation(formatCitation(citation))).toEqual(citation)
      },
    ),
  )
})

it('[FC16] takes nothing else for a citation', () => {
  expect(parseCitation('a.md#L5-9')).toEqual({ path: 'a.md', lineFirst: 5, lineLast: 9 })
  const not = ['', 'a.md', '#L5', 'a.md#L0', 'a.md#L9-L5', 'a.md#L', 'a.md#L5-', 'a.md#l5', 'a#Lx']
  for (const text of [...not, 'a.md#L5 ', 'a.md#L1234567890', `${'#L1'.repeat(100_000)}x`]) {
    expect(parseCitation(text)).toBeNull()
  }
})

const LINE = 'Nothing of interest is said on this line of the file, nor on the next one.'
const filler = (count: number) => Array.from({ length: count }, () => LINE)

it('[FC17] shows all of a short text, and the beginning of one that has none of the words', () => {
  expect(extractFileSnippet('I like tea.', extractQueryTerms('coffee'))).toBe('I like tea.')
  const text = filler(40).join('\n')
  const shown = extractFileSnippet(text, extractQueryTerms('coffee'))
  expect(text.startsWith(shown)).toBe(true)
  expect(shown.length).toBeGreaterThan(SNIPPET_CHARACTERS_MAX / 2)
})

it('[FC17] shows the lines with most words of the question, and some around them', () => {
  const lines = [
    ...filler(20),
    'Tea once.',
    ...filler(20),
    'Ada brews teas in Kyoto.',
    ...filler(20),
  ]
  const shown = extractFileSnippet(
    lines.join('\n'),
    extractQueryTerms('Which tea does Ada brew in Kyoto?'),
  )
  expect(shown).toContain('Ada brews teas in Kyoto.')
  const [before = '', after = ''] = shown.split('Ada brews teas in Kyoto.')
  expect(before).toContain(LINE)
  expect(after.length).toBeGreaterThan(before.length)
})

it('[FC17] finds them in one long line, in any script', () => {
  const chinese = `${'今天天气很好，我们去公园散步。'.repeat(100)}小明最喜欢龙井茶。${'晚上早点睡觉。'.repeat(200)}`
  expect(extractFileSnippet(chinese, extractQueryTerms('小明喜欢什么龙井茶？'))).toContain(
    '小明最喜欢龙井茶',
  )
  const english = `${'filler words '.repeat(300)}the kettle whistled ${'filler words '.repeat(300)}`
  expect(extractFileSnippet(english, extractQueryTerms('kettle'))).toContain('the kettle whistled')
  expect(
    extractFileSnippet('x'.repeat(1_000_000), extractQueryTerms('kettle')).length,
  ).toBeGreaterThan(500)
})

it('[FC17] is a part of the text, of 700 characters at most, with whole characters', () => {
  const anyText = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          'tea ',
          'kettle\n',
          '茶',
          '🍵',
          '🍵'.repeat(90),
          LINE,
          '\n\n',
          ' '.repeat(80),
        ),
        fc.string({ unit: 'grapheme' }),
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join(''))
  const max = fc.constantFrom(1, 2, 50, 700)
  fc.assert(
    fc.property(anyText, max, fc.constantFrom('tea kettle', '茶', ''), (text, most, query) => {
      const shown = extractFileSnippet(text, extractQueryTerms(query), most)
      expect(shown.length).toBeLessThanOrEqual(most)
      expect(text).toContain(shown)
      expect(shown).not.toMatch(/\p{Cs}/u)
    }),
  )
})
