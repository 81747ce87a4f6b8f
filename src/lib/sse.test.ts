import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSseParser, type SseEvent } from './sse.ts'

const encoder = new TextEncoder()

function eventsOf(chunks: readonly Uint8Array[], charactersMax?: number): readonly SseEvent[] {
  const events: SseEvent[] = []
  const read = createSseParser((event) => events.push(event), charactersMax)
  for (const chunk of chunks) read(chunk)
  read(null)
  return events
}

const eventsIn = (text: string) => eventsOf([encoder.encode(text)])

/** The same bytes, cut at the given places. */
function cut(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const sorted = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b)
  return [0, ...sorted].map((from, index) => bytes.subarray(from, sorted[index] ?? bytes.length))
}

describe('events', () => {
  it('[FM2] are read with any line end, several lines of data, comments and a byte order mark', () => {
    const lines = [': hello', 'event: one', 'data: a', 'data:b', 'data:  c', 'id: 7', 'retry', '']
    const wanted = [
      { name: 'one', data: 'a\nb\n c' },
      { name: '', data: '' },
    ]
    for (const end of ['\n', '\r\n', '\r']) {
      const text = [...lines, 'data', '', 'event: no data', ':', '', ''].join(end)
      expect(eventsIn(text)).toEqual(wanted)
      expect(eventsIn(`\ufeff${text}`)).toEqual(wanted)
    }
  })

  it('[FM2] are emitted when the stream ends without a last blank line', () => {
    expect(eventsIn('data: 1\n\ndata: [DONE]')).toEqual([
      { name: '', data: '1' },
      { name: '', data: '[DONE]' },
    ])
    expect(eventsIn('')).toEqual([])
    expect(eventsIn('data: 1\n\n')).toHaveLength(1)
  })

  it('[FM2] are emitted as soon as they end', () => {
    const events: SseEvent[] = []
    const read = createSseParser((event) => events.push(event))
    read(encoder.encode('data: 1\r\n\r'))
    expect(events).toHaveLength(1)
    read(encoder.encode('\ndata: 2\r\n'))
    expect(events).toHaveLength(1)
    read(encoder.encode('\r\n'))
    expect(events.map(({ data }) => data)).toEqual(['1', '2'])
  })

  it('[FM2] are the same however the bytes are cut', () => {
    const word = fc.constantFrom('a', 'é', '😀', '漢', ' ', ':', '"', '\u2028', '\ufeff', '{}')
    const value = fc.array(word, { maxLength: 6 }).map((words) => words.join(''))
    const field = fc.constantFrom('data: ', 'data:', 'event: ', ': ', 'id: ', 'nonsense')
    const end = fc.constantFrom('\n', '\r\n', '\r')
    const line = fc.oneof(fc.tuple(field, value, end), fc.tuple(end)).map((parts) => parts.join(''))
    const stream = fc.array(line, { maxLength: 30 }).map((lines) => lines.join(''))
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 20 }), (text, places) => {
        const bytes = encoder.encode(text)
        const each = [...bytes].map((byte) => Uint8Array.of(byte))
        const whole = eventsOf([bytes])
        expect(eventsOf(cut(bytes, places))).toEqual(whole)
        expect(eventsOf(each)).toEqual(whole)
      }),
      { numRuns: 500 },
    )
  })

  it('[FM2] give back what a sender wrote', () => {
    const data = fc.array(
      fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n]/.test(text)),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    const sent = fc.array(fc.record({ name: fc.constantFrom('', 'ping', 'message_stop'), data }))
    fc.assert(
      fc.property(sent, fc.array(fc.nat()), (events, places) => {
        const text = events
          .map(({ name, data: lines }) => [
            name === '' ? ':' : `event: ${name}`,
            ...lines.map((each) => `data: ${each}`),
            '\n',
          ])
          .map((lines) => lines.join('\n'))
          .join('')
        expect(eventsOf(cut(encoder.encode(text), places))).toEqual(
          events.map(({ name, data: lines }) => ({ name, data: lines.join('\n') })),
        )
      }),
    )
  })

  it('[FM3] that are too long are passed over, in one line or in many, and the next one is read', () => {
    const long = `event: long\ndata: ${'x'.repeat(50)}\ndata: rest\n\n`
    const many = `event: many\n${'data: 123\n'.repeat(20)}\n`
    const text = `${long}data: a\n\n${many}event: e\ndata: b\n\n`
    const bytes = encoder.encode(text)
    const wanted = [
      { name: '', data: 'a' },
      { name: 'e', data: 'b' },
    ]
    expect(eventsOf([bytes], 20)).toEqual(wanted)
    expect(eventsOf(cut(bytes, [...bytes.keys()]), 20)).toEqual(wanted)
    expect(eventsOf([bytes])).toHaveLength(4)
  })

  it('[FM3] survive bytes that are no UTF-8', () => {
    const broken = [encoder.encode('data: a'), Uint8Array.of(0xff, 0xc3), encoder.encode('\n\n')]
    expect(eventsOf(broken)).toEqual([{ name: '', data: 'a\ufffd\ufffd' }])
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
        expect(() => eventsOf(chunks, 10)).not.toThrow()
      }),
    )
  })
})
