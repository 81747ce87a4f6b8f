import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RequestBackpressure } from './backpressure.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Steps yield to the event loop first, which is real here, and only then wait. */
async function isDoneAfter(ms: number, step: Promise<void>): Promise<boolean> {
  let isDone = false
  void step.then(() => {
    isDone = true
  })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  await turn()
  await turn()
  await vi.advanceTimersByTimeAsync(ms)
  await turn()
  return isDone
}

it('does not wait while there are no requests', async () => {
  expect(await isDoneAfter(0, new RequestBackpressure().yieldToRequests()())).toBe(true)
})

it('waits for a request, but goes on when it ends', async () => {
  const backpressure = new RequestBackpressure()
  const end = backpressure.trackRequest()
  const step = backpressure.yieldToRequests()()
  expect(await isDoneAfter(50, step)).toBe(false)
  end()
  expect(await isDoneAfter(0, step)).toBe(true)
})

it('waits no longer than its limit, over all steps together', async () => {
  const backpressure = new RequestBackpressure()
  const step = backpressure.yieldToRequests()
  backpressure.trackRequest()
  const first = step()
  expect(await isDoneAfter(99, first)).toBe(false)
  expect(await isDoneAfter(1, first)).toBe(true)
  backpressure.trackRequest()
  expect(await isDoneAfter(0, step())).toBe(true)
})
