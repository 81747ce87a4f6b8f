/**
 * The calls that wait for vectors. Queries go first, because somebody is waiting for them; otherwise first come, first
 * served. A backlog of documents can't shut queries out: each purpose has its own room.
 */
import { AppError } from '../../../domain/errors.ts'
import type { EmbedPurpose } from '../../embedder.ts'

export type Call = {
  readonly texts: readonly string[]
  readonly purpose: EmbedPurpose
  /** As many as are done: the next text is the one at this length. */
  readonly vectors: Float32Array[]
  readonly resolve: (vectors: readonly Float32Array[]) => void
  readonly reject: (error: AppError) => void
}

export type Calls = {
  /** Throws when there is no room for its texts. */
  add(call: Call): void
  next(): Call | undefined
  /** Whether it was still there. */
  remove(call: Call): boolean
  removeAll(): readonly Call[]
  textsWaiting(): number
}

export function createCalls(textsMax: number): Calls {
  const lanes: Readonly<Record<EmbedPurpose, Set<Call>>> = {
    query: new Set(),
    document: new Set(),
  }
  const waiting = (purpose: EmbedPurpose) =>
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
    textsWaiting: () => waiting('query') + waiting('document'),
  }
}

function first(lane: ReadonlySet<Call>): Call | undefined {
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
