/** What the local reranker asks of its worker, and when: with a worker that the test answers for. */
import { expect, it, onTestFinished } from 'vitest'
import { NEVER_ABORTED } from '../../../src/lib/abort.ts'
import {
  type LocalRerankerOptions,
  openLocalRerankerWith,
} from '../../../src/models/rerankers/local-reranker.ts'
import { fakeScoringWorkers } from '../../fakes/reranker-worker.ts'
import { errorOf } from '../embedders/embedder-support.ts'
import { hastyClock } from '../embedders/local-support.ts'

function open(options: Partial<LocalRerankerOptions> = {}) {
  const workers = fakeScoringWorkers()
  const reranker = openLocalRerankerWith(workers.start, { folder: 'any', ...options })
  onTestFinished(() => reranker.close())
  const worker = (number = 0) => {
    const found = workers.started[number]
    if (found === undefined) throw new Error(`There is no worker ${number}.`)
    return found
  }
  /** Answers the pair that was asked for last. The next one is asked for a moment later. */
  const score = async (value: number, number = 0) => {
    const { length } = worker(number).asked
    worker(number).answer({ kind: 'scored', score: value })
    await expect.poll(() => worker(number).asked.length).toBeGreaterThan(length)
  }
  return { reranker, workers, worker, score }
}

const textsAsked = ({ asked }: { readonly asked: readonly { readonly text: string }[] }) =>
  asked.map(({ text }) => text)

it('[RR4] pairs go to the worker one by one, after the model was opened', async () => {
  const { reranker, worker, score } = open()
  const call = reranker.rerank('why', ['one', 'two'], NEVER_ABORTED)
  expect(worker().asked).toEqual([])
  worker().answer({ kind: 'opened' })
  expect(worker().asked).toEqual([{ question: 'why', text: 'one' }])
  await score(0.5)
  expect(textsAsked(worker())).toEqual(['one', 'two'])
  worker().answer({ kind: 'scored', score: -2 })
  expect(await call).toEqual([
    { index: 0, score: 0.5 },
    { index: 1, score: -2 },
  ])
})

it('[RR4] a deadline stops the work between two pairs, and the next call succeeds', async () => {
  const { reranker, worker, score } = open()
  const deadline = new AbortController()
  const late = errorOf(reranker.rerank('why', ['one', 'two', 'three'], deadline.signal))
  worker().answer({ kind: 'opened' })
  await score(1)
  deadline.abort()
  expect((await late).code).toBe('cancelled')
  const call = reranker.rerank('what', ['four'], NEVER_ABORTED)
  expect(textsAsked(worker())).toEqual(['one', 'two'])
  await score(2) // of the pair that nobody waits for any more
  worker().answer({ kind: 'scored', score: 4 })
  expect(await call).toEqual([{ index: 0, score: 4 }])
  expect(textsAsked(worker())).toEqual(['one', 'two', 'four'])
})

it('[RR4] a deadline during loading leaves the model loading for the next call', async () => {
  const { reranker, worker, workers } = open()
  const deadline = new AbortController()
  const late = errorOf(reranker.rerank('why', ['one'], deadline.signal))
  deadline.abort()
  expect((await late).code).toBe('cancelled')
  expect(worker().isStopped()).toBe(false)
  worker().answer({ kind: 'opened' })
  expect(worker().asked).toEqual([])
  const call = reranker.rerank('why', ['two'], NEVER_ABORTED)
  worker().answer({ kind: 'scored', score: 2 })
  expect(await call).toEqual([{ index: 0, score: 2 }])
  expect(workers.started.length).toBe(1)
})

it('[RR4] calls at the same time take turns', async () => {
  const { reranker, worker, score } = open()
  const calls = [
    reranker.rerank('why', ['one', 'two'], NEVER_ABORTED),
    reranker.rerank('what', ['three', 'four'], NEVER_ABORTED),
  ]
  worker().answer({ kind: 'opened' })
  await score(1)
  await score(3)
  await score(2)
  worker().answer({ kind: 'scored', score: 4 })
  expect(textsAsked(worker())).toEqual(['one', 'three', 'two', 'four'])
  expect(
    (await Promise.all(calls)).map((scores) => scores.map(({ score: value }) => value)),
  ).toEqual([
    [1, 2],
    [3, 4],
  ])
})

