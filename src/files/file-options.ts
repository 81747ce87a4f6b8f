/** Options of files, which the engine reads from the settings. */

import type { Fusion } from '../domain/settings/setting-choices.ts'
import { HOUR_MS } from '../lib/time.ts'
import { CHUNK_DEFAULTS } from './chunking/chunker.ts'

export type FileOptions = {
  /** Chunk size and overlap in tokens. */
  readonly chunkTokens: number
  readonly chunkOverlap: number
  /** The input limit of the embedding model in bytes. */
  readonly chunkBytesMax: number
  /** The maximum number of chunks of a file; transcripts have no limit. */
  readonly chunksMax: number
  /** Defaults of a query. */
  readonly minScore: number
  readonly maxResults: number
  /** Weights of lexical and vector scores. */
  readonly fusion: Fusion
  /** The half-life of dated notes in days; 0 disables decay. */
  readonly halfLifeDays: number
  /** 0 … 1; below 1, near duplicates of a better hit move down. */
  readonly mmrLambda: number
  readonly redactsEmails: boolean
  /** Whether pinned memories are synced with `MEMORY.md`. */
  readonly isMemoryFileEnabled: boolean
  /** The IANA time zone of daily notes. */
  readonly timeZone: string
  /** A transcript is scanned again after growing by one of these thresholds; 0: after any growth. */
  readonly sessionBytes: number
  readonly sessionMessages: number
  /** Chunks that are ranked, as a multiple of the requested results; 0: always the same number. */
  readonly candidateMultiplier: number
  readonly snippetCharactersMax: number
  /** For all snippets of a query together; 0: no limit. */
  readonly resultCharactersMax: number
  /** When a query indexes changed files first. */
  readonly syncsOnSearch: boolean
  readonly syncsOnSessionStart: boolean
}

export const FILE_DEFAULTS: FileOptions = {
  chunkTokens: CHUNK_DEFAULTS.tokens,
  chunkOverlap: CHUNK_DEFAULTS.overlap,
  chunkBytesMax: CHUNK_DEFAULTS.bytesMax,
  chunksMax: 50_000,
  minScore: 0.35,
  maxResults: 6,
  fusion: 'adaptive',
  halfLifeDays: 0,
  mmrLambda: 1,
  redactsEmails: false,
  isMemoryFileEnabled: false,
  timeZone: 'UTC',
  sessionBytes: 100_000,
  sessionMessages: 50,
  candidateMultiplier: 0,
  snippetCharactersMax: 700,
  resultCharactersMax: 0,
  syncsOnSearch: true,
  syncsOnSessionStart: true,
}

/** Timeouts and intervals. */
export type FileTimings = {
  /** Debounce for notes, because editors write a file several times in a row. */
  readonly debounceMs: number
  /** Debounce for transcripts, which grow with every message. */
  readonly sessionDebounceMs: number
  /** The interval of full scans, because watchers can miss changes; 0: none. */
  readonly intervalMs: number
  /** Whether files are watched. */
  readonly isWatching: boolean
  /** How long a query waits for pending changes to be indexed. */
  readonly searchWaitMs: number
  /** Below this scan duration every query scans, because watcher events arrive with a delay. */
  readonly cheapLookMs: number
}

export const FILE_TIMINGS: FileTimings = {
  debounceMs: 1_500,
  sessionDebounceMs: 5_000,
  intervalMs: HOUR_MS,
  isWatching: true,
  searchWaitMs: 1_000,
  cheapLookMs: 25,
}
