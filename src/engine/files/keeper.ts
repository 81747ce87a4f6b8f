/**
 * Keeps the index of one owner in step with its files: one look at a time, which all who ask for it meanwhile share, and
 * beside it, where all is to be made anew, the filling of another generation.
 */
import { AppError, toAppError } from '../../core/errors.ts'
import type { FileTrouble } from '../../core/files/file.ts'
import type { OwnerId } from '../../core/ids.ts'
import type { SyncProgress, SyncReport } from '../../ports/file-search.ts'
import type { FileTree } from '../../ports/file-tree.ts'
import { orCancelled } from '../deadline.ts'
import type { Engine } from '../engine.ts'
import { sweep } from './dropping.ts'
import {
  beginFilling,
  type Generation,
  type Generations,
  openGenerations,
  readGenerations,
  relabel,
  swap,
} from './generations.ts'
import { writeLooks } from './looks.ts'
import { pass } from './pass.ts'
import { recipeOf } from './recipe.ts'
import type { PassCounts } from './root-pass.ts'
import type { NamedRoot, Roots } from './roots.ts'
import type { FileSettings } from './settings.ts'
import { GenerationsChanged, type IndexPorts } from './writer.ts'

export type KeeperParts = {
  readonly ports: IndexPorts
  readonly inner: Engine
  readonly tree: FileTree
  readonly roots: Roots
  readonly settingsOf: (owner: OwnerId) => Promise<FileSettings>
}

export type SyncOptions = {
  readonly force?: boolean
  /** Takes the smallest growth of a transcript, and waits until everything is made anew that has to be. */
  readonly isThorough?: boolean
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: SyncProgress) => void
}

/** How often a look is begun anew because others write to the same index. */
const LOOKS_MAX = 5

/** One look that is under way or about to begin. */
type Run = { readonly done: Promise<SyncReport>; isThorough: boolean }

export class Keeper {
  readonly #parts: KeeperParts
  readonly #owner: OwnerId
  readonly #closing = new AbortController()
  readonly #listeners = new Set<(progress: SyncProgress) => void>()
  /** Roots that may have changed since they were looked at; null: all of them. */
  #dirty: Set<string> | null = null
  #running: Run | null = null
  #next: Run | null = null
  /** Whoever changes which generations there are waits for whoever else does. */
  #turn: Promise<unknown> = Promise.resolve()
  #rebuilding: Promise<SyncReport | null> | null = null
  #progress: { filesDone: number; filesTotal: number } | null = null
  #isSwept = false
  #lookMs = Number.POSITIVE_INFINITY
  #failure: FileTrouble | null = null

  constructor(parts: KeeperParts, owner: OwnerId) {
    this.#parts = parts
    this.#owner = owner
  }

