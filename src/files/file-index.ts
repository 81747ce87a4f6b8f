/** The opened file index of all owners: search, the watcher, `MEMORY.md` sync and writes to workspaces. */

import { type IdGenerator, type OwnerId, parseId } from '../domain/ids.ts'
import { isTrusted, type Memory } from '../domain/memory.ts'
import { type ScopeInput, SYSTEM_OWNER } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { type Clock, type IntervalTimers, systemIntervalTimers } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { DraftInput } from '../memory/draft.ts'
import * as editor from '../memory/memory-editor.ts'
import type { RememberResult } from '../memory/memory-writer.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import type { BatchEmbedder } from '../models/batch-embedder.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Change, Store } from '../storage/store.ts'
import { createBuiltinFileSearch } from './builtin-file-search.ts'
import { createFileContents, type FileContents } from './file-contents.ts'
import { FILE_TIMINGS, type FileOptions, type FileTimings } from './file-options.ts'
import type { FileHit, FileSearch } from './file-search.ts'
import type { FileTree, Workspace } from './file-tree.ts'
import { FileWatcher } from './file-watcher.ts'
import type { IndexStore } from './indexing/chunk-vectors.ts'
import type { IndexEngine } from './indexing/index-engine.ts'
import { MemoryFileSync, type PinnedMemories } from './memory-file/memory-file-sync.ts'
import { createRoots, type NamedRoot, type Roots } from './roots.ts'

/** The engine that the files belong to. */
export type FilesHost = {
  readonly dependencies: MemoryDependencies
  readonly resolveSettings: (owner: OwnerId | null) => Promise<Settings>
  readonly remember: (scope: ScopeInput, draft: DraftInput) => Promise<RememberResult>
  /** Returns the function that unsubscribes. */
  readonly onCommit: (listener: (changes: readonly Change[]) => void) => () => void
}

export type FileIndexDependencies = {
  /** The store of the memories, which also holds the roots. */
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdGenerator
  /** The engine of the index and the store it runs on. Both are closed with the index. */
  readonly inner: IndexEngine
  readonly innerStore: IndexStore
  readonly tree: FileTree
  readonly workspaceOf: (root: NamedRoot) => Workspace
  readonly settingsOf: (owner: OwnerId) => Promise<FileOptions>
  readonly pace?: Partial<FileTimings>
  readonly timers?: IntervalTimers
  /** Embeds many chunks ahead of time in batches. Default: each chunk is embedded on its own. */
  readonly prefill?: BatchEmbedder
  /** Default: no `MEMORY.md` sync. */
  readonly memories?: PinnedMemories
  /** Reports owners whose memories may have changed. Returns the function that unsubscribes. */
  readonly onMemoriesChanged?: (listener: (owner: OwnerId) => void) => () => void
  /** Replaces the built-in search, which it may fall back to. Reading, syncing and status go through it too. */
  readonly searchWith?: (builtin: FileSearch) => FileSearch
  /** Called after files of an owner were written through the index. */
  readonly onWritten?: (owner: OwnerId) => void
  /** Called after the index of an owner was erased. */
  readonly onErased?: (owner: OwnerId) => Promise<void>
}

export interface FileIndex {
  readonly search: FileSearch
  readonly contents: FileContents
  workspace(owner: OwnerId): Promise<Workspace>
  appendToDailyNote(owner: OwnerId, text: string): Promise<{ readonly path: string }>
  createDatedNote(owner: OwnerId, text: string, slug: string): Promise<{ readonly path: string }>
  /** Files of the owner were written: the next search scans them again. */
  markDirty(owner: OwnerId): void
  /** Roots of the owner were added or removed, by this process or another one. */
  onRootsChanged(owner: OwnerId): Promise<void>
  /** Watches the files of every owner. */
  start(): Promise<void>
  /** Erases the index of an owner. The files stay. */
  erase(owner: OwnerId): Promise<void>
  close(): Promise<void>
}

