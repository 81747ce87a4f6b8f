/**
 * Kills a process that writes to LanceDB with SIGKILL at random points, again and again on the same folders. Whatever it
 * had acknowledged must be there, once, and there is nothing to mend.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/app/system-clock.ts'
import { openLanceVectorReplica } from '../../src/storage/lancedb/lancedb-vector-replica.ts'
import type { VectorReplica } from '../../src/storage/vector-replica.ts'
import { ADA } from '../fakes/memories.ts'
import { space, unitVector } from '../fakes/vectors.ts'
import { bundled } from '../support/bundle.ts'
import { type InstalledLance, lancePart } from '../support/lancedb.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { repetitions } from '../support/thoroughness.ts'

const KILLS = repetitions({ usual: 10, thorough: 40 })
/** Two at a time: one per core of a small machine. */
const WRITERS = 2
const KILLS_PER_FOLDER = 5
const DELAY_MS_MAX = 150
const SPACE = space(24)
const EVERYTHING = 100_000

const part = await lancePart()

if (part.kind === 'none') {
  describe.skip(`lancedb: ${part.reason}`, () => it('was not run', () => {}))
} else {
  it('[LC9] keeps every acknowledged write when killed at any point', async () => {
    const program = await bundled('test/faults/lancedb-writer.child.ts')
    const lanes = Array.from({ length: WRITERS }, () => killRepeatedly(part, program))
    const acknowledged = (await Promise.all(lanes)).flat()
    // Proves that it wrote at all; how much depends on how busy the machine is.
    expect(acknowledged.length).toBeGreaterThan(0)
  }, 120_000)
}

async function killRepeatedly(lance: InstalledLance, program: string): Promise<string[]> {
  const all: string[] = []
  let [folder, inFolder]: [string, string[]] = ['', []]
  for (let round = 0; round < KILLS / WRITERS; round++) {
    if (round % KILLS_PER_FOLDER === 0) [folder, inFolder] = [temporaryFolder(), []]
    const result = await writeUntilKilled(program, [folder, lance.folder, `r${round}`], round)
    all.push(...result)
    inFolder.push(...result)
    const mirror = await openLanceVectorReplica({ folder, clock: systemClock, load: lance.load })
    await expectAcknowledged(mirror, inFolder, `round ${round}`)
    await mirror.close()
  }
  return all
}

async function expectAcknowledged(
  mirror: VectorReplica,
  lines: readonly string[],
  round: string,
): Promise<void> {
  const listed = await mirror.list(SPACE, { limit: EVERYTHING })
  const ids = listed.map(({ id }) => String(id))
  expect(new Set(ids).size, round).toBe(ids.length)
  const removed = idsBehind('-', lines)
  for (const id of removed) expect(ids, round).not.toContain(id)
  const removing = new Set(removed)
  const lost = idsBehind('+', lines).filter((id) => !removing.has(id) && !ids.includes(id))
  // A removal may have been done without having been acknowledged: that of the last points.
  expect(
    lost.every((id) => mayBeRemoved(id)),
    `${round}: ${lost.join()}`,
  ).toBe(true)
  expect(await mirror.count(SPACE, ADA.owner), round).toBe(ids.length)
  const query = { vector: unitVector(SPACE.dimensions, 1), limit: EVERYTHING }
  const hits = await mirror.search(SPACE, { owner: ADA.owner }, query)
  expect(hits.map(({ id }) => String(id)).sort(), round).toEqual(ids)
}

function idsBehind(sign: string, lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(2))
}

/** The writer removes the first two of every fourth call. */
function mayBeRemoved(id: string): boolean {
  const [, call = '', at = ''] = id.split('x')
  return Number(call) % 4 === 3 && Number(at) < 2
}

async function writeUntilKilled(
  program: string,
  args: readonly string[],
  round: number,
): Promise<readonly string[]> {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const acknowledged: string[] = []
  const lines = createInterface(child.stdout)
  const [exited, drained] = [once(child, 'exit'), once(lines, 'close')]
  const isKilledEarly = round % KILLS_PER_FOLDER === 0
  const started = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (line !== 'ready') acknowledged.push(line)
      if (isKilledEarly || line !== 'ready') resolve()
    })
  })
  // The first of a folder while it makes its table, the others when they are in full swing.
  await Promise.race([started, exited])
  await delay(Math.random() * (isKilledEarly ? 10 : DELAY_MS_MAX))
  expect(child.exitCode, 'the writer ended by itself').toBeNull()
  child.kill('SIGKILL')
  await Promise.all([exited, drained])
  return acknowledged
}
