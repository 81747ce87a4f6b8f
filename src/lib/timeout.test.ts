import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../test/fakes/clock.ts'
import { AppError } from './errors.ts'
import { resolvesWithin, runWithTimeout, withTimeout } from './timeout.ts'

const forever = () => new Promise<never>(() => {})

describe('withTimeout', () => {
  it('returns the result, or why there is none', async () => {
    expect(await withTimeout(60_000, async () => 1)).toEqual({ kind: 'done', result: 1 })
    const fails = () => Promise.reject(new AppError('busy', 'Not now.'))
    expect(await withTimeout(60_000, fails)).toMatchObject({
      ...{ kind: 'failed', reason: 'Not now.', isTimeout: false },
      error: { code: 'busy' },
    })
  })

  it('aborts the signal of a task that is too slow, and reports the timeout whatever the task does then', async () => {
    const rejects = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')))
      })
    for (const task of [forever, rejects]) {
      expect(await withTimeout(1, task)).toMatchObject({
        ...{ kind: 'failed', reason: 'Timed out after 1 ms.', isTimeout: true },
        error: { code: 'unavailable' },
      })
    }
  })

  it('catches what a task throws before it returns a promise', async () => {
    const throws = () => {
      throw new AppError('not_found', 'Nothing.')
    }
    expect(await withTimeout(60_000, throws)).toMatchObject({
      isTimeout: false,
      reason: 'Nothing.',
    })
  })
})

describe('runWithTimeout', () => {
  const onTimeout = () => new AppError('gateway_timeout', 'Too slow.')

  it('rejects with the given error when time is up, by the clock it is given', async () => {
    await expect(runWithTimeout(1, forever, { onTimeout })).rejects.toThrow('Too slow.')
    await expect(
      runWithTimeout(60_000, forever, { onTimeout, clock: new FakeClock() }),
    ).rejects.toThrow('Too slow.')
  })

  it('rejects with `cancelled` when one of the signals aborts, and then aborts the task', async () => {
    const controller = new AbortController()
    let isAborted = false
    const running = runWithTimeout(
      60_000,
      (signal) => {
        signal.addEventListener('abort', () => {
          isAborted = true
        })
        return forever()
      },
      { onTimeout, signals: [undefined, controller.signal] },
    )
    controller.abort()
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    expect(isAborted).toBe(true)
  })
})

it('reports whether a promise resolves in time', async () => {
  expect(await resolvesWithin(60_000, Promise.resolve())).toBe(true)
  expect(await resolvesWithin(1, forever())).toBe(false)
  await expect(resolvesWithin(60_000, Promise.reject(new Error('no')))).rejects.toThrow('no')
})
