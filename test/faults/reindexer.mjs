/** Gives memories their vectors, slowly, and tells every step on its own line. */
import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../dist/app/system-clock.js'
import { createEngineWith } from '../../dist/engine/engine.js'
import { createHashingEmbedder } from '../../dist/models/embedders/hashing-embedder.js'
import { openSqliteStore } from '../../dist/storage/sqlite/sqlite-store.js'

const [path] = process.argv.slice(2)
const store = await openSqliteStore({ path, now: Date.now })
const inner = createHashingEmbedder()
const embedder = {
  ...inner,
  embed: async (texts, options) => {
    await delay(30)
    return inner.embed(texts, options)
  },
}
const engine = createEngineWith({
  store,
  vectors: store.vectors,
  embedder,
  clock: systemClock,
  ids: { next: (prefix, at) => `${prefix}_${at}` },
  settings: {},
})
await engine.admin.reindex({ onProgress: ({ done }) => writeSync(1, `${done}\n`) })
await engine.close()
