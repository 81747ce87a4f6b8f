/** Memory in files, behind one object: where they are, what is in them, and adding to them. */

import type { IdGenerator, OwnerId } from '../domain/ids.ts'
import { SYSTEM_OWNER } from '../domain/scope.ts'
import type { Engine } from '../engine/engine.ts'
import { type Clock, type IntervalTimers, systemIntervalTimers } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { BatchEmbedder } from '../models/batch-embedder.ts'
import type { Store } from '../storage/store.ts'
import { createBuiltinFileSearch } from './builtin-file-search.ts'
import { createFileContents, type FileContents } from './file-contents.ts'
import { FILE_TIMINGS, type FileOptions, type FileTimings } from './file-options.ts'
import type { FileSearch } from './file-search.ts'
import type { FileTree, Workspace } from './file-tree.ts'
import { FileWatcher } from './file-watcher.ts'
import type { IndexStore } from './indexing/chunk-vectors.ts'
import { MemoryFileSync, type PinnedMemories } from './memory-file/memory-file-sync.ts'
import { createRoots, type NamedRoot, type RootInput, type Roots } from './roots.ts'

export type FilesDependencies = {
  /** Of the memories: roots are kept there. */
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdGenerator
  /** The engine of the index, and the store that it is on. Both are closed with this. */
  readonly inner: Engine
  readonly innerStore: IndexStore
  readonly tree: FileTree
  readonly workspaceOf: (root: NamedRoot) => Workspace
  readonly settingsOf: (owner: OwnerId) => Promise<FileOptions>
  readonly pace?: Partial<FileTimings>
  readonly timers?: IntervalTimers
  /** Gets vectors ahead where many are needed; without, each is made when it is. */
  readonly prefill?: BatchEmbedder
  /** What is pinned, for the mirror of it; without, there is none. */
  readonly memories?: PinnedMemories
  /** Calls when memories of an owner may have changed, until what it gives back is called. */
  readonly onMemoriesChanged?: (listener: (owner: OwnerId) => void) => () => void
  /** What answers, where that is not the built-in search alone. Reading, syncing and status go through it too. */
  readonly searchWith?: (builtin: FileSearch) => FileSearch
}

export interface Files extends FileSearch {
  readonly roots: Roots
  /** What the built-in index holds. */
  readonly contents: FileContents
  /** Where memory may write; `not_found` when the owner has no workspace. */
  workspace(owner: OwnerId): Promise<Workspace>
  /** Adds to the note of today, in the owner's time zone, and tells its path. */
  appendToDailyNote(owner: OwnerId, text: string): Promise<{ readonly path: string }>
  /** Notes that something was written to an owner's files, so that the next question knows it. */
  markDirty(owner: OwnerId): void
  /** Notes that another process has added or removed roots of an owner. */
  rootsChanged(owner: OwnerId): Promise<void>
  /** From now on files are looked at when they change, and from time to time. */
  start(): Promise<void>
  /** Removes all that is kept of an owner's files, for whoever erases the owner. The files stay. */
  forget(owner: OwnerId): Promise<void>
}