export function createFileIndex(dependencies: FileIndexDependencies): FileIndex {
  const { store, clock, tree, settingsOf, workspaceOf, onWritten, onErased } = dependencies
  const pace: FileTimings = { ...FILE_TIMINGS, ...dependencies.pace }
  const roots = createRoots({ store, clock })
  const memoryFile = createMemoryFileSync(dependencies, roots)
  const builtin = createBuiltinFileSearch({
    ...dependencies,
    roots,
    pace,
    troubleOf: (owner) => memoryFile?.trouble(owner) ?? null,
    watchingOf: (owner) => watcher.of(owner),
    isWatched: (owner) => watcher.isSure(owner),
  })
  const watcher = new FileWatcher({
    ...{ tree, roots, pace },
    timers: dependencies.timers ?? systemIntervalTimers,
    touch: builtin.markDirty,
    look: async (owner, isThorough) => {
      await memoryFile?.sync(owner)
      await builtin.syncIfDirty(owner, { isThorough })
    },
  })
  // Scans are scheduled only for owners whose files are watched. All others sync when they search.
  const unsubscribe = dependencies.onMemoriesChanged?.((owner) => watcher.lookSoon(owner))
  const search = dependencies.searchWith?.(builtin) ?? builtin
  const markDirty = (owner: OwnerId) => {
    builtin.markDirty(owner)
    onWritten?.(owner)
  }
  const workspace = async (owner: OwnerId) => {
    const root = await findWorkspaceRoot(roots, owner)
    if (root !== null) return workspaceOf(root)
    throw new AppError(
      'not_found',
      `Owner "${owner}" has no workspace. Add a root of kind "workspace".`,
    )
  }
  return {
    search: {
      ...search,
      search: async (owner, query) => {
        const found = await search.search(owner, query)
        return { ...found, hits: limitSnippets(found.hits, await settingsOf(owner)) }
      },
      sync: async (owner, options) => {
        await memoryFile?.sync(owner)
        return search.sync(owner, options)
      },
    },
    contents: createFileContents({ ...dependencies, roots }),
    workspace,
    appendToDailyNote: async (owner, text) => {
      if (typeof text !== 'string' || text.trim() === '') {
        throw new AppError('invalid_input', '`text` must not be empty.', { field: 'text' })
      }
      const { timeZone } = await settingsOf(owner)
      const path = `memory/${formatDay(timeZone, clock.now())}.md`
      await (await workspace(owner)).append(path, text)
      markDirty(owner)
      return { path }
    },
    createDatedNote: async (owner, text, slug) => {
      const { timeZone } = await settingsOf(owner)
      const now = clock.now()
      const name = slug === '' ? formatTime(timeZone, now) : slug
      const stem = `memory/${formatDay(timeZone, now)}-${name}`
      const folder = await workspace(owner)
      let path = `${stem}.md`
      for (let copy = 2; !(await folder.create(path, `${text}\n`)); copy++) {
        path = `${stem}-${copy}.md`
      }
      markDirty(owner)
      return { path }
    },
    markDirty,
    onRootsChanged: async (owner) => {
      builtin.markDirty(owner)
      if (watcher.isStarted) await watcher.watch(owner)
    },
    start: async () => {
      await watcher.start()
      await removeOrphanedOwners(dependencies, roots, builtin.forget)
    },
    erase: async (owner) => {
      watcher.unwatch(owner)
      await builtin.forget(owner)
      await onErased?.(owner)
    },
    close: async () => {
      unsubscribe?.()
      await watcher.close()
      await memoryFile?.close()
      await search.close()
      if (search !== builtin) await builtin.close()
    },
  }
}

/** Connects the index to the memories of an engine, for `MEMORY.md` sync. */
export function connectMemories(
  host: FilesHost,
): Required<Pick<FileIndexDependencies, 'memories' | 'onMemoriesChanged'>> {
  return {
    memories: createPinnedMemories(host),
    onMemoriesChanged: (listener) =>
      host.onCommit((changes) => {
        for (const owner of listChangedOwners(changes)) listener(owner)
      }),
  }
}

/** A longer `MEMORY.md` would not be read. */
const PINNED_MAX = 200
const SOURCE = 'files'

