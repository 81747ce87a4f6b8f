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
  type PostgresStore,
  type PostgresStoreOptions,
} from '../../src/storage/postgres/postgres-store.ts'
import { withPgvectorBeside } from './pgvector-install.ts'

export type PostgresServer = {
  readonly kind: 'server'
  readonly url: string
  stop(): Promise<void>
}
/** One that tests may do anything to. */
export type PrivateServer = PostgresServer & {
  readonly directory: string
  readonly binaries: string
  /** Why it has no pgvector; null when it has. */
  readonly withoutPgvector: string | null
  /** Ends it at once, with everything that is under way. */
  crash(): Promise<void>
  restart(): Promise<void>
}
export type NoServer = { readonly kind: 'none'; readonly reason: string }

const START_MS_MAX = 60_000
const INSTALL_MS_MAX = 180_000
const PGLITE_CONNECTIONS_MAX = 50

/** Opens a store in a schema of its own, which is dropped when the store is closed. */
export async function openFreshStore(
  url: string,
  options: Omit<PostgresStoreOptions, 'connectionString'> = {},
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
  found: PostgresServer | PrivateServer | NoServer | string | undefined,
): Promise<{ readonly url: string } | { readonly reason: string }> {
  if (found === undefined) return { reason: 'it is not set' }
  if (typeof found !== 'string' && found.kind === 'none') return { reason: found.reason }
  const url = typeof found === 'string' ? found : found.url
  const versions = await runSql(
    url,
    `SELECT 1 FROM pg_available_extension_versions
     WHERE name = 'vector' AND string_to_array(version, '.')::integer[] >= '{0,8}'`,
  )
  if (versions.length > 0) return { url }
  const known = typeof found !== 'string' && 'withoutPgvector' in found && found.withoutPgvector
  return { reason: known || 'pgvector 0.8 or later is not installed there' }
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
export async function startServer(): Promise<PrivateServer | NoServer> {
  if (process.platform === 'win32') return none('no unix sockets here')
  const found = findBinaries() ?? (await installBinaries())
  if (found === null) return none('initdb and postgres were not found, nor could be installed')
  const { binaries, reason } = await withPgvectorBeside(found)
  return launch(binaries, { withoutPgvector: reason }, async (data, options) => {
    const setup = ['-D', data, '-U', 'recollect', '-A', 'trust', '-E', 'UTF8', '--no-sync']
    await promisify(execFile)(join(binaries, 'initdb'), setup, options)
  })
}

/** A server that follows another one and takes no writes. */
export async function startReplica(primary: PrivateServer): Promise<PrivateServer | NoServer> {
  const { binaries, directory, withoutPgvector } = primary
  return launch(binaries, { withoutPgvector }, async (data, options) => {
    const from = ['-h', directory, '-U', 'recollect', '-D', data]
    const how = ['-R', '-X', 'stream', '-c', 'fast', '--no-sync']
    await promisify(execFile)(join(binaries, 'pg_basebackup'), [...from, ...how], options)
  })
}

/** A run that is cut short, however, must not leave a server behind: it lasts as long as somebody holds its input. */
const UNTIL_LEFT = '"$@" & server=$!; cat > /dev/null; kill -QUIT $server; wait $server'

type Preparing = Account & { readonly cwd: string; readonly env: NodeJS.ProcessEnv }

/** Has the data made in a new directory, and runs a server on them. */
async function launch(
  binaries: string,
  facts: Pick<PrivateServer, 'withoutPgvector'>,
  prepare: (data: string, options: Preparing) => Promise<void>,
): Promise<PrivateServer | NoServer> {
  const account = unprivilegedAccount()
  if (account === null)
    return none('postgres refuses to run as root, and no other account was found')
  const directory = mkdtempSync(join(tmpdir(), 'recollect-postgres-'))
  if (account.uid !== undefined) chownSync(directory, account.uid, account.gid)
  const data = join(directory, 'data')
  const options = { ...account, cwd: directory, env: { ...process.env, LC_ALL: 'C' } }
  try {
    await prepare(data, options)
  } catch (thrown) {
    rmSync(directory, { recursive: true, force: true })
    return none(`its data could not be made: ${firstLineOf(thrown)}`)
  }
  const settings = [
    ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'listen_addresses='],
    ...['max_connections=100', `unix_socket_directories=${directory}`],
  ]
  const start = () =>
    spawn(
      'sh',
      [
        ...['-c', UNTIL_LEFT, 'sh', join(binaries, 'postgres'), '-D', data],
        ...settings.flatMap((setting) => ['-c', setting]),
      ],
      { ...options, stdio: ['pipe', 'ignore', 'ignore'] },
    )
  let child = start()
  const url = `postgresql://recollect@localhost/postgres?host=${encodeURIComponent(directory)}`
  const stop = async () => {
    await stopped(child)
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    await untilReady(url, child)
  } catch (thrown) {
    await stop()
    return none(`the server did not start: ${String(thrown)}`)
  }
  return {
    ...{ kind: 'server', url, directory, binaries, stop, ...facts },
    crash: () => stopped(child),
    restart: async () => {
      child = start()
      await untilReady(url, child)
    },
  }
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

/** At once, as in a crash: nobody needs the data of a test any more, and those who go on with them want that. */
async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = new Promise((resolve) => child.once('exit', resolve))
  child.stdin?.end()
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
