import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FENCE_CLOSE, FENCE_OPEN } from '../../domain/context-block.ts'
import { estimateTokens } from '../../text/tokens.ts'
import { CHUNK_DEFAULTS } from '../chunking/chunker.ts'
import { chunkSession, parseSessionLines, type SessionMessage } from './session-lines.ts'

const PLAIN = { emailAddresses: false }
const jsonl = (...values: readonly unknown[]) =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('')
const read = (...values: readonly unknown[]) => parseSessionLines(jsonl(...values), PLAIN).messages

it('[FC12] reads messages in the shapes that programs write', () => {
  const shapes = (role: 'user' | 'assistant') => [
    { role, content: 'I like tea' },
    { role, content: [{ type: 'text', text: 'I like tea' }] },
    { type: 'message', message: { role, content: 'I like tea' } },
    { type: 'message', role, content: [{ type: 'text', text: 'I like tea' }] },
    { type: role, message: { role, content: [{ type: 'text', text: 'I like tea' }] }, uuid: 'x' },
    {
      type: 'response_item',
      payload: { type: 'message', role, content: [{ type: 'input_text', text: 'I like tea' }] },
    },
    { role, content: [{ type: 'output_text', text: 'I like tea' }] },
  ]
  for (const role of ['user', 'assistant'] as const) {
    for (const shape of shapes(role)) {
      expect(read(shape)).toEqual([{ role, text: 'I like tea', line: 1 }])
    }
  }
})

it('[FC12] includes only texts of the user and the model', () => {
  const silent = [
    { role: 'system', content: 'be brief' },
    { role: 'tool', content: 'result' },
    { type: 'session', id: 'x', role: 'user', content: 'x' },
    { type: 'summary', summary: 'x' },
    { type: 'event_msg', payload: { type: 'user_message', message: 'x' } },
    { type: 'user', isMeta: true, message: { role: 'user', content: 'caveat' } },
    { type: 'user', isSidechain: true, message: { role: 'user', content: 'look for tea' } },
    { role: 'user', content: [{ type: 'tool_result', content: 'x' }, { type: 'image' }] },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'x' }, { type: 'tool_use' }] },
    { role: 'user', content: ' \n ' },
    { role: 'user', content: null },
    { role: 'user' },
    { role: 'user', content: [null, 1, 'x', { type: 'text', text: 5 }] },
    { role: 'user', content: `${FENCE_OPEN}\n- I like tea (2026-03-01)\n${FENCE_CLOSE}` },
    [],
    'text',
    5,
    null,
  ]
  for (const value of silent) expect(read(value)).toEqual([])
})

it('[FC12] writes a message on one line, without secrets and without memories that were recalled', () => {
  const key = ['-----BEGIN PRIVATE KEY-----', 'a8Kd03jfLq92Zx7vBn4M', '-----END PRIVATE KEY-----']
  const content = `My\tkey:\r\n${key.join('\n')}\n\n${FENCE_OPEN}\n- I am Ada (2026-03-01)\n${FENCE_CLOSE}`
  expect(read({ role: 'user', content })).toEqual([
    { role: 'user', text: 'My key: [redacted:private_key]', line: 1 },
  ])
  const mail = jsonl({ role: 'user', content: 'I am ada@example.com' })
  expect(parseSessionLines(mail, { emailAddresses: true }).messages[0]?.text).toBe(
    'I am [redacted:mail]',
  )
  expect(parseSessionLines(mail, PLAIN).messages[0]?.text).toBe('I am ada@example.com')
})

it('[FC13] keeps the numbers of lines, passes over broken ones and leaves an unfinished one', () => {
  const text = [
    '\ufeff{"role":"user","content":"one"}',
    '',
    '{"role":"user","content":',
    'no json',
    '{"role":"assistant","content":"five"}\r',
    '{"role":"user","content":"not yet"}',
  ].join('\n')
  const lines = parseSessionLines(text, PLAIN)
  expect(lines.messages.map(({ text: said, line }) => [line, said])).toEqual([
    [1, 'one'],
    [5, 'five'],
  ])
  expect(lines).toMatchObject({ malformedLines: 2, nextLine: 6 })
  const rest = parseSessionLines(`${text.slice(lines.read)}\n`, {
    ...PLAIN,
    firstLine: lines.nextLine,
  })
  expect(rest.messages).toEqual([{ role: 'user', text: 'not yet', line: 6 }])
  expect(parseSessionLines('', PLAIN)).toEqual({
    messages: [],
    nextLine: 1,
    read: 0,
    malformedLines: 0,
  })
  expect(parseSessionLines('{"a"', PLAIN)).toMatchObject({
    nextLine: 1,
    read: 0,
    malformedLines: 0,
  })
})

const anyLine = fc.oneof(
  fc
    .record({ role: fc.constantFrom('user', 'assistant', 'tool'), content: fc.string() })
    .map((value) => JSON.stringify(value)),
  fc.constantFrom('', '  ', '{', 'null', '[]', '{"role":"user","content":"茶\\n🍵"}'),
)

it('[FC13] parses parts like the whole, with any boundaries', () => {
  fc.assert(
    fc.property(fc.array(anyLine), fc.array(fc.nat({ max: 400 })), (lines, stops) => {
      const text = lines.map((line) => `${line}\n`).join('')
      const whole = parseSessionLines(text, PLAIN)
      const messages: SessionMessage[] = []
      let [from, firstLine, broken] = [0, 1, 0]
      for (const stop of [...stops.sort((a, b) => a - b), text.length]) {
        const part = parseSessionLines(text.slice(from, stop), { ...PLAIN, firstLine })
        messages.push(...part.messages)
        from += part.read
        firstLine = part.nextLine
        broken += part.malformedLines
      }
      expect({ messages, nextLine: firstLine, read: from, malformedLines: broken }).toEqual(whole)
    }),
  )
})

it('[FC13] cuts what was said, beginning with what the person said, and names the lines of the file', () => {
  const messages = Array.from({ length: 40 }, (_, index): SessionMessage => {
    const role = index % 2 === 0 ? 'user' : 'assistant'
    return { role, text: `message ${index} says something of tea`, line: 10 + index * 3 }
  })
  const chunks = chunkSession(messages, { ...CHUNK_DEFAULTS, tokens: 100, overlap: 0 })
  expect(chunks.length).toBeGreaterThan(3)
  let index = 0
  for (const { text, lineFirst, lineLast, headings } of chunks) {
    expect(text).toMatch(/^User: message/)
    expect(headings).toEqual([])
    expect(lineFirst).toBe(10 + index * 3)
    index += text.split('\n').length
    expect(lineLast).toBe(10 + (index - 1) * 3)
  }
  expect(index).toBe(messages.length)
  expect(chunkSession([], CHUNK_DEFAULTS)).toEqual([])
})

it('[FC13] says whose words they are in the middle of a long message', () => {
  const long: SessionMessage = { role: 'assistant', text: 'Tea is good. '.repeat(400), line: 7 }
  const chunks = chunkSession([long], CHUNK_DEFAULTS)
  expect(chunks.map(({ headings }) => headings)).toEqual([
    [],
    ...Array.from({ length: chunks.length - 1 }, () => ['Assistant']),
  ])
  for (const chunk of chunks) {
    expect(chunk).toMatchObject({ lineFirst: 7, lineLast: 7 })
    expect(estimateTokens(chunk.text)).toBeLessThanOrEqual(CHUNK_DEFAULTS.tokens)
  }
})
