import { embeddingText, embeddingTextHash } from '../core/embedding.ts'
import { toAppError } from '../core/errors.ts'
import type { MemoryId } from '../core/ids.ts'
import type { Memory } from '../core/memory.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { VectorEntry } from '../ports/vector-index.ts'
import { orCancelled } from './deadline.ts'
import { nextTurn } from './turns.ts'

export type Embedded = {
  readonly entries: readonly VectorEntry[]
  /** Memories whose text the model refuses, and what it says about it. */
  readonly refused: ReadonlyMap<MemoryId, string>
}

/** The memories with their vectors. One whose text is refused must not keep the others from theirs. */
export async function embedMemories(
  embedder: Embedder,
  memories: readonly Memory[],
  signal: AbortSignal,
): Promise<Embedded> {
  // Where neither the model nor the store has to be waited for, nobody else would have a turn before all is done.
  await nextTurn()
  try {
    const texts = memories.map(embeddingText)
    const embedding = embedder.embed(texts, { purpose: 'document', signal })
    const vectors = await orCancelled(embedding, signal)
    const entries = memories.flatMap((memory, position) => {
      const vector = vectors[position]
      const { id, place } = memory
      return vector === undefined
        ? []
        : [{ id, place, vector, textHash: embeddingTextHash(memory) }]
    })
    return { entries, refused: new Map() }
  } catch (error) {
    const { code, message } = toAppError(error)
    if (code !== 'invalid_input') throw error
    const [only] = memories
    if (memories.length === 1 && only !== undefined) {
      return { entries: [], refused: new Map([[only.id, message]]) }
    }
  }
  const entries: VectorEntry[] = []
  const refused = new Map<MemoryId, string>()
  for (const memory of memories) {
    const one = await embedMemories(embedder, [memory], signal)
    entries.push(...one.entries)
    for (const [id, because] of one.refused) refused.set(id, because)
  }
  return { entries, refused }
}
