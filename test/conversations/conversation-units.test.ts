/** Parts of conversations that need no store. */
import { expect, it, onTestFinished } from 'vitest'
import { createContextBuilder } from '../../src/conversations/context/context-builder.ts'
import type { ContextBuilderDependencies } from '../../src/conversations/context/types.ts'
import { createRequestLifecycle } from '../../src/conversations/conversation-service.ts'
import { resolveSettings, type SettingValues } from '../../src/domain/settings/settings.ts'
import { RequestBackpressure } from '../../src/lib/backpressure.ts'
import { BoundedQueue, type QueuedTask } from '../../src/lib/bounded-queue.ts'
import { yieldToEventLoop } from '../../src/lib/event-loop.ts'
import { yieldingStore } from '../../src/storage/access/yielding-store.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { gate } from '../fakes/embedder.ts'
import { requestOf } from './conversations-support.ts'

function laboured(limits: { readonly tasksMax: number; readonly sizeMax: number }) {
  const backlog = new BoundedQueue(limits)
  const done: string[] = []
  const work = (name: string, until: Promise<void> = Promise.resolve(), size = 1): QueuedTask => ({
    lane: name[0] ?? '',
    size,
    run: async () => {
      await until
      done.push(name)
    },
  })
  return { backlog, done, work }
}

it('[CV20] work is done in turn for each lane, and lanes don’t wait for each other', async () => {
  const { backlog, done, work } = laboured({ tasksMax: 10, sizeMax: 100 })
  const held = gate()
  backlog.add(work('a1', held.opened))
  backlog.add(work('a2'))
  backlog.add(work('b1'))
  await backlog.drained((lane) => lane === 'b')
  expect(done).toEqual(['b1'])
  held.open()
  await backlog.drained()
  expect(done).toEqual(['b1', 'a1', 'a2'])
})

it('[CV20] when there is too much, or too large, the oldest is given up and counted', async () => {
  const { backlog, done, work } = laboured({ tasksMax: 3, sizeMax: 100 })
  const held = gate()
  backlog.add(work('a0', held.opened))
  await Promise.resolve()
  await Promise.resolve() // under way
  expect(['a1', 'a2', 'b1', 'a3', 'a4'].map((name) => backlog.add(work(name)))).toEqual([
    0, 0, 0, 1, 1,
  ])
  await backlog.drained((lane) => lane === 'b')
  expect(backlog.add(work('a5', undefined, 99))).toBe(1)
  expect(backlog.add(work('a6', undefined, 200))).toBe(2)
  held.open()
  await backlog.drained()
  expect(done).toEqual(['b1', 'a0', 'a6'])
})

it('[CV20] what waits in a lane can be dropped', async () => {
  const { backlog, done, work } = laboured({ tasksMax: 9, sizeMax: 100 })
  for (const name of ['a1', 'a2', 'b1']) backlog.add(work(name))
  backlog.dropAll((lane) => lane === 'a')
  await backlog.drained()
  expect(done).toEqual(['b1'])
})

it('[CV32] what is kept gives way to requests that are under way, and goes on when they have ended', async () => {
  const courtesy = new RequestBackpressure()
  const done: string[] = []
  const giveWay = courtesy.yieldToRequests()
  const store = yieldingStore(createInMemoryStore(), giveWay)
  const ended = [courtesy.trackRequest(), courtesy.trackRequest()]
  const kept = store.commit([]).then(() => done.push('kept'))
  for (const end of ended) {
    await yieldToEventLoop()
    await yieldToEventLoop()
    done.push('ended')
    end()
  }
  await kept
  expect(done).toEqual(['ended', 'ended', 'kept'])
  await store.close()
})

it('[CV32] a request that never ends, or one after the other, doesn’t keep anything from being kept', async () => {
  const courtesy = new RequestBackpressure()
  courtesy.trackRequest()
  await courtesy.yieldToRequests()()
  const giveWay = courtesy.yieldToRequests()
  let isKept = false
  const kept = (async () => {
    for (let piece = 0; piece < 5; piece++) await giveWay()
    isKept = true
  })()
  while (!isKept) {
    const end = courtesy.trackRequest()
    await yieldToEventLoop()
    courtesy.trackRequest()
    end()
  }
  await kept
})

/** Conversations that look memories up with `recall`, which mostly refuses. */
function conversationsOn(given: SettingValues, recall: ContextBuilderDependencies['recall']) {
  const settings = resolveSettings({
    'gateway.enabled': true,
    'gateway.contextTimeoutMs': 30_000,
    ...given,
  })
  const ports = {
    store: createInMemoryStore(),
    clock: new FakeClock(),
    ids: countingIds(),
    settings,
  }
  const reader = createContextBuilder({ ports, recall, modelFor: () => null, countUse: () => {} })
  const conversations = createRequestLifecycle({
    ports,
    settings: { resolve: async () => settings, peek: () => settings },
    read: reader.buildContext,
    learn: async () => ({ remembered: [], refused: 0 }),
    noteSaid: async () => [],
  })
  onTestFinished(async () => {
    await conversations.close()
    await reader.close()
    await ports.store.close()
  })
  return conversations
}

it('[CV4] a message that needs no memories is told so, and nothing is looked for', async () => {
  const conversations = conversationsOn({ 'gateway.gateMode': 'heuristic' }, () =>
    Promise.reject(new Error('nobody asked')),
  )
  expect(await conversations.prepare(requestOf(['Thanks!']))).toMatchObject({
    skipped: 'not-needed',
  })
  expect(await conversations.prepare(requestOf(['What is my dog called?']))).toMatchObject({
    skipped: 'failed',
  })
})

it.each([
  ['Thanks!', { text: undefined }],
  ['My dog?', { text: 'My dog?' }],
  ['What is my dog called?', { text: 'What is my dog called?' }],
  ['Which of the two would suit me better?', { text: 'Which of the two would suit me better?' }],
  [`${'There is much to tell. '.repeat(20)}Who is Rex?`, { text: 'Who is Rex' }],
])('[CV31] asks memory for what a message is about: %s', async (message, asked) => {
  const queries: object[] = []
  const conversations = conversationsOn({}, (_, query) => {
    queries.push(query)
    return Promise.reject(new Error('nothing'))
  })
  await conversations.prepare(requestOf([message]))
  const [{ text, strategy } = {}] = queries as { text?: string; strategy?: string }[]
  expect(strategy === undefined ? { text } : { text, strategy }).toEqual(asked)
})
