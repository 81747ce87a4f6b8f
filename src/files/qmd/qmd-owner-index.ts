/** The `qmd` index of one owner: its collections and its updates. */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { Mutex } from '../../lib/mutex.ts'
import { HOUR_MS, type Instant } from '../../lib/time.ts'
import type { FileProblem, FileStat } from '../file.ts'
import type { SyncReport } from '../file-search.ts'
import type { FolderScan } from '../file-tree.ts'
import {
  COPY_SUFFIX,
  type QmdCollection,
  type QmdRoot,
  toQmdCollections,
} from './qmd-collections.ts'
import {
  parseCollections,
  parseUpdate,
  type QmdCollectionListing,
  type QmdUpdateReport,
} from './qmd-output.ts'
import { type ProcessResult, type QmdProgram, runProcess } from './qmd-process.ts'

export type QmdTimeouts = {
  /** Timeouts of a search, and of waiting for a running update. */
  readonly searchMs: number
  readonly waitMs: number
  /** The timeout of all other commands. */
  readonly updateMs: number
  readonly embedMs: number
  /** The intervals between updates, regular and minimum. */
  readonly updateEveryMs: number
  readonly updateGapMs: number
  readonly embedEveryMs: number
}

export const QMD_TIMEOUTS: QmdTimeouts = {
  searchMs: 4_000,
  waitMs: 500,
  updateMs: 600_000,
  embedMs: HOUR_MS,
  updateEveryMs: 300_000,
  updateGapMs: 15_000,
  embedEveryMs: HOUR_MS,
}

export type QmdOwnerIndexDependencies = {
  readonly clock: Clock
  readonly program: QmdProgram
  readonly timeouts: QmdTimeouts
  /** The folder of this owner's index. */
  readonly home: string
  /** The folder of models, shared by all owners. */
  readonly modelFolder: string | null
  /** Whether vectors are computed. */
  readonly isEmbeddingEnabled: boolean
  readonly roots: () => Promise<readonly QmdRoot[]>
  readonly scan: (root: QmdRoot) => Promise<FolderScan>
  /** A redacted transcript; null while it is unreadable. */
  readonly read: (root: QmdRoot, path: string) => Promise<string | null>
}

/**
 * A workspace may contain a `qmd` configuration with commands to run. Naming an index explicitly restricts `qmd` to its
 * own home.
 */
const OWN_INDEX = ['--index', 'index']

type RootScan = { readonly paths: ReadonlySet<string>; readonly troubles: readonly FileProblem[] }

export class QmdOwnerIndex {
  readonly #parts: QmdOwnerIndexDependencies
  readonly #closing = new AbortController()
  /** The collections as last set up; null before that. */
  #collections: readonly QmdCollection[] | null = null
  /** The visible files by root id: `qmd` also indexes files that the root excludes. */
  #looks: ReadonlyMap<string, RootScan> = new Map()
  #files: ReadonlyMap<string, number> = new Map()
  readonly #mutex = new Mutex()
  #updating: Promise<SyncReport> | null = null
  #embedding: Promise<void> | null = null
  #triedAt: Instant | null = null
  #updatedAt: Instant | null = null
  #embedTriedAt: Instant | null = null
  #failure: string | null = null
  #embedFailure: string | null = null

  constructor(parts: QmdOwnerIndexDependencies) {
    this.#parts = parts
    const cache = join(parts.home, 'cache', 'qmd')
    mkdirSync(cache, { recursive: true, mode: 0o700 })
    const models = join(cache, 'models')
    if (parts.modelFolder !== null && !existsSync(models)) {
      mkdirSync(parts.modelFolder, { recursive: true })
      symlinkSync(parts.modelFolder, models, 'junction')
    }
  }

  get home(): string {
    return this.#parts.home
  }
  get updatedAt(): Instant | null {
    return this.#updatedAt
  }
  get failure(): string | null {
    return this.#failure ?? this.#embedFailure
  }
  get hasVectors(): boolean {
    return this.#embedTriedAt !== null && this.#embedding === null && this.#embedFailure === null
  }
  /** The running update. */
  get updating(): Promise<unknown> | null {
    return this.#updating
  }

