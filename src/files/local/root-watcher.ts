/**
 * Watches one root.
 *
 * Each folder has a watcher; files have none. A folder is watched before it is listed, and the first event is sent
 * after all known folders are watched. A scan after that event therefore sees every earlier change, and the watchers
 * report every later one. Where watching is unavailable, the root is polled.
 */
import { lstat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { sha256 } from '../../lib/hash.ts'
import { getSystemErrorCode } from '../../lib/system-error.ts'
import type { FileRoot } from '../file.ts'
import type { FolderScan } from '../file-tree.ts'
import { type WalkedFolder, type WalkOptions, walkDirectory } from './directory-walk.ts'
import type { FileSelection } from './file-selection.ts'
import { GITIGNORE_FILE } from './gitignore.ts'
import { isMissing } from './path-guard.ts'
import { isFileTrouble, locateRoot, type RootLocation } from './root-location.ts'

/** Merges the events of one save. */
const TOGETHER_MS = 20
/** The maximum share of time that polling may use. */
const POLLING_SHARE = 0.1

/** The platform functions that watching needs. */
export type FileSystemWatcher = {
  /** Watches one folder, not recursively. Throws where that is unavailable. */
  watchFolder(path: string, listener: FolderListener): { close(): void }
  /** The type number of a file system on Linux. */
  fileSystemOf(path: string): Promise<number>
}

export type FolderListener = {
  /** `rename`: an entry was added or removed. The name is null where the system omits it. */
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

/** Counts folders of all roots, because the limits of the system are global. */
export type WatchBudget = { remaining: number }

export type RootWatcherDependencies = Omit<TreeWatcherOptions, 'onHint' | 'roots' | 'system'> & {
  readonly system: FileSystemWatcher
  readonly budget: WatchBudget
}

type WatchedFolder = WalkedFolder & { readonly close: () => void }

/** Network file systems, whose remote changes Linux does not report, and FUSE. */
const FAR_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x786f4256, 'VirtualBox'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
])

export class RootWatcher {
  readonly #root: FileRoot
  readonly #parts: RootWatcherDependencies
  readonly #hint: () => void
  readonly #stop = new AbortController()
  /** By real path. */
  readonly #folders = new Map<string, WatchedFolder>()
  #base: RootLocation | null = null
  #selection: FileSelection | null = null
  #pollsBecause: string | null = null
  #timer: NodeJS.Timeout | null = null
  /** Events that were not processed yet. */
  #isDirty = false
  #isSuspect = false
  readonly #come = new Set<string>()
  #isBusy = false
  #fingerprint: string | null = null
  #nextPollAt = 0

  constructor(root: FileRoot, parts: RootWatcherDependencies, hint: () => void) {
    this.#root = root
    this.#parts = parts
    this.#hint = hint
    this.#run(() => this.#attach())
  }

  get pollingReason(): string | null {
    return this.#pollsBecause
  }

