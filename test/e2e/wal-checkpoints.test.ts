/** The thread that moves the log runs only from what was built, so this runs that. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import type { openSqliteFile } from '../../src/storage/sqlite/connection/database-file.ts'
import {
  type DatabaseKey,
  describeMissingCipher,
} from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { parsePassphrase } from '../../src/storage/sqlite/encryption/encryption-key.ts'
import { ADA, memory } from '../fakes/memories.ts'
import { temporaryFile } from '../support/temporary-folder.ts'

const BUILT = pathToFileURL(
  join(process.cwd(), 'dist/storage/sqlite/connection/database-file.js'),
).href
const SECRET = 'the vault opens with four-seven-one'

const KEY = parsePassphrase('a phrase for the test')
const KINDS: readonly (readonly [string, DatabaseKey | null])[] = [
  ['plain', null],
  // An encrypted one needs a driver that not every Node has.
  ...(describeMissingCipher() === null ? [['encrypted', KEY] as const] : []),
]

it.each(KINDS)(
  '[ST43] checkpoints commits into the file (%s) without blocking them',
  async (_, key) => {
    const { openSqliteFile: open } = (await import(BUILT)) as {
      openSqliteFile: typeof openSqliteFile
    }
    const path = temporaryFile('moved.db')
    const store = await open({ path, now: Date.now, key })
    const put = (content: string) =>
      ({ op: 'put', table: 'memory', row: memory({ content }), expect: 'absent' }) as const
    const before = statSync(path).size
    for (let round = 0; round < 105; round++) {
      const changes = Array.from({ length: 10 }, (_, n) =>
        put(`note ${round} ${n} about the harbour`),
      )
      expect(await store.commit(changes)).toEqual({ kind: 'committed' })
    }
    // Far fewer pages than those with which a commit does it itself.
    while (statSync(path).size === before) await delay(5)

    const secret = put(SECRET)
    await store.commit([secret])
    const removal = {
      op: 'remove',
      table: 'memory',
      scope: ADA,
      id: secret.row.id,
      expect: 'any',
    } as const
    const others = Array.from({ length: 199 }, (_, n) => put(`more ${n}`))
    expect(await store.commit([...others, removal])).toEqual({ kind: 'committed' })
    expect(statSync(`${path}-wal`).size).toBe(0)
    expect(readFileSync(path).includes(SECRET)).toBe(false)

    await store.close()
    expect(existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0).toBe(false)
  },
)
