/**
 * Somebody talks, and what is said is distilled and consolidated, until the process is killed. Tells every session on a
 * line of its own once it is kept.
 */
import { writeSync } from 'node:fs'
import { createLanguageModel } from '../../src/adapters/models/model.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { createIds } from '../../src/adapters/system/ids.ts'
import { createUpstream } from '../../src/adapters/upstream/index.ts'
import type { Instant } from '../../src/core/ids.ts'
import { createEngineOn } from '../../src/engine/engine.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { LEARNING, type LearnerInput, registryOf, say } from './learning.ts'

const { path, url, round, startsAt }: LearnerInput = JSON.parse(String(process.argv[2]))
const HOUR_MS = 3_600_000

/** Each process begins hours after the one before it, so that what that one held is free, and what it left is due. */
let skipped = 0
const began = performance.now()
const clock: Clock = {
  now: () => Math.floor(startsAt + skipped + performance.now() - began) as Instant,
  sleep: () => Promise.reject(new Error('Nothing here is worth waiting for.')),
}

const store = await openSqliteStore({ path, now: clock.now })
const upstream = createUpstream()
const languageModel = createLanguageModel({ registry: registryOf(url), upstream, clock })
const engine = createEngineOn({
  store,
  clock,
  ids: createIds(),
  settings: LEARNING,
  languageModel,
})
writeSync(1, 'ready\n')
await engine.jobs.runDue()
for (let n = 0; ; n++) {
  const session = `${round}-${n}`
  await say(engine, session)
  writeSync(1, `${session}\n`)
  skipped += HOUR_MS
  await engine.jobs.runDue()
}