  /** Whether something may have changed since the last look. */
  isDirty(root?: string): boolean {
    if (this.#dirty === null) return true
    return root === undefined ? this.#dirty.size > 0 : this.#dirty.has(root)
  }

  /** Notes that something may have changed in a root, or anywhere. */
  touch(root?: string): void {
    if (root === undefined) this.#dirty = null
    else this.#dirty?.add(root)
  }

  /** How long the last look took. */
  get lookMs(): number {
    return this.#lookMs
  }

  get progress(): { readonly filesDone: number; readonly filesTotal: number } | null {
    return this.#progress
  }

  /** Why the last look did not come to its end. */
  get failure(): FileTrouble | null {
    return this.#failure
  }

  async sync({ force, isThorough = false, signal, onProgress }: SyncOptions): Promise<SyncReport> {
    const wait = <Result>(work: Promise<Result>) =>
      signal === undefined ? work : orCancelled(work, signal)
    if (onProgress !== undefined) this.#listeners.add(onProgress)
    try {
      const isPatient = isThorough || force === true
      const report = await wait(this.#share(isPatient))
      if (force === true) await wait(this.#begin(true))
      const rebuilt = this.#rebuild()
      if (isPatient) return (await wait(rebuilt)) ?? report
      rebuilt.catch(() => {}) // told in the status, and tried again by the next look
      return report
    } finally {
      if (onProgress !== undefined) this.#listeners.delete(onProgress)
    }
  }

  /** Waits for what is under way, and begins nothing more. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled([this.#running?.done, this.#next?.done, this.#rebuilding])
  }

  /** A look that began earlier may have missed what the caller knows of: so the next one is shared. */
  #share(isThorough: boolean): Promise<SyncReport> {
    if (this.#running === null) {
      this.#running = this.#run(isThorough, Promise.resolve())
      return this.#running.done
    }
    this.#next ??= this.#run(isThorough, this.#running.done)
    this.#next.isThorough ||= isThorough
    return this.#next.done
  }

  #run(isThorough: boolean, before: Promise<unknown>): Run {
    const run: Run = {
      isThorough,
      done: before
        .catch(() => {}) // its own affair
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
    run.done.catch(() => {}) // those who wait for it are told
    return run
  }

  async #look(run: Run): Promise<SyncReport> {
    const began = performance.now()
    try {
      const counts = await this.#inTurn(() => this.#lookAtLive(run.isThorough))
      this.#failure = null
      this.#lookMs = performance.now() - began
      return reportOf(counts, this.#lookMs)
    } catch (error) {
      this.touch()
      const { code, message } = toAppError(error)
      if (code !== 'cancelled') this.#failure = { path: '', because: 'failed', message }
      throw error
    }
  }

  async #lookAtLive(isThorough: boolean): Promise<PassCounts | null> {
    const { ports } = this.#parts
    if (!this.#isSwept) {
      await sweep(ports.store, this.#owner)
      this.#isSwept = true
    }
    for (let looks = 1; ; looks++) {
      const { roots, settings } = await this.#given()
      const isNothing = roots.length === 0 && (await readGenerations(ports, this.#owner)) === null
      // From here on, whatever changes must be looked at again.
      this.#dirty = new Set()
      if (isNothing) return null
      const generations = await openGenerations(ports, this.#owner, recipeOf(settings))
      const counts = await this.#pass(generations, generations.live, {
        roots,
        settings,
        isThorough,
      })
      if (counts !== null) {
        for (const root of counts.unsettled) this.touch(root)
        await writeLooks(ports.store, this.#owner, roots, counts.troubles, ports.clock.now())
      }
      // What was refused is known the next time. What changes all the time is left to a later look.
      if (counts !== null && (counts.refused === 0 || looks >= LOOKS_MAX)) return counts
      if (looks >= LOOKS_MAX) throw new AppError('busy', 'The index of files is changed elsewhere.')
    }
  }

  async #given(): Promise<Given> {
    const { roots, settingsOf } = this.#parts
    const [listed, settings] = await Promise.all([roots.list(this.#owner), settingsOf(this.#owner)])
    return { roots: listed, settings }
  }

  /** Null when there are other generations by now. */
  async #pass(
    generations: Generations,
    generation: Generation,
    { roots, settings, isThorough }: Given & { readonly isThorough: boolean },
  ): Promise<PassCounts | null> {
    const isFilling = generation !== generations.live
    const onProgress = (progress: SyncProgress) => {
      if (isFilling) this.#progress = progress
      for (const listener of this.#listeners) listener(progress)
    }
    const { signal } = this.#closing
    const options = { settings, signal, isThorough, onProgress }
    const { ports, tree } = this.#parts
    try {
      return await pass(ports, tree, generations, generation, roots, options)
    } catch (error) {
      if (error instanceof GenerationsChanged) return null
      throw error
    }
  }

  /** Sees to it that another generation is filled when all is to be made anew: because of `force`, or of what is set. */
  #begin(force: boolean): Promise<void> {
    return this.#inTurn(async () => {
      const { ports } = this.#parts
      for (;;) {
        const { settings } = await this.#given()
        const known = await readGenerations(ports, this.#owner)
        if (known === null) return
        const recipe = recipeOf(settings)
        // One that was begun is gone on with, unless it would be outdated when it is done.
        if (known.filling?.recipe === recipe) return
        if (!force && known.filling === null && known.live.recipe === recipe) return
        const isEmpty = (await this.#chunksIn(known)) === 0
        const changed = isEmpty
          ? await relabel(ports, known, recipe)
          : await beginFilling(ports, known, recipe)
        if (changed !== null) return
      }
    })
  }

  async #chunksIn({ owner, live }: Generations): Promise<number> {
    const { total } = await this.#parts.ports.store.tally({ owner, user: live.name }, {})
    return total
  }

  /**
   * Fills the other generation, if there is to be one, and lets it take the place of the one that answers. Whoever asks
   * meanwhile shares it. Null when there was nothing to do.
   */
  #rebuild(): Promise<SyncReport | null> {
    this.#rebuilding ??= this.#begin(false)
      .then(() => this.#fill())
      .finally(() => {
        this.#rebuilding = null
        this.#progress = null
      })
    return this.#rebuilding
  }

  async #fill(): Promise<SyncReport | null> {
    const { ports } = this.#parts
    const began = performance.now()
    let report: SyncReport | null = null
    for (;;) {
      const generations = await readGenerations(ports, this.#owner)
      if (generations === null || generations.filling === null) return report
      const { filling } = generations
      const given = { ...(await this.#given()), isThorough: true }
      const counts = await this.#pass(generations, filling, given)
      if (counts === null) continue
      await this.#embed()
      const isDone = await this.#inTurn(async () => {
        // What changed meanwhile.
        const last = await this.#pass(generations, filling, given)
        return last?.refused === 0 && (await swap(ports, generations)) !== null
      })
      if (!isDone) continue
      report = reportOf(counts, performance.now() - began)
      await sweep(ports.store, this.#owner)
    }
  }

  /** The old generation has vectors, so the new one should; but what can't be had keeps nobody waiting. */
  async #embed(): Promise<void> {
    const { inner } = this.#parts
    if (inner.parts().embedder === null) return
    try {
      await inner.reindex({ signal: this.#closing.signal })
    } catch (error) {
      if (this.#closing.signal.aborted) throw error
    }
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(work, work)
    this.#turn = turn.catch(() => {})
    return turn
  }
}

type Given = { readonly roots: readonly NamedRoot[]; readonly settings: FileSettings }

function reportOf(counts: PassCounts | null, milliseconds: number): SyncReport {
  return {
    added: counts?.added ?? 0,
    changed: counts?.changed ?? 0,
    moved: counts?.moved ?? 0,
    removed: counts?.removed ?? 0,
    unchanged: counts?.unchanged ?? 0,
    chunks: counts?.chunks ?? 0,
    troubles: [...(counts?.troubles.values() ?? [])].flat(),
    milliseconds: Math.round(milliseconds),
  }
}
