/** Watching roots: by events where the system has them, else by looking at them from time to time. */
import { watch as watchFile } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { FileWatch } from '../file-tree.ts'
import {
  type FileSystemWatcher,
  RootWatcher,
  type TreeWatcherOptions,
  type WatchBudget,
} from './root-watcher.ts'

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
