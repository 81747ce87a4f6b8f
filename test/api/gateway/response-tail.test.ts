/** How the end of an answer is held back until it is recorded. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { chatFormat } from '../../../src/api/gateway/formats/chat-completions.ts'
import { createResponseTail } from '../../../src/api/gateway/proxy/response-tail.ts'
import { gate } from '../../fakes/embedder.ts'

const HELLO = 'data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'
const STOP = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
const DONE = 'data: [DONE]\n\n'

function tailOf({ isStream, mayEnd }: { isStream: boolean; mayEnd: boolean }) {
  const reader = chatFormat.createAnswerReader()
  const held = gate()
  const written: string[] = []
  const write = (piece: Uint8Array) => void written.push(Buffer.from(piece).toString())
  const tail = createResponseTail({
    isStream,
    reader,
    canEnd: () => mayEnd,
    record: () => held.opened,
  })
  return {
    written,
    record: () => held.open(),
    pass: (piece: string) => {
      if (isStream) reader.readEvent({ name: '', data: piece.slice('data: '.length) })
      tail.push(Buffer.from(piece), write)
    },
    end: async () => {
      await tail.end()
      tail.release(write)
    },
  }
}

it('[CV47] passes all events on at once where the answer may end', async () => {
  const tail = tailOf({ isStream: true, mayEnd: true })
  for (const piece of [HELLO, STOP, DONE]) tail.pass(piece)
  expect(tail.written).toEqual([HELLO, STOP, DONE])
  await tail.end()
  expect(tail.written).toEqual([HELLO, STOP, DONE])
})

it('[CV47] holds the last events back until the answer is recorded', async () => {
  const tail = tailOf({ isStream: true, mayEnd: false })
  for (const piece of [HELLO, STOP, DONE]) tail.pass(piece)
  const ended = tail.end()
  await Promise.resolve()
  expect(tail.written).toEqual([HELLO])
  tail.record()
  await ended
  expect(tail.written).toEqual([HELLO, STOP, DONE])
})

it('[CV47] passes the last events on to the client of a provider that doesn’t end its stream', async () => {
  const tail = tailOf({ isStream: true, mayEnd: false })
  for (const piece of [HELLO, STOP]) tail.pass(piece)
  while (tail.written.length < 2) await delay(10)
  tail.pass(DONE)
  expect(tail.written).toEqual([HELLO, STOP, DONE])
})

it('[CV47] holds the last piece of an answer in one piece back until it is recorded', async () => {
  const tail = tailOf({ isStream: false, mayEnd: false })
  tail.pass('{"id":')
  tail.pass('"1"}')
  expect(tail.written).toEqual(['{"id":'])
  const ended = tail.end()
  await Promise.resolve()
  expect(tail.written).toEqual(['{"id":'])
  tail.record()
  await ended
  expect(tail.written).toEqual(['{"id":', '"1"}'])
})
