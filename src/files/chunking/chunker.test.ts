import fc from 'fast-check'
import { expect, it } from 'vitest'
import { indexLines, sliceLines } from '../../text/lines.ts'
import { parseMarkdownStructure } from '../../text/markdown/markdown-structure.ts'
import { estimateTokens } from '../../text/tokens.ts'
import {
  CHUNK_DEFAULTS,
  type CutOptions,
  chunkMarkdown,
  chunkText,
  parseTextStructure,
} from './chunker.ts'
import { splitIntoSpans } from './line-chunker.ts'

const WAYS = [
  { cut: chunkMarkdown, structureOf: parseMarkdownStructure },
  { cut: chunkText, structureOf: parseTextStructure },
] as const
type Way = (typeof WAYS)[number]
const SMALL: CutOptions = { tokens: 30, overlap: 8, bytesMax: 8_192 }
const bytesOf = (text: string) => new TextEncoder().encode(text).length
const words = (count: number, word = 'word') => Array.from({ length: count }, () => word).join(' ')

/** Puts the file together again from where its spans stand, and compares the chunks with them. */
function expectExact(text: string, options: CutOptions, { cut, structureOf }: Way): void {
  const lines = indexLines(text)
  const spans = splitIntoSpans(lines, structureOf(lines), options)
  const chunks = cut(text, options)
  const written = spans.map(({ start, end, first, last }) => {
    return { text: text.slice(start, end), lineFirst: first + 1, lineLast: last + 1 }
  })
  expect(chunks.map(({ headings: _, ...chunk }) => chunk)).toEqual(written)
  let before = { start: -1, end: 0 }
  const wrong = spans.filter((span) => {
    const { start, end, first, last } = span
    const isInLines =
      start >= (lines.starts[first] ?? text.length) &&
      start < (lines.ends[first] ?? 0) &&
      end > (lines.starts[last] ?? text.length) &&
      end <= (lines.ends[last] ?? 0)
    const isNext = start > before.start && end > before.end
    const gap = text.slice(before.end, Math.max(before.end, start))
    before = span
    return !isInLines || !isNext || gap.trim() !== ''
  })
  expect(wrong).toEqual([])
  expect(text.slice(before.end).trim()).toBe('')
}

const block = fc.constantFrom(
  '# One',
  '## Two ##',
  '### 三',
  'Title\n=====',
  'Below\n---',
  '---\ntitle: "A page"\n---',
  '- point\n- other point\n  - inner point\n\n    more of it',
  '1. first\n\n   ```sh\n   run # this\n   ```\n2. second',
  '| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |',
  '```ts\n# no heading\n\nconst a = 1\n```',
  '~~~\nnever closed',
  '    indented code\n\n    # more of it',
  '<!--\n## no heading\n-->',
  '<div>\n# none either',
  '> quoted\n> # text',
  'It is so:',
  words(12),
  words(60, 'longer'),
  '我喜欢在早上喝茶。'.repeat(9),
  '한국어 문장입니다. '.repeat(6),
  '🍵'.repeat(40),
  'x'.repeat(300),
  '   ',
  '\u0000',
  'toString',
  '__proto__',
  '\t\ttabbed',
)
const anyMarkdown = fc
  .tuple(
    fc.boolean(),
    fc.array(
      fc.tuple(
        fc.oneof({ weight: 4, arbitrary: block }, fc.string({ unit: 'binary', maxLength: 40 })),
        fc.constantFrom('\n', '\n\n', '\r\n', '\r\n\r\n', '\r', '\n\n\n', ' ', ''),
      ),
      { maxLength: 14 },
    ),
  )
  .map(([hasMark, parts]) => (hasMark ? '\ufeff' : '') + parts.flat().join(''))
const anyOptions = fc.record({
  tokens: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(400)),
  overlap: fc.integer({ min: 0, max: 80 }),
  bytesMax: fc.oneof(fc.integer({ min: 4, max: 200 }), fc.constant(8_192)),
})

