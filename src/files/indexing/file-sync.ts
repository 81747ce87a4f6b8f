/**
 * Syncs the index of one owner with its files. One scan runs at a time and is shared by its concurrent callers; a
 * rebuild fills another generation beside it.
 */

import type { OwnerId } from '../../domain/ids.ts'
import { raceAbort } from '../../lib/abort.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { Mutex } from '../../lib/mutex.ts'
import { type Instant, MINUTE_MS } from '../../lib/time.ts'
import type { FileProblem } from '../file.ts'
import type { FileOptions } from '../file-options.ts'
import type { EmbeddingProgress, SyncProgress, SyncReport } from '../file-search.ts'
import type { FileTree } from '../file-tree.ts'
import type { NamedRoot, Roots } from '../roots.ts'
import type { BatchPrefill } from './batch-prefill.ts'
import { embedChunks, hasVectors } from './chunk-vectors.ts'
import {
  activateGeneration,
  beginGeneration,
  type Generation,
  type Generations,
  openGenerations,
  readGenerations,
  removeOrphanedGenerations,
  updateChunkerVersion,
} from './generations.ts'
import type { IndexEngine } from './index-engine.ts'
import { scanRoots } from './index-scan.ts'
import { GenerationChangedError, type IndexWriterDependencies } from './index-writer.ts'
import type { ScanCounts } from './root-scan.ts'
import { writeScanLog } from './scan-log.ts'

export type FileSyncDependencies = {
  readonly ports: IndexWriterDependencies
  readonly inner: IndexEngine
  readonly tree: FileTree
  readonly roots: Roots
  readonly settingsOf: (owner: OwnerId) => Promise<FileOptions>
  /** Prefills vectors in batches. */
  readonly prefilling: BatchPrefill | null
}

export type SyncOptions = {
  readonly force?: boolean
  /** Ignores growth thresholds and waits for a rebuild. */
  readonly isThorough?: boolean
  /** Also waits for vectors. */
  readonly embeds?: boolean
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: SyncProgress) => void
  readonly onEmbedding?: (progress: EmbeddingProgress) => void
}

/** Restarts of a scan after conflicts with concurrent writers. */
const LOOKS_MAX = 5

/** Delays the retry of a failed rebuild, because every query would trigger it. */
const REBUILD_PAUSE_MS = MINUTE_MS

/** A running or pending scan. */
type SyncRun = { readonly done: Promise<SyncReport>; isThorough: boolean }

export class FileSync {
  readonly #parts: FileSyncDependencies
  readonly #owner: OwnerId
  readonly #closing = new AbortController()
  readonly #listeners = new Set<SyncOptions>()
  /** Roots that may have changed since their scan; null: all. */
  #dirty: Set<string> | null = null
  #running: SyncRun | null = null
  #next: SyncRun | null = null
  /** Serializes changes of the generation row. */
  readonly #mutex = new Mutex()
  #rebuilding: Promise<SyncReport | null> | null = null
  #progress: { filesDone: number; filesTotal: number } | null = null
  #isSwept = false
  #lookMs = Number.POSITIVE_INFINITY
  #failure: FileProblem | null = null
  /** The failure and time of the last rebuild. */
  #incomplete: { readonly because: string; readonly at: Instant } | null = null

  constructor(parts: FileSyncDependencies, owner: OwnerId) {
    this.#parts = parts
    this.#owner = owner
  }

