import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../test/fakes/clock.ts'
import { AppError } from './errors.ts'
import {
  exponentialBackoffMs,
  retry,
  retryBriefly,
  serviceRetryDelayMs,
  withJitter,
} from './retry.ts'

function failing(error: Error, times: number) {
  const task = async () => {
    task.attempts++
    if (task.attempts <= times) throw error
    return task.attempts
  }
  task.attempts = 0
  return task
}

describe('retry', () => {
  it('pauses between attempts until one succeeds', async () => {
    const clock = new FakeClock()
    const before = clock.now()
    const delayMs = (_: unknown, count: number) => 100 * (count + 1)
    expect(await retry(failing(new Error('no'), 2), { clock, delayMs })).toBe(3)
    expect(clock.now() - before).toBe(300)
  })

  it('rethrows the error when there is no further pause, and stops when aborted', async () => {
    const clock = new FakeClock()
    const task = failing(new Error('no'), 9)
    await expect(retry(task, { clock, delayMs: () => null })).rejects.toThrow('no')
    expect(task.attempts).toBe(1)
    const aborted = { clock, delayMs: () => 1, signal: AbortSignal.abort() }
    await expect(retry(task, aborted)).rejects.toMatchObject({ code: 'cancelled' })
  })

  it('tries four times within moments, but never again what breaks a rule', async () => {
    const clock = new FakeClock()
    const before = clock.now()
    const busy = failing(new AppError('busy', 'Not now.'), 9)
    await expect(retryBriefly(clock, busy)).rejects.toThrow('Not now.')
    expect([busy.attempts, clock.now() - before]).toEqual([4, 1_300])
    const wrong = failing(new AppError('invalid_input', 'Wrong.'), 9)
    await expect(retryBriefly(clock, wrong)).rejects.toThrow('Wrong.')
    expect(wrong.attempts).toBe(1)
  })
})

it('waits as long as a service demands, within limits, and only after transient errors', () => {
  const unavailable = (facts: AppError['facts']) => new AppError('unavailable', 'Down.', facts)
  expect(serviceRetryDelayMs(unavailable({}), 500, 1_000)).toBe(500)
  expect(serviceRetryDelayMs(unavailable({ retryAfterMs: 900 }), 500, 1_000)).toBe(900)
  expect(serviceRetryDelayMs(unavailable({ retryAfterMs: 100 }), 500, 1_000)).toBe(500)
  expect(serviceRetryDelayMs(unavailable({ retryAfterMs: 1_001 }), 500, 1_000)).toBeNull()
  expect(serviceRetryDelayMs(unavailable({ retryable: false }), 500, 1_000)).toBeNull()
  expect(serviceRetryDelayMs(new AppError('invalid_input', 'No.'), 500, 1_000)).toBeNull()
  expect(serviceRetryDelayMs(new Error('bug'), 500, 1_000)).toBeNull()
})

it('doubles up to a limit, and spreads by a share', () => {
  const limits = { firstMs: 100, maxMs: 500 }
  expect([0, 1, 2, 3, 99].map((count) => exponentialBackoffMs(count, limits))).toEqual([
    100, 200, 400, 500, 500,
  ])
  expect([0, 0.5, 1].map((random) => withJitter(100, random))).toEqual([80, 100, 120])
})
