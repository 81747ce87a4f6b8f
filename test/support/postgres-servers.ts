/**
 * PostgreSQL for tests, three ways: PGlite behind a socket (everywhere, but one backend behind all connections), a
 * private server (real locks and processes), and whatever TEST_POSTGRES_URL points at.
 *
 * All are spoken to through the same `pg` driver that people use. A way that is not to be had says why.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg, { type QueryResultRow } from 'pg'
import {
  openPostgresStore,
  type PostgresOptions,
  type PostgresStore,
} from '../../src/adapters/postgres/store.ts'

export type PostgresServer = {
  readonly kind: 'server'
  readonly url: string
  stop(): Promise<void>
}
export type NoServer = { readonly kind: 'none'; readonly reason: string }

const START_MS_MAX = 60_000
const INSTALL_MS_MAX = 180_000
const PGLITE_CONNECTIONS_MAX = 50

/** Opens a store in a schema of its own, which is dropped when the store is closed. */
export async function openFreshStore(
  url: string,
  options: Omit<PostgresOptions, 'connectionString'> = {},
): Promise<PostgresStore> {
  const schema = options.schema ?? freshSchema()
  const store = await openPostgresStore({ ...options, connectionString: url, schema })
  let closed: Promise<void> | null = null
  const close = async () => {
    await store.close()
    await runSql(url, `DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
  }
  return {
    ...store,
    close: () => {
      closed ??= close()
      return closed
    },
  }
}

export function freshSchema(): string {
  return `test_${randomUUID().replaceAll('-', '')}`
}

/** Runs statements on a connection of their own, beside any store. */
export async function runSql<R extends QueryResultRow>(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<R>(sql, values)).rows
  } finally {
    await client.end()
  }
}

/** The URL of a server that has pgvector, or why there is none. */
export async function withPgvector(
  found: PostgresServer | NoServer | string | undefined,
): Promise<{ readonly url: string } | { readonly reason: string }> {
  if (found === undefined) return { reason: 'it is not set' }
  if (typeof found !== 'string' && found.kind === 'none') return { reason: found.reason }
  const url = typeof found === 'string' ? found : found.url
  const versions = await runSql(
    url,
    `SELECT 1 FROM pg_available_extension_versions
     WHERE name = 'vector' AND string_to_array(version, '.')::integer[] >= '{0,8}'`,
  )
  return versions.length > 0 ? { url } : { reason: 'pgvector 0.8 or later is not installed there' }
}

export type PgliteOptions = {
  /** Whether pgvector is installed; it must still be created. */
  readonly pgvector?: boolean
  /** Where the data are kept; in memory without it. */
  readonly folder?: string
}

export async function startPglite(options: PgliteOptions = {}): Promise<PostgresServer> {
  const { PGlite } = await import('@electric-sql/pglite')
  const { PGLiteSocketServer } = await import('@electric-sql/pglite-socket')
  const { vector } = await import('@electric-sql/pglite-pgvector')
  const isKept = options.folder !== undefined
  const template = isKept ? null : readTemplate()
  const db = await PGlite.create({
    ...(isKept ? { dataDir: options.folder } : {}),
    ...(template === null ? {} : { loadDataDir: template }),
    extensions: options.pgvector === true ? { vector } : {},
  })
  if (!isKept && template === null) await writeTemplate(await db.dumpDataDir('none'))
  const server = new PGLiteSocketServer({ db, port: 0, maxConnections: PGLITE_CONNECTIONS_MAX })
  await server.start()
  return {
    kind: 'server',
    url: `postgresql://postgres@${server.getServerConn()}/postgres`,
    async stop() {
      await server.stop()
      await db.close()
    },
  }
}

/** A fresh database takes seconds to make, so the first file of tests that needs one leaves a copy for the others. */
const TEMPLATE = process.env.TEST_FOLDER && join(process.env.TEST_FOLDER, 'pglite.tar')

function readTemplate(): Blob | null {
  return TEMPLATE && existsSync(TEMPLATE) ? new Blob([readFileSync(TEMPLATE)]) : null
}

/** Renamed when it is whole: others may look for it meanwhile. */
async function writeTemplate(data: Blob): Promise<void> {
  if (!TEMPLATE) return
  const unfinished = `${TEMPLATE}.${randomUUID()}`
  writeFileSync(unfinished, new Uint8Array(await data.arrayBuffer()))
  renameSync(unfinished, TEMPLATE)
}

/** A server of our own on a socket in a temporary directory, which no one else can reach. */
export async function startServer(): Promise<PostgresServer | NoServer> {
  if (process.platform === 'win32') return none('no unix sockets here')
  const binaries = findBinaries() ?? (await installBinaries())
  if (binaries === null) return none('initdb and postgres were not found, nor could be installed')
  const account = unprivilegedAccount()
  if (account === null)
    return none('postgres refuses to run as root, and no other account was found')
  const directory = mkdtempSync(join(tmpdir(), 'recollect-postgres-'))
  if (account.uid !== undefined) chownSync(directory, account.uid, account.gid)
  const data = join(directory, 'data')
  const environment = { ...process.env, LC_ALL: 'C' }
  const setup = ['-D', data, '-U', 'recollect', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  try {
    const options = { ...account, cwd: directory, env: environment }
    await promisify(execFile)(join(binaries, 'initdb'), setup, options)
  } catch (thrown) {
    rmSync(directory, { recursive: true, force: true })
    return none(`initdb failed: ${firstLineOf(thrown)}`)
  }
  const settings = [
    ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'listen_addresses='],
    ...['max_connections=100', `unix_socket_directories=${directory}`],
  ]
  const child = spawn(
    join(binaries, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    { ...account, cwd: directory, env: environment, stdio: 'ignore' },
  )
  const url = `postgresql://recollect@localhost/postgres?host=${encodeURIComponent(directory)}`
  const stop = async () => {
    await stopped(child)
    rmSync(directory, { recursive: true, force: true })
  }
  // A run that is cut short must not leave a server behind.
  process.once('exit', () => child.kill('SIGQUIT'))
  try {
    await untilReady(url, child)
  } catch (thrown) {
    await stop()
    return none(`the server did not start: ${String(thrown)}`)
  }
  return { kind: 'server', url, stop }
}

/** What the program said before it gave up; the first line of an error only repeats the command. */
function firstLineOf(thrown: unknown): string {
  const [, said] = String(thrown).split('\n')
  return said ?? String(thrown)
}

function none(reason: string): NoServer {
  return { kind: 'none', reason }
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS_MAX
  while (true) {
    try {
      await runSql(url, 'SELECT 1')
      return
    } catch (thrown) {
      if (child.exitCode !== null || Date.now() > deadline) throw thrown
      await delay(50)
    }
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGINT')
  await exit
}

/** Where initdb and postgres are: on the path, or where Debian keeps them; the newest first. */
function findBinaries(): string | null {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian) : []
  const places = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(debian, version, 'bin')),
  ]
  const holdsBoth = (place: string) =>
    ['initdb', 'postgres'].every((name) => existsSync(join(place, name)))
  return places.find((place) => place !== '' && holdsBoth(place)) ?? null
}

/** Only where it can be done without asking anyone: as root, on a system with apt. */
async function installBinaries(): Promise<string | null> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return null
  try {
    await promisify(execFile)(
      'apt-get',
      ['install', '--yes', '--quiet', '--no-install-recommends', 'postgresql'],
      { timeout: INSTALL_MS_MAX, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } },
    )
  } catch {
    return null
  }
  return findBinaries()
}

type Account = { readonly uid: number; readonly gid: number } | { readonly uid?: never }

/** As whom to run the server: as ourselves, unless that is root. */
function unprivilegedAccount(): Account | null {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      // Not on this system; try the next.
    }
  }
  return null
}
