/** What bounds how much is unrecorded: the queue and the window, without a store. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import {
  type QueuedItem,
  RecordingQueue,
} from '../../src/conversations/recording/recording-queue.ts'
import { RecordingWindow } from '../../src/conversations/recording/recording-window.ts'
import { gate } from '../fakes/embedder.ts'

type Item = QueuedItem & { readonly name: string }

function queueOf(limits = { tasksMax: 100, sizeMax: 100 }, batchMax = 3) {
  const held = gate()
  const batches: string[][] = []
  const dropped: string[] = []
  const queue = new RecordingQueue<Item>({
    limits,
    batchMax,
    run: async (batch) => {
      batches.push(batch.map(({ name }) => name))
      await held.opened
    },
    onDropped: ({ name }) => dropped.push(name),
  })
  const add = (name: string, size = 1) => queue.add({ name, lane: name[0] ?? '', size })
  return { queue, add, batches, dropped, held }
}

it('[CV45] whatever waits is recorded together, in its order, up to a limit', async () => {
  const { queue, add, batches, held } = queueOf()
  for (const name of ['a1', 'b1', 'a2', 'a3', 'c1']) add(name)
  held.open()
  await queue.settled()
  expect(batches).toEqual([
    ['a1', 'b1', 'a2'],
    ['a3', 'c1'],
  ])
})

it('[CV20] what waits to be recorded is bounded in number and size, and the oldest is dropped', async () => {
  const { queue, add, batches, dropped, held } = queueOf({ tasksMax: 2, sizeMax: 10 }, 1)
  add('a0')
  await Promise.resolve()
  await Promise.resolve() // under way
  expect(['a1', 'a2', 'b1'].map((name) => add(name))).toEqual([0, 0, 1])
  expect(add('b2', 50)).toBe(2)
  held.open()
  await queue.settled()
  expect(batches).toEqual([['a0'], ['b2']])
  expect(dropped).toEqual(['a1', 'a2', 'b1'])
})

it('[CV21] what waits of an owner can be dropped, and what runs is waited for', async () => {
  const { queue, add, batches, dropped, held } = queueOf(undefined, 1)
  add('a1')
  await Promise.resolve()
  await Promise.resolve() // under way
  for (const name of ['a2', 'b1']) add(name)
  const isA = (lane: string) => lane === 'a'
  queue.dropAll(isA)
  const settled = queue.settled(isA)
  held.open()
  await settled
  expect(dropped).toEqual(['a2'])
  expect(batches[0]).toEqual(['a1'])
  await queue.settled()
  expect(batches).toEqual([['a1'], ['b1']])
})

/** One whose last recording was fast. */
function fastWindow(stalledMs = 5_000): RecordingWindow {
  const window = new RecordingWindow({ stalledMs })
  const first = {}
  window.begin(first)
  window.leave(first, true)
  return window
}

it('[CV46] the first answer is recorded before it ends, because nobody knows how long that takes', () => {
  const window = new RecordingWindow()
  expect(window.enter({})).toBe(false)
})

it('[CV46] a few answers may end before they are recorded, and others when those are', () => {
  const window = fastWindow()
  const answers = Array.from({ length: 5 }, () => ({}))
  expect(answers.map((answer) => window.enter(answer))).toEqual([true, true, true, true, false])
  expect(answers.slice(0, 4).map((answer) => window.enter(answer))).not.toContain(false)
  window.leave(answers[0] ?? {}, true)
  expect(window.enter(answers[4] ?? {})).toBe(true)
})

it('[CV46] no answer ends before it is recorded while the last recording was slow', async () => {
  const window = fastWindow()
  const [slow, next, last] = [{}, {}, {}]
  window.begin(slow)
  await delay(80)
  window.leave(slow, true)
  expect(window.enter(next)).toBe(false)
  window.begin(next)
  window.leave(next, true)
  expect(window.enter(last)).toBe(true)
})

it('[CV46] nor while one that has ended takes long', async () => {
  const window = fastWindow()
  expect(window.enter({})).toBe(true)
  await delay(80)
  expect(window.enter({})).toBe(false)
})

it('[CV46] nor while many requests are prepared', async () => {
  const window = fastWindow()
  const held = gate()
  const preparing = Array.from({ length: 5 }, () => window.preparing(() => held.opened))
  expect(window.enter({})).toBe(false)
  held.open()
  await Promise.all(preparing)
  expect(window.enter({})).toBe(true)
})

it('[CV46] a store that records nothing holds up no more answers until it is back', async () => {
  const window = fastWindow(20)
  const answers = Array.from({ length: 4 }, () => ({}))
  for (const answer of answers) window.enter(answer)
  const [late, later] = [{}, {}]
  expect(window.enter(late)).toBe(false)
  await window.wait(new Promise(() => {})) // until it is given up
  expect(window.enter(later)).toBe(true)
  await window.wait(new Promise(() => {}))
  window.leave(later, true)
  expect(window.enter({})).toBe(false)
})

it('[CV46] an answer that waits goes on as soon as it is recorded', async () => {
  const window = fastWindow()
  const held = gate()
  const waited = window.wait(held.opened)
  expect(window.isAwaited).toBe(true)
  held.open()
  await waited
  expect(window.isAwaited).toBe(false)
})
