import { describe, expect, it } from 'vitest'
import { KeyedSingleFlight, lazy, lazyAsync, SharedTask, SingleFlight } from './single-flight.ts'

const forever = () => new Promise<never>(() => {})

it('shares a run among concurrent callers, and starts again after it', async () => {
  let runs = 0
  const flight = new SingleFlight(async () => ++runs)
  const both = [flight.run(), flight.run()]
  expect(flight.running).toBe(both[0])
  expect(await Promise.all(both)).toEqual([1, 1])
  expect(flight.running).toBeNull()
  expect(await flight.run()).toBe(2)
})

it('starts again after a failure', async () => {
  let runs = 0
  const flight = new SingleFlight(async () => {
    runs++
    throw new Error('no')
  })
  await expect(flight.run()).rejects.toThrow()
  await expect(flight.run()).rejects.toThrow()
  expect(runs).toBe(2)
})

it('keeps runs of different keys apart', async () => {
  const flights = new KeyedSingleFlight<string, string>()
  let runs = 0
  const run = (key: string) => flights.run(key, async () => `${key}${++runs}`)
  expect(await Promise.all([run('a'), run('b'), run('a')])).toEqual(['a1', 'b2', 'a1'])
  expect(await run('a')).toBe('a3')
})

it('creates once, and loads again only after a failure', async () => {
  let created = 0
  const value = lazy(() => {
    created++
    return undefined
  })
  value()
  value()
  expect(created).toBe(1)
  let loads = 0
  const load = lazyAsync(async () => {
    if (++loads === 1) throw new Error('no')
    return loads
  })
  await expect(load()).rejects.toThrow()
  expect([await load(), await load()]).toEqual([2, 2])
})

describe('a shared task', () => {
  it('is aborted when the last caller has given up, and not before', async () => {
    let isAborted = false
    const task = new SharedTask((signal) => {
      signal.addEventListener('abort', () => {
        isAborted = true
      })
      return forever()
    })
    const [one, other] = [new AbortController(), new AbortController()]
    const joined = [task.join(one.signal), task.join(other.signal)]
    one.abort()
    await expect(joined[0]).rejects.toMatchObject({ code: 'cancelled' })
    expect([isAborted, task.isAbandoned]).toEqual([false, false])
    other.abort()
    await expect(joined[1]).rejects.toMatchObject({ code: 'cancelled' })
    expect([isAborted, task.isAbandoned]).toEqual([true, true])
  })
})
