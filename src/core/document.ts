import type { ChunkId, DocumentId, Instant, Place } from './ids.ts'

/** A file that is indexed beside the memories. */
export type Document = {
  readonly id: DocumentId
  readonly place: Place
  readonly version: number
  readonly path: string
  readonly textHash: string
  readonly sizeBytes: number
  readonly modifiedAt: Instant
}

/** A piece of a document, with the lines it covers (1-based, inclusive) so that answers can cite them. */
export type Chunk = {
  readonly id: ChunkId
  readonly place: Place
  readonly version: number
  readonly document: DocumentId
  readonly headings: readonly string[]
  readonly lineFirst: number
  readonly lineLast: number
  readonly content: string
  readonly textHash: string
}
