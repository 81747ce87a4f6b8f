import type { OwnerId } from '../domain/ids.ts'
import type { FileProblem, FileSource } from './file.ts'

export type FileQuery = {
  readonly text: string
  /** Default: 6. */
  readonly maxResults?: number
  /** 0 … 1; default: 0.35. What holds all words of the question is never left out by it. */
  readonly minScore?: number
  /** Default: all. */
  readonly sources?: readonly FileSource[]
  readonly signal?: AbortSignal
}

export type FileHit = {
  /** As `readFile` takes it. */
  readonly path: string
  /** From 1, inclusive. */
  readonly startLine: number
  readonly endLine: number
  /** 0 … 1. */
  readonly score: number
  /** At most 700 characters. */
  readonly snippet: string
  readonly source: FileSource
  readonly headings: readonly string[]
}

export type FileSearchResult = {
  /** Best first; none when nothing fits. */
  readonly hits: readonly FileHit[]
  /** Which backend answered: `builtin`, `qmd`. */
  readonly backend: string
  /** Of the embedder; null without one. */
  readonly provider: string | null
  readonly model: string | null
  /** What it did without, and why: another backend, vectors; null when nothing was missing. */
  readonly fallbackReason: string | null
  readonly mode: 'hybrid' | 'keyword'
}

export type LineRange = {
  /** The first line, from 1. */
  readonly from?: number
  readonly lines?: number
}

export type FileText = {
  readonly path: string
  readonly text: string
  /** Why there is no text, or not all that was asked for; null when there is. */
  readonly reason: string | null
}

export type SyncProgress = {
  readonly root: string
  readonly filesDone: number
  readonly filesTotal: number
  readonly path: string
}

/** How many pieces of an owner's files have their vectors. */
export type EmbeddingProgress = { readonly done: number; readonly total: number }

export type SyncReport = {
  readonly added: number
  readonly changed: number
  readonly moved: number
  readonly removed: number
  readonly unchanged: number
  readonly chunks: number
  readonly problems: readonly FileProblem[]
  readonly durationMs: number
}

export type FileStatus = {
  readonly backend: string
  readonly roots: readonly {
    readonly id: string
    readonly kind: string
    readonly path: string
    readonly files: number
    readonly chunks: number
    /** Whether something may have changed since the last look. */
    readonly isDirty: boolean
    readonly lastSyncAt: number | null
    readonly problems: readonly FileProblem[]
  }[]
  readonly bySource: Readonly<
    Record<FileSource, { readonly files: number; readonly chunks: number }>
  >
  /** How changes are noticed, and why not better. */
  readonly watching: {
    readonly mode: 'events' | 'polling' | 'off'
    readonly reason: string | null
  }
  readonly provider: string | null
  readonly model: string | null
  /** Chunks that are found by their words only, for now. */
  readonly withoutVector: number
  /** Why, where something is wrong; null where it is only a matter of time. */
  readonly withoutVectorReason: string | null
  /** A rebuild under way. */
  readonly rebuilding: { readonly filesDone: number; readonly filesTotal: number } | null
  readonly facts: Readonly<Record<string, string | number | boolean>>
}

export type ProbeResult = { readonly ok: boolean; readonly error: string | null }

/**
 * FileSearch: finds the lines of an owner's files that answer a question. The files are canonical; whatever an
 * implementation keeps is derived from them.
 *
 * Failures are AppErrors, so that whoever asks can turn to another implementation. Every implementation must pass
 * `test/conformance/files/file-search.suite.ts`.
 */
export interface FileSearch {
  search(owner: OwnerId, query: FileQuery): Promise<FileSearchResult>
  /** Only inside of the owner's roots. */
  readFile(owner: OwnerId, path: string, range?: LineRange): Promise<FileText>
  status(owner: OwnerId): Promise<FileStatus>
  /**
   * Looks at all roots now. `force` reads and cuts every file anew, and answers from the old index meanwhile. `embeds`
   * also waits until every piece has its vector, as far as that is possible: else they are made by and by.
   */
  sync(
    owner: OwnerId,
    options?: {
      readonly force?: boolean
      readonly embeds?: boolean
      readonly signal?: AbortSignal
      readonly onProgress?: (progress: SyncProgress) => void
      readonly onEmbedding?: (progress: EmbeddingProgress) => void
    },
  ): Promise<SyncReport>
  probeEmbeddingAvailability(): Promise<ProbeResult>
  probeVectorAvailability(): Promise<ProbeResult>
  close(): Promise<void>
}
