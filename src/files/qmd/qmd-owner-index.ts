/** The index that `qmd` keeps of one owner's files: its collections, and when they are looked at again. */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { Mutex } from '../../lib/mutex.ts'
import { HOUR_MS, type Instant } from '../../lib/time.ts'
import type { FileProblem } from '../file.ts'
import type { SyncReport } from '../file-search.ts'
import type { FolderScan } from '../file-tree.ts'
import { type QmdCollection, type QmdRoot, toQmdCollections } from './qmd-collections.ts'
import {
  parseCollections,
  parseUpdate,
  type QmdCollectionListing,
  type QmdUpdateReport,
} from './qmd-output.ts'
import { type ProcessResult, type QmdProgram, runProcess } from './qmd-process.ts'
import { copyTranscripts } from './transcript-copies.ts'

export type QmdTimeouts = {
  /** How long a search may take, and how long it waits for an update that is under way. */
  readonly searchMs: number
  readonly waitMs: number
  /** How long everything else may take. */
  readonly updateMs: number
  readonly embedMs: number
  /** How often files are looked at again, and how soon at the earliest when nobody asked for it. */
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
  /** Where everything that is kept for the owner is. */
  readonly home: string
  /** Where models are that all owners share. */
  readonly modelFolder: string | null
  /** Whether vectors are made. */
  readonly isEmbeddingEnabled: boolean
  readonly roots: () => Promise<readonly QmdRoot[]>
  readonly scan: (root: QmdRoot) => Promise<FolderScan>
  /** A transcript without secrets; null when it can't be read now. */
  readonly read: (root: QmdRoot, path: string) => Promise<string | null>
}

/**
 * A workspace may hold a configuration of its own for `qmd`, with commands to be run. Naming an index, even the usual one,
 * makes it look nowhere but in the home it is given.
 */
const OWN_INDEX = ['--index', 'index']

type RootScan = { readonly paths: ReadonlySet<string>; readonly troubles: readonly FileProblem[] }

export class QmdOwnerIndex {
  readonly #parts: QmdOwnerIndexDependencies
  readonly #closing = new AbortController()
  /** As they were last set up; null: they never were. */
  #collections: readonly QmdCollection[] | null = null
  /** What may be told, by the ids of roots: `qmd` takes more than is meant, as ignored files. */
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
  /** An update that is under way. */
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

  /** Whether a file was there, and meant to be indexed, at the last look. */
  isIndexedFile(root: string, path: string): boolean {
    return this.#looks.get(root)?.paths.has(path) ?? false
  }

  /** Runs the program for this owner; what it says when it fails is told. */
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

  /** The collections of the roots as they are now, set up where they are not yet. */
  async prepare(): Promise<readonly QmdCollection[]> {
    const roots = await this.#parts.roots()
    const wanted = this.#wanted(roots)
    if (this.#isSetUp(wanted)) return wanted
    return this.#mutex.run(async () => {
      await this.#look(roots.filter(({ id }) => !this.#looks.has(id)))
      return this.#setUp(roots)
    })
  }

  /** Sees to it that files are looked at again when that is due; nobody waits for it. */
  updateIfOlderThan(ageMs: number): void {
    const { clock } = this.#parts
    if (this.#triedAt !== null && clock.now() - this.#triedAt < ageMs) return
    this.update().catch(() => {}) // told in the status
  }

  /** Has files looked at again when that is next asked for, however long ago the last time was. */
  markStale(): void {
    this.#triedAt = null
  }

  /** Looks at all files now. Whoever asks meanwhile shares it. */
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
      const told = parseUpdate(output)
      this.#note(told)
      this.#updatedAt = this.#parts.clock.now()
      this.#failure = null
      this.#embedIfDue()
      return this.#reportOf(told, performance.now() - began)
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
      // Searches go on meanwhile: what is not looked at yet is known as it was.
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
    // The home is the owner's alone: whatever is in it and not wanted was wanted once.
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
    this.#note(parseUpdate(output).map((told) => ({ ...told, collection: name })))
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

  #note(told: readonly QmdUpdateReport[]): void {
    const files = new Map(this.#files)
    for (const { collection, added, changed, unchanged } of told) {
      if (collection !== null) files.set(collection, added + changed + unchanged)
    }
    this.#files = files
  }

  #reportOf(told: readonly QmdUpdateReport[], milliseconds: number): SyncReport {
    const sum = (of: 'added' | 'changed' | 'unchanged' | 'removed') =>
      told.reduce((total, one) => total + one[of], 0)
    const [added, changed, unchanged] = [sum('added'), sum('changed'), sum('unchanged')]
    return {
      ...{ added, changed, unchanged, removed: sum('removed'), moved: 0 },
      // It finds whole files.
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

/** The name tells, as it holds a hash; what is told besides must agree. */
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
