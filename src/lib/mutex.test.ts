import { describe, expect, it } from 'vitest'
import { KeyedMutex, Mutex } from './mutex.ts'

function track() {
  const log: string[] = []
  const task = (name: string, error?: Error) => async () => {
    log.push(`+${name}`)
    await new Promise((resolve) => setImmediate(resolve))
    log.push(`-${name}`)
    if (error !== undefined) throw error
    return name
  }
  return { log, task }
}

describe('a mutex', () => {
  it('runs one task at a time in the order of the calls, also after a failure', async () => {
    const mutex = new Mutex()
    const { log, task } = track()
    const failing = mutex.run(task('a', new Error('no')))
    const other = mutex.run(task('b'))
    await expect(failing).rejects.toThrow('no')
    expect(await other).toBe('b')
    expect(log).toEqual(['+a', '-a', '+b', '-b'])
  })

  it('is idle when no task is left, including tasks that were added during the wait', async () => {
    const mutex = new Mutex()
    const { log, task } = track()
    void mutex.run(async () => {
      void mutex.run(task('b'))
      await task('a')()
    })
    await mutex.idle()
    expect(log).toEqual(['+a', '-a', '+b', '-b'])
  })
})

it('a keyed mutex keeps tasks of one key apart, and no others', async () => {
  const mutex = new KeyedMutex()
  const { log, task } = track()
  await Promise.all([
    mutex.run('x', task('x1')),
    mutex.run('y', task('y1')),
    mutex.run('x', task('x2')),
  ])
  expect(log.indexOf('+y1')).toBeLessThan(log.indexOf('-x1'))
  expect(log.indexOf('+x2')).toBeGreaterThan(log.indexOf('-x1'))
})