  countFiles(root: string): number {
    const ofRoot = (this.#collections ?? []).filter((collection) => collection.root.id === root)
    return ofRoot.reduce((sum, { name }) => sum + (this.#files.get(name) ?? 0), 0)
  }

  listTroubles(root: string): readonly FileProblem[] {
    return this.#looks.get(root)?.troubles ?? []
  }

  /** Whether the file existed and was selected at the last scan. */
  isIndexedFile(root: string, path: string): boolean {
    return this.#looks.get(root)?.paths.has(path) ?? false
  }

  /** Runs `qmd` for this owner; its error output becomes the error message. */
  async call(args: readonly string[], msMax: number, signal?: AbortSignal): Promise<ProcessResult> {
    const { program, home } = this.#parts
    const roots = await this.#parts.roots()
    const folder = roots.find(({ kind }) => kind === 'workspace')?.path ?? home
    const stop =
      signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
    return runProcess(program, {
      args: [...OWN_INDEX, ...args],
      home,
      folder,
      timeoutMs: msMax,
      signal: stop,
    })
  }

  /** The collections of the current roots; creates missing ones. */
  async prepare(): Promise<readonly QmdCollection[]> {
    const roots = await this.#parts.roots()
    const wanted = this.#wanted(roots)
    if (this.#isSetUp(wanted)) return wanted
    return this.#mutex.run(async () => {
      await this.#look(roots.filter(({ id }) => !this.#looks.has(id)))
      return this.#setUp(roots)
    })
  }

  /** Starts a due update in the background. */
  updateIfOlderThan(ageMs: number): void {
    const { clock } = this.#parts
    if (this.#triedAt !== null && clock.now() - this.#triedAt < ageMs) return
    this.update().catch(() => {}) // reported by the status
  }

  /** Makes the next query update first, regardless of the interval. */
  markStale(): void {
    this.#triedAt = null
  }

  /** Updates all files; concurrent callers share the run. */
  update(): Promise<SyncReport> {
    this.#triedAt = this.#parts.clock.now()
    this.#updating ??= this.#mutex
      .run(() => this.#update())
      .finally(() => {
        this.#updating = null
      })
    return this.#updating
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled([this.#mutex.idle(), this.#updating, this.#embedding])
  }

  async #update(): Promise<SyncReport> {
    const began = performance.now()
    try {
      const roots = await this.#parts.roots()
      await this.#look(roots)
      await this.#setUp(roots)
      const { stdout: output } = await this.#expect(['update'], this.#parts.timeouts.updateMs)
      const reports = parseUpdate(output)
      this.#note(reports)
      this.#updatedAt = this.#parts.clock.now()
      this.#failure = null
      this.#embedIfDue()
      return this.#reportOf(reports, performance.now() - began)
    } catch (error) {
      this.#noteFailure(error)
      throw error
    }
  }

  #noteFailure(error: unknown): void {
    const { code, message } = toAppError(error)
    if (code !== 'cancelled') this.#failure = message
  }

  async #look(roots: readonly QmdRoot[]): Promise<void> {
    const { scan, read } = this.#parts
    for (const root of roots) {
      const found = await scan(root)
      const { files, problems: troubles } = found
      const look: RootScan = { paths: new Set(files.map(({ path }) => path)), troubles }
      // Queries continue with the previous index.
      this.#looks = new Map([...this.#looks, [root.id, look]])
      if (root.kind !== 'sessions') continue
      const folder = this.#copiesOf(root)
      await copyTranscripts({ scan: found, folder, read: (path) => read(root, path) })
    }
  }

  async #setUp(roots: readonly QmdRoot[]): Promise<readonly QmdCollection[]> {
    const wanted = this.#wanted(roots)
    if (this.#isSetUp(wanted)) return wanted
    const known = await this.#list()
    const isWanted = (there: QmdCollectionListing) => wanted.some((one) => isSame(one, there))
    // The home belongs to this owner only, so unknown content is stale.
    for (const { name } of known.filter((there) => !isWanted(there))) {
      await this.#expect(['collection', 'remove', name], this.#parts.timeouts.updateMs)
    }
    for (const collection of wanted) {
      if (!known.some((there) => isSame(collection, there))) await this.#add(collection)
    }
    this.#collections = wanted
    return wanted
  }

  async #add({ name, path, pattern }: QmdCollection): Promise<void> {
    const args = ['collection', 'add', path, '--name', name, '--mask', pattern]
    const { stdout: output } = await this.#expect(args, this.#parts.timeouts.updateMs)
    this.#note(parseUpdate(output).map((report) => ({ ...report, collection: name })))
  }

  async #list(): Promise<readonly QmdCollectionListing[]> {
    const { stdout: output } = await this.#expect(
      ['collection', 'list', '--json'],
      this.#parts.timeouts.updateMs,
    )
    return parseCollections(output)
  }