it('[FC1] contains the whole file except white space and repetitions, for any file', () => {
  fc.assert(
    fc.property(anyMarkdown, anyOptions, (text, options) => {
      for (const way of WAYS) expectExact(text, options, way)
    }),
    { numRuns: 1_000 },
  )
})

it('[FC1] names lines that hold exactly its text, unless a line was too long', () => {
  fc.assert(
    fc.property(anyMarkdown, (text) => {
      for (const { cut } of WAYS) {
        for (const { lineFirst, lineLast, text: told } of cut(text, CHUNK_DEFAULTS)) {
          expect(sliceLines(text, lineFirst, lineLast - lineFirst + 1)).toBe(told)
        }
      }
    }),
    { numRuns: 500 },
  )
})

it('[FC2] stays within its limits of tokens and bytes', () => {
  fc.assert(
    fc.property(anyMarkdown, anyOptions, (text, options) => {
      for (const { cut } of WAYS) {
        const wrong = cut(text, options).filter((chunk) => {
          const isTooMuch =
            estimateTokens(chunk.text) > options.tokens || bytesOf(chunk.text) > options.bytesMax
          return isTooMuch || chunk.text.trim() === ''
        })
        expect(wrong).toEqual([])
      }
    }),
    { numRuns: 1_000 },
  )
})

it('[FC2] counts lines as editors do', () => {
  expect(indexLines('a\nb\r\nc\rd').count).toBe(4)
  expect(indexLines('a\n').count).toBe(1)
  expect(indexLines('').count).toBe(0)
  expect(indexLines('\ufeff').count).toBe(0)
  expect(sliceLines('\ufeffa\r\nb\r\n\r\nd', 1, 2)).toBe('a\r\nb')
  expect(sliceLines('a\nb', 2, 100)).toBe('b')
  expect(sliceLines('a\nb', 3, 1)).toBe('')
  expect(sliceLines('a\nb', 1, 0)).toBe('')
})

it('[FC1] makes nothing of nothing', () => {
  for (const { cut } of WAYS) {
    for (const text of ['', '\ufeff', '\n', ' \r\n\t\n\r\u3000']) expect(cut(text)).toEqual([])
    expect(cut('tea')).toEqual([{ headings: [], lineFirst: 1, lineLast: 1, text: 'tea' }])
    expect(cut('\ufeff\n\n tea \n\n')).toEqual([
      { headings: [], lineFirst: 3, lineLast: 3, text: ' tea ' },
    ])
  }
})

it('[FC3] knows the headings that it stands under, of both kinds', () => {
  const text = [
    '# Tea #',
    words(20),
    '',
    'Green',
    '-----',
    words(20),
    '### Sencha {#sencha}',
    words(20),
    '## Black',
    words(20),
  ].join('\n')
  expect(
    chunkMarkdown(text, SMALL).map(({ headings, lineFirst }) => [lineFirst, headings]),
  ).toEqual([
    [1, ['Tea']],
    [4, ['Tea', 'Green']],
    [7, ['Tea', 'Green', 'Sencha']],
    [9, ['Tea', 'Black']],
  ])
})

it('[FC3] takes the title of the page from its front matter', () => {
  const pages = [
    ['---', 'weight: 10', 'title: "Tea: an introduction"', '---'],
    ['+++', "title = 'Tea: an introduction'", '+++'],
    ['---', 'title:   Tea: an introduction', '...', '# Tea: an introduction'],
  ]
  for (const front of pages) {
    const chunks = chunkMarkdown([...front, '', '## Green', words(25)].join('\r\n'), SMALL)
    expect(chunks.at(-1)?.headings).toEqual(['Tea: an introduction', 'Green'])
  }
  expect(chunkMarkdown('---\ntitle: Tea\n\nnever closed')[0]?.headings).toEqual([])
})

