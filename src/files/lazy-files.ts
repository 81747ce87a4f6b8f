/**
 * Files that are opened when something is first asked of their index. Most commands, and most owners, never do: they need
 * not wait for a second database, nor have one made.
 */

import type { OwnerId } from '../domain/ids.ts'
import { AppError } from '../lib/errors.ts'
import type { Files } from './files.ts'
import type { Roots } from './roots.ts'

export type LazyFilesDependencies = {
  /** Where files are is kept with the memories, and known without the index. */
  readonly roots: Roots
  readonly open: () => Promise<Files>
  /** Whether there is an index that may hold something, opened or not. */
  readonly exists: () => boolean
}

export function createLazyFiles({ roots, open, exists }: LazyFilesDependencies): Files {
  let opening: Promise<Files> | null = null
  let opened: Files | null = null
  let isStarted = false
  let isClosed = false
  /** The roots of owners as they were when something was last asked. */
  const seen = new Map<OwnerId, string>()

  const begin = async (): Promise<Files> => {
    const files = await open()
    opened = files
    try {
      if (isStarted) await files.start()
      return files
    } catch (error) {
      opened = null
      await files.close()
      throw error
    }
  }
  const files = (): Promise<Files> => {
    if (isClosed) throw new AppError('unavailable', 'The engine is closed.')
    opening ??= begin().catch((error: unknown) => {
      opening = null // what was in its way may be gone the next time
      throw error
    })
    return opening
  }
  /** A root that is added where files are watched is watched too. */
  const rootsNow = async (): Promise<Roots> =>
    isStarted || opening !== null ? (await files()).roots : roots
  /** Another process may have added or removed roots; nobody tells this one. */
  const filesOf = async (owner: OwnerId): Promise<Files> => {
    const found = await files()
    const now = JSON.stringify(await roots.list(owner))
    const before = seen.get(owner)
    seen.set(owner, now)
    if (before !== undefined && before !== now) await found.rootsChanged(owner)
    return found
  }

  return {
    search: async (owner, query) => (await filesOf(owner)).search(owner, query),
    readFile: async (owner, path, range) => (await files()).readFile(owner, path, range),
    status: async (owner) => (await filesOf(owner)).status(owner),
    sync: async (owner, options) => (await filesOf(owner)).sync(owner, options),
    probeEmbeddingAvailability: async () => (await files()).probeEmbeddingAvailability(),
    probeVectorAvailability: async () => (await files()).probeVectorAvailability(),
    roots: {
      list: (owner) => roots.list(owner),
      owners: () => roots.owners(),
      add: async (owner, input) => (await rootsNow()).add(owner, input),
      remove: async (owner, id) => (await rootsNow()).remove(owner, id),
    },
    contents: {
      files: async (owner, root, asked) => (await files()).contents.files(owner, root, asked),
      chunks: async (owner, path, asked) => (await files()).contents.chunks(owner, path, asked),
    },
    workspace: async (owner) => (await files()).workspace(owner),
    appendToDailyNote: async (owner, text) => (await files()).appendToDailyNote(owner, text),
    // One that is opened later looks at everything anyway.
    markDirty: (owner) => opened?.markDirty(owner),
    rootsChanged: async (owner) => opened?.rootsChanged(owner),
    start: async () => {
      if (isStarted || isClosed) return
      isStarted = true
      if (opened !== null) await opened.start()
      else if (opening !== null || exists() || (await roots.owners()).length > 0) await files()
    },
    forget: async (owner) => {
      seen.delete(owner)
      if (opening !== null || exists()) await (await files()).forget(owner)
    },
    close: async () => {
      isClosed = true
      await (await opening?.catch(() => null))?.close()
    },
  }
}
