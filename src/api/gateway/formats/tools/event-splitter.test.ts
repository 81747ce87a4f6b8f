import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSseParser, type SseEvent } from '../../../../lib/sse.ts'
import { EventSplitter, formatEvent } from './event-splitter.ts'

const line = fc.constantFrom(
  'data: {"a":1}',
  'data:é🙂',
  'data',
  'event: ping',
  ': a comment',
  'id: 7',
  '',
)
const stream = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 })
  .map((lines) => lines.map((each) => each.join('')).join(''))

function split(text: string, cuts: readonly number[]) {
  const splitter = new EventSplitter()
  const places = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])]
  const sorted = places.sort((one, other) => one - other)
  const pieces = sorted.slice(1).map((end, index) => text.slice(sorted[index], end))
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()]
}

it('[MT4] events are the same however a stream is cut, and nothing of it is lost', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 8 }), (text, cuts) => {
      const blocks = split(text, cuts)
      const raw = blocks.map((block) => block.raw).join('')
      expect(raw.trimEnd()).toBe(text.trimEnd())
      const events: SseEvent[] = []
      const read = createSseParser((event) => events.push(event))
      read(Buffer.from(text))
      read(null)
      const reports = blocks.filter(({ data }) => data !== null)
      expect(reports.map(({ name, data }) => ({ name, data }))).toEqual(events)
    }),
    { numRuns: 500 },
  )
})

it('[MT4] an event that the end cuts short is completed only when it says something whole', () => {
  expect(split('data: {"a":1}', []).map(({ raw }) => raw)).toEqual(['data: {"a":1}\n\n'])
  expect(split('data: [DONE]\n', []).map(({ raw }) => raw)).toEqual(['data: [DONE]\n\n'])
  expect(split('data: {"a":', []).map(({ raw }) => raw)).toEqual(['data: {"a":'])
  expect(formatEvent('ping', { type: 'ping' })).toBe('event: ping\ndata: {"type":"ping"}\n\n')
})
