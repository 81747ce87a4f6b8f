import { describe, expect, it } from 'vitest'
import { raceAbort, sleep, throwIfAborted } from './abort.ts'

const FOREVER = new Promise<never>(() => {})

describe('raceAbort', () => {
  it('rejects as soon as the signal aborts, and when it was aborted before', async () => {
    const controller = new AbortController()
    const raced = raceAbort(FOREVER, controller.signal)
    controller.abort()
    await expect(raced).rejects.toMatchObject({ code: 'cancelled' })
    await expect(raceAbort(FOREVER, controller.signal)).rejects.toMatchObject({ code: 'cancelled' })
  })

  it('settles like the promise otherwise', async () => {
    const { signal } = new AbortController()
    expect(await raceAbort(Promise.resolve(1), signal)).toBe(1)
    await expect(raceAbort(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
    expect(await raceAbort(Promise.resolve(2), undefined)).toBe(2)
  })
})

it('sleeps, and distinguishes an abort from the end of the time', async () => {
  const controller = new AbortController()
  expect(await sleep(1, controller.signal)).toBe(true)
  const sleeping = sleep(60_000, controller.signal)
  controller.abort()
  expect(await sleeping).toBe(false)
  expect(await sleep(60_000, controller.signal)).toBe(false)
})

it('throws with the message of the caller', () => {
  expect(() => throwIfAborted(AbortSignal.abort(), 'Indexing was stopped.')).toThrow(
    'Indexing was stopped.',
  )
  expect(() => throwIfAborted(undefined)).not.toThrow()
})
