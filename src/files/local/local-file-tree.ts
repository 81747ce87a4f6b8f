/** FileTree on the file system of this machine. */

import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { FileProblem, FileRoot } from '../file.ts'
import type { FileTree, FolderScan } from '../file-tree.ts'
import { type WalkOptions, walkDirectory } from './directory-walk.ts'
import { createFileTrouble } from './file-errors.ts'
import { createFileSelection } from './file-selection.ts'
import { readFileTail, readStableFile } from './file-snapshot.ts'
import { parseRelativePath } from './path-guard.ts'
import { isFileTrouble, locateRoot, type RootLocation } from './root-location.ts'
import type { FileSystemWatcher } from './root-watcher.ts'
import { createTreeWatcher } from './tree-watcher.ts'

export type FileTreeOptions = {
  readonly clock: Clock
  /** Larger files are trouble. Transcripts of sessions have no limit: they are read piece by piece. */
  readonly fileBytesMax?: number
  /** A root with more files is not indexed: somebody has named the wrong folder. */
  readonly filesMax?: number
  /** How much of a transcript is read at once. */
  readonly tailBytesMax?: number
  /** How often roots are looked at where the system tells nothing, and whether they are still there. */
  readonly pollMs?: number
  /** More folders than this are not watched, but looked at from time to time. */
  readonly watchedFoldersMax?: number
  /** How folders are watched; another one only in tests. */
  readonly watchSystem?: FileSystemWatcher
}

const FILE_BYTES_MAX = 10_000_000
const FILES_MAX = 200_000
const TAIL_BYTES_MAX = 4_000_000
const POLL_MS = 5_000
/** Linux allows eight thousand on the smallest machines, for all programs of a user together. */
const WATCHED_FOLDERS_MAX = 6_000

export function createFileTree(options: FileTreeOptions): FileTree {
  const { clock, fileBytesMax = FILE_BYTES_MAX, filesMax = FILES_MAX } = options
  const { tailBytesMax = TAIL_BYTES_MAX } = options

  const planOf = (root: FileRoot, { folder, onlyFile: only }: RootLocation): WalkOptions => ({
    base: folder,
    // Whoever names a file wants that one, whatever its name ends in.
    selection:
      only === null
        ? createFileSelection(root)
        : { includesFile: (path) => path === only, entersFolder: () => false },
    // Notes are often kept out of Git, and are meant all the same.
    usesIgnoreFiles: root.kind === 'path' && only === null,
    fileBytesMax: root.kind === 'sessions' ? Number.POSITIVE_INFINITY : fileBytesMax,
    filesMax,
    readsFileStats: true,
  })

  const scan = async (root: FileRoot, signal?: AbortSignal): Promise<FolderScan> => {
    const base = await locateRoot(root)
    if (isFileTrouble(base)) return { files: [], problems: [base], isComplete: false }
    return walkDirectory({ ...planOf(root, base), signal })
  }

  return {
    scan,
    read: async (root, path) => {
      parseRelativePath(path)
      const base = await locateRoot(root)
      if (isFileTrouble(base)) return { kind: 'trouble', trouble: { ...base, path } }
      if (!isPart(planOf(root, base), path)) return { kind: 'trouble', trouble: noPart(path) }
      return readStableFile(base.folder, path, { clock, fileBytesMax })
    },
    readTail: async (root, path, from) => {
      parseRelativePath(path)
      const base = await locateRoot(root)
      if (isFileTrouble(base)) {
        if (base.reason === 'missing') return null
        throw new AppError('unavailable', base.message)
      }
      if (!isPart(planOf(root, base), path))
        throw new AppError('invalid_input', noPart(path).message)
      return readFileTail(base.folder, path, from, tailBytesMax)
    },
    watch: (roots, onHint) =>
      createTreeWatcher({
        roots,
        onHint,
        planOf,
        scan,
        clock,
        pollMs: options.pollMs ?? POLL_MS,
        foldersMax: options.watchedFoldersMax ?? WATCHED_FOLDERS_MAX,
        system: options.watchSystem,
      }),
  }
}

/** A folder holds more than what was meant to be read: keys, for one. */
function isPart({ selection }: WalkOptions, path: string): boolean {
  const folders = path.split('/').slice(0, -1)
  return (
    selection.includesFile(path) &&
    folders.every((_, depth) => selection.entersFolder(folders.slice(0, depth + 1).join('/')))
  )
}

function noPart(path: string): FileProblem {
  return createFileTrouble(path, 'outside_root', 'it is none of the files that the root is made of')
}
