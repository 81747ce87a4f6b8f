/** Makes the index of a folder anew, again and again in other ways, until it is killed. Tells of the first of them. */
import { writeSync } from 'node:fs'
import { createFileTree } from '../../src/adapters/files/tree.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { systemClock as clock } from '../../src/adapters/system/clock.ts'
import { createIds } from '../../src/adapters/system/ids.ts'
import type { OwnerId } from '../../src/core/ids.ts'
import { createEngineOn } from '../../src/engine/engine.ts'
import { createFiles } from '../../src/engine/files/files.ts'
import { FILE_DEFAULTS } from '../../src/engine/files/settings.ts'

const [path = '', index = '', tokens = ''] = process.argv.slice(2)
const owner = 'ada' as OwnerId
const ids = createIds()
const store = await openSqliteStore({ path, now: Date.now })
const innerStore = await openSqliteStore({ path: index, now: Date.now })
const files = createFiles({
  ...{ store, innerStore, clock, ids },
  inner: createEngineOn({ store: innerStore, clock, ids, settings: {} }),
  tree: createFileTree({ clock }),
  workspaceOf: () => {
    throw new Error('nothing is written here')
  },
  settingsOf: async () => ({ ...FILE_DEFAULTS, chunkTokens: Number(tokens), chunkOverlap: 0 }),
})
writeSync(1, 'ready\n')
for (;;) await files.sync(owner, { force: true })
