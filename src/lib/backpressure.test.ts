import { expect, it } from 'vitest'
import { RequestBackpressure } from './backpressure.ts'

const timed = async (work: () => Promise<void>) => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

it('does not wait while there are no requests', async () => {
  expect(await timed(new RequestBackpressure().yieldToRequests())).toBeLessThan(50)
})

it('waits for a request, but goes on when it ends', async () => {
  const backpressure = new RequestBackpressure()
  const end = backpressure.trackRequest()
  let isEnded = false
  setTimeout(() => {
    isEnded = true
    end()
  }, 10)
  await backpressure.yieldToRequests()()
  expect(isEnded).toBe(true)
})

it('waits no longer than its limit, over all steps together', async () => {
  const backpressure = new RequestBackpressure()
  const step = backpressure.yieldToRequests()
  backpressure.trackRequest()
  expect(await timed(step)).toBeGreaterThan(80)
  backpressure.trackRequest()
  expect(await timed(step)).toBeLessThan(50)
})
