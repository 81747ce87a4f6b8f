/** Records conversations and embeds their turns until it is killed, and prints the session of each that is recorded. */
import { writeSync } from 'node:fs'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'

const [path = '', round] = process.argv.slice(2)
const store = await openSqliteStore({ path, now: Date.now })
const engine = createEngineWith({
  store,
  vectors: store.vectors,
  embedder: createHashingEmbedder(),
  clock: systemClock,
  ids: createIdGenerator(),
  settings: {},
})
for (let n = 0; ; n++) {
  const conversation = `round${round}x${n}`
  const turns = Array.from({ length: 10 }, (_, exchange) => ({
    user: `Question ${exchange} of ${conversation}?`,
    assistant: `Answer ${exchange} of ${conversation}.`,
  }))
  const { session } = await engine.learning.ingest({
    ...{ owner: 'ada', conversation, turns, skipExtraction: true },
  })
  writeSync(1, `${session}\n`)
  await engine.admin.reindex()
}
