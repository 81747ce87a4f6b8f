import type { OwnerId } from '../domain/ids.ts'
import type { FileProblem, FileSource } from './file.ts'

export type FileQuery = {
  readonly text: string
  /** Default: 6. */
  readonly maxResults?: number
  /** 0 … 1; default: 0.35. Passages that contain all query terms are never dropped. */
  readonly minScore?: number
  /** Default: all. */
  readonly sources?: readonly FileSource[]
  /** The session that asks; its first query indexes changed files. */
  readonly session?: string
  readonly signal?: AbortSignal
}

export type FileHit = {
  /** The path that `readFile` accepts. */
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
  /** Best first; empty when nothing is relevant. */
  readonly hits: readonly FileHit[]
  /** The backend that answered: `builtin` or `qmd`. */
  readonly backend: string
  /** The model of the embedder; null without one. */
  readonly provider: string | null
  readonly model: string | null
  /** Which part was unavailable and why, such as vectors or the other backend; null when none was. */
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
  /** Why the text is empty or incomplete; null otherwise. */
  readonly reason: string | null
}

export type SyncProgress = {
  readonly root: string
  readonly filesDone: number
  readonly filesTotal: number
  readonly path: string
}

/** How many chunks of an owner have vectors. */
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
    /** Whether something may have changed since the last scan. */
    readonly isDirty: boolean
    readonly lastSyncAt: number | null
    readonly problems: readonly FileProblem[]
  }[]
  readonly bySource: Readonly<
    Record<FileSource, { readonly files: number; readonly chunks: number }>
  >
  /** How changes are detected, and why a better method is unavailable. */
  readonly watching: {
    readonly mode: 'events' | 'polling' | 'off'
    readonly reason: string | null
  }
  readonly provider: string | null
  readonly model: string | null
  /** Chunks without vectors, found by lexical search only. */
  readonly withoutVector: number
  /** The failure, if any; null while vectors are only pending. */
  readonly withoutVectorReason: string | null
  /** A rebuild in progress. */
  readonly rebuilding: { readonly filesDone: number; readonly filesTotal: number } | null
  readonly facts: Readonly<Record<string, string | number | boolean>>
}

export type ProbeResult = { readonly ok: boolean; readonly error: string | null }

/**
 * FileSearch finds the lines of an owner's files that answer a query. The files are canonical; every index is derived
 * from them.
 *
 * Failures are AppErrors, so that the caller can use another implementation. Every implementation must pass
 * `test/conformance/files/file-search.suite.ts`.
 */
export interface FileSearch {
  search(owner: OwnerId, query: FileQuery): Promise<FileSearchResult>
  /** Restricted to the owner's roots. */
  readFile(owner: OwnerId, path: string, range?: LineRange): Promise<FileText>
  status(owner: OwnerId): Promise<FileStatus>
  /**
   * Scans all roots. `force` reads and chunks every file again while queries use the old index. `embeds` also waits
   * until every chunk has its vector; otherwise vectors are computed in the background.
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
