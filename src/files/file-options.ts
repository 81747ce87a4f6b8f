/** What can be tuned about files. Whoever builds the engine fills it from the table of settings. */

import type { Fusion } from '../domain/settings/setting-choices.ts'
import { HOUR_MS } from '../lib/time.ts'
import { CHUNK_DEFAULTS } from './chunking/chunker.ts'

export type FileOptions = {
  /** How large a chunk may be, and how much of it the next one repeats. */
  readonly chunkTokens: number
  readonly chunkOverlap: number
  /** What the embedding model takes. */
  readonly chunkBytesMax: number
  /** Of a file with more, the first are indexed. Transcripts may have any number. */
  readonly chunksMax: number
  /** What a hit must reach, and how many there are, where a question says nothing else. */
  readonly minScore: number
  readonly maxResults: number
  /** How what was found by words and by meaning is joined. */
  readonly fusion: Fusion
  /** After how many days a note counts half; 0: age does not matter. */
  readonly halfLifeDays: number
  /** 0 … 1: below 1, hits that say the same as one above move down. */
  readonly mmrLambda: number
  readonly redactsEmails: boolean
  /** Whether `MEMORY.md` shows what is pinned. */
  readonly isMemoryFileEnabled: boolean
  /** Whose today it is that is written to; an IANA name. */
  readonly timeZone: string
  /** A transcript is looked at again once it has grown by one of these; 0: at any growth. */
  readonly sessionBytes: number
  readonly sessionMessages: number
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
}

/** How long things may take or wait. */
export type FileTimings = {
  /** Editors write a file several times in a row. */
  readonly debounceMs: number
  /** Transcripts grow with every word. */
  readonly sessionDebounceMs: number
  /** Watching may miss something: every root is looked at so often. */
  readonly intervalMs: number
  /** How long a question waits for what was changed to be indexed. */
  readonly searchWaitMs: number
  /** Where a look takes no longer, every question is worth one: changes are heard of a little later than they happen. */
  readonly cheapLookMs: number
}

export const FILE_TIMINGS: FileTimings = {
  debounceMs: 1_500,
  sessionDebounceMs: 5_000,
  intervalMs: HOUR_MS,
  searchWaitMs: 1_000,
  cheapLookMs: 25,
}
