/**
 * A PostgreSQL with pgvector for tests, where the machine has one without: a private copy of Debian's server with the
 * extension beside it, made from Debian's packages. Nothing is installed on the machine. The copy is kept for later runs.
 *
 * Where packages come from is asked of apt. Every step has a time limit, and where one fails there is a reason.
 */
import { execFile } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

export type Installation = {
  /** Where `initdb` and `postgres` are. */
  readonly binaries: string
  /** Why there is no pgvector; null when there is. */
  readonly reason: string | null
}

const STEP_MS_MAX = 120_000
const WAIT_MS_MAX = 300_000
const PROGRAMS = ['postgres', 'initdb', 'pg_basebackup']
/** Releases whose sources have pgvector, in case the machine's own has not. */
const RELEASES = ['trixie', 'forky', 'sid']
const DEBIAN_KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg'
/** Debian keeps a server of each version in these places. A copy with the same places below it finds its own files. */
const LAYOUT = /^\/usr\/lib\/postgresql\/(\d+)\/bin$/

export async function withPgvectorBeside(binaries: string): Promise<Installation> {
  const own = dirname(realpathSync(join(binaries, 'postgres')))
  const version = LAYOUT.exec(own)?.[1]
  if (version === undefined) return { binaries, reason: null } // whoever asks sees what is there
  if (existsSync(join(extensionsOf('', version), 'vector.control'))) {
    return { binaries: own, reason: null }
  }
  const place = join(tmpdir(), `recollect-pgvector-${version}-${process.getuid?.() ?? 0}`)
  const reason = await made(place, version)
  return reason === null
    ? { binaries: join(place, 'usr/lib/postgresql', version, 'bin'), reason }
    : { binaries: own, reason }
}

/** Makes the copy once, however many ask for it at the same time; or says why that can't be done. */
async function made(place: string, version: string): Promise<string | null> {
  const lock = `${place}.lock`
  const deadline = Date.now() + WAIT_MS_MAX
  while (Date.now() < deadline) {
    if (isOurs(place)) return null
    const failure = readFailure()
    if (failure !== null) return failure
    try {
      mkdirSync(lock)
    } catch {
      if (isStale(lock)) rmSync(lock, { recursive: true, force: true })
      await delay(200)
      continue
    }
    try {
      await make(place, version)
    } catch (thrown) {
      noteFailure(`pgvector could not be built: ${lastLineOf(thrown)}`)
    } finally {
      rmSync(lock, { recursive: true, force: true })
    }
  }
  return 'pgvector was not built in time'
}

/** A folder of another user under this name is none that programs should be run from. */
function isOurs(place: string): boolean {
  return existsSync(place) && statSync(place).uid === (process.getuid?.() ?? 0)
}

function isStale(lock: string): boolean {
  return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) > WAIT_MS_MAX
}

/** So that the other files of one run don't try in vain again. */
const FAILURE = process.env.TEST_FOLDER && join(process.env.TEST_FOLDER, 'pgvector-failure.txt')

function readFailure(): string | null {
  return FAILURE && existsSync(FAILURE) ? readFileSync(FAILURE, 'utf8') : null
}

function noteFailure(reason: string): void {
  if (!FAILURE) throw new Error(reason)
  writeFileSync(FAILURE, reason)
}

async function make(place: string, version: string): Promise<void> {
  if (!existsSync('/usr/bin/apt-get')) throw new Error('there is no apt')
  const work = mkdtempSync(join(tmpdir(), 'recollect-pgvector-'))
  try {
    const parts = join(work, 'parts')
    mkdirSync(parts)
    await packaged(work, parts, version).catch(() => compiled(work, parts, version))
    const copy = join(work, 'copy')
    copyServer(copy, version)
    for (const name of readdirSync(parts)) {
      const target = name.endsWith('.so') ? libraryOf(copy, version) : extensionsOf(copy, version)
      copyFileSync(join(parts, name), join(target, name))
    }
    await run('chmod', ['-R', 'a+rX', work], work)
    renameSync(copy, place)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The extension as newer releases of Debian ship it. */
async function packaged(work: string, parts: string, version: string): Promise<void> {
  const tree = await unpacked(work, `postgresql-${version}-pgvector`)
  copyFileSync(join(libraryOf(tree, version), 'vector.so'), join(parts, 'vector.so'))
  for (const name of readdirSync(extensionsOf(tree, version))) {
    copyFileSync(join(extensionsOf(tree, version), name), join(parts, name))
  }
}

/** From the source of a later release, against the headers of the server that is here. */
async function compiled(work: string, parts: string, version: string): Promise<void> {
  const headers = await unpacked(work, `postgresql-server-dev-${version}`)
  const source = await fetchSource(work)
  const sources = readdirSync(join(source, 'src')).filter((name) => name.endsWith('.c'))
  const include = join(headers, 'usr/include/postgresql', version, 'server')
  await run(
    'gcc',
    [
      ...['-shared', '-fPIC', '-O2', '-ftree-vectorize', '-fno-math-errno', '-fassociative-math'],
      ...['-fno-signed-zeros', '-fno-trapping-math', '-w', `-I${include}`],
      ...['-o', join(parts, 'vector.so'), ...sources.map((name) => join(source, 'src', name))],
    ],
    work,
  )
  const control = readFileSync(join(source, 'vector.control'), 'utf8')
  const current = /default_version = '([^']+)'/.exec(control)?.[1]
  writeFileSync(join(parts, 'vector.control'), control)
  copyFileSync(join(source, 'sql/vector.sql'), join(parts, `vector--${current}.sql`))
}

