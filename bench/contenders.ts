/** Every store that can be opened here, for benches that run side by side. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInMemoryStore } from '../src/storage/in-memory/in-memory-store.ts'
import { describeMissingCipher } from '../src/storage/sqlite/connection/sqlite-driver.ts'
import { openSqliteStore } from '../src/storage/sqlite/sqlite-store.ts'
import type { Store } from '../src/storage/store.ts'
import { openFreshStore, startPglite, startServer } from '../test/support/postgres-servers.ts'

export type Opened = { readonly store: Store; close(): Promise<void> }
export type Contender = {
  readonly name: string
  readonly open: () => Promise<Opened>
  /** A store that is slow by design gets less to do. */
  readonly isSlow: boolean
}

export async function contenders(skipped: (reason: string) => void): Promise<{
  readonly all: readonly Contender[]
  close(): Promise<void>
}> {
  const all: Contender[] = [
    { name: 'reference (in memory)', open: openReference, isSlow: true },
    { name: 'sqlite', open: () => openSqlite(null), isSlow: false },
  ]
  const lacking = describeMissingCipher()
  if (lacking === null) {
    const hex = '5e'.repeat(32)
    const open = () => openSqlite({ kind: 'raw', hex } as const)
    all.push({ name: 'sqlite encrypted', open, isSlow: false })
  } else skipped(`sqlite encrypted: ${lacking}`)
  const closers: (() => Promise<void>)[] = []
  for (const [name, start] of [
    ['postgres (PGlite)', startPglite],
    ['postgres (server)', startServer],
  ] as const) {
    const server = await start()
    if ('reason' in server) {
      skipped(`${name}: ${server.reason}`)
      continue
    }
    closers.push(() => server.stop())
    const open = async () => {
      const store = await openFreshStore(server.url)
      return { store, close: () => store.close() }
    }
    all.push({ name, open, isSlow: name.includes('PGlite') })
  }
  return { all, close: async () => void (await Promise.all(closers.map((close) => close()))) }
}

async function openReference(): Promise<Opened> {
  const store = createInMemoryStore()
  return { store, close: () => store.close() }
}

export async function openSqlite(
  key: Parameters<typeof openSqliteStore>[0]['key'] = null,
): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-bench-'))
  const store = await openSqliteStore({ path: join(folder, 'bench.db'), now: Date.now, key })
  return {
    store,
    close: async () => {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