it('[FC3] recognizes only headings as headings', () => {
  const not = [
    '#hashtag',
    '####### seven',
    '    # code',
    '```\n# comment\n```',
    '- # in a point',
    '> # in a quote',
    '<!--\n# translated\n-->',
    '<pre>\n\n# code\n</pre>',
    '- point\n---',
    '{{< tabs >}}\n---',
    '| a |\n|---|',
    '---\n# comment\n---',
  ]
  for (const text of not) {
    for (const { headings } of chunkMarkdown(`${text}\n\n${words(40)}`, SMALL)) {
      expect([text, headings]).toEqual([text, []])
    }
  }
  const chunks = chunkMarkdown(`\`\`\`\n${words(40)}\n\`\`\`\n# Tea\n${words(20)}`, SMALL)
  expect(chunks.at(-1)?.headings).toEqual(['Tea'])
})

it('[FC4] keeps lists, tables, code and front matter whole where they fit', () => {
  const wholes = [
    '---\ntitle: tea\ndescription: what is known of tea\ntags: [green, black]\n---',
    '- green tea comes from Japan\n- black tea comes from Assam\n\n  and elsewhere',
    '| tea | from |\n|---|---|\n| sencha | Japan |\n| assam | India |',
    '```sh\nboil water\n\n# wait\npour it\n```',
    '    boil water\n\n    pour it',
    '<!--\nFirst boil water.\n\nThen pour it.\n-->',
    '1. boil\n\n   ```sh\n   boil --water\n   ```\n2. pour',
  ]
  for (const whole of wholes) {
    const before = whole.startsWith('---') ? '' : `${words(20)}\n\n`
    const chunks = chunkMarkdown(`${before}${whole}\n\n${words(20)}`, { ...SMALL, overlap: 0 })
    expect(chunks.filter(({ text }) => text.includes(whole))).toHaveLength(1)
  }
})

it('[FC4] splits long content between items, rows and lines', () => {
  const points = Array.from(
    { length: 20 },
    (_, index) => `- point ${index} is about tea\n  and cups`,
  )
  for (const { text } of chunkMarkdown(points.join('\n'), { ...SMALL, overlap: 0 })) {
    expect(text).toMatch(/^- point/)
    expect(text).toMatch(/and cups$/)
  }
  const rows = Array.from({ length: 30 }, (_, index) => `| ${index} | tea and cups |`)
  const [head, ...rest] = chunkMarkdown(['| n | what |', '|---|---|', ...rows].join('\n'), SMALL)
  expect(head?.text).toMatch(/^\| n \| what \|\n\|---\|---\|\n\| 0 \|/)
  for (const { text } of rest) expect(text).toMatch(/^\| \d+ \|/)
})

