/**
 * Gets the vectors of what a look has brought ahead, where that is worth it. Words are found meanwhile; documents wait to be
 * embedded, since embedding them as usual would cost what the batches are to save.
 */
import { renderEmbeddingText } from '../../domain/embedding-text.ts'
import type { OwnerId } from '../../domain/ids.ts'
import type { BatchEmbedder } from '../../models/batch-embedder.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Store } from '../../storage/store.ts'
import type { IndexEngine } from './index-engine.ts'

export class BatchPrefill {
  readonly #prefill: BatchEmbedder
  readonly #inner: IndexEngine
  readonly #store: Store
  #running: Promise<void> | null = null
  #warmedUp: Promise<void> | null = null

  constructor(prefill: BatchEmbedder, inner: IndexEngine, store: Store) {
    this.#prefill = prefill
    this.#inner = inner
    this.#store = store
  }

  /** Does the work, and begins to fill with what it left without vectors. The result does not wait for that. */
  async after<Result>(
    owner: OwnerId,
    work: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    // A model is measured with documents of its own before the first question, which must not wait.
    this.#warmedUp ??= this.#inner.warmUp().catch(() => {})
    await this.#warmedUp
    const release = this.#prefill.deferEmbedding()
    try {
      return await work()
    } finally {
      this.#running ??= this.#fill(owner, signal).finally(() => {
        this.#running = null
      })
      this.#running.then(release, release)
    }
  }

  /** Waits for what is under way. Never fails: what is missing is embedded as usual. */
  async done(): Promise<void> {
    await this.#running?.catch(() => {})
  }

  async #fill(owner: OwnerId, signal: AbortSignal): Promise<void> {
    const index = await this.#inner.getIndexStatus()
    if (signal.aborted || (index?.withoutVector ?? 0) < this.#prefill.textsMin) return
    const texts: string[] = []
    const query = { where: {}, order: 'oldest' } as const
    for await (const page of pages(this.#store, 'memory', { owner }, query)) {
      for (const row of page) texts.push(renderEmbeddingText(row))
    }
    await this.#prefill.embedAll(texts, { signal })
  }
}
