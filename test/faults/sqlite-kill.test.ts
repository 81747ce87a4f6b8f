/**
 * Kills a writing process with SIGKILL at random points, again and again on the same databases.
 * Whatever it had acknowledged must be there, nothing may be half-written, and there is nothing to mend.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { parseId } from '../../src/domain/ids.ts'
import { parseScope } from '../../src/domain/scope.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { bundled } from '../support/bundle.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { repetitions } from '../support/thoroughness.ts'

const KILLS = repetitions({ usual: 30, thorough: 200 })

/** Two at a time: one per core of a small machine. */
const WRITERS = 2

/** Of one database: the whole of it is looked through after every kill. */
const KILLS_PER_FILE = 25
const DELAY_MS_MAX = 60
const ADA = parseScope({ owner: 'ada' })

it('[FT2] keeps every acknowledged write when killed at any point', async () => {
  const program = await bundled('test/faults/sqlite-writer.child.ts')
  await Promise.all(Array.from({ length: WRITERS }, () => killRepeatedly(program, KILLS / WRITERS)))
}, 600_000)

async function killRepeatedly(program: string, kills: number): Promise<void> {
  let path = ''
  let acknowledgements = 0
  for (let round = 0; round < kills; round++) {
    if (round % KILLS_PER_FILE === 0) path = temporaryFile('killed.db')
    const acknowledged = await writeUntilKilled(program, path, round)
    acknowledgements += acknowledged.length
    const store = await openSqliteStore({ path, now: Date.now })
    for (const line of acknowledged) {
      const [id, version, status] = line.split(' ')
      const memory = await store.get('memory', ADA, parseId('mem', id))
      expect(memory, `round ${round}: ${line}`).not.toBeNull()
      // Something newer may have been written without having been acknowledged.
      expect(memory?.version).toBeGreaterThanOrEqual(Number(version))
      if (memory?.version === Number(version)) expect(memory.status).toBe(status)
      const { rows } = await store.find('revision', ADA, {
        where: { memories: [parseId('mem', id)] },
        limit: 10,
      })
      expect(rows).toHaveLength((memory?.version ?? 0) - 1)
    }
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
    await store.close()
  }
  // Proves that it wrote at all; how much depends on how busy the machine is.
  expect(acknowledgements).toBeGreaterThan(0)
}

async function writeUntilKilled(
  program: string,
  path: string,
  round: number,
): Promise<readonly string[]> {
  const child = spawn(process.execPath, [program, path, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const acknowledged: string[] = []
  const lines = createInterface(child.stdout)
  const exited = once(child, 'exit')
  const drained = once(lines, 'close')
  // A process that has just started takes its time for the first statement.
  const isKilledEarly = round % 10 < 3
  const started = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (line !== 'ready') acknowledged.push(line)
      if (isKilledEarly || line !== 'ready') resolve()
    })
  })
  // Some are killed while they open the database or write the first time, most when they are in full swing.
  await Promise.race([started, exited, ...(round % 10 === 9 ? [delay(Math.random() * 120)] : [])])
  await delay(Math.random() * DELAY_MS_MAX)
  expect(child.exitCode, 'the writer ended by itself').toBeNull()
  child.kill('SIGKILL')
  await Promise.all([exited, drained])
  return acknowledged
}
