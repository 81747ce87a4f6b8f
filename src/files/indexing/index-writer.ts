/** Writes to a generation, several files per commit, each file atomically. */
import type { ChangeId, IdGenerator } from '../../domain/ids.ts'
import { INDEX_COMMIT_CHANGES_MAX } from '../../domain/limits.ts'
import type { Clock } from '../../lib/clock.ts'
import { yieldToEventLoop } from '../../lib/event-loop.ts'
import type { Instant } from '../../lib/time.ts'
import type { Change, CommitOutcome } from '../../storage/store.ts'
import type { IndexStore } from './chunk-vectors.ts'
import {
  buildGenerationGuard,
  type Generation,
  type Generations,
  isGenerationGuard,
} from './generations.ts'
import type { GenerationScope } from './index-rows.ts'

export type IndexWriterDependencies = {
  readonly store: IndexStore
  readonly clock: Clock
  readonly ids: IdGenerator
  /** Called after every commit. */
  readonly onCommitted: (changes: readonly Change[]) => void
}

/** The generations changed: the writer must start again. */
export class GenerationChangedError extends Error {}

/** Larger commits are more efficient but block the event loop longer. */
const TEXT_TOGETHER_MAX = 400_000
const CHANGES_TOGETHER_MAX = 1_000

export class IndexWriter {
  readonly home: GenerationScope
  /** Totals of this writer. */
  readonly change: ChangeId
  /** Files that a concurrent writer changed. */
  refused = 0
  readonly #ports: IndexWriterDependencies
  readonly #generations: Generations
  #waiting: (readonly Change[])[] = []
  #changes = 0
  #text = 0

  constructor(ports: IndexWriterDependencies, generations: Generations, { name }: Generation) {
    this.#ports = ports
    this.#generations = generations
    this.home = { owner: generations.owner, user: name }
    this.change = ports.ids.next('chg', ports.clock.now())
  }

  now(): Instant {
    return this.#ports.clock.now()
  }

  /** Queues all changes of one file or of one rename. */
  async write(changes: readonly Change[]): Promise<void> {
    if (this.#changes + changes.length > CHANGES_TOGETHER_MAX) await this.flush()
    this.#waiting.push(changes)
    this.#changes += changes.length
    for (const change of changes) this.#text += countTextCharacters(change)
    if (this.#changes >= CHANGES_TOGETHER_MAX || this.#text >= TEXT_TOGETHER_MAX) await this.flush()
  }

  async flush(): Promise<void> {
    const files = this.#waiting
    this.#waiting = []
    this.#changes = 0
    this.#text = 0
    if (files.length === 0) return
    await yieldToEventLoop()
    if ((await this.#commit(files.flat())).kind === 'committed') return
    // One file conflicts. Commits each file separately.
    for (const changes of files) {
      if ((await this.#commit(changes)).kind === 'conflict') this.refused++
    }
  }

  async #commit(changes: readonly Change[]): Promise<CommitOutcome> {
    if (changes.length >= INDEX_COMMIT_CHANGES_MAX) {
      throw new RangeError('The changes of one file exceed a commit.')
    }
    const outcome = await this.#ports.store.commit([
      buildGenerationGuard(this.#generations),
      ...changes,
    ])
    if (outcome.kind === 'committed') this.#ports.onCommitted(changes)
    else if (isGenerationGuard(this.#generations, outcome)) throw new GenerationChangedError()
    return outcome
  }
}

function countTextCharacters(change: Change): number {
  return change.op === 'put' && change.table === 'memory' ? change.row.content.length : 0
}
