import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DelayedTask } from './delayed-task.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('runs once for many requests, at the time that the first one set', () => {
  let runs = 0
  const task = new DelayedTask(() => runs++)
  task.schedule(100)
  vi.advanceTimersByTime(60)
  task.schedule(100)
  expect(task.isScheduled).toBe(true)
  vi.advanceTimersByTime(40)
  expect([runs, task.isScheduled]).toEqual([1, false])
  task.schedule(10)
  vi.advanceTimersByTime(10)
  expect(runs).toBe(2)
})

it('can schedule itself again, and does not run once cancelled', () => {
  let runs = 0
  const task = new DelayedTask(() => {
    if (++runs === 1) task.schedule(5)
  })
  task.schedule(5)
  vi.advanceTimersByTime(100)
  expect(runs).toBe(2)
  task.schedule(5)
  task.cancel()
  vi.advanceTimersByTime(100)
  expect(runs).toBe(2)
})