it('[RR4] does not keep the program alive without callers', async () => {
  const { reranker, worker } = open()
  const call = reranker.rerank('why', ['one'], NEVER_ABORTED)
  expect(worker().isHeld()).toBe(true)
  worker().answer({ kind: 'opened' })
  worker().answer({ kind: 'scored', score: 1 })
  await call
  expect(worker().isHeld()).toBe(false)
})

it('[RR4] a worker that ends or hangs fails its calls, and the next one starts another', async () => {
  const { reranker, worker } = open({ answerMsMax: 20 })
  const first = errorOf(reranker.rerank('why', ['one', 'two'], NEVER_ABORTED))
  worker().answer({ kind: 'opened' })
  worker().end('exit code 1')
  expect(await first).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('exit code 1'),
  })
  const second = errorOf(reranker.rerank('why', ['three'], NEVER_ABORTED))
  worker(1).answer({ kind: 'opened' })
  expect(await second).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('no answer within 20 ms'),
  })
  expect(worker(1).isStopped()).toBe(true)
  const third = reranker.rerank('why', ['four'], NEVER_ABORTED)
  worker(2).answer({ kind: 'opened' })
  worker(2).answer({ kind: 'scored', score: 4 })
  expect(await third).toEqual([{ index: 0, score: 4 }])
})

it('[RR4] a pair that fails fails its call only', async () => {
  const { reranker, worker } = open()
  const first = errorOf(reranker.rerank('why', ['one'], NEVER_ABORTED))
  worker().answer({ kind: 'opened' })
  worker().answer({ kind: 'failed', code: 'unavailable', message: 'No.', facts: {} })
  expect(await first).toMatchObject({ code: 'unavailable', message: 'No.' })
  const second = reranker.rerank('why', ['two'], NEVER_ABORTED)
  worker().answer({ kind: 'scored', score: 2 })
  expect(await second).toEqual([{ index: 0, score: 2 }])
})

it('[RR4] a model that can’t be opened is tried again only after a pause that grows', async () => {
  let now = 0
  const { reranker, worker, workers } = open({ now: () => now })
  const failed = { kind: 'failed', code: 'damaged', message: 'Torn.', facts: {} } as const
  for (const pauseMs of [1_000, 2_000, 4_000]) {
    const call = errorOf(reranker.rerank('why', ['one'], NEVER_ABORTED))
    const { length } = workers.started
    worker(length - 1).answer(failed)
    expect(await call).toMatchObject({ code: 'damaged', message: 'Torn.' })
    expect(worker(length - 1).isStopped()).toBe(true)
    now += pauseMs - 1
    expect(await errorOf(reranker.rerank('why', ['one'], NEVER_ABORTED))).toMatchObject({
      code: 'damaged',
    })
    expect(workers.started.length).toBe(length)
    now += 1
  }
})

it('[RR4] reports a process that cannot be started', async () => {
  const reranker = openLocalRerankerWith(
    () => {
      throw new Error('spawn EAGAIN')
    },
    { folder: 'any', now: hastyClock() },
  )
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(await errorOf(reranker.rerank('why', ['one'], NEVER_ABORTED))).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('EAGAIN'),
    })
  }
  await reranker.close()
})

it('[RR4] texts are cut before they are sent, without halves of characters', async () => {
  const { reranker, worker } = open({ tokensMax: 8 })
  const call = reranker.rerank('q'.repeat(1_000), [`x${'👍'.repeat(1_000)}`], NEVER_ABORTED)
  worker().answer({ kind: 'opened' })
  const [pair] = worker().asked
  expect(pair?.question.length).toBeLessThan(200)
  expect(pair?.text.length).toBeLessThan(200)
  expect(pair?.text).not.toMatch(/\p{Surrogate}/u)
  worker().answer({ kind: 'scored', score: 1 })
  await call
})

it('[RR4] options that make no sense are refused', () => {
  const wrong: readonly Partial<LocalRerankerOptions>[] = [
    { tokensMax: 1 },
    { tokensMax: 1.5 },
    { threads: 0 },
    { answerMsMax: Number.NaN },
    { runtime: 'gpu' as 'auto' }, // as a program without types may say
  ]
  for (const options of wrong) {
    expect(() =>
      openLocalRerankerWith(fakeScoringWorkers().start, { folder: 'any', ...options }),
    ).toThrow(expect.objectContaining({ code: 'invalid_input' }))
  }
})