function createPinnedMemories({ dependencies, remember }: FilesHost): PinnedMemories {
  const ownScope = (owner: OwnerId) => ({ owner, user: null })
  const edit = (owner: OwnerId, id: string, change: Parameters<typeof editor.edit>[3]) =>
    editor.edit(dependencies, ownScope(owner), parseId('mem', id), change)
  return {
    list: async (owner) => {
      const pinned = new Map<string, Memory>()
      const statuses = ['active'] as const
      for (const where of [{ categories: ['identity'] }, { pinned: true }] as const) {
        const query = { where: { statuses, ...where }, order: 'oldest' } as const
        for await (const page of pages(dependencies.store, 'memory', ownScope(owner), query)) {
          for (const memory of page) if (isTrusted(memory.trust)) pinned.set(memory.id, memory)
        }
      }
      return [...pinned.values()].slice(0, PINNED_MAX)
    },
    edit: async (owner, id, content) => {
      await edit(owner, id, { content })
    },
    add: async (owner, content, isIdentity) => {
      const { memory } = await remember(ownScope(owner), {
        ...{ content, pinned: true, provenance: { source: SOURCE } },
        ...(isIdentity ? { category: 'identity' as const } : {}),
      })
      // A duplicate may be unpinned, but its line in the file must stay.
      if (!memory.pinned) await edit(owner, memory.id, { pinned: true })
    },
    unpin: async (owner, { id, isIdentity }) => {
      if (isIdentity) await editor.forget(dependencies, ownScope(owner), parseId('mem', id))
      else await edit(owner, id, { pinned: false })
    },
  }
}

/** Owners of changed memories that belong to no user in particular. */
function listChangedOwners(changes: readonly Change[]): ReadonlySet<OwnerId> {
  const owners = new Set<OwnerId>()
  for (const change of changes) {
    if (change.op === 'count' || change.op === 'check' || change.table !== 'memory') continue
    const { owner, user } = change.op === 'put' ? change.row.place : change.scope
    if (user === null || user === undefined) owners.add(owner)
  }
  return owners
}

function createMemoryFileSync(
  { memories, innerStore: store, clock, settingsOf, workspaceOf }: FileIndexDependencies,
  roots: Roots,
): MemoryFileSync | null {
  if (memories === undefined) return null
  return new MemoryFileSync({
    ...{ store, clock, memories },
    isEnabled: async (owner) => (await settingsOf(owner)).isMemoryFileEnabled,
    workspaceOf: async (owner) => {
      const root = await findWorkspaceRoot(roots, owner)
      return root === null ? null : workspaceOf(root)
    },
  })
}

async function findWorkspaceRoot(roots: Roots, owner: OwnerId): Promise<NamedRoot | null> {
  return (await roots.list(owner)).find(({ kind }) => kind === 'workspace') ?? null
}

/** The first hit is returned whatever the limit is. */
function limitSnippets(
  hits: readonly FileHit[],
  { snippetCharactersMax, resultCharactersMax }: FileOptions,
): readonly FileHit[] {
  const kept: FileHit[] = []
  let characters = 0
  for (const hit of hits) {
    const snippet = sliceCharacters(hit.snippet, snippetCharactersMax)
    characters += snippet.length
    if (resultCharactersMax > 0 && characters > resultCharactersMax && kept.length > 0) break
    kept.push(snippet === hit.snippet ? hit : { ...hit, snippet })
  }
  return kept
}

/** Never half a character. */
function sliceCharacters(text: string, charactersMax: number): string {
  return text.slice(0, charactersMax).replace(/[\uD800-\uDBFF]$/, '')
}

function formatDay(timeZone: string, now: number): string {
  const part = readTimeParts(timeZone, now)
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`
}

/** Hours and minutes: `0905`. */
function formatTime(timeZone: string, now: number): string {
  const part = readTimeParts(timeZone, now)
  return `${part('hour')}${part('minute')}`
}

function readTimeParts(timeZone: string, now: number): (type: string) => string {
  try {
    const parts = new Intl.DateTimeFormat('en', {
      ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
      ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
    }).formatToParts(now)
    return (type) => parts.find((each) => each.type === type)?.value ?? ''
  } catch (error) {
    const message = `\`files.timeZone\` must be an IANA time zone; got "${timeZone}".`
    throw new AppError('invalid_input', message, { field: 'files.timeZone' }, error)
  }
}

/** Owners that were erased while the index was closed have no roots any more. */
async function removeOrphanedOwners(
  { innerStore }: FileIndexDependencies,
  roots: Roots,
  erase: (owner: OwnerId) => Promise<void>,
): Promise<void> {
  const indexed = new Set((await innerStore.listPlaces()).map(({ owner }) => owner as OwnerId)) // read from the store
  indexed.delete(SYSTEM_OWNER)
  for (const owner of indexed) {
    if ((await roots.list(owner)).length === 0) await erase(owner)
  }
}
