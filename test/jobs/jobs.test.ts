import { expect, it, onTestFinished } from 'vitest'
import type { Job } from '../../src/jobs/job.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { describeJobEndings } from './job-outcomes.suite.ts'
import { describeJobs } from './jobs.suite.ts'
import { openServers, owner } from './jobs-support.ts'

describeJobs('on the reference store', async () => createInMemoryStore())
describeJobEndings('on the reference store', async () => createInMemoryStore())
describeJobs('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
describeJobEndings('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

it('[JB6] also over connections of their own to one file', async () => {
  const path = temporaryFile('jobs.db')
  const open = () => openSqliteStore({ path, now: Date.now })
  const { serve, request } = await openServers(open)
  const done: string[] = []
  const work = async ({ key }: Job) => {
    await new Promise((resolve) => setImmediate(resolve))
    done.push(key)
    return { kind: 'done' as const, outcome: {} }
  }
  const servers = [serve({ work }).jobs]
  for (let n = 0; n < 2; n++) {
    const store = await open()
    onTestFinished(() => store.close())
    servers.push(serve({ work }, {}, store).jobs)
  }
  const keys = Array.from({ length: 40 }, (_, n) => `job ${n}`)
  for (const [n, key] of keys.entries()) {
    await servers[n % 3]?.schedule(request({ key, owner: owner(`owner ${n % 5}`) }))
  }
  for (let round = 0; done.length < keys.length && round < 100; round++) {
    await Promise.all(servers.map((jobs) => jobs.runDue()))
  }
  expect(done.sort()).toEqual(keys.sort())
})