it('[FC4] leaves a heading with the first words below it, and words with what they announce', () => {
  const text = `${words(15)}\n\n# Tea\n\n## Green\n\n${words(100)}`
  expect(chunkMarkdown(text, SMALL).map(({ text: told }) => told)).toContainEqual(
    expect.stringMatching(/^# Tea\n\n## Green\n\nword word/),
  )
  const announced = `${words(18)}\n\nThe commands are:\n\n\`\`\`\nboil\npour\n\`\`\``
  expect(chunkMarkdown(announced, SMALL)[1]?.text).toMatch(/^The commands are:\n\n```/)
  const translated = `${words(20)}\n\n<!--\n## Green tea\n-->\n## 绿茶\n\n很好喝。`
  expect(chunkMarkdown(translated, SMALL)[1]?.text).toMatch(/^<!--\n## Green tea\n-->\n## 绿茶/)
})

it('[FC5] joins small sections of one parent up to the size', () => {
  const section = (name: string) => `### ${name}\n\nSays hardly anything.\n`
  const text = `# Teas\n\n## Asia\n\n${['A', 'B', 'C', 'D', 'E', 'F'].map(section).join('\n')}`
  const chunks = chunkMarkdown(text, { ...SMALL, tokens: 40 })
  expect(chunks.length).toBeLessThan(4)
  for (const { headings } of chunks) expect(headings).toEqual(['Teas', 'Asia'])
})

it('[FC6] repeats the end of the chunk before by whole lines, and nothing from behind a heading', () => {
  const paragraphs = Array.from({ length: 8 }, (_, index) => `Sentence ${index} is about tea.`)
  const chunks = chunkMarkdown(paragraphs.join('\n\n'), SMALL)
  chunks.slice(1).forEach((chunk, index) => {
    const before = chunks[index]
    expect(chunk.lineFirst).toBe(before?.lineLast)
  })
  const sections = Array.from({ length: 4 }, (_, index) => `## Part ${index}\n\n${words(20)}`)
  const parts = chunkMarkdown(sections.join('\n\n'), SMALL)
  expect(parts).toHaveLength(4)
  for (const { text } of parts) expect(text).toMatch(/^## Part/)
  const without = chunkMarkdown(paragraphs.join('\n\n'), { ...SMALL, overlap: 0 })
  without.slice(1).forEach((chunk, index) => {
    expect(chunk.lineFirst).toBeGreaterThan(without[index]?.lineLast ?? 0)
  })
})

it('[FC7] cuts a long line after sentences, else between words, and never inside of a character', () => {
  const sentences = 'Tea is a drink. It comes from Asia! Who knows why? '.repeat(40).trim()
  for (const { text, lineFirst, lineLast } of chunkText(`\n${sentences}\n`, SMALL)) {
    expect([lineFirst, lineLast]).toEqual([2, 2])
    expect(text).toMatch(/^(?:Tea|It|Who).*[.!?]$/)
  }
  for (const { text } of chunkText('我喜欢喝茶。他说：“好的！”她走了。'.repeat(30), SMALL)) {
    expect(text).toMatch(/^(?:我|他|她).*(?:。|”)$/)
  }
  for (const { text } of chunkText(words(500), SMALL)) expect(text).toMatch(/^word.*word$/)
  for (const { text } of chunkText('🍵'.repeat(900), SMALL)) expect(text).toMatch(/^(?:🍵)+$/u)
})

it('[FC7] continues after the end of a long line, with the heading above it', () => {
  const text = `# Tea\n${words(50)}\nand cups\n\nOther words.`
  const chunks = chunkMarkdown(text, { ...SMALL, overlap: 0 })
  expect(chunks[0]).toMatchObject({ lineFirst: 1, lineLast: 2, headings: ['Tea'] })
  expect(chunks.at(-1)?.text).toMatch(/word\nand cups\n\nOther words\.$/)
})

it('[FC8] chunks adversarial content in linear time', () => {
  const many = 1_000_000
  const some = 30_000
  const nested = Array.from({ length: 1_000 }, (_, depth) => `${' '.repeat(depth * 2)}- point`)
  const hostile = [
    'x'.repeat(many),
    ' '.repeat(many),
    `a${' '.repeat(many)}b`,
    '茶'.repeat(some),
    '\ud800'.repeat(some),
    '#'.repeat(some),
    `# ${'#'.repeat(some)}`,
    `# ${'a #'.repeat(some)}`,
    '`'.repeat(some),
    '|-'.repeat(some),
    '\n'.repeat(some),
    '\r'.repeat(some),
    'a\n'.repeat(some),
    '- '.repeat(some),
    '- a\n'.repeat(some),
    '> '.repeat(some),
    '# a\n'.repeat(some),
    '###### a\n# b\n'.repeat(some),
    '<!--\n'.repeat(some),
    '<!-- -->\n# a\n'.repeat(some),
    '```\n'.repeat(some + 1),
    `a${'\nb'.repeat(some)}\n---`,
    `|a|\n|-|\n${'|b|\n'.repeat(some)}`,
    `---\n${'title: a\n'.repeat(some)}`,
    `${nested.join('\n')}\n`,
    `${'1. '.repeat(some)}a`,
    '{{< tab >}}\n'.repeat(some),
    '\u0000'.repeat(some),
  ]
  for (const text of hostile) {
    for (const { cut } of WAYS) {
      const chunks = cut(text)
      expect(chunks.length === 0).toBe(text.trim() === '')
      expect(chunks.filter((chunk) => chunk.text.length > 1_600)).toEqual([])
    }
  }
})
