/**
 * Several servers on one PostgreSQL: how much more two and four of them answer than one.
 *
 * All of them run all the time, and as many are queried as are measured; the number of connections stays the same. The
 * servers share the machine with the database and with the client, so the report includes the cores that were busy:
 * one server that leaves none free can't be doubled.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, openSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { findPackageFolder } from '../../src/lib/package-folder.ts'
import { firstLine, residentMb, startProgram, stopProcess } from '../gateway/processes.ts'
import { atLeast, atMost, type Bar, type BenchRow, round } from '../harness.ts'
import type { Load, LoadCall } from './load-client.ts'
import { EMBEDDING, type LoadDatabase } from './load-data.ts'
import { inProcess } from './worker.ts'

const SERVERS = [1, 2, 4] as const
const SERVERS_MAX = 4
const CALLS: readonly LoadCall[] = ['search', 'add']
const NAMES = { search: 'REST search', add: 'REST add' } as const
const CONNECTIONS = 32
/** By turns, so that whatever else the machine does falls on all of them alike. */
const ROUNDS = 3
const SECONDS = 5
const SECONDS_MIN = 4
const OWNERS = 100
const MEMORIES = 10_000
const MEMORIES_MIN = 1_000
const GROWTH_MIN = 1.6

export type LoadOptions = {
  readonly url: string
  /** For what the servers keep and log. */
  readonly folder: string
  readonly scale: number
  readonly signal: AbortSignal
  readonly say: (what: string) => void
}

export type LoadReport = {
  readonly rows: readonly BenchRow[]
  readonly bars: readonly Bar[]
  readonly notes: readonly string[]
}

type Server = { readonly child: ChildProcess; readonly url: string }
type Measured = Load & { readonly busyCores: number }

export async function benchLoad(options: LoadOptions): Promise<LoadReport> {
  const { signal, say } = options
  const small = Math.min(1, options.scale)
  const database: LoadDatabase = {
    ...{ url: options.url, schema: 'load', owners: OWNERS },
    memories: Math.max(MEMORIES_MIN, MEMORIES * small),
  }
  say('load: filling')
  const key = await inProcess('fillForLoad', database, { signal })
  const servers: Server[] = []
  try {
    for (let number = 1; number <= SERVERS_MAX; number++) {
      servers.push(await startServer(number, database, options.folder))
    }
    const seconds = Math.max(SECONDS_MIN, SECONDS * small)
    const measured = new Map<LoadCall, ReadonlyMap<number, Measured>>()
    let run = 0
    for (const call of CALLS) {
      const runLoad = (count: number, duration: number) => {
        const urls = servers.slice(0, count).map(({ url }) => url)
        const input = { ...database, call, urls, key, connections: CONNECTIONS, seconds: duration }
        return inProcess('load', { ...input, run: run++ }, { signal })
      }
      say(`load: ${NAMES[call]}, warming up`)
      await runLoad(SERVERS_MAX, SECONDS_MIN)
      measured.set(
        call,
        await measureCalls((count) => {
          say(`load: ${NAMES[call]}, ${processes(count)}`)
          return runLoad(count, seconds)
        }),
      )
    }
    const rssMb = servers.map(({ child }) => residentMb(child))
    return reportOf(measured, rssMb)
  } finally {
    await Promise.all(servers.map(({ child }) => stopProcess(child)))
  }
}

async function startServer(
  number: number,
  { url, schema }: LoadDatabase,
  folder: string,
): Promise<Server> {
  const data = join(folder, `server-${number}`)
  mkdirSync(data)
  const log = join(data, 'server.log')
  const child = startProgram(
    [join(findPackageFolder(), 'dist', 'app', 'cli-main.js'), 'serve', '--json', '--port', '0'],
    {
      RECOLLECT_DATA: data,
      RECOLLECT_POSTGRES_URL: url,
      RECOLLECT_POSTGRES_SCHEMA: schema,
      RECOLLECT_EMBEDDING_SOURCE: EMBEDDING,
      RECOLLECT_REQUESTS_PER_MINUTE: '0',
      RECOLLECT_LOG_LEVEL: 'warn',
    },
    ['ignore', 'pipe', openSync(log, 'w')],
  )
  const line = await firstLine(child, `server ${number}`, log)
  return { child, url: (JSON.parse(line) as { url: string }).url } // what `serve --json` prints
}

