/** FileTree on the file system of this machine. */
import { AppError } from '../../domain/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { FileTrouble, Root } from '../file.ts'
import type { FileTree, Scan } from '../file-tree.ts'
import { type WalkPlan, walk } from './directory-walk.ts'
import { trouble } from './file-errors.ts'
import { selectionOf } from './file-selection.ts'
import { readTailOf, readWhole } from './file-snapshot.ts'
import { checkedPath } from './path-guard.ts'
import { type Base, baseOf, isTrouble } from './root-location.ts'
import { createWatch, type WatchSystem } from './tree-watcher.ts'

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
  readonly watchSystem?: WatchSystem
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

  const planOf = (root: Root, { folder, only }: Base): WalkPlan => ({
    base: folder,
    // Whoever names a file wants that one, whatever its name ends in.
    selection:
      only === null
        ? selectionOf(root)
        : { takesFile: (path) => path === only, entersFolder: () => false },
    // Notes are often kept out of Git, and are meant all the same.
    heedsIgnoreFiles: root.kind === 'path' && only === null,
    fileBytesMax: root.kind === 'sessions' ? Number.POSITIVE_INFINITY : fileBytesMax,
    filesMax,
    looksAtFiles: true,
  })

  const scan = async (root: Root, signal?: AbortSignal): Promise<Scan> => {
    const base = await baseOf(root)
    if (isTrouble(base)) return { files: [], troubles: [base], isWhole: false }
    return walk({ ...planOf(root, base), signal })
  }

  return {
    scan,
    read: async (root, path) => {
      checkedPath(path)
      const base = await baseOf(root)
      if (isTrouble(base)) return { kind: 'trouble', trouble: { ...base, path } }
      if (!isPart(planOf(root, base), path)) return { kind: 'trouble', trouble: noPart(path) }
      return readWhole(base.folder, path, { clock, fileBytesMax })
    },
    readTail: async (root, path, from) => {
      checkedPath(path)
      const base = await baseOf(root)
      if (isTrouble(base)) {
        if (base.because === 'missing') return null
        throw new AppError('unavailable', base.message)
      }
      if (!isPart(planOf(root, base), path))
        throw new AppError('invalid_input', noPart(path).message)
      return readTailOf(base.folder, path, from, tailBytesMax)
    },
    watch: (roots, onHint) =>
      createWatch({
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
function isPart({ selection }: WalkPlan, path: string): boolean {
  const folders = path.split('/').slice(0, -1)
  return (
    selection.takesFile(path) &&
    folders.every((_, depth) => selection.entersFolder(folders.slice(0, depth + 1).join('/')))
  )
}

function noPart(path: string): FileTrouble {
  return trouble(path, 'outside', 'it is none of the files that the root is made of')
}