  /** Runs periodically: detects roots that appeared, disappeared or were replaced, which events may miss. */
  check(): void {
    if (this.#isBusy) return
    this.#run(() => (this.#pollsBecause === null ? this.#checkBase() : this.#poll()))
  }

  close(): void {
    this.#stop.abort()
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#leave()
  }

  /** Serializes processing; later events are processed afterwards. */
  #run(work: () => Promise<void>): void {
    this.#isBusy = true
    work()
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#pollFrom(reasonOf(error))
      })
      .finally(() => {
        this.#isBusy = false
        this.#schedule()
      })
  }

  #schedule(): void {
    const isHeard = this.#isDirty || this.#isSuspect || this.#come.size > 0
    if (!isHeard || this.#isBusy || this.#timer !== null || this.#stop.signal.aborted) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#run(() => this.#lookInto())
    }, TOGETHER_MS)
    this.#timer.unref()
  }

  async #checkBase(): Promise<void> {
    const base = await locateRoot(this.#root)
    const identity = isFileTrouble(base) ? null : base.identity
    if (identity !== (this.#base?.identity ?? null)) await this.#attach()
  }

  /** Watches everything again. A missing root is detected later by `check`. */
  async #attach(): Promise<void> {
    this.#leave()
    const base = await locateRoot(this.#root)
    this.#base = isFileTrouble(base) ? null : base
    if (this.#base !== null) {
      this.#selection = this.#parts.planOf(this.#root, this.#base).selection
      const far = await this.#farFileSystem(this.#base.folder)
      if (far === null) await this.#watchFolders(this.#base)
      else this.#pollFrom(`${far} tells nothing of changes made elsewhere`)
    }
    this.#tell()
  }

  async #farFileSystem(folder: string): Promise<string | null> {
    if (process.platform !== 'linux') return null
    const type = await this.#parts.system.fileSystemOf(folder).catch(() => 0)
    return FAR_FILE_SYSTEMS.get(type) ?? null
  }

  /** Keeps present watchers and closes those that the walk did not visit. */
  async #watchFolders(base: RootLocation): Promise<void> {
    const met = new Set<string>()
    const plan = {
      ...this.#parts.planOf(this.#root, base),
      readsFileStats: false,
      signal: this.#stop.signal,
      onFolder: (folder: WalkedFolder) => {
        met.add(folder.real)
        if (!this.#folders.has(folder.real)) this.#watch(base, folder)
      },
    }
    await walkDirectory(plan)
    for (const real of [...this.#folders.keys()]) if (!met.has(real)) this.#unwatch(real)
  }

  #watch(base: RootLocation, folder: WalkedFolder): void {
    const { system, budget } = this.#parts
    if (this.#stop.signal.aborted) return
    if (budget.remaining <= 0) throw new Error('there are more folders than are watched')
    const path = join(base.folder, folder.real)
    try {
      const watcher = system.watchFolder(path, {
        onEvent: (kind, name) => this.#hear(folder, path, kind, name),
        onError: () => this.#suspect(),
      })
      budget.remaining--
      this.#folders.set(folder.real, { ...folder, close: () => watcher.close() })
    } catch (error) {
      // It was removed or is inaccessible, so it cannot be listed either.
      if (!isMissing(error) && getSystemErrorCode(error) !== 'EACCES') throw error
    }
  }

  #hear(folder: WalkedFolder, path: string, kind: string, name: string | null): void {
    if (name === null || name === GITIGNORE_FILE) this.#suspect()
    else if (kind === 'rename' && name === basename(path)) this.#suspect()
    else this.#hearOf(join(folder.path, name), join(folder.real, name), kind)
    this.#schedule()
  }

  #hearOf(path: string, real: string, kind: string): void {
    // Targets of links have other paths.
    if (this.#selection?.includesFile(path) || path !== real) this.#isDirty = true
    if (kind === 'rename' && this.#selection?.entersFolder(path)) this.#come.add(real)
  }

  /** The folder may have been removed or replaced, so its watcher gets no events. */
  #suspect(): void {
    this.#isSuspect = true
    this.#schedule()
  }

  async #lookInto(): Promise<void> {
    const come = [...this.#come]
    const [isDirty, isSuspect] = [this.#isDirty, this.#isSuspect]
    this.#come.clear()
    this.#isDirty = false
    this.#isSuspect = false
    if (this.#base === null || this.#pollsBecause !== null) return
    if (isSuspect) return this.#attach()
    const folders = await this.#changedFolders(this.#base, come)
    if (folders.length > 0) {
      for (const real of folders) this.#unwatchBelow(real)
      await this.#watchFolders(this.#base)
    }
    if (isDirty || folders.length > 0) this.#tell()
  }

  /** Of the changed names, those of folders and links, which may lead to folders. Skips swap files. */
  async #changedFolders(base: RootLocation, come: readonly string[]): Promise<readonly string[]> {
    const changed: string[] = []
    for (const real of come) {
      const stats = await lstat(join(base.folder, real)).catch(() => null)
      const isNow = stats !== null && (stats.isDirectory() || stats.isSymbolicLink())
      if (isNow || this.#folders.has(real)) changed.push(real)
    }
    return changed
  }

  #unwatchBelow(folder: string): void {
    for (const real of [...this.#folders.keys()]) {
      if (real === folder || real.startsWith(`${folder}/`)) this.#unwatch(real)
    }
  }

  #unwatch(real: string): void {
    this.#folders.get(real)?.close()
    if (this.#folders.delete(real)) this.#parts.budget.remaining++
  }

  #leave(): void {
    for (const real of [...this.#folders.keys()]) this.#unwatch(real)
  }

  #pollFrom(reason: string): void {
    this.#leave()
    this.#pollsBecause = `${this.#root.path}: ${reason}`
    this.#tell()
  }

  async #poll(): Promise<void> {
    const { scan, clock } = this.#parts
    const begin = clock.now()
    if (begin < this.#nextPollAt) return
    const { files, problems: troubles } = await scan(this.#root, this.#stop.signal)
    const fingerprint = sha256(JSON.stringify([files, troubles]))
    const end = clock.now()
    this.#nextPollAt = end + (end - begin) / POLLING_SHARE
    // Changes before the first event may be unseen.
    if (fingerprint !== this.#fingerprint) this.#tell()
    this.#fingerprint = fingerprint
  }

  #tell(): void {
    if (!this.#stop.signal.aborted) this.#hint()
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the system watches no more folders (on Linux: fs.inotify.max_user_watches)',
  EMFILE: 'the system has no more watchers (on Linux: fs.inotify.max_user_instances)',
  ENFILE: 'too many files are open',
}

function reasonOf(error: unknown): string {
  const known = REASONS[getSystemErrorCode(error)]
  if (known !== undefined) return known
  return error instanceof Error ? error.message : String(error)
}
