/**
 * Files that people and agents write, as far as they are indexed: what is seen of them, and what they are cut into.
 *
 * Paths are relative to their root and have forward slashes, on every platform.
 */
import type { FileRootBody } from '../domain/entries/file-entries.ts'
import type { OwnerId } from '../domain/ids.ts'
import type { Instant } from '../lib/time.ts'

export {
  FILE_PROBLEMS,
  FILE_SOURCES,
  type FileProblem,
  type FileSource,
  ROOT_KINDS,
  type RootKind,
} from '../domain/entries/file-entries.ts'

/** A place in the file system that an owner has indexed. */
export type FileRoot = Omit<FileRootBody, 'name'> & { readonly id: string; readonly owner: OwnerId }

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
