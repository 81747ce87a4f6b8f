import { hashEmbeddingText, renderEmbeddingText } from '../../domain/embedding-text.ts'
import type { MemoryId } from '../../domain/ids.ts'
import type { SearchDocument } from '../../domain/search-document.ts'
import { raceAbort } from '../../lib/abort.ts'
import { toAppError } from '../../lib/errors.ts'
import { yieldToEventLoop } from '../../lib/event-loop.ts'
import type { Embedder } from '../../models/embedder.ts'
import type { VectorEntry } from '../../storage/vector-index.ts'

export type EmbeddedDocuments = {
  readonly entries: readonly VectorEntry[]
  /** Documents whose text the model refuses, and what it says about it. */
  readonly rejected: ReadonlyMap<MemoryId, string>
}

/** The documents with their vectors. One whose text is refused must not keep the others from theirs. */
export async function embedDocuments(
  embedder: Embedder,
  documents: readonly SearchDocument[],
  signal: AbortSignal,
): Promise<EmbeddedDocuments> {
  // Where neither the model nor the store has to be waited for, nobody else would have a turn before all is done.
  await yieldToEventLoop()
  try {
    const texts = documents.map(renderEmbeddingText)
    const embedding = embedder.embed(texts, { purpose: 'document', signal })
    const vectors = await raceAbort(embedding, signal)
    const entries = documents.flatMap((document, position) => {
      const vector = vectors[position]
      const { id, place } = document
      return vector === undefined
        ? []
        : [{ id, place, vector, textHash: hashEmbeddingText(document) }]
    })
    return { entries, rejected: new Map() }
  } catch (error) {
    const { code, message } = toAppError(error)
    if (code !== 'invalid_input') throw error
    const [only] = documents
    if (documents.length === 1 && only !== undefined) {
      return { entries: [], rejected: new Map([[only.id, message]]) }
    }
  }
  const entries: VectorEntry[] = []
  const refused = new Map<MemoryId, string>()
  for (const document of documents) {
    const one = await embedDocuments(embedder, [document], signal)
    entries.push(...one.entries)
    for (const [id, because] of one.rejected) refused.set(id, because)
  }
  return { entries, rejected: refused }
}
