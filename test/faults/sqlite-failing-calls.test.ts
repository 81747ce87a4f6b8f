/** Fails the n-th call to the driver during a commit, for every n: it happens as a whole or not at all. */
import { describe, expect, it } from 'vitest'
import { openSqliteFile } from '../../src/storage/sqlite/connection/database-file.ts'
import type { Change } from '../../src/storage/store.ts'
import { revision } from '../fakes/memories.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import {
  everything,
  expectSame,
  failingDriver,
  fill,
  filledFile,
  numbered,
  using,
} from './sqlite-support.ts'

const CHANGES: readonly Change[] = [
  { op: 'put', table: 'memory', row: numbered(100), expect: 'absent' },
  {
    op: 'put',
    table: 'memory',
    row: numbered(3, { version: 2, content: 'something else now' }),
    expect: { version: 1 },
  },
  { op: 'put', table: 'revision', row: revision(numbered(3)), expect: 'absent' },
  { op: 'remove', table: 'memory', scope: numbered(4).place, id: numbered(4).id, expect: 'any' },
]

describe('a driver that fails', () => {
  it('[ST23] never leaves a commit half done, whichever call fails', async () => {
    const path = temporaryFile('expected.db')
    await filledFile(path, 6)
    const after = await using(path, null, async (store) => {
      expect(await store.commit(CHANGES)).toEqual({ kind: 'committed' })
      return everything(store)
    })
    for (let nth = 1; ; nth++) {
      const driver = failingDriver(nth, false)
      const path = temporaryFile('failing.db')
      const store = await openSqliteFile({ path, now: Date.now, openConnection: driver.open })
      await fill(store, 6)
      const before = await everything(store)
      driver.arm()
      const outcome = await store.commit(CHANGES).catch((error: unknown) => error)
      const hasFailed = driver.hasFailed()
      driver.disarm()
      if (!hasFailed) {
        expectSame(await everything(store), after)
        await store.close()
        break
      }
      if (!(outcome instanceof Error)) {
        // What failed came after the commit, which stands.
        expectSame(await everything(store), after)
        await store.close()
        continue
      }
      expectSame(await everything(store), before)
      expect(await store.checkIntegrity({ repair: false })).toEqual([])
      expect(await store.commit(CHANGES)).toEqual({ kind: 'committed' })
      expectSame(await everything(store), after)
      await store.close()
    }
  })
})
