/**
 * Kills a process with SIGKILL at random points, again and again, while it records, distils and consolidates. Whatever it
 * had acknowledged is there, what was distilled was distilled whole and once, and there is nothing to mend.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import type { Memory } from '../../src/domain/memory.ts'
import { parseScope, SYSTEM_OWNER } from '../../src/domain/scope.ts'
import type { Signal } from '../../src/domain/signal.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import type { Job } from '../../src/jobs/job.ts'
import type { Instant } from '../../src/lib/time.ts'
import { createProviderLanguageModel } from '../../src/models/llm/provider-language-model.ts'
import { createUpstream } from '../../src/models/providers/provider-upstream.ts'
import { pages } from '../../src/storage/access/row-pages.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Change, Row, Store, Table } from '../../src/storage/store.ts'
import { openUpstream } from '../api/gateway/support/scripted-upstream.ts'
import { speak } from '../api/gateway/support/wire-format.ts'
import { FakeClock } from '../fakes/clock.ts'
import { memory } from '../fakes/memories.ts'
import { bundled } from '../support/bundle.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { repetitions } from '../support/thoroughness.ts'
import {
  factsOf,
  LEARNING,
  type LearnerInput,
  learnedFrom,
  OWNER,
  registryOf,
  sessionIn,
  TEA,
} from './learning-script.ts'

const KILLS = repetitions({ usual: 20, thorough: 100 })

/** Two at a time: one per core of a small machine. */
const AT_ONCE = 2

/** Of one database: a small one is looked through in no time. */
const KILLS_PER_FILE = 10
const DELAY_MS_MAX = 60
const THINKING_MS_MAX = 6
const DAY_MS = 86_400_000
const FADED = 40
const ADA = parseScope({ owner: OWNER })
const BEGAN = Date.UTC(2026, 0, 5, 8)

it('[LP1] loses and doubles nothing when it is killed while it learns', async () => {
  const program = await bundled('test/faults/learner.child.ts')
  const model = await openUpstream(async (received) => {
    await delay(Math.random() * THINKING_MS_MAX)
    return speak(received, { text: learnedFrom(sessionIn(received.text)) })
  })
  onTestFinished(() => model.close())
  const counts = { distilled: 0, merged: 0, evicted: 0, left: 0 }
  let file = 0
  const work = async () => {
    while (file++ < KILLS / KILLS_PER_FILE) {
      const life = await openKilled(program, model.url)
      for (let round = 0; round < KILLS_PER_FILE; round++) await life.kill(round)
      const ended = await life.end()
      for (const name of ['distilled', 'merged', 'evicted', 'left'] as const) {
        counts[name] += ended[name]
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  // Proves that there was something to lose; how much depends on how busy the machine is.
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0)
}, 600_000)

async function openKilled(program: string, url: string) {
  const path = temporaryFile('learned.db')
  await furnish(path)
  const acknowledged: string[] = []
  let startsAt = BEGAN
  let left = 0
  return {
    kill: async (round: number) => {
      startsAt += DAY_MS
      const input: LearnerInput = { path, url, round, startsAt }
      acknowledged.push(...(await learnUntilKilled(program, input)))
      left += (await inspected(path, acknowledged)).pending
    },
    /** Lets what was left be done, and tells what came of all of it. */
    end: async () => {
      await finish(path, url, startsAt + DAY_MS)
      const { pending, ...counts } = await inspected(path, acknowledged)
      expect(pending).toBe(0)
      return { ...counts, left }
    },
  }
}

/** Something for consolidation to do from the beginning, and the job that has it done. */
async function furnish(path: string): Promise<void> {
  const clock = new FakeClock(BEGAN)
  const store = await openSqliteStore({ path, now: () => clock.now() })
  const engine = createEngineWith({ store, clock, ids: createIdGenerator(), settings: LEARNING })
  const at = (BEGAN - 90 * DAY_MS) as Instant
  const faded = Array.from({ length: FADED }, (_, n): Change => {
    const row = memory({
      ...{ content: `Errand ${n} of ${n * 7}`, createdAt: at, updatedAt: at },
      // Only extracted memories are evicted.
      provenance: { ...memory().provenance, extractor: 'patterns', extractorVersion: '1' },
    })
    return { op: 'put', table: 'memory', row, expect: 'absent' }
  })
  await store.commit(faded)
  await engine.jobs.start()
  await engine.jobs.runDue()
  await engine.close()
}

async function finish(path: string, url: string, at: number): Promise<void> {
  const clock = new FakeClock(at)
  const store = await openSqliteStore({ path, now: () => clock.now() })
  const upstream = createUpstream()
  const languageModel = createProviderLanguageModel({ registry: registryOf(url), upstream, clock })
  const ports = { store, clock, ids: createIdGenerator(), settings: LEARNING, languageModel }
  const engine = createEngineWith(ports)
  await engine.jobs.runDue()
  clock.advance(DAY_MS)
  await engine.jobs.runDue()
  expect((await engine.learning.consolidate(ADA)).actionsTotal).toBe(0)
  expect(await engine.admin.checkIntegrity({ repair: false })).toEqual([])
  await engine.close()
  await upstream.close()
}

async function learnUntilKilled(program: string, input: LearnerInput): Promise<readonly string[]> {
  const child = spawn(process.execPath, [program, JSON.stringify(input)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const acknowledged: string[] = []
  const lines = createInterface(child.stdout)
  const exited = once(child, 'exit')
  const drained = once(lines, 'close')
  // Some are killed while they open the database or do what the one before them left, most when they are in full swing.
  const isKilledEarly = input.round % KILLS_PER_FILE < 3
  const started = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (line !== 'ready') acknowledged.push(line)
      if (isKilledEarly || line !== 'ready') resolve()
    })
  })
  await Promise.race([started, exited])
  await delay(Math.random() * DELAY_MS_MAX)
  const endedWith = child.exitCode
  child.kill('SIGKILL')
  await Promise.all([exited, drained])
  expect(endedWith, 'it ended by itself').toBeNull()
  return acknowledged
}

