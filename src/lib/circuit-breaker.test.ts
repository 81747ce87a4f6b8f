import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../test/fakes/clock.ts'
import { CircuitBreaker, createModelBreaker, createStallBreaker } from './circuit-breaker.ts'
import { AppError } from './errors.ts'

const MS = 5
const forever = () => new Promise<never>(() => {})
const fails = () => Promise.reject(new AppError('unavailable', 'It is down.'))
const works = async () => 'well'

function held<Value>() {
  let settle: (value: Value) => void = () => {}
  const promise = new Promise<Value>((resolve) => {
    settle = resolve
  })
  return { promise, settle }
}

describe('a circuit that callers probe', () => {
  const open = (clock: FakeClock) => new CircuitBreaker({ clock, failuresMax: 2, resetMs: 1_000 })

  it('opens after failures in a row, and refuses calls until the pause is over', async () => {
    const clock = new FakeClock()
    const breaker = open(clock)
    await breaker.run(MS, fails)
    await breaker.run(MS, works)
    await breaker.run(MS, fails)
    expect(breaker.openUntil()).toBeNull()
    await breaker.run(MS, fails)
    expect(breaker.openUntil()).toBe(clock.now() + 1_000)
    let calls = 0
    const counts = async () => ++calls
    expect(await breaker.run(MS, counts)).toMatchObject({ kind: 'failed', isTimeout: true })
    expect(breaker.openReason).toMatch(/^No answer since .+; tried again after .+: It is down\.$/)
    clock.advance(1_000)
    expect(await breaker.run(MS, counts)).toEqual({ kind: 'done', result: 1 })
    expect([breaker.openReason, breaker.failures]).toEqual([null, 0])
  })

  it('lets one call probe at a time, whose failure starts the pause again', async () => {
    const clock = new FakeClock()
    const breaker = open(clock)
    for (let count = 0; count < 2; count++) await breaker.run(MS, fails)
    clock.advance(1_000)
    const probe = breaker.run(MS, forever)
    expect(await breaker.run(MS, works)).toMatchObject({ kind: 'failed' })
    expect((await probe).kind).toBe('failed')
    expect(breaker.openUntil()).toBe(clock.now() + 1_000)
  })

  it('is not kept open by a clock that was set back', async () => {
    const clock = new FakeClock()
    const breaker = open(clock)
    for (let count = 0; count < 2; count++) await breaker.run(MS, fails)
    clock.advance(-86_400_000)
    expect(await breaker.run(MS, works)).toMatchObject({ kind: 'done' })
  })

  it('ignores late answers, cancelled calls and failures older than an answer', async () => {
    const breaker = open(new FakeClock())
    const cancelled = () => Promise.reject(new AppError('cancelled', 'Stopped.'))
    for (let count = 0; count < 3; count++) await breaker.run(MS, cancelled)
    expect(breaker.failures).toBe(0)
    const { promise, settle } = held<never>()
    const early = breaker.run(60_000, () => promise.then(fails))
    await breaker.run(MS, works)
    settle(undefined as never)
    await early
    expect(breaker.failures).toBe(0)
    const late = held<string>()
    for (let count = 0; count < 2; count++) await breaker.run(MS, () => late.promise)
    late.settle('at last')
    await late.promise
    expect(breaker.openReason).not.toBeNull()
  })

  it('calls without a timeout, and counts what they say', async () => {
    const clock = new FakeClock()
    const breaker = open(clock)
    const refuses = () => Promise.reject(new AppError('invalid_input', 'Too long.'))
    await expect(breaker.call(fails)).rejects.toThrow('It is down.')
    await expect(breaker.call(refuses)).rejects.toThrow('Too long.')
    expect(breaker.failures).toBe(0)
    for (let count = 0; count < 2; count++) await breaker.call(fails).catch(() => {})
    clock.advance(1_000)
    const { promise, settle } = held<string>()
    const probe = breaker.call(() => promise)
    expect(breaker.openUntil()).not.toBeNull()
    settle('well')
    expect(await probe).toBe('well')
    expect(breaker.openUntil()).toBeNull()
  })

  it('stays open for good where there is no reset', async () => {
    const resetMs = Number.POSITIVE_INFINITY
    const breaker = new CircuitBreaker({ clock: new FakeClock(), failuresMax: 2, resetMs })
    breaker.trip('There is no such thing.')
    breaker.recordFailure('later')
    breaker.recordSuccess()
    expect(breaker.openReason).toBe('later')
    expect((await breaker.run(MS, works)).kind).toBe('failed')
  })
})

describe('a stall breaker', () => {
  it('opens with one overdue call, and closes as soon as that is answered, even by an error', async () => {
    const clock = new FakeClock()
    const breaker = createStallBreaker(clock)
    expect(await breaker.run(MS, fails)).toMatchObject({ isTimeout: false })
    expect(breaker.openReason).toBeNull()
    for (const answer of [works, fails]) {
      const { promise, settle } = held<void>()
      expect(await breaker.run(MS, () => promise.then<string>(answer))).toMatchObject({
        isTimeout: true,
      })
      expect(await breaker.run(60_000, works)).toMatchObject({ kind: 'failed', isTimeout: true })
      settle()
      await new Promise((resolve) => setImmediate(resolve))
      expect(breaker.openReason).toBeNull()
    }
  })
})

describe('a model breaker', () => {
  it('probes in the background: the call after the pause is refused, and its copy closes the circuit', async () => {
    const clock = new FakeClock()
    const breaker = createModelBreaker(clock)
    for (let count = 0; count < 3; count++) await breaker.run(MS, fails)
    clock.advance(5_000)
    expect((await breaker.run(MS, works)).kind).toBe('failed')
    await breaker.close()
    expect(breaker.openReason).toBeNull()
  })

  it('lets a call through that may wait longer than those that failed', async () => {
    const breaker = createModelBreaker(new FakeClock())
    for (let count = 0; count < 3; count++) await breaker.run(MS, forever)
    expect((await breaker.run(MS, works)).kind).toBe('failed')
    expect(await breaker.run(10 * MS, works)).toMatchObject({ kind: 'done' })
    expect(breaker.openReason).toBeNull()
  })
})
