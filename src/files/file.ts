/** Indexed files and their chunks. Paths are relative to their root and use forward slashes on every platform. */
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

/** File attributes from a directory listing, without reading the file. */
export type FileStat = {
  readonly path: string
  readonly sizeBytes: number
  readonly modifiedAt: Instant
}

/** The state of a file when it was indexed. */
export type HashedFileStat = FileStat & {
  /** SHA-256 of the file. */
  readonly hash: string
}

/** A chunk of a file. Lines count from 1, inclusive. */
export type Chunk = {
  /** The enclosing headings, outermost first. */
  readonly headings: readonly string[]
  readonly lineFirst: number
  readonly lineLast: number
  readonly text: string
}
