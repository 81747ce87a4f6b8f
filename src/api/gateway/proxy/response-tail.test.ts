/** How the end of an answer is held back until it is recorded. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { gate } from '../../../../test/fakes/embedder.ts'
import { chatFormat } from '../formats/chat-completions.ts'
import { createResponseTail } from './response-tail.ts'

const HELLO = 'data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'
const STOP = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
const DONE = 'data: [DONE]\n\n'

function tailOf({ isStream, canEnd }: { isStream: boolean; canEnd: boolean }) {
  const reader = chatFormat.createAnswerReader()
  const held = gate()
  const written: string[] = []
  const write = (chunk: Uint8Array) => void written.push(Buffer.from(chunk).toString())
  const tail = createResponseTail({
    isStream,
    reader,
    canEnd: () => canEnd,
    record: () => held.opened,
  })
  return {
    written,
    record: () => held.open(),
    pass: (chunk: string) => {
      if (isStream) reader.readEvent({ name: '', data: chunk.slice('data: '.length) })
      tail.push(Buffer.from(chunk), write)
    },
    end: async () => {
      await tail.end()
      tail.release(write)
    },
  }
}

it('[CV47] writes all events at once if the response may end', async () => {
  const tail = tailOf({ isStream: true, canEnd: true })
  for (const chunk of [HELLO, STOP, DONE]) tail.pass(chunk)
  expect(tail.written).toEqual([HELLO, STOP, DONE])
  await tail.end()
  expect(tail.written).toEqual([HELLO, STOP, DONE])
})

it('[CV47] holds the last events back until the exchange is recorded', async () => {
  const tail = tailOf({ isStream: true, canEnd: false })
  for (const chunk of [HELLO, STOP, DONE]) tail.pass(chunk)
  const ended = tail.end()
  await Promise.resolve()
  expect(tail.written).toEqual([HELLO])
  tail.record()
  await ended
  expect(tail.written).toEqual([HELLO, STOP, DONE])
})

it('[CV47] writes the last events after a timeout if the provider does not end its stream', async () => {
  const tail = tailOf({ isStream: true, canEnd: false })
  for (const chunk of [HELLO, STOP]) tail.pass(chunk)
  while (tail.written.length < 2) await delay(10)
  tail.pass(DONE)
  expect(tail.written).toEqual([HELLO, STOP, DONE])
})

it('[CV47] holds the only chunk of a response back until the exchange is recorded', async () => {
  const tail = tailOf({ isStream: false, canEnd: false })
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