  /** Whether something may have changed since the last scan. */
  isDirty(root?: string): boolean {
    if (this.#dirty === null) return true
    return root === undefined ? this.#dirty.size > 0 : this.#dirty.has(root)
  }

  /** Marks a root, or all roots, as possibly changed. */
  touch(root?: string): void {
    if (root === undefined) this.#dirty = null
    else this.#dirty?.add(root)
  }

  /** The duration of the last scan. */
  get lookMs(): number {
    return this.#lookMs
  }

  get progress(): { readonly filesDone: number; readonly filesTotal: number } | null {
    return this.#progress
  }

  /** Why the last scan or rebuild failed. */
  get failure(): FileProblem | null {
    return (
      this.#failure ??
      (this.#incomplete === null ? null : createFailedProblem(this.#incomplete.because))
    )
  }

  async sync(options: SyncOptions): Promise<SyncReport> {
    const { force = false, isThorough = false, embeds = false, signal } = options
    const wait = <Result>(work: Promise<Result>) =>
      signal === undefined ? work : raceAbort(work, signal)
    this.#listeners.add(options)
    try {
      const isPatient = isThorough || force
      const report = await wait(this.#share(isPatient))
      if (force) await wait(this.#begin(true))
      if (!isPatient) {
        this.#rebuildSoon()
        return report
      }
      const anew = (await wait(this.#rebuild())) ?? report
      if (!embeds) return anew
      const because = await this.#embed(signal)
      return because === null ? anew : addProblem(anew, `Lexical search only: ${because}`)
    } finally {
      this.#listeners.delete(options)
    }
  }

  /** Waits for the running scan and prevents further ones. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled([this.#running?.done, this.#next?.done, this.#rebuilding])
    await this.#parts.prefilling?.done()
  }

  /** A scan that has already started may miss the caller's change, so the next one is shared. */
  #share(isThorough: boolean): Promise<SyncReport> {
    if (this.#running === null) {
      this.#running = this.#run(isThorough, Promise.resolve())
      return this.#running.done
    }
    this.#next ??= this.#run(isThorough, this.#running.done)
    this.#next.isThorough ||= isThorough
    return this.#next.done
  }

  #run(isThorough: boolean, before: Promise<unknown>): SyncRun {
    const run: SyncRun = {
      isThorough,
      done: before
        .catch(() => {}) // it reports its own failure
        .then(async () => {
          if (this.#next === run) {
            this.#running = run
            this.#next = null
          }
          return this.#look(run)
        })
        .finally(() => {
          if (this.#running === run) this.#running = null
        }),
    }
    run.done.catch(() => {}) // rejects for the callers that wait for it
    return run
  }

  async #look(run: SyncRun): Promise<SyncReport> {
    const began = performance.now()
    try {
      const counts = await this.#filled(() =>
        this.#mutex.run(() => this.#lookAtLive(run.isThorough)),
      )
      this.#failure = null
      this.#lookMs = performance.now() - began
      return buildReport(counts, this.#lookMs)
    } catch (error) {
      this.touch()
      const { code, message } = toAppError(error)
      if (code !== 'cancelled') this.#failure = createFailedProblem(message)
      throw error
    }
  }

  /** Scans with prefilled vectors where possible. */
  #filled<Result>(work: () => Promise<Result>): Promise<Result> {
    const { prefilling } = this.#parts
    return prefilling === null ? work() : prefilling.after(this.#owner, work, this.#closing.signal)
  }

  async #lookAtLive(isThorough: boolean): Promise<ScanCounts | null> {
    const { ports } = this.#parts
    if (!this.#isSwept) {
      await removeOrphanedGenerations(ports.store, this.#owner)
      this.#isSwept = true
    }
    for (let looks = 1; ; looks++) {
      const { roots, settings } = await this.#given()
      const isNothing = roots.length === 0 && (await readGenerations(ports, this.#owner)) === null
      // Changes from here on require another scan.
      this.#dirty = new Set()
      if (isNothing) return null
      const generations = await openGenerations(ports, this.#owner, buildChunkerVersion(settings))
      const counts = await this.#pass(generations, generations.live, {
        roots,
        settings,
        isThorough,
      })
      if (counts !== null) {
        for (const root of counts.unsettled) this.touch(root)
        await writeScanLog(ports.store, this.#owner, roots, counts.troubles, ports.clock.now())
      }
      // Refused writes retry with the current state. Files that change constantly are left to a later scan.
      if (counts !== null && (counts.refused === 0 || looks >= LOOKS_MAX)) return counts
      if (looks >= LOOKS_MAX)
        throw new AppError('busy', 'Another process is changing the file index. Retry shortly.')
    }
  }

  async #given(): Promise<SyncInput> {
    const { roots, settingsOf } = this.#parts
    const [listed, settings] = await Promise.all([roots.list(this.#owner), settingsOf(this.#owner)])
    return { roots: listed, settings }
  }

  /** Null when the generations changed meanwhile. */
  async #pass(
    generations: Generations,
    generation: Generation,
    { roots, settings, isThorough }: SyncInput & { readonly isThorough: boolean },
  ): Promise<ScanCounts | null> {
    const isFilling = generation !== generations.live
    const onProgress = (progress: SyncProgress) => {
      // Reports the progress of the slower of the two.
      if (isFilling || this.#rebuilding === null) this.#progress = progress
      for (const { onProgress: hear } of this.#listeners) hear?.(progress)
    }
    const { signal } = this.#closing
    const options = { settings, signal, isThorough, onProgress }
    const { ports, tree } = this.#parts
    try {
      return await scanRoots(ports, tree, generations, generation, roots, options)
    } catch (error) {
      if (error instanceof GenerationChangedError) return null
      throw error
    } finally {
      if (!isFilling && this.#rebuilding === null) this.#progress = null
    }
  }

  /** Starts a rebuild if `force` or changed settings require another generation. */
  #begin(force: boolean): Promise<void> {
    return this.#mutex.run(async () => {
      const { ports } = this.#parts
      for (;;) {
        const { settings } = await this.#given()
        const known = await readGenerations(ports, this.#owner)
        if (known === null) return
        const recipe = buildChunkerVersion(settings)
        // Resumes an existing rebuild unless it would be outdated on completion.
        if (known.building?.chunkerVersion === recipe) return
        if (!force && known.building === null && known.live.chunkerVersion === recipe) return
        const isEmpty = (await this.#chunksIn(known)) === 0
        const changed = isEmpty
          ? await updateChunkerVersion(ports, known, recipe)
          : await beginGeneration(ports, known, recipe)
        if (changed !== null) return
      }
    })
  }

  async #chunksIn({ owner, live }: Generations): Promise<number> {
    const { total } = await this.#parts.ports.store.countMemories({ owner, user: live.name }, {})
    return total
  }

  /** Fills the next generation and activates it. Concurrent callers share the run. Null when no rebuild was needed. */
  #rebuild(): Promise<SyncReport | null> {
    this.#rebuilding ??= this.#begin(false)
      .then(() => this.#fill())
      .finally(() => {
        this.#rebuilding = null
        this.#progress = null
      })
    return this.#rebuilding
  }

  /** For callers that do not wait. */
  #rebuildSoon(): void {
    const { clock } = this.#parts.ports
    if (this.#incomplete !== null && clock.now() - this.#incomplete.at < REBUILD_PAUSE_MS) return
    this.#rebuild().catch(() => {}) // reported by the status
  }

  async #fill(): Promise<SyncReport | null> {
    const { ports } = this.#parts
    const began = performance.now()
    let report: SyncReport | null = null
    for (;;) {
      const generations = await readGenerations(ports, this.#owner)
      if (generations === null || generations.building === null) return report
      const { building: filling } = generations
      const given = { ...(await this.#given()), isThorough: true }
      const counts = await this.#filled(() => this.#pass(generations, filling, given))
      if (counts === null) continue
      await this.#embedBefore(generations)
      const isDone = await this.#mutex.run(async () => {
        // Applies changes made during the rebuild.
        const last = await this.#pass(generations, filling, given)
        return last?.refused === 0 && (await activateGeneration(ports, generations)) !== null
      })
      if (!isDone) continue
      this.#incomplete = null
      report = buildReport(counts, performance.now() - began)
      await removeOrphanedGenerations(ports.store, this.#owner)
    }
  }

  /** A generation with vectors is only replaced by one with vectors. */
  async #embedBefore({ owner, live }: Generations): Promise<void> {
    const { ports } = this.#parts
    if (!(await hasVectors(ports.store, { owner, user: live.name }))) return
    const because = await this.#embed()
    if (because === null) return
    const message = `The rebuilt index has no vectors yet; the previous index stays active. ${because}`
    this.#incomplete = { because: message, at: ports.clock.now() }
    throw new AppError('unavailable', message)
  }

  /** Why some chunks have no vector; null when all have one. */
  #embed(given?: AbortSignal): Promise<string | null> {
    const { signal: closing } = this.#closing
    const signal = given === undefined ? closing : AbortSignal.any([closing, given])
    return embedChunks(this.#parts, this.#owner, signal, (progress) => {
      for (const { onEmbedding } of this.#listeners) onEmbedding?.(progress)
    })
  }
}

function createFailedProblem(message: string): FileProblem {
  return { path: '', reason: 'failed', message }
}

function addProblem(report: SyncReport, message: string): SyncReport {
  return { ...report, problems: [...report.problems, createFailedProblem(message)] }
}

type SyncInput = { readonly roots: readonly NamedRoot[]; readonly settings: FileOptions }

function buildReport(counts: ScanCounts | null, milliseconds: number): SyncReport {
  return {
    added: counts?.added ?? 0,
    changed: counts?.changed ?? 0,
    moved: counts?.moved ?? 0,
    removed: counts?.removed ?? 0,
    unchanged: counts?.unchanged ?? 0,
    chunks: counts?.chunks ?? 0,
    problems: [...(counts?.troubles.values() ?? [])].flat(),
    durationMs: Math.round(milliseconds),
  }
}

/** Increment when the same settings produce other chunks of the same file. */
const CUTTING_VERSION = 1
/** The same for messages extracted from transcripts. */
const REDACTION_VERSION = 1

/** Identifies a way of chunking; another version makes another generation. */
function buildChunkerVersion(settings: FileOptions): string {
  const { chunkTokens, chunkOverlap, chunkBytesMax, redactsEmails: redactsMails } = settings
  return `${CUTTING_VERSION}:${chunkTokens}:${chunkOverlap}:${chunkBytesMax}:${REDACTION_VERSION}:${redactsMails}`
}
