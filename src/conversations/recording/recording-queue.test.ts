/** What bounds how much is unrecorded: the queue and the window, without a store. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { gate } from '../../../test/fakes/embedder.ts'
import { type QueuedItem, RecordingQueue } from './recording-queue.ts'
import { RecordingWindow } from './recording-window.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

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

it('[CV45] records queued requests in batches of limited size, in order', async () => {
  const { queue, add, batches, held } = queueOf()
  for (const name of ['a1', 'b1', 'a2', 'a3', 'c1']) add(name)
  held.open()
  await queue.settled()
  expect(batches).toEqual([
    ['a1', 'b1', 'a2'],
    ['a3', 'c1'],
  ])
})

it('[CV20] drops the oldest requests beyond the limits of number and size', async () => {
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

it('[CV21] drops queued requests of an owner and waits for the running batch', async () => {
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

it('[CV46] records the first response before it ends, while the recording time is unknown', () => {
  const window = new RecordingWindow()
  expect(window.enter({})).toBe(false)
})

it('[CV46] lets a few responses end before they are recorded, and others after these', () => {
  const window = fastWindow()
  const answers = Array.from({ length: 5 }, () => ({}))
  expect(answers.map((answer) => window.enter(answer))).toEqual([true, true, true, true, false])
  expect(answers.slice(0, 4).map((answer) => window.enter(answer))).not.toContain(false)
  window.leave(answers[0] ?? {}, true)
  expect(window.enter(answers[4] ?? {})).toBe(true)
})

it('[CV46] lets no response end early after a slow recording', () => {
  const window = fastWindow()
  const [slow, next, last] = [{}, {}, {}]
  window.begin(slow)
  vi.advanceTimersByTime(80)
  window.leave(slow, true)
  expect(window.enter(next)).toBe(false)
  window.begin(next)
  window.leave(next, true)
  expect(window.enter(last)).toBe(true)
})

it('[CV46] lets no response end early while an ended one is unrecorded for long', () => {
  const window = fastWindow()
  expect(window.enter({})).toBe(true)
  vi.advanceTimersByTime(80)
  expect(window.enter({})).toBe(false)
})

it('[CV46] lets no response end early while many requests are prepared', async () => {
  const window = fastWindow()
  const held = gate()
  const preparing = Array.from({ length: 5 }, () => window.preparing(() => held.opened))
  expect(window.enter({})).toBe(false)
  held.open()
  await Promise.all(preparing)
  expect(window.enter({})).toBe(true)
})

async function waitUntilStalled(window: RecordingWindow): Promise<void> {
  const waited = window.wait(new Promise(() => {}))
  await vi.advanceTimersByTimeAsync(20)
  await waited
}

it('[CV46] lets all responses end early while the store is stalled', async () => {
  const window = fastWindow(20)
  const answers = Array.from({ length: 4 }, () => ({}))
  for (const answer of answers) window.enter(answer)
  const [late, later] = [{}, {}]
  expect(window.enter(late)).toBe(false)
  await waitUntilStalled(window)
  expect(window.enter(later)).toBe(true)
  await waitUntilStalled(window)
  window.leave(later, true)
  expect(window.enter({})).toBe(false)
})

it('[CV46] releases a waiting response as soon as it is recorded', async () => {
  const window = fastWindow()
  const held = gate()
  const waited = window.wait(held.opened)
  expect(window.isAwaited).toBe(true)
  held.open()
  await waited
  expect(window.isAwaited).toBe(false)
})
