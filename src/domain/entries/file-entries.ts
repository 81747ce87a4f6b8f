/** Bodies of entries about files: where they are, and what the file index knows of them. */
import type { Instant } from '../../lib/time.ts'
import type { DocumentId, UserId } from '../ids.ts'
import {
  choice,
  instant,
  list,
  nullable,
  number,
  object,
  optional,
  record,
  text,
} from './body-codec.ts'

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
export type FileRootBody = {
  readonly kind: RootKind
  /** Absolute, as it was given. */
  readonly path: string
  /** Globs over paths in the root; empty: everything that its kind allows. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** What display paths begin with; empty for the workspace. */
  readonly name: string
}

export const fileRootBody = object<FileRootBody>({
  kind: choice(ROOT_KINDS),
  path: text(),
  include: list(text()),
  exclude: list(text()),
  name: text(),
})

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

const fileProblem = object<FileProblem>({
  path: text(),
  reason: choice(FILE_PROBLEMS),
  message: text(),
})

/** The problems that the last scan of a root found. */
export type FileScanLogBody = {
  readonly root: string
  readonly at: Instant
  readonly problems: readonly FileProblem[]
  /** How many there are: not all are stored. */
  readonly problemsTotal: number
}

export const fileScanLogBody = object<FileScanLogBody>({
  root: text(),
  at: instant,
  problems: list(fileProblem),
  problemsTotal: number,
})

/** How far a transcript was read. */
export type SessionCheckpoint = {
  /** Where reading resumes, the number of lines before that, and what the file begins with up to there. */
  readonly offset: number
  readonly line: number
  readonly head: string
  /** The text right before `offset`; earlier checkpoints lack it. */
  readonly foot?: string
  /** Lines that could not be parsed, before `offset` and behind it. */
  readonly broken?: number
  readonly openBroken?: number
  /** How many chunks were made of the text behind `offset`: they are made again with what follows. */
  readonly open: number
  /** Up to which byte and which line the file was read. */
  readonly readTo: number
  readonly readLines: number
}

/** A file as it was when it was indexed. */
export type FileBody = {
  readonly root: string
  readonly path: string
  readonly sizeBytes: number
  readonly modifiedAt: Instant
  /** SHA-256 of its bytes. */
  readonly hash: string
  readonly document: DocumentId
  readonly source: FileSource
  readonly chunks: number
  readonly checkpoint: SessionCheckpoint | null
  readonly problem: FileProblem | null
}

export const fileBody = object<FileBody>({
  root: text(),
  path: text(),
  sizeBytes: number,
  modifiedAt: instant,
  hash: text(),
  document: text<DocumentId>(),
  source: choice(FILE_SOURCES),
  chunks: number,
  checkpoint: nullable(
    object<SessionCheckpoint>({
      offset: number,
      line: number,
      head: text(),
      foot: optional(text()),
      broken: optional(number),
      openBroken: optional(number),
      open: number,
      readTo: number,
      readLines: number,
    }),
  ),
  problem: nullable(fileProblem),
})

/** Chunks that one version of the chunker made. `name` is the user that they belong to. */
export type Generation = { readonly name: UserId; readonly chunkerVersion: string }

export type FileIndexGenerationBody = {
  readonly live: Generation
  readonly building: Generation | null
  /** How many there were so far: names are never reused. */
  readonly count: number
}

const generation = object<Generation>({ name: text<UserId>(), chunkerVersion: text() })

export const fileIndexGenerationBody = object<FileIndexGenerationBody>({
  live: generation,
  building: nullable(generation),
  count: number,
})

/** The lines that Recollect last wrote to MEMORY.md, by the tag of their memory. */
export type MemoryFileBody = { readonly snapshot: { readonly [tag: string]: string } }

export const memoryFileBody = object<MemoryFileBody>({ snapshot: record(text()) })
