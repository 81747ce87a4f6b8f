/**
 * Makes the index of a folder anew, with vectors: so many times, or again and again until it is killed. Tells of the first of
 * them.
 */
import { writeSync } from 'node:fs'
import { toIndexEngine } from '../../src/app/file-composition.ts'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock as clock } from '../../src/app/system-clock.ts'
import type { OwnerId } from '../../src/domain/ids.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { createFileIndex } from '../../src/files/file-index.ts'
import { FILE_DEFAULTS } from '../../src/files/file-options.ts'
import { createFileTree } from '../../src/files/local/local-file-tree.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'

const [path = '', indexPath = '', tokens = '', times = 'Infinity'] = process.argv.slice(2)
const owner = 'ada' as OwnerId
const ids = createIdGenerator()
const store = await openSqliteStore({ path, now: Date.now })
const innerStore = await openSqliteStore({ path: indexPath, now: Date.now })
const { vectors } = innerStore
const index = createFileIndex({
  ...{ store, innerStore, clock, ids },
  inner: toIndexEngine(
    createEngineWith({
      ...{ store: innerStore, vectors, embedder: createHashingEmbedder() },
      ...{ clock, ids, settings: {} },
    }),
  ),
  tree: createFileTree({ clock }),
  workspaceOf: () => {
    throw new Error('nothing is written here')
  },
  settingsOf: async () => ({ ...FILE_DEFAULTS, chunkTokens: Number(tokens), chunkOverlap: 0 }),
})
writeSync(1, 'ready\n')
for (let time = 0; time < Number(times); time++) {
  await index.search.sync(owner, { force: true, embeds: true })
}
await index.close()
await store.close()
