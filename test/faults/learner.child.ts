/**
 * Somebody talks, and what is said is distilled and consolidated, until the process is killed. Tells every session on a
 * line of its own once it is kept.
 */
import { writeSync } from 'node:fs'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { Instant } from '../../src/lib/time.ts'
import { createProviderLanguageModel } from '../../src/models/llm/provider-language-model.ts'
import { createUpstream } from '../../src/models/providers/provider-upstream.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { LEARNING, type LearnerInput, registryOf, say } from './learning-script.ts'

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
const languageModel = createProviderLanguageModel({ registry: registryOf(url), upstream, clock })
const engine = createEngineWith({
  store,
  clock,
  ids: createIdGenerator(),
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