export function createFiles(parts: FilesDependencies): Files {
  const { store, clock, tree, settingsOf, workspaceOf } = parts
  const pace: FileTimings = { ...FILE_TIMINGS, ...parts.pace }
  const roots = createRoots({ store, clock })
  const mirror = createMemoryFileSync(parts, roots)
  const builtin = createBuiltinFileSearch({
    ...parts,
    roots,
    pace,
    troubleOf: (owner) => mirror?.trouble(owner) ?? null,
    watchingOf: (owner) => watching.of(owner),
    isWatched: (owner) => watching.isSure(owner),
  })
  const watching = new FileWatcher({
    ...{ tree, roots, pace },
    timers: parts.timers ?? systemIntervalTimers,
    touch: builtin.markDirty,
    look: async (owner, isThorough) => {
      await mirror?.sync(owner)
      await builtin.syncIfDirty(owner, { isThorough })
    },
  })
  // Only where files are watched: others look at the memories when they look at the files.
  const unsubscribe = parts.onMemoriesChanged?.((owner) => watching.lookSoon(owner))
  const search = parts.searchWith?.(builtin) ?? builtin
  /** Another root is another thing to watch, and to look at. */
  const changed = async (owner: OwnerId) => {
    builtin.markDirty(owner)
    if (watching.isStarted) await watching.watch(owner)
  }
  const workspace = async (owner: OwnerId) => {
    const root = (await roots.list(owner)).find(({ kind }) => kind === 'workspace')
    if (root !== undefined) return workspaceOf(root)
    throw new AppError('not_found', 'There is no workspace to write to. Add one first.')
  }
  return {
    search: (owner, query) => search.search(owner, query),
    readFile: (owner, path, range) => search.readFile(owner, path, range),
    status: (owner) => search.status(owner),
    sync: async (owner, options) => {
      await mirror?.sync(owner)
      return search.sync(owner, options)
    },
    probeEmbeddingAvailability: () => search.probeEmbeddingAvailability(),
    probeVectorAvailability: () => search.probeVectorAvailability(),
    roots: {
      ...roots,
      add: async (owner: OwnerId, input: RootInput) => {
        const root = await roots.add(owner, input)
        await changed(owner)
        return root
      },
      remove: async (owner: OwnerId, id: string) => {
        const isRemoved = await roots.remove(owner, id)
        if (isRemoved) await changed(owner)
        return isRemoved
      },
    },
    contents: createFileContents({ ...parts, roots }),
    workspace,
    appendToDailyNote: async (owner, text) => {
      if (typeof text !== 'string' || text.trim() === '') {
        throw new AppError('invalid_input', 'There is nothing to add.', { field: 'text' })
      }
      const { timeZone } = await settingsOf(owner)
      const path = `memory/${formatDay(timeZone, clock.now())}.md`
      await (await workspace(owner)).append(path, text)
      builtin.markDirty(owner)
      return { path }
    },
    markDirty: (owner) => builtin.markDirty(owner),
    rootsChanged: changed,
    start: async () => {
      await watching.start()
      await removeOrphanedOwners(parts, roots, builtin.forget)
    },
    forget: async (owner) => {
      watching.unwatch(owner)
      await builtin.forget(owner)
    },
    close: async () => {
      unsubscribe?.()
      await watching.close()
      await mirror?.close()
      await search.close()
      if (search !== builtin) await builtin.close()
    },
  }
}

function createMemoryFileSync(
  { memories, innerStore: store, clock, settingsOf, workspaceOf }: FilesDependencies,
  roots: Roots,
): MemoryFileSync | null {
  if (memories === undefined) return null
  return new MemoryFileSync({
    ...{ store, clock, memories },
    isEnabled: async (owner) => (await settingsOf(owner)).isMemoryFileEnabled,
    workspaceOf: async (owner) => {
      const root = (await roots.list(owner)).find(({ kind }) => kind === 'workspace')
      return root === undefined ? null : workspaceOf(root)
    },
  })
}

/** As `2026-11-15`. */
function formatDay(timeZone: string, now: number): string {
  try {
    const parts = new Intl.DateTimeFormat('en', {
      ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn' },
      ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
    }).formatToParts(now)
    const part = (type: string) => parts.find((each) => each.type === type)?.value ?? ''
    return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`
  } catch (error) {
    const message = `"${timeZone}" is no time zone that is known here.`
    throw new AppError('invalid_input', message, { field: 'timeZone' }, error)
  }
}

/** What is kept of owners who have no roots any more, because they were erased while no index was open. */
async function removeOrphanedOwners(
  { innerStore }: FilesDependencies,
  roots: Roots,
  forget: (owner: OwnerId) => Promise<void>,
): Promise<void> {
  const indexed = new Set((await innerStore.listPlaces()).map(({ owner }) => owner as OwnerId)) // as the store told it
  indexed.delete(SYSTEM_OWNER)
  for (const owner of indexed) {
    if ((await roots.list(owner)).length === 0) await forget(owner)
  }
}
