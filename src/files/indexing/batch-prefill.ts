/**
 * Prefills the vectors of a scan with the embedder's batch API, where that pays off. Lexical search works meanwhile;
 * regular embedding of documents waits, because it would cost what the batches save.
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

  /** Runs the scan, then starts to prefill missing vectors in the background. */
  async after<Result>(
    owner: OwnerId,
    work: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    // Calibrates the model with documents first, because the first query must not wait for that.
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

  /** Waits for running batches. Never fails: missing vectors are embedded as usual. */
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