  async #expect(args: readonly string[], msMax: number): Promise<ProcessResult> {
    const ended = await this.call(args, msMax)
    if (ended.exitCode === 0) return ended
    throw toQmdError(ended)
  }

  #embedIfDue(): void {
    const { isEmbeddingEnabled: embeds, clock, timeouts: times } = this.#parts
    const isDue =
      this.#embedTriedAt === null || clock.now() - this.#embedTriedAt >= times.embedEveryMs
    if (!embeds || !isDue || this.#embedding !== null) return
    this.#embedTriedAt = clock.now()
    this.#embedding = this.#expect(['embed'], times.embedMs)
      .then(
        () => {
          this.#embedFailure = null
        },
        (error: unknown) => {
          this.#embedFailure = toAppError(error).message
        },
      )
      .finally(() => {
        this.#embedding = null
      })
  }

  #note(reports: readonly QmdUpdateReport[]): void {
    const files = new Map(this.#files)
    for (const { collection, added, changed, unchanged } of reports) {
      if (collection !== null) files.set(collection, added + changed + unchanged)
    }
    this.#files = files
  }

  #reportOf(reports: readonly QmdUpdateReport[], milliseconds: number): SyncReport {
    const sum = (of: 'added' | 'changed' | 'unchanged' | 'removed') =>
      reports.reduce((total, one) => total + one[of], 0)
    const [added, changed, unchanged] = [sum('added'), sum('changed'), sum('unchanged')]
    return {
      ...{ added, changed, unchanged, removed: sum('removed'), moved: 0 },
      // `qmd` returns whole files.
      chunks: added + changed + unchanged,
      problems: [...this.#looks.values()].flatMap(({ troubles }) => troubles),
      durationMs: Math.round(milliseconds),
    }
  }

  #wanted(roots: readonly QmdRoot[]): readonly QmdCollection[] {
    return toQmdCollections(roots, (root) => this.#copiesOf(root))
  }

  #isSetUp(wanted: readonly QmdCollection[]): boolean {
    const names = (some: readonly QmdCollection[]) => some.map(({ name }) => name).join('\n')
    return this.#collections !== null && names(this.#collections) === names(wanted)
  }

  #copiesOf({ id }: QmdRoot): string {
    return join(this.#parts.home, 'transcripts', id)
  }
}

/** Matches by name, which contains a hash; reported path and pattern must agree. */
function isSame(wanted: QmdCollection, there: QmdCollectionListing): boolean {
  return (
    wanted.name === there.name &&
    (there.path === null || there.path === wanted.path) &&
    (there.pattern === null || there.pattern === wanted.pattern)
  )
}

export function toQmdError({ exitCode: code, stderr: complaint }: ProcessResult): AppError {
  const how = code === null ? 'was ended' : `ended with ${code}`
  return new AppError(
    'unavailable',
    `qmd ${how}${complaint === '' ? '.' : `: ${complaint}`}`,
    code === null ? {} : { exit: code },
  )
}

type TranscriptCopyOptions = {
  readonly scan: FolderScan
  /** The messages of a transcript; null while it is unreadable. */
  readonly read: (path: string) => Promise<string | null>
  /** The folder of the copies. */
  readonly folder: string
}

async function copyTranscripts(parts: TranscriptCopyOptions): Promise<void> {
  const { files, isComplete: isWhole } = parts.scan
  await mkdir(parts.folder, { recursive: true, mode: 0o700 })
  for (const file of files) await copy(parts, file)
  // An unreadable folder is not an empty one.
  if (isWhole) await removeOthers(parts.folder, new Set(files.map(({ path }) => copyOf(path))))
}

function copyOf(path: string): string {
  return `${path}${COPY_SUFFIX}`
}

/** A copy has the modification time of its transcript, so a difference shows that it is stale. */
async function copy({ read, folder }: TranscriptCopyOptions, file: FileStat): Promise<void> {
  const target = join(folder, copyOf(file.path))
  if ((await modifiedAt(target)) === seconds(file.modifiedAt)) return
  const text = await read(file.path)
  if (text === null) return
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  await writeFile(target, text, { mode: 0o600 })
  await utimes(target, seconds(file.modifiedAt), seconds(file.modifiedAt))
}

async function modifiedAt(path: string): Promise<number | null> {
  try {
    return seconds((await stat(path)).mtimeMs)
  } catch {
    return null
  }
}

/** Milliseconds, because some file systems store no more. */
function seconds(ms: number): number {
  return Math.round(ms) / 1_000
}

async function removeOthers(folder: string, current: ReadonlySet<string>): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const name = path
      .slice(folder.length + 1)
      .split(sep)
      .join('/')
    if (!current.has(name)) await rm(path, { force: true })
  }
}
