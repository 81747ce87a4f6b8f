/**
 * The calls that wait for vectors. Queries go first, because somebody is waiting for them; otherwise first come, first
 * served. A backlog of documents can't shut queries out: each purpose has its own room.
 */
import { AppError } from '../../../lib/errors.ts'
import type { EmbeddingPurpose } from '../../embedder.ts'
import type { WorkerCall, WorkerCallQueue } from '../../runtime/worker-client.ts'
import type { EmbedderWorkerRequest, ModelAnswer } from './embedder-worker-protocol.ts'

export type EmbeddingRequest = WorkerCall<EmbedderWorkerRequest, ModelAnswer> & {
  readonly texts: readonly string[]
  readonly purpose: EmbeddingPurpose
  /** Of the texts that are done; the next text is the one at this length. */
  readonly vectors: readonly Float32Array[]
}

/** Its limit counts texts. */
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
    // Trying again would never help.
    throw new AppError(
      'invalid_input',
      `At most ${textsMax} texts can be embedded in one call; these are ${texts}.`,
      facts,
    )
  }
  if (waiting + texts > textsMax) {
    throw new AppError(
      'unavailable',
      `The local model has ${waiting} texts waiting and takes at most ${textsMax}. Try again when it has caught up.`,
      facts,
    )
  }
}