/** That everything is whole, after any kill. */
async function inspected(path: string, acknowledged: readonly string[]) {
  const store = await openSqliteStore({ path, now: Date.now })
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
  const turns = await all(store, 'turn')
  const memories = await all(store, 'memory')
  const signals = await all(store, 'signal')
  const revisions = await all(store, 'revision')
  const jobs = await all(store, 'job', { owner: SYSTEM_OWNER })
  await store.close()

  const sessions = new Set(turns.map(({ place }) => place.session ?? ''))
  expect([...sessions]).toEqual(expect.arrayContaining([...acknowledged]))
  for (const session of sessions) {
    expect(turns.filter(({ place }) => place.session === session)).toHaveLength(2)
    const inputs = signals.filter(({ place }) => place.session === session)
    expect(inputs).toHaveLength(1)
    for (const signal of inputs) expectWhole(session, signal, memories, jobs)
  }
  const processed = signals.filter(({ status }) => status === 'processed').length
  const tea = memories.filter(({ content }) => content === TEA)
  expect(tea).toHaveLength(processed > 0 ? 1 : 0)
  // Each session is one source, and none counted twice.
  expect(tea[0]?.sourceCount ?? 0).toBe(processed)
  for (const { id, version, supersededBy } of memories) {
    expect(revisions.filter((revision) => revision.memory.id === id)).toHaveLength(version - 1)
    if (supersededBy !== null) expect(memories.map((each) => each.id)).toContain(supersededBy)
  }
  const count = (status: Memory['status']) =>
    memories.filter((each) => each.status === status).length
  return {
    distilled: processed,
    merged: count('superseded'),
    evicted: count('forgotten'),
    pending: signals.length - processed,
  }
}

/** Either all of a session was distilled, once, or nothing, and then there is a job for it. */
function expectWhole(
  session: string,
  { status, change, attempts }: Signal,
  memories: readonly Memory[],
  jobs: readonly Job[],
): void {
  const episodes = memories.filter(
    ({ category, place }) => category === 'episode' && place.session === session,
  )
  const facts = factsOf(session).map((fact) => memories.filter(({ content }) => content === fact))
  const isDone = status === 'processed'
  expect([episodes, ...facts].map(({ length }) => length)).toEqual(isDone ? [1, 1, 1] : [0, 0, 0])
  expect(attempts).toBe(0)
  if (isDone) expect(episodes[0]?.change).toBe(change)
  else {
    expect(status).toBe('pending')
    const job = jobs.find(({ kind, input }) => kind === 'distill' && input.session === session)
    expect(['waiting', 'running']).toContain(job?.status)
  }
}

async function all<T extends Table>(
  store: Store,
  table: T,
  scope = ADA,
): Promise<readonly Row<T>[]> {
  const rows: Row<T>[] = []
  for await (const page of pages(store, table, scope, { where: {} })) rows.push(...page)
  return rows
}