/** Downloads a package of the machine's own release, and unpacks it without installing it. */
async function unpacked(work: string, name: string): Promise<string> {
  const folder = join(work, name)
  mkdirSync(folder)
  await run('apt-get', [...asRoot(), 'download', name], folder)
  const [file] = readdirSync(folder)
  await run('dpkg', ['-x', join(folder, file ?? ''), join(folder, 'tree')], folder)
  return join(folder, 'tree')
}

/** With lists of its own, so that those of the machine stay as they are. */
async function fetchSource(work: string): Promise<string> {
  const site = await configuredMirror(work)
  const folder = join(work, 'source')
  for (const name of ['lists/partial', 'cache/archives/partial', 'tree']) {
    mkdirSync(join(folder, name), { recursive: true })
  }
  const settings = [
    `Dir::Etc::sourcelist=${join(folder, 'sources.list')}`,
    'Dir::Etc::sourceparts=-',
    `Dir::State::lists=${join(folder, 'lists')}`,
    `Dir::Cache=${join(folder, 'cache')}`,
  ].flatMap((setting) => ['-o', setting])
  const apt = (...given: string[]) => run('apt-get', [...asRoot(), ...settings, ...given], folder)
  const signed = existsSync(DEBIAN_KEYS) ? `[signed-by=${DEBIAN_KEYS}] ` : ''
  let failure: unknown
  for (const release of RELEASES) {
    try {
      writeFileSync(join(folder, 'sources.list'), `deb-src ${signed}${site} ${release} main\n`)
      await apt('update', '--quiet')
      await apt('source', '--download-only', 'pgvector')
      const archive = readdirSync(folder).find((name) => name.includes('.orig.tar')) ?? ''
      const tree = join(folder, 'tree')
      await run('tar', ['-xf', join(folder, archive), '-C', tree, '--strip-components=1'], folder)
      return tree
    } catch (thrown) {
      failure = thrown
    }
  }
  throw failure
}

/** Where this machine gets its packages from. */
async function configuredMirror(work: string): Promise<string> {
  const targets = await run('apt-get', ['indextargets', '--format', '$(REPO_URI)'], work)
  const [site = ''] = targets.split('\n')
  if (site === '') throw new Error('apt knows no mirror')
  return site
}

/** The account that apt would download as can't write into our folder. */
function asRoot(): readonly string[] {
  return process.getuid?.() === 0 ? ['-o', 'APT::Sandbox::User=root'] : []
}

/** Programs are copied, because they look for their files from where they are; everything else is linked. */
function copyServer(copy: string, version: string): void {
  const programs = join('usr/lib/postgresql', version, 'bin')
  mkdirSync(join(copy, programs), { recursive: true })
  for (const name of PROGRAMS) {
    copyFileSync(join('/', programs, name), join(copy, programs, name))
  }
  linkAll(libraryOf('', version), libraryOf(copy, version))
  const shared = dirname(extensionsOf('', version))
  linkAll(shared, dirname(extensionsOf(copy, version)), basename(extensionsOf('', version)))
  linkAll(extensionsOf('', version), extensionsOf(copy, version))
}

function linkAll(from: string, to: string, except?: string): void {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (name !== except) symlinkSync(join(from, name), join(to, name))
  }
}

function libraryOf(root: string, version: string): string {
  return join(root || '/', 'usr/lib/postgresql', version, 'lib')
}

function extensionsOf(root: string, version: string): string {
  return join(root || '/', 'usr/share/postgresql', version, 'extension')
}

async function run(program: string, given: readonly string[], cwd: string): Promise<string> {
  const environment = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' }
  const options = { cwd, env: environment, timeout: STEP_MS_MAX, maxBuffer: 16_777_216 }
  return (await promisify(execFile)(program, [...given], options)).stdout
}

/** What a program complained of last; without addresses, which say more about the machine than about the reason. */
function lastLineOf(thrown: unknown): string {
  const said = thrown instanceof Error && 'stderr' in thrown ? String(thrown.stderr) : ''
  const lines = (said.trim() || String(thrown)).split('\n')
  return (lines.at(-1) ?? '').replaceAll(/\b\w+:\/\/\S+/g, '…').slice(0, 200)
}
