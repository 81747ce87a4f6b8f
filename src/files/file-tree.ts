import type { Instant } from '../lib/time.ts'
import type { FileProblem, FileRoot, FileStat } from './file.ts'

/** What a look at a root has found. What is in trouble is named, and the rest is there. */
export type FolderScan = {
  readonly files: readonly FileStat[]
  readonly problems: readonly FileProblem[]
  /** False where a part of the root could not be looked at: what is missing there has not vanished. */
  readonly isComplete: boolean
}

export type FileReadResult =
  | {
      readonly kind: 'read'
      readonly text: string
      /** SHA-256 of all bytes of the file. */
      readonly hash: string
      readonly sizeBytes: number
      readonly modifiedAt: Instant
      /** Something to be told although the file was read, as bytes that are no text. */
      readonly trouble: FileProblem | null
    }
  | { readonly kind: 'trouble'; readonly trouble: FileProblem }

/** Bytes of a file that only grows. */
export type FileTail = {
  /**
   * Whole lines from `from` on, without what stands after the last line break. A long rest comes in several reads, and a
   * line that is longer than one of them as an empty line, so that lines can be counted.
   */
  readonly text: string
  /** How many of its lines were too long, and are empty for that reason. */
  readonly linesLeftOut: number
  /** Where the next read begins: after the last line break. Zero when the file has become shorter than `from`. */
  readonly next: number
  /** SHA-256 of the first 1,024 bytes of the file, or of those before `next` if that is less. */
  readonly head: string
  /** The same of those before `from`. Unlike the `head` of the read that ended there: it is another file now. */
  readonly headBefore: string
  /** SHA-256 of the last 1,024 bytes before `next`, and of those before `from`: many transcripts begin alike. */
  readonly foot: string
  readonly footBefore: string
  readonly sizeBytes: number
  readonly modifiedAt: Instant
}

export type FileWatch = {
  /** `polling` when the system can't tell of changes; `because` says why. */
  readonly mode: () => 'events' | 'polling'
  readonly getReason: () => string | null
  close(): void
}

/**
 * FileTree: reads files below the roots, and nothing else. Symbolic links are never followed out of a root. A path that
 * leads out of one by its words is refused (`invalid_input`); one that does by a link is trouble (`outside`), as the link may
 * have been made since, and so is a file that a scan would not name. Nothing else is fatal: what can't be read is trouble. The
 * path of a root that is a file is its name.
 */
export interface FileTree {
  scan(root: FileRoot, signal?: AbortSignal): Promise<FolderScan>
  /** The whole file as it was at one moment: one that changes while it is read is read again, and then is trouble. */
  read(root: FileRoot, path: string): Promise<FileReadResult>
  /** Null when the file is not there. What has no place for trouble throws: `invalid_input` outside, or `unavailable`. */
  readTail(root: FileRoot, path: string, from: number): Promise<FileTail | null>
  /**
   * Calls when something may have changed in a root. A hint: it may come late, twice or for nothing. There is one when
   * watching has begun: what changed before it may be unseen. A watch alone keeps no process running.
   */
  watch(roots: readonly FileRoot[], onHint: (root: FileRoot) => void): FileWatch
}

export type FolderEntry = {
  readonly path: string
  readonly isFolder: boolean
  readonly sizeBytes: number
}

/**
 * Workspace: the folder of files that memory may write, with the same fences: a path that leads out is `invalid_input`, and
 * where it does so by a symbolic link, the error's fact `because` is `link`. Every write is atomic: whoever reads sees the file
 * as it was or as it is, and two writers, in one process or two, never lose each other's words.
 */
export interface Workspace {
  /** The same, fenced in by one of its folders, which need not be there yet. */
  within(folder: string): Workspace
  /**
   * It, and then what is below it down to `depth`, each folder before what it holds and names in order. Hidden names are left
   * out. The empty path is the workspace itself. Null when it is neither file nor folder.
   */
  list(path: string, depth: number): Promise<readonly FolderEntry[] | null>
  /** Null when there is no such file. */
  read(path: string): Promise<string | null>
  /** False when there is something already. Folders are made. */
  create(path: string, text: string): Promise<boolean>
  /**
   * Reads, decides and writes with others kept out; `change` gets null where there is no file, and returns null for no
   * change. It may be called again when somebody who keeps no lock, as an editor, has changed the file in between.
   */
  update(path: string, change: (text: string | null) => string | null): Promise<void>
  /** Adds at the end, on a line of its own. */
  append(path: string, text: string): Promise<void>
  /** False when there is nothing. A folder goes with all that is in it. */
  remove(path: string): Promise<boolean>
  /** `missing`: nothing to rename; `taken`: the new name is. */
  rename(from: string, to: string): Promise<'renamed' | 'missing' | 'taken'>
}