/** The median of several rounds for each number of servers; errors are those of all rounds. */
async function measureCalls(
  runLoad: (count: number) => Promise<Load>,
): Promise<ReadonlyMap<number, Measured>> {
  const rounds = new Map<number, Measured[]>(SERVERS.map((count) => [count, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [count, measured] of rounds) {
      const before = cpuTimes()
      const load = await runLoad(count)
      measured.push({ ...load, busyCores: busyCores(before, cpuTimes()) })
    }
  }
  return new Map(
    [...rounds].map(([count, measured]) => {
      const sorted = measured.toSorted((a, b) => a.perSecond - b.perSecond)
      const median = sorted[Math.floor(sorted.length / 2)] as Measured // there are rounds
      return [count, { ...median, errors: measured.reduce((sum, { errors }) => sum + errors, 0) }]
    }),
  )
}

function reportOf(
  measured: ReadonlyMap<LoadCall, ReadonlyMap<number, Measured>>,
  rssMb: readonly number[],
): LoadReport {
  const rows: BenchRow[] = []
  const bars: Bar[] = []
  const notes: string[] = []
  let errors = 0
  for (const [call, byCount] of measured) {
    for (const [count, load] of byCount) {
      rows.push({
        what: `${NAMES[call]}, ${processes(count)} on one PostgreSQL`,
        rssMb: rssMb.slice(0, count).reduce((sum, mb) => sum + mb, 0),
        perSecond: Math.round(load.perSecond),
        ...{ p50: round(load.p50), p95: round(load.p95), errors: load.errors },
        busyCores: round(load.busyCores),
      })
      errors += load.errors
    }
    const growth = growthOf(NAMES[call], byCount.get(1), byCount.get(2))
    bars.push(...growth.bars)
    notes.push(...growth.notes)
  }
  bars.push(atMost('several processes on one PostgreSQL: errors', errors, 0))
  return { rows, bars, notes }
}

/** Whether two servers answer as much more than one as they should, or that the machine is too small to measure it. */
export function growthOf(
  what: string,
  one: Pick<Measured, 'perSecond' | 'busyCores'> | undefined,
  two: Pick<Measured, 'perSecond'> | undefined,
  cores = cpus().length,
): Pick<LoadReport, 'bars' | 'notes'> {
  if (one === undefined || two === undefined) return { bars: [], notes: [] }
  const growth = two.perSecond / one.perSecond
  if (one.busyCores * GROWTH_MIN <= cores) {
    const name = `${what}: two processes against one, times as many`
    return { bars: [atLeast(name, growth, GROWTH_MIN)], notes: [] }
  }
  const shown = `${round(growth)} times as many with two processes as with one`
  const busy = `one process with its database and the client already keeps ${round(one.busyCores)} busy`
  return {
    bars: [],
    notes: [
      `${what}: ${shown}. The bar of ${GROWTH_MIN} can't be judged on ${cores} cores, of which ${busy}.`,
    ],
  }
}

function processes(count: number): string {
  return count === 1 ? '1 process' : `${count} processes`
}

type CpuTimes = { readonly busy: number; readonly idle: number }

function cpuTimes(): CpuTimes {
  let [busy, idle] = [0, 0]
  for (const { times } of cpus()) {
    idle += times.idle
    busy += times.user + times.nice + times.sys + times.irq
  }
  return { busy, idle }
}

/** How many cores worked on the average, for whomever. */
function busyCores(before: CpuTimes, after: CpuTimes): number {
  const busy = after.busy - before.busy
  const all = busy + after.idle - before.idle
  return all === 0 ? 0 : (busy / all) * cpus().length
}
