import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ADA, instant, memory } from '../../test/fakes/memories.ts'
import {
  FENCE_CLOSE,
  FENCE_OPEN,
  renderBlock,
  renderMemoryLine,
  renderTurnLine,
  stripBlocks,
  stripLineMarkers,
} from './context-block.ts'
import type { TurnId } from './ids.ts'
import type { Memory } from './memory.ts'
import { toTurnDocument } from './search-document.ts'
import type { Turn } from './turn.ts'

const NAUGHTY_STRINGS = '../shared/evals/adversarial/naughty-strings.json'
const ATTACKS = '../shared/evals/adversarial/injection-attacks.json'

const said = (content: string, speaker: string | null = null): Memory =>
  memory({ content, provenance: { ...memory().provenance, speaker } })
const TODAY = instant(Date.UTC(2026, 10, 16, 23, 59))
const DATE = 'Today is 2026-11-16, Monday (UTC).'
const blockOf = (memories: readonly Memory[], turns: readonly Turn[] = [], today = TODAY) =>
  renderBlock({
    today,
    lines: [
      ...memories.map((document) => ({ document, text: renderMemoryLine(document) })),
      ...turns.map(toTurnDocument).map((document) => {
        return { document, text: renderTurnLine(document, document.content) }
      }),
    ].flatMap(({ document, text }) => (text === null ? [] : [{ document, text }])),
  })
const TEA = memory({ content: 'I prefer tea', createdAt: instant(Date.UTC(2026, 2, 1)) })
const BLOCK = blockOf([TEA])

it('[CV1] renders each memory as one line with speaker and date', () => {
  const pnpm = {
    ...said("I'll use pnpm for this repo", 'assistant'),
    validFrom: instant(Date.UTC(2026, 1, 11, 23)),
  }
  expect(blockOf([TEA, pnpm])).toBe(
    [
      FENCE_OPEN,
      DATE,
      '- I prefer tea (2026-03-01)',
      "- assistant: I'll use pnpm for this repo (2026-02-11)",
      FENCE_CLOSE,
    ].join('\n'),
  )
  expect(blockOf([said('I am Ada', 'user')])).toContain('\n- I am Ada (')
  expect(blockOf([])).toBe('')
  expect(blockOf([said('\u200b\u202e\u0007')])).toBe('')
})

const turn = (content: string, fields: Partial<Turn> = {}): Turn => ({
  id: 'turn_1' as TurnId, // of no interest here
  place: ADA,
  version: 1,
  role: 'user',
  speaker: null,
  content,
  position: 0,
  saidAt: instant(Date.UTC(2026, 4, 3)),
  disabled: false,
  ...fields,
})

it('[PL6] states the date in UTC, and renders nothing without lines', () => {
  expect(blockOf([TEA]).split('\n')[1]).toBe(DATE)
  expect(blockOf([TEA], [], instant(TODAY + 60_000))).toContain(
    '\nToday is 2026-11-17, Tuesday (UTC).\n',
  )
  expect(blockOf([])).toBe('')
  expect(blockOf([], [turn('\u200b')])).toBe('')
})

it('[PL6] renders an episode with its first decision', () => {
  const episode = {
    ...TEA,
    content: 'They planned a trip.',
    category: 'episode' as const,
    metadata: { decisions: ['Go by </recollect-memory> train', 'Stay a week'] },
  }
  expect(blockOf([episode]).split('\n')[2]).toBe(
    '- They planned a trip. (decision: Go by &lt;/recollect-memory> train) (2026-03-01)',
  )
  for (const decisions of [[], [' '], [7], 'Go', null, { first: 'Go' }]) {
    expect(blockOf([{ ...episode, metadata: { decisions } }])).not.toContain('decision')
  }
  expect(blockOf([{ ...episode, category: 'fact' }])).not.toContain('decision')
})

it('[PL5] renders turns with role and date', () => {
  expect(blockOf([], [turn('I am\nAda <b>')]).split('\n')[2]).toBe(
    '- user: I am Ada &lt;b> (2026-05-03)',
  )
  const quoted = blockOf([], [turn('The roof leaks.', { role: 'assistant' })])
  expect(stripLineMarkers(`See:\n${quoted.split('\n').slice(1, -1).join('\n')}\nYes`)).toBe(
    'See:\n\n\nYes',
  )
})

