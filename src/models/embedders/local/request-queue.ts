/**
 * Queue of embedding calls. Queries overtake documents; within a purpose, first come, first served. Each purpose has its
 * own limit, so a backlog of documents cannot block queries.
 */
import { AppError } from '../../../lib/errors.ts'
import type { EmbeddingPurpose } from '../../embedder.ts'
import type { WorkerCall, WorkerCallQueue } from '../../runtime/worker-client.ts'
import type { EmbedderWorkerRequest, ModelAnswer } from './embedder-worker-protocol.ts'

export type EmbeddingRequest = WorkerCall<EmbedderWorkerRequest, ModelAnswer> & {
  readonly texts: readonly string[]
  readonly purpose: EmbeddingPurpose
  /** Finished vectors; its length is the index of the next text. */
  readonly vectors: readonly Float32Array[]
}

/** Limited by the number of texts. */
export type RequestQueue = WorkerCallQueue<EmbeddingRequest> & { pendingTexts(): number }

export function createRequestQueue(textsMax: number): RequestQueue {
  const lanes: Readonly<Record<EmbeddingPurpose, Set<EmbeddingRequest>>> = {
    query: new Set(),
    document: new Set(),
  }
  const waiting = (purpose: EmbeddingPurpose) =>
    [...lanes[purpose]].reduce((sum, { texts, vectors }) => sum + texts.length - vectors.length, 0)

  return {
    add(call) {
      refuseTooMany(call.texts.length, waiting(call.purpose), textsMax)
      lanes[call.purpose].add(call)
    },
    next: () => first(lanes.query) ?? first(lanes.document),
    remove: (call) => lanes[call.purpose].delete(call),
    removeAll() {
      const all = [...lanes.query, ...lanes.document]
      lanes.query.clear()
      lanes.document.clear()
      return all
    },
    pendingTexts: () => waiting('query') + waiting('document'),
  }
}

function first(lane: ReadonlySet<EmbeddingRequest>): EmbeddingRequest | undefined {
  for (const call of lane) return call
  return undefined
}

function refuseTooMany(texts: number, waiting: number, textsMax: number): void {
  const facts = { texts, waiting, textsMax }
  if (texts > textsMax) {
    // A retry cannot help.
    throw new AppError(
      'invalid_input',
      `At most ${textsMax} texts can be embedded in one call; got ${texts}.`,
      facts,
    )
  }
  if (waiting + texts > textsMax) {
    throw new AppError(
      'unavailable',
      `The local model has ${waiting} texts queued, of at most ${textsMax}. Retry later.`,
      facts,
    )
  }
}
