/** Fills the data folder of a server before it starts, in a process of its own, so that the bench stays small. */
import { fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createEngine } from '../../src/app/composition.ts'
import { DATABASE_FILE } from '../../src/app/database/local-database.ts'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import type { SessionId } from '../../src/domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../../src/domain/limits.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { turn } from '../../test/fakes/entries.ts'
import { memory, owner } from '../../test/fakes/memories.ts'
import { Statements } from './statements.ts'

/** Costs next to nothing and is measured apart; see `gateway.ts`. */
export const EMBEDDING = 'static'
const OWNER = owner('bench')
const BATCH = Math.min(COMMIT_CHANGES_MAX, 500)

export type Order = {
  readonly folder: string
  readonly memories: number
  /** Of conversations of `SESSION_TURNS` turns each. */
  readonly turns: number
  readonly hasMemory: boolean
  /** Of the provider that the gateway asks. */
  readonly baseUrl: string
}

/** The secret of a key for the owner. */
export function fillFolder(order: Order): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(order)])
    child.once('message', (secret) => resolve(String(secret)))
    child.once('exit', () => reject(new Error('Filling a data folder failed.')))
  })
}

async function run({ folder, memories, turns, hasMemory, baseUrl }: Order): Promise<void> {
  process.once('disconnect', () => process.exit()) // nobody waits for it any more
  const providers = { openai: { kind: 'openai', baseUrl, key: 'sk-test' } }
  writeFileSync(join(folder, 'providers.json'), JSON.stringify({ providers }))
  const path = join(folder, DATABASE_FILE)
  await writeMemories(path, memories)
  await writeTurns(path, turns)
  const engine = await createEngine({ path, embedding: { source: EMBEDDING } })
  try {
    await engine.admin.reindex()
    await engine.admin.settings.change(OWNER, { 'gateway.enabled': hasMemory })
    const { secret } = await engine.admin.keys.create({
      name: 'bench',
      defaultOwner: OWNER,
      role: 'user',
    })
    process.send?.(secret)
  } finally {
    await engine.close()
    process.disconnect()
  }
}

/** As the rows that remembering them one by one would leave, which takes minutes. */
async function writeMemories(path: string, count: number): Promise<void> {
  const store = await openSqliteStore({ path, now: Date.now })
  const statements = new Statements(7)
  const ids = createIdGenerator()
  const now = systemClock.now()
  const place = { owner: OWNER, user: null, session: null }
  for (let done = 0; done < count; done += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - done) }, () =>
      memory({
        id: ids.next('mem', now),
        place,
        content: statements.next().statement,
        createdAt: now,
        updatedAt: now,
      }),
    )
    await store.commit(rows.map((row) => ({ op: 'put', table: 'memory', row, expect: 'absent' })))
  }
  await store.close()
}

const SESSION_TURNS = 20

async function writeTurns(path: string, count: number): Promise<void> {
  const store = await openSqliteStore({ path, now: Date.now })
  const statements = new Statements(11)
  const ids = createIdGenerator()
  const now = systemClock.now()
  for (let done = 0; done < count; done += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - done) }, (_, index) => {
      const number = done + index
      const session = `session-${Math.floor(number / SESSION_TURNS)}`
      return turn({
        id: ids.next('turn', now),
        place: { owner: OWNER, user: null, session: session as SessionId }, // letters and digits
        role: number % 2 === 0 ? 'user' : 'assistant',
        content: `${statements.next().statement}. ${statements.next().statement}.`,
        position: number % SESSION_TURNS,
        saidAt: now,
      })
    })
    await store.commit(rows.map((row) => ({ op: 'put', table: 'turn', row, expect: 'absent' })))
  }
  await store.close()
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] !== undefined) {
  await run(JSON.parse(process.argv[2]) as Order) // from fillFolder
}
