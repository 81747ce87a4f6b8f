/** Leases of processes that are gone. */
import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import type { OwnerId } from '../../src/domain/ids.ts'
import { createJobs } from '../../src/jobs/jobs.ts'
import { createProcessRegistry } from '../../src/jobs/process-identity.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'

const ada = 'ada' as OwnerId

it('[JB20.1] detects dead processes of this machine only', () => {
  const { own, isGone } = createProcessRegistry()
  const [machine, , startTime] = own.split(':')
  expect(isGone(own)).toBe(false)
  const ended = spawnSync(process.execPath, ['-e', ''])
  expect(isGone(`${machine}:${ended.pid}:`)).toBe(true)
  expect(isGone(`elsewhere:${ended.pid}:`)).toBe(false)
  // The process id was given to another process since.
  if (startTime !== '') expect(isGone(`${machine}:${process.pid}:1`)).toBe(true)
  for (const strange of ['', 'x', `${machine}:`, `${machine}:-1:`, `${machine}:0x1:`]) {
    expect(isGone(strange), strange).toBe(false)
  }
})

it('[JB20.2] takes over the lock of a dead process at once, and that of a living one after its lease', async () => {
  const store = createInMemoryStore()
  const clock = new FakeClock()
  const gone = new Set<string>()
  const jobsOf = (own: string) =>
    createJobs(
      { store, clock, ids: countingIds() },
      { processes: { own, isGone: (name) => gone.has(name) }, timers: { every: () => () => {} } },
    )
  const [dead, alive] = [jobsOf('a:1:'), jobsOf('a:2:')]
  const { signal } = new AbortController()
  await new Promise<void>((resolve) => {
    const work = () => {
      resolve()
      return new Promise(() => {})
    }
    dead.withOwnerLock(ada, work, { signal, waitMs: 0 }).catch(() => {})
  })
  const attempt = () => alive.withOwnerLock(ada, async () => 'done', { signal, waitMs: 0 })
  expect(await attempt()).toEqual({ kind: 'busy' })
  gone.add('a:1:')
  expect(await attempt()).toEqual({ kind: 'done', result: 'done' })
})