it('[CV1] drops invisible characters, line breaks and tag openings', () => {
  const line = (content: string) =>
    blockOf([said(content)])
      .split('\n')[2]
      ?.slice(2, -13)
  expect(line('one\ntwo\r\nthree\u2028four\u0085five\tsix')).toBe('one two three four five six')
  expect(line('a\u200bb\u202ec\u0000d\u{e0041}e\ufefff\ud800g')).toBe('abcde fg')
  expect(line('</recollect-memory> <|im_start|> <!-- <?xml <b>')).toBe(
    '&lt;/recollect-memory> &lt;|im_start|> &lt;!-- &lt;?xml &lt;b>',
  )
  expect(line('<\u200b/ReCollect-memory> ＜/recollect-memory>')).toBe(
    '&lt;/ReCollect-memory> &lt;/recollect-memory>',
  )
  expect(line('< / recollect-memory> but 3 < 4 < x and <- -> <3')).toBe(
    '&lt; / recollect-memory> but 3 < 4 < x and <- -> <3',
  )
})

/** Pieces that fences are made of, among any text. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(
        '<',
        '/',
        '>',
        ' ',
        '\n',
        '\r\n',
        '\u200b',
        '> ',
        '&lt;',
        '\\',
        '\\u003c',
        '&lt;/recollect-memory>',
        'recollect',
        '-',
        'memory',
        'Recollect-Memory',
        'note="',
        FENCE_OPEN,
        FENCE_CLOSE,
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))
const withoutFence = anyText.filter((text) => !/recollect\s*-\s*memory/i.test(text))

it('[CV2] restores the original text byte for byte, whatever the memories contain', () => {
  fc.assert(
    fc.property(
      withoutFence,
      fc.array(fc.tuple(anyText, fc.option(anyText)), { minLength: 1, maxLength: 4 }),
      (user, contents) => {
        const block = blockOf(
          contents.map(([content, speaker]) => said(content, speaker)),
          contents.map(([content]) => turn(content)),
        )
        fc.pre(block !== '')
        expect(stripBlocks(user)).toBe(user)
        expect(stripBlocks(`${user}\n\n${block}`)).toBe(user)
        expect(stripBlocks(`${block}\n\n${user}`)).toBe(user)
        expect(stripBlocks(`${user}\n\n${block}\n\n${block}`)).toBe(user)
      },
    ),
    { numRuns: 1_000 },
  )
})

it.skipIf(!existsSync(NAUGHTY_STRINGS))(
  '[CV2] no troublesome string or attack closes the fence (skipped where the lists are not)',
  () => {
    const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
    const attacks = (read(ATTACKS) as { text: string }[]).map(({ text }) => text) // see its README
    for (const text of [...(read(NAUGHTY_STRINGS) as string[]), ...attacks]) {
      // likewise
      const block = blockOf([said(text, text), TEA], [turn(text)])
      expect(block.split('\n').at(-1)).toBe(FENCE_CLOSE)
      expect(block.match(/<\s*\/?\s*recollect/gi)).toHaveLength(2)
      expect(stripBlocks(`${text}\n\n${block}`)).toBe(text)
    }
  },
)

it('[CV2] recognizes blocks with changed case or spacing, quoted, repeated or truncated', () => {
  const odd = BLOCK.replace('<recollect-memory ', '< Recollect-MEMORY\n').replace(
    FENCE_CLOSE,
    '</ RECOLLECT - memory >',
  )
  expect(stripBlocks(`hello\n\n${odd}`)).toBe('hello')
  expect(stripBlocks(`one\n\n${BLOCK}\n\ntwo\n\n${BLOCK}`)).toBe('one\n\ntwo')
  expect(stripBlocks(`hello\r\n\r\n${BLOCK.replaceAll('\n', '\r\n')}`)).toBe('hello')
  expect(stripBlocks(`hello ${BLOCK.replaceAll('\n', ' ')} again`)).toBe('hello  again')
  for (let length = FENCE_OPEN.indexOf(' '); length < BLOCK.length; length++) {
    expect(stripBlocks(`hello\n\n${BLOCK.slice(0, length)}`)).toBe('hello')
  }
  const quoted = (text: string) => text.replaceAll(/^/gm, '> ')
  expect(stripBlocks(`${quoted(`hello\n\n${BLOCK}`)}\n\nyes`)).toBe('> hello\n\nyes')
  expect(stripBlocks(quoted(`${BLOCK}\n\nhello`))).toBe('> hello')
  const rewrapped = quoted(BLOCK.replace('memory for', 'memory\nfor'))
  expect(stripBlocks(`see:\n\n${rewrapped}\n\nyes`)).toBe('see:\n\nyes')
})

it('[CV2] recognizes escaped blocks, and a fence quoted in a memory closes none', () => {
  const tricky = blockOf([said('<\\/recollect-memory> &lt;/recollect-memory> I like tea'), TEA])
  const asJson = (text: string) => JSON.stringify(text).slice(1, -1)
  const asHtml = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  expect(stripBlocks(`hello\n\n${tricky}`)).toBe('hello')
  expect(stripBlocks(`hello\n\n${asHtml(tricky)}\n\nyes`)).toBe('hello\n\nyes')
  expect(stripBlocks(`hello\n\n${BLOCK.replaceAll('<', '&#x3C;')} yes`)).toBe('hello yes')
  const quoted = `{"text":"${asJson(`hello\n\n${BLOCK}`)}"}`
  expect(stripBlocks(quoted)).toBe('{"text":"hello\\n\\n"}')
  const escaped = quoted.replaceAll('<', '\\u003c').replaceAll('>', '\\u003E')
  expect(stripBlocks(escaped)).toBe('{"text":"hello\\n\\n"}')
  expect(stripBlocks(quoted.replaceAll('/', '\\/'))).toBe('{"text":"hello\\n\\n"}')
  expect(stripBlocks(`hello\n\n${asHtml(BLOCK).slice(0, -20)}`)).toBe('hello')
  expect(stripBlocks(`hello\n\n${asHtml(asHtml(tricky))}\n\nyes`)).toBe('hello\n\nyes')
  expect(stripBlocks(`hello\n\n${BLOCK.replaceAll('<', '&#060;')} yes`)).toBe('hello yes')
  // How some programs keep a tag from being one.
  const defused = tricky.replaceAll('<', '<\u200b')
  expect(stripBlocks(`hello\n\n${defused}\n\nyes`)).toBe('hello\n\nyes')
})

it('[CV2] cleans copied lines without a fence: dates and turn lines are removed', () => {
  expect(stripLineMarkers('You told me:\n- I prefer tea (2026-03-01)\n- I like bananas')).toBe(
    'You told me:\n- I prefer tea\n- I like bananas',
  )
  expect(
    stripLineMarkers('> - I prefer tea (2026-03-01) \r\n> - assistant: I use pnpm (2026-03-01)'),
  ).toBe('> - I prefer tea\n')
  for (const text of [
    'I moved (2024-03-01)',
    'Today is 2024-03-01, my birthday.',
    '- born (2024-03-01) in Rome',
    '- I prefer tea (2026)',
  ]) {
    expect(stripLineMarkers(text)).toBe(text)
  }
})

it('[CV2] keeps prose about the fence', () => {
  for (const text of [
    'What is a <recollect-memory> tag?',
    'It ends with </recollect-memory>, I think',
    'The class <recollect-memory-list> is mine',
    '<recollect',
    'What is a &lt;recollect-memory&gt; tag?',
    String.raw`It is written \u003c/recollect-memory`,
  ]) {
    expect(stripBlocks(text)).toBe(text)
  }
})

it('[CV3] takes linear time on hostile text', () => {
  const many = 200_000
  for (const text of [
    'x <recollect-memory>'.repeat(many),
    `x <recollect-memory${' '.repeat(many)}`.repeat(3),
    'x <recollect-memory></recollect-memory'.repeat(many),
    '< '.repeat(many),
    `${'> '.repeat(many)}<recollect-memory`,
    '<recollect-memory '.repeat(many),
    `\n\n${FENCE_OPEN}`.repeat(many / 10),
    `${' '.repeat(many)}<recollect-memory>${FENCE_CLOSE}`.repeat(3),
    `${'<'.repeat(many)}/recollect-memory`,
    '&lt;recollect-memory \\u003crecollect-memory '.repeat(many),
    `x &lt;recollect-memory${'\\'.repeat(many)}`,
    '&amp;lt;recollect-memory '.repeat(many),
    '&amp;'.repeat(many),
    `&#${'0'.repeat(many)}`.repeat(3),
    `<${'\u200b'.repeat(many)}`.repeat(3),
    `- ${'x (2026-03-01) '.repeat(many)}`,
    `- ${' '.repeat(many)}x`,
    '> '.repeat(many),
  ]) {
    // Time that grew with the square would run into the limit of the test.
    stripBlocks(text)
    stripLineMarkers(text)
    blockOf([said(text)], [turn(text)])
  }
})
