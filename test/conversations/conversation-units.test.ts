/** Parts of conversations that need no store. */
import { expect, it, onTestFinished } from 'vitest'
import type { ContextBuilderDependencies } from '../../src/conversations/context/context-builder.ts'
import { createContextBuilder } from '../../src/conversations/context/context-builder.ts'
import { createRequestLifecycle } from '../../src/conversations/conversation-service.ts'
import { createFailureChannel, type MemoryFailure } from '../../src/conversations/failures.ts'
import { resolveSettings, type SettingValues } from '../../src/domain/settings/settings.ts'
import { RequestBackpressure } from '../../src/lib/backpressure.ts'
import { BoundedQueue, type QueuedTask } from '../../src/lib/bounded-queue.ts'
import { yieldToEventLoop } from '../../src/lib/event-loop.ts'
import type { LanguageModel } from '../../src/models/language-model.ts'
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

it('[CV20] tasks of a lane run in order, and lanes run independently', async () => {
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

it('[CV20] beyond the limits the oldest tasks are dropped and counted', async () => {
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

it('[CV20] waiting tasks of a lane can be dropped', async () => {
  const { backlog, done, work } = laboured({ tasksMax: 9, sizeMax: 100 })
  for (const name of ['a1', 'a2', 'b1']) backlog.add(work(name))
  backlog.dropAll((lane) => lane === 'a')
  await backlog.drained()
  expect(done).toEqual(['b1'])
})

it('[CV32] commits yield to open requests and continue when these have ended', async () => {
  const courtesy = new RequestBackpressure()
  const done: string[] = []
  const giveWay = courtesy.yieldToRequests()
  const store = yieldingStore(createInMemoryStore(), giveWay)
  const ended = [courtesy.trackRequest(), courtesy.trackRequest()]
  const stored = store.commit([]).then(() => done.push('kept'))
  for (const end of ended) {
    await yieldToEventLoop()
    await yieldToEventLoop()
    done.push('ended')
    end()
  }
  await stored
  expect(done).toEqual(['ended', 'ended', 'kept'])
  await store.close()
})

it('[CV32] endless or consecutive requests do not block commits', async () => {
  const courtesy = new RequestBackpressure()
  courtesy.trackRequest()
  await courtesy.yieldToRequests()()
  const giveWay = courtesy.yieldToRequests()
  let isKept = false
  const stored = (async () => {
    for (let piece = 0; piece < 5; piece++) await giveWay()
    isKept = true
  })()
  while (!isKept) {
    const end = courtesy.trackRequest()
    await yieldToEventLoop()
    courtesy.trackRequest()
    end()
  }
  await stored
})

/** Conversations that look memories up with `recall`, which mostly refuses. */
function conversationsOn(
  given: SettingValues,
  recall: ContextBuilderDependencies['recall'],
  languageModel: LanguageModel | null = null,
) {
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
  const failures = createFailureChannel()
  const reader = createContextBuilder({
    ...{ ports, recall, onFailure: failures.report },
    modelFor: () => languageModel,
    countUse: () => {},
  })
  const conversations = createRequestLifecycle({
    ports,
    settings: { resolve: async () => settings, peek: () => settings },
    buildContext: reader.buildContext,
    learn: async () => ({ remembered: [], refused: 0, forgotten: [] }),
    buildSignalChanges: async () => [],
    failures,
  })
  onTestFinished(async () => {
    await conversations.close()
    await reader.close()
    await ports.store.close()
  })
  return conversations
}

it('[CV4] a message that needs no memories is skipped without recall', async () => {
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
])('[CV31] recalls with the focus of a message: %s', async (message, asked) => {
  const queries: object[] = []
  const conversations = conversationsOn({}, (_, query) => {
    queries.push(query)
    return Promise.reject(new Error('nothing'))
  })
  await conversations.prepare(requestOf([message]))
  const [{ text, strategy } = {}] = queries as { text?: string; strategy?: string }[]
  expect(strategy === undefined ? { text } : { text, strategy }).toEqual(asked)
})

it('[CV7] a failure that the request survives is reported with its cause', async () => {
  const cause = new TypeError('no such field')
  const failing = conversationsOn({}, () => Promise.reject(cause))
  const failures: MemoryFailure[] = []
  const unsubscribe = failing.onFailure((failure) => failures.push(failure))
  const request = requestOf(['What is my dog called?'])
  expect(await failing.prepare(request)).toMatchObject({ block: null, skipped: 'failed' })
  expect(failures).toEqual([
    {
      stage: 'context',
      owner: request.scope.owner,
      requestId: request.requestId,
      error: expect.objectContaining({ code: 'internal', message: cause.message, cause }),
    },
  ])
  unsubscribe()
  await failing.prepare(request)
  expect(failures).toHaveLength(1)
})

it('[CV7] a gate model with an invalid answer leaves the decision to the rules and is reported', async () => {
  const invalid = { complete: async () => ({ answer: 'none' }) } as unknown as LanguageModel // answers without `text`
  const settings = { 'gateway.gateMode': 'llm', 'gateway.gateModel': 'demo/model' } as const
  const conversations = conversationsOn(
    settings,
    () => Promise.reject(new Error('recall')),
    invalid,
  )
  const failures: MemoryFailure[] = []
  conversations.onFailure((failure) => failures.push(failure))
  expect(await conversations.prepare(requestOf(['Thanks!']))).toMatchObject({
    skipped: 'not-needed',
  })
  expect(failures).toMatchObject([{ stage: 'gate', error: { code: 'internal' } }])
})
