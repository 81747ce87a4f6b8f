import type { Instant } from '../lib/time.ts'
import type { FileProblem, FileRoot, FileStat } from './file.ts'

/** The result of scanning a root: readable files, and troubles with the others. */
export type FolderScan = {
  readonly files: readonly FileStat[]
  readonly problems: readonly FileProblem[]
  /** False when a part of the root was unreadable: files that are missing there may still exist. */
  readonly isComplete: boolean
}

export type FileReadResult =
  | {
      readonly kind: 'read'
      readonly text: string
      /** SHA-256 of the file. */
      readonly hash: string
      readonly sizeBytes: number
      readonly modifiedAt: Instant
      /** A warning about a file that was read, such as invalid UTF-8. */
      readonly trouble: FileProblem | null
    }
  | { readonly kind: 'trouble'; readonly trouble: FileProblem }

/** The tail of an append-only file. */
export type FileTail = {
  /**
   * Whole lines from `from` on, without an incomplete last line. A long tail takes several reads, and a line that
   * exceeds one read is returned as an empty line, so that line numbers stay valid.
   */
  readonly text: string
  /** The number of lines that were too long and are empty for that reason. */
  readonly linesLeftOut: number
  /** The offset of the next read, after the last line break. Zero when the file is shorter than `from`. */
  readonly next: number
  /** SHA-256 of the first 1,024 bytes, or of those before `next` if that is less. */
  readonly head: string
  /** The same before `from`. When it differs from the `head` of the previous read, the file was replaced. */
  readonly headBefore: string
  /** SHA-256 of the last 1,024 bytes before `next` and before `from`, because many transcripts start alike. */
  readonly foot: string
  readonly footBefore: string
  readonly sizeBytes: number
  readonly modifiedAt: Instant
}

export type FileWatch = {
  /** `polling` where the system reports no changes; `because` is the reason. */
  readonly mode: () => 'events' | 'polling'
  readonly getReason: () => string | null
  close(): void
}

/**
 * FileTree reads files below the roots and nothing else. Symbolic links are never followed out of a root. A path that
 * leaves the root lexically is refused (`invalid_input`). A path that leaves it through a link is a trouble
 * (`outside`), because the link may be new, and so is a file that a scan would not list. Unreadable files are troubles,
 * not errors. The path of a root that is a single file is its name.
 */
export interface FileTree {
  scan(root: FileRoot, signal?: AbortSignal): Promise<FolderScan>
  /** The whole file at one moment: a file that changes during the read is read again, then reported as a trouble. */
  read(root: FileRoot, path: string): Promise<FileReadResult>
  /** Null for a missing file. Failures throw: `invalid_input` outside of the root, or `unavailable`. */
  readTail(root: FileRoot, path: string, from: number): Promise<FileTail | null>
  /**
   * Calls back when something may have changed in a root. The event is a hint: it may be late, repeated or spurious.
   * One event follows the start of watching, because earlier changes may be unseen. A watcher does not keep the process
   * alive.
   */
  watch(roots: readonly FileRoot[], onHint: (root: FileRoot) => void): FileWatch
}

export type FolderEntry = {
  readonly path: string
  readonly isFolder: boolean
  readonly sizeBytes: number
}

/**
 * Workspace: the folder that memory may write to. A path that leaves it is `invalid_input`; when a symbolic link is the
 * cause, the error detail `because` is `link`. Writes are atomic for readers, and concurrent writers, in one process or
 * several, never lose each other's changes.
 */
export interface Workspace {
  /** The same workspace restricted to a folder, which need not exist yet. */
  within(folder: string): Workspace
  /**
   * The entry and its descendants down to `depth`, folders before their content, sorted by name. Hidden names are
   * omitted. The empty path is the workspace itself. Null when the path is neither file nor folder.
   */
  list(path: string, depth: number): Promise<readonly FolderEntry[] | null>
  /** Null for a missing file. */
  read(path: string): Promise<string | null>
  /** False when the path exists. Creates missing folders. */
  create(path: string, text: string): Promise<boolean>
  /**
   * Reads, changes and writes under the lock. `change` gets null for a missing file and returns null for no change. It
   * runs again when an editor, which takes no lock, changed the file in between.
   */
  update(path: string, change: (text: string | null) => string | null): Promise<void>
  /** Appends on a new line. */
  append(path: string, text: string): Promise<void>
  /** False when nothing exists. Folders are removed recursively. */
  remove(path: string): Promise<boolean>
  /** `missing`: the source does not exist; `taken`: the target does. */
  rename(from: string, to: string): Promise<'renamed' | 'missing' | 'taken'>
}
