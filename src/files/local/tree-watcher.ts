/** Watching roots: by events where the system has them, else by looking at them from time to time. */
import { watch as watchFile } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { Clock } from '../../lib/clock.ts'
import type { Root } from '../file.ts'
import type { Scan, Watch } from '../file-tree.ts'
import type { WalkPlan } from './directory-walk.ts'
import type { Base } from './root-location.ts'
import { RootWatch } from './root-watcher.ts'

/** What watching needs of the system. */
export type WatchSystem = {
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

export type Watching = {
  readonly roots: readonly Root[]
  readonly onHint: (root: Root) => void
  readonly planOf: (root: Root, base: Base) => WalkPlan
  readonly scan: (root: Root, signal?: AbortSignal) => Promise<Scan>
  readonly clock: Clock
  readonly pollMs: number
  readonly foldersMax: number
  readonly system?: WatchSystem | undefined
}

/** Folders are counted over all roots: the system's limits don't know roots. */
export type FolderBudget = { left: number }

const realSystem: WatchSystem = {
  watchFolder: (path, { onEvent, onError }) => {
    const watcher = watchFile(path, { persistent: false }, onEvent)
    watcher.on('error', onError)
    return watcher
  },
  fileSystemOf: async (path) => (await statfs(path)).type,
}

export function createWatch(options: Watching): Watch {
  const { roots, onHint, pollMs, foldersMax } = options
  const budget: FolderBudget = { left: foldersMax }
  const parts = { ...options, system: options.system ?? realSystem, budget }
  const watches = roots.map((root) => new RootWatch(root, parts, () => onHint(root)))
  const timer = setInterval(() => {
    for (const watch of watches) watch.check()
  }, pollMs)
  timer.unref()
  const reasons = () => watches.map((watch) => watch.pollsBecause).filter((text) => text !== null)
  return {
    mode: () => (reasons().length > 0 ? 'polling' : 'events'),
    because: () => reasons()[0] ?? null,
    close: () => {
      clearInterval(timer)
      for (const watch of watches) watch.close()
    },
  }
}
