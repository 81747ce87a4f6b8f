/** A PostgreSQL server of the bench's own, set up for the machine it runs on, and what it holds of memory. */
import { readdirSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import {
  type NoServer,
  type PrivateServer,
  runSql,
  startServer,
} from '../../test/support/postgres-servers.ts'

const MB = 2 ** 20
const KB_PER_MB = 1_024
/** Of the machine's memory, as PostgreSQL's manual advises; but what a bench fills needs no more than this. */
const BUFFERS_SHARE = 1 / 4
const BUFFERS_MB_MAX = 4_096
/** What an index over 100,000 vectors needs while it is built; with less, building takes several times as long. */
const BUILDING_MB = 1_024

export type BenchServer = {
  readonly url: string
  /** Where its data are. */
  readonly folder: string
  /** What it is, for people. */
  readonly facts: string
  stop(): Promise<void>
}

export async function startBenchServer(): Promise<BenchServer | { readonly reason: string }> {
  const server = await startedServer()
  if (server.kind === 'none') return server
  try {
    if (server.withoutPgvector !== null) throw new Error(server.withoutPgvector)
    const buffersMb = Math.min(BUFFERS_MB_MAX, Math.round((totalmem() * BUFFERS_SHARE) / MB))
    await runSql(server.url, `ALTER SYSTEM SET shared_buffers = '${buffersMb}MB'`)
    await runSql(server.url, `ALTER SYSTEM SET maintenance_work_mem = '${BUILDING_MB}MB'`)
    // It holds nothing yet, so that it may be ended at once.
    await server.crash()
    await server.restart()
    const versions = await runSql<{ server: string; pgvector: string }>(
      server.url,
      `SELECT current_setting('server_version') AS server, default_version AS pgvector
       FROM pg_available_extensions WHERE name = 'vector'`,
    )
    const [found] = versions
    if (found === undefined) throw new Error('pgvector is not installed there')
    const memory = `shared_buffers ${buffersMb} MB, maintenance_work_mem ${BUILDING_MB} MB`
    return {
      url: server.url,
      folder: join(server.directory, 'data'),
      facts: `PostgreSQL ${found.server} with pgvector ${found.pgvector}, ${memory}, and like SQLite not waiting for the disk at each commit`,
      stop: () => server.stop(),
    }
  } catch (error) {
    await server.stop()
    return { reason: error instanceof Error ? error.message : String(error) }
  }
}

async function startedServer(): Promise<PrivateServer | NoServer> {
  try {
    return await startServer()
  } catch (error) {
    return { kind: 'none', reason: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * What the processes of a server hold, memory that they share counted once. Null where the system doesn't tell.
 */
export function serverMemoryMb(folder: string): number | null {
  try {
    const [first = ''] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
    const pids = [Number(first), ...childrenOf(Number(first))]
    return Math.round(pids.reduce((sum, pid) => sum + shareKb(pid), 0) / KB_PER_MB)
  } catch {
    return null
  }
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent)
}

function parentOf(pid: number): number | null {
  try {
    // The name of the program stands in parentheses and may hold anything; after it come the state and the parent.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null // it has ended
  }
}

/** A process's own memory, and its share of what it has in common with others. */
function shareKb(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0)
  } catch {
    return 0 // it has ended
  }
}
