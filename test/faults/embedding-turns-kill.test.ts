/** Kills a process with SIGKILL while it records turns and embeds them, again and again on the same database. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { parseScope } from '../../src/domain/scope.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { bundled } from '../support/bundle.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { repetitions } from '../support/thoroughness.ts'
import { openEngine } from './recall-support.ts'

const KILLS = repetitions({ usual: 5, thorough: 40 })
const DELAY_MS_MAX = 150
const SPACE = { signature: 'reference:terms:64', dimensions: 64 }
const ADA = parseScope({ owner: 'ada' })
const TURNS_PER_SESSION = 20

it('[LT5] a process that is killed while it embeds turns loses none, and the next one embeds the rest', async () => {
  const program = await bundled('test/faults/embedding-turns.child.ts')
  const path = temporaryFile('killed.db')
  const recorded: string[] = []
  for (let round = 0; round < KILLS; round++) {
    recorded.push(...(await recordUntilKilled(program, path, round)))
    const store = await openSqliteStore({ path, now: Date.now })
    for (const session of recorded) {
      const { rows } = await store.find('turn', parseScope({ owner: 'ada', session }), {
        where: {},
        limit: 100,
      })
      expect(rows, session).toHaveLength(TURNS_PER_SESSION)
    }
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
    await store.close()
  }
  const store = await openSqliteStore({ path, now: Date.now })
  const { engine } = openEngine({ store, vectors: store.vectors })
  const status = await engine.admin.reindex()
  expect(status.turns).toBeGreaterThanOrEqual(recorded.length * TURNS_PER_SESSION)
  expect(status).toMatchObject({ withoutVector: 0, vectors: status.turns, reason: null })
  expect(await store.vectors.count(SPACE, ADA)).toBe(status.turns)
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
}, 600_000)

/** The sessions that it told of. */
async function recordUntilKilled(
  program: string,
  path: string,
  round: number,
): Promise<readonly string[]> {
  const child = spawn(process.execPath, [program, path, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const events: string[] = []
  const lines = createInterface(child.stdout)
  const [exited, drained] = [once(child, 'exit'), once(lines, 'close')]
  const begun = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      events.push(line)
      resolve()
    })
  })
  await Promise.race([begun, exited])
  await delay(Math.random() * DELAY_MS_MAX)
  expect(child.exitCode, 'the process ended by itself').toBeNull()
  child.kill('SIGKILL')
  await Promise.all([exited, drained])
  return events
}
