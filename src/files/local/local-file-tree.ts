/** FileTree on the local file system. */

import { watch as watchFile } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { FileProblem, FileRoot } from '../file.ts'
import type { FileTree, FileWatch, FolderScan } from '../file-tree.ts'
import { type WalkOptions, walkDirectory } from './directory-walk.ts'
import { createFileTrouble } from './file-errors.ts'
import { createFileSelection } from './file-selection.ts'
import { readFileTail, readStableFile } from './file-snapshot.ts'
import { parseRelativePath } from './path-guard.ts'
import { isFileTrouble, locateRoot, type RootLocation } from './root-location.ts'
import {
  type FileSystemWatcher,
  RootWatcher,
  type TreeWatcherOptions,
  type WatchBudget,
} from './root-watcher.ts'

export type FileTreeOptions = {
  readonly clock: Clock
  /** Larger files are troubles. Transcripts have no limit, because they are read incrementally. */
  readonly fileBytesMax?: number
  /** A root with more files is not indexed: it is most likely the wrong folder. */
  readonly filesMax?: number
  /** Bytes of a transcript per read. */
  readonly tailBytesMax?: number
  /** The interval of polling, and of checks that roots still exist. */
  readonly pollMs?: number
  /** Above this number of folders, roots are polled instead of watched. */
  readonly watchedFoldersMax?: number
  /** The watch implementation; replaced in tests. */
  readonly watchSystem?: FileSystemWatcher
}

const FILE_BYTES_MAX = 10_000_000
const FILES_MAX = 200_000
const TAIL_BYTES_MAX = 4_000_000
const POLL_MS = 5_000
/** Linux's default limit per user on small machines is eight thousand watches. */
const WATCHED_FOLDERS_MAX = 6_000

export function createFileTree(options: FileTreeOptions): FileTree {
  const { clock, fileBytesMax = FILE_BYTES_MAX, filesMax = FILES_MAX } = options
  const { tailBytesMax = TAIL_BYTES_MAX } = options

  const planOf = (root: FileRoot, { folder, onlyFile: only }: RootLocation): WalkOptions => ({
    base: folder,
    // A file that is named explicitly is included, whatever its extension.
    selection:
      only === null
        ? createFileSelection(root)
        : { includesFile: (path) => path === only, entersFolder: () => false },
    // Workspaces ignore `.gitignore`, because notes are often not in Git.
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

/** A root that is a file must not expose the other files of its folder. */
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

const realSystem: FileSystemWatcher = {
  watchFolder: (path, { onEvent, onError }) => {
    const watcher = watchFile(path, { persistent: false }, onEvent)
    watcher.on('error', onError)
    return watcher
  },
  fileSystemOf: async (path) => (await statfs(path)).type,
}

function createTreeWatcher(options: TreeWatcherOptions): FileWatch {
  const { roots, onHint, pollMs, foldersMax } = options
  const budget: WatchBudget = { remaining: foldersMax }
  const parts = { ...options, system: options.system ?? realSystem, budget }
  const watches = roots.map((root) => new RootWatcher(root, parts, () => onHint(root)))
  const timer = setInterval(() => {
    for (const watch of watches) watch.check()
  }, pollMs)
  timer.unref()
  const reasons = () => watches.map((watch) => watch.pollingReason).filter((text) => text !== null)
  return {
    mode: () => (reasons().length > 0 ? 'polling' : 'events'),
    getReason: () => reasons()[0] ?? null,
    close: () => {
      clearInterval(timer)
      for (const watch of watches) watch.close()
    },
  }
}
