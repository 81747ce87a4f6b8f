import { setMaxListeners } from 'node:events'
import { expect, it } from 'vitest'
import { RetrievalQueue } from './retrieval-queue.ts'

const NEVER = new AbortController().signal
setMaxListeners(0, NEVER)
const REMAINING_MS = 1_000

/** Starts retrievals of the given duration at once; the outcome of each in the order of their start. */
async function runAll(
  queue: RetrievalQueue,
  clock: { now: number },
  { count, durationMs }: { readonly count: number; readonly durationMs: number },
): Promise<readonly string[]> {
  const outcomes = Array.from({ length: count }, () =>
    queue
      .run(NEVER, REMAINING_MS, async () => {
        await Promise.resolve()
        clock.now += durationMs
      })
      .then(
        () => 'done',
        (error: { code: string }) => error.code,
      ),
  )
  return Promise.all(outcomes)
}

it('[PL15.3] serves as many at once as end in time', async () => {
  const clock = { now: 0 }
  const queue = new RetrievalQueue(() => clock.now)
  await runAll(queue, clock, { count: 20, durationMs: 4 })
  expect(await runAll(queue, clock, { count: 200, durationMs: 4 })).not.toContain('timeout')
})

it('[PL15.3] refuses the oldest of those that would wait for too long', async () => {
  const clock = { now: 0 }
  const queue = new RetrievalQueue(() => clock.now)
  await runAll(queue, clock, { count: 20, durationMs: 50 })
  const outcomes = await runAll(queue, clock, { count: 100, durationMs: 50 })
  const refused = outcomes.filter((outcome) => outcome === 'timeout').length
  expect(refused).toBeGreaterThan(60)
  expect(refused).toBeLessThan(90)
  // Four run, and of those that wait the newest remain.
  expect(outcomes.slice(0, 4)).toEqual(['done', 'done', 'done', 'done'])
  expect(outcomes[4]).toBe('timeout')
  expect(outcomes.at(-1)).toBe('done')
})

it('[PL15.3] serves everybody again after the overload', async () => {
  const clock = { now: 0 }
  const queue = new RetrievalQueue(() => clock.now)
  await runAll(queue, clock, { count: 40, durationMs: 200 })
  await runAll(queue, clock, { count: 8, durationMs: 1 })
  await runAll(queue, clock, { count: 12, durationMs: 1 })
  await runAll(queue, clock, { count: 12, durationMs: 1 })
  await runAll(queue, clock, { count: 12, durationMs: 1 })
  await runAll(queue, clock, { count: 12, durationMs: 1 })
  await runAll(queue, clock, { count: 12, durationMs: 1 })
  expect(await runAll(queue, clock, { count: 40, durationMs: 1 })).not.toContain('timeout')
})
