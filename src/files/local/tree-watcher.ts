/** Watching roots: by events where the system has them, else by looking at them from time to time. */
import { watch as watchFile } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { Clock } from '../../lib/clock.ts'
import type { FileRoot } from '../file.ts'
import type { FileWatch, FolderScan } from '../file-tree.ts'
import type { WalkOptions } from './directory-walk.ts'
import type { RootLocation } from './root-location.ts'
import { RootWatcher } from './root-watcher.ts'

/** What watching needs of the system. */
export type FileSystemWatcher = {
  /** Of one folder, not of those in it. Throws when that can't be had. */
  watchFolder(path: string, listener: FolderListener): { close(): void }
  /** The number by which Linux knows a kind of file system. */
  fileSystemOf(path: string): Promise<number>
}

export type FolderListener = {
  /** `rename`: something has come or gone. The name is null where the system doesn't tell it. */
  onEvent(kind: string, name: string | null): void
  onError(error: unknown): void
}

export type TreeWatcherOptions = {
  readonly roots: readonly FileRoot[]
  readonly onHint: (root: FileRoot) => void
  readonly planOf: (root: FileRoot, base: RootLocation) => WalkOptions
  readonly scan: (root: FileRoot, signal?: AbortSignal) => Promise<FolderScan>
  readonly clock: Clock
  readonly pollMs: number
  readonly foldersMax: number
  readonly system?: FileSystemWatcher | undefined
}

/** Folders are counted over all roots: the system's limits don't know roots. */
export type WatchBudget = { remaining: number }

const realSystem: FileSystemWatcher = {
  watchFolder: (path, { onEvent, onError }) => {
    const watcher = watchFile(path, { persistent: false }, onEvent)
    watcher.on('error', onError)
    return watcher
  },
  fileSystemOf: async (path) => (await statfs(path)).type,
}

export function createTreeWatcher(options: TreeWatcherOptions): FileWatch {
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
