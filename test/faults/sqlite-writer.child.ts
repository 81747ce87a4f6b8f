/** Writes memories, and their vectors, until it is killed, and tells each acknowledged one on its own line. */
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
const scope = { owner: 'ada' }
writeSync(1, 'ready\n')
for (let n = 0; ; n++) {
  const content = `statement ${n} of round ${round}`
  const { memory } = await engine.remember(scope, { content, key: `${round}-${n}` })
  writeSync(1, `${memory.id} ${memory.version} active\n`)
  if (n % 3 === 1) {
    const edited = await engine.edit(scope, memory.id, { content: `${content}, edited` })
    writeSync(1, `${edited.id} ${edited.version} active\n`)
  }
  if (n % 5 === 2) {
    const forgotten = await engine.forget(scope, memory.id)
    writeSync(1, `${forgotten.id} ${forgotten.version} forgotten\n`)
  }
}
