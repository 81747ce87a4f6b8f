/**
 * Files that people and agents write, as far as they are indexed: what is seen of them, and what they are cut into.
 *
 * Paths are relative to their root and have forward slashes, on every platform.
 */
import type { OwnerId } from '../domain/ids.ts'
import type { Instant } from '../lib/time.ts'

/** `memory`: what was written to be remembered. `sessions`: transcripts of conversations, one message a line. */
export const FILE_SOURCES = ['memory', 'sessions'] as const

export type FileSource = (typeof FILE_SOURCES)[number]

/**
 * `workspace`: `MEMORY.md`, `memory.md` and what is under `memory/`, and the only kind that is written to.
 * `path`: a file, or a folder of Markdown and plain text. `sessions`: a folder of transcripts, `*.jsonl`.
 */
export const ROOT_KINDS = ['workspace', 'path', 'sessions'] as const

export type RootKind = (typeof ROOT_KINDS)[number]

/** A place in the file system that an owner has indexed. */
export type FileRoot = {
  readonly id: string
  readonly owner: OwnerId
  readonly kind: RootKind
  /** Absolute, as the person gave it. */
  readonly path: string
  /** Globs over paths in it; empty: everything that its kind allows. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/** What a look at a folder tells of a file without reading it. */
export type FileStat = {
  readonly path: string
  readonly sizeBytes: number
  readonly modifiedAt: Instant
}

/** What was known of a file when it was indexed. */
export type HashedFileStat = FileStat & {
  /** SHA-256 of its bytes. */
  readonly hash: string
}

/** A piece of a file. Lines are counted from 1, and the last one is part of it. */
export type Chunk = {
  /** The headings that it stands under, outermost first. */
  readonly headings: readonly string[]
  readonly lineFirst: number
  readonly lineLast: number
  readonly text: string
}

/** Why a file or folder could not be indexed, or only in part. */
export const FILE_PROBLEMS = [
  'missing',
  'unreadable',
  'too_large',
  'binary',
  'encoding',
  'outside_root',
  'modified_during_read',
  'failed',
] as const

export type FileProblem = {
  readonly path: string
  readonly reason: (typeof FILE_PROBLEMS)[number]
  /** For a person. */
  readonly message: string
}
