/**
 * Walks a root.
 *
 * Folders are listed concurrently; files are inspected but not opened. A symbolic link is followed when it stays inside
 * the root and its target was not visited yet. Links are resolved last, so that a file is listed under its own path and
 * cycles end.
 */
import type { Dirent, Stats } from 'node:fs'
import { lstat, readdir, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { throwIfAborted } from '../../lib/abort.ts'
import { getSystemErrorCode } from '../../lib/system-error.ts'
import type { Instant } from '../../lib/time.ts'
import type { FileProblem, FileStat } from '../file.ts'
import type { FolderScan } from '../file-tree.ts'
import { createFileTrouble, toFileTrouble } from './file-errors.ts'
import { type FileSelection, isInSkippedFolder } from './file-selection.ts'
import {
  GITIGNORE_FILE,
  type IgnoreRules,
  isIgnored,
  readIgnoreRules,
  readParentIgnoreRules,
} from './gitignore.ts'
import { isAddressable, isInside, isMissing } from './path-guard.ts'

const FOLDERS_AT_ONCE = 32

export type WalkOptions = {
  /** A real path. */
  readonly base: string
  readonly selection: FileSelection
  readonly usesIgnoreFiles: boolean
  readonly fileBytesMax: number
  readonly filesMax: number
  readonly signal?: AbortSignal | undefined
  /** Called before a folder is listed, so that a watcher started by it misses nothing. */
  readonly onFolder?: (folder: WalkedFolder) => void
  /** False to visit folders only. */
  readonly readsFileStats: boolean
}

export type WalkedFolder = {
  /** The path in results. */
  readonly path: string
  /** The real location, different from `path` behind a link. Both are relative to the base. */
  readonly real: string
}

type WalkPosition = WalkedFolder & { readonly ignored: IgnoreRules | null }

export async function walkDirectory(plan: WalkOptions): Promise<FolderScan> {
  return new Walk(plan).run()
}

class Walk {
  readonly #plan: WalkOptions
  readonly #files: FileStat[] = []
  readonly #troubles: FileProblem[] = []
  #isWhole = true
  #queue: WalkPosition[] = []
  #links: WalkedFolder[] = []
  readonly #foldersSeen = new Set<string>()
  readonly #filesSeen = new Set<string>()

  constructor(plan: WalkOptions) {
    this.#plan = plan
  }

  async run(): Promise<FolderScan> {
    const { base, usesIgnoreFiles: heedsIgnoreFiles } = this.#plan
    const ignored = heedsIgnoreFiles ? await readParentIgnoreRules(base) : null
    this.#enter({ path: '', real: '', ignored })
    do {
      await this.#emptyQueue()
      await this.#followLinks()
    } while (this.#queue.length > 0)
    if (this.#files.length > this.#plan.filesMax) this.#tooMany()
    this.#files.sort(byPath)
    return { files: this.#files, problems: this.#troubles.sort(byPath), isComplete: this.#isWhole }
  }

  async #emptyQueue(): Promise<void> {
    while (this.#queue.length > 0 && this.#files.length <= this.#plan.filesMax) {
      throwIfAborted(this.#plan.signal)
      const some = this.#queue.splice(0, FOLDERS_AT_ONCE)
      await Promise.all(some.map((place) => this.#visit(place)))
    }
    this.#queue = []
  }

  /** Drops the rest entirely, because a partial listing would differ from scan to scan. */
  #tooMany(): void {
    const { filesMax } = this.#plan
    this.#files.length = 0
    this.#isWhole = false
    this.#troubles.push(
      createFileTrouble(
        '',
        'too_large',
        `it holds more than ${filesMax} files; name a smaller folder`,
      ),
    )
  }

  #enter(place: WalkPosition): void {
    if (this.#foldersSeen.has(place.real)) return
    this.#foldersSeen.add(place.real)
    this.#queue.push(place)
  }

  async #visit(place: WalkPosition): Promise<void> {
    this.#plan.onFolder?.(place)
    const folder = join(this.#plan.base, place.real)
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      // A folder that disappeared meanwhile was removed; any other error makes it unreadable.
      if (!isMissing(error) || place.path === '') this.#missed(place.path, error)
      else if (hasInvalidName(place.path)) this.#unnamed(place.path)
      return []
    })
    const ignored = await this.#ignoredIn(folder, place, entries)
    const files = entries.filter((entry) => this.#sort(entry, { ...place, ignored }))
    if (!this.#plan.readsFileStats) return
    await Promise.all(files.map(({ name }) => this.#look(joinRelative(place, name))))
  }

  async #ignoredIn(
    folder: string,
    { path, ignored }: WalkPosition,
    entries: readonly Dirent[],
  ): Promise<IgnoreRules | null> {
    if (!this.#plan.usesIgnoreFiles) return null
    const has = entries.some((entry) => entry.name === GITIGNORE_FILE && entry.isFile())
    return has ? readIgnoreRules(folder, path, ignored) : ignored
  }

  /** True for a file to inspect. Folders and links are queued. */
  #sort(entry: Dirent, place: WalkPosition): boolean {
    const { selection } = this.#plan
    const found = joinRelative(place, entry.name)
    const isFolder = entry.isDirectory()
    const isWanted = isFolder ? selection.entersFolder : selection.includesFile
    if (entry.isSymbolicLink()) {
      const couldBe = selection.includesFile(found.path) || selection.entersFolder(found.path)
      if (couldBe && !isIgnored(found.path, false, place.ignored)) this.#links.push(found)
      return false
    }
    if (!isWanted(found.path) || isIgnored(found.path, isFolder, place.ignored)) return false
    if (!isAddressable(entry.name)) this.#unnamed(found.path)
    else if (isFolder) this.#enter({ ...found, ignored: place.ignored })
    else return entry.isFile()
    return false
  }

  async #look(found: WalkedFolder): Promise<void> {
    try {
      this.#take(found, await lstat(join(this.#plan.base, found.real)))
    } catch (error) {
      if (!isMissing(error)) this.#missed(found.path, error)
      else if (hasInvalidName(found.path)) this.#unnamed(found.path)
    }
  }

  #take({ path, real }: WalkedFolder, stats: Stats): void {
    if (!stats.isFile() || this.#filesSeen.has(real)) return
    this.#filesSeen.add(real)
    const { fileBytesMax } = this.#plan
    if (stats.size > fileBytesMax)
      this.#troubles.push(createTooLargeTrouble(path, stats.size, fileBytesMax))
    else this.#files.push({ path, sizeBytes: stats.size, modifiedAt: getModifiedAt(stats) })
  }

  async #followLinks(): Promise<void> {
    const links = this.#links.sort(byPath)
    this.#links = []
    for (const link of links) {
      throwIfAborted(this.#plan.signal)
      await this.#follow(link).catch((error: unknown) => {
        // Editors mark open files with dangling links.
        if (!isMissing(error) && getSystemErrorCode(error) !== 'ELOOP')
          this.#missed(link.path, error)
      })
    }
  }

  async #follow({ path, real }: WalkedFolder): Promise<void> {
    const { base, selection, onFolder, readsFileStats: looksAtFiles } = this.#plan
    const target = await realpath(join(base, real))
    const stats = await lstat(target)
    const isWanted = stats.isDirectory() ? selection.entersFolder : selection.includesFile
    if (!isWanted(path)) return
    if (!isInside(base, target)) {
      this.#troubles.push(
        createFileTrouble(
          path,
          'outside_root',
          'it is a link out of the root; add what it leads to as a root',
        ),
      )
      return
    }
    const inside = relative(base, target).split(sep).join('/')
    if (isInSkippedFolder(stats.isDirectory() ? inside : posixFolderOf(inside))) return
    if (stats.isDirectory()) {
      this.#enter({ path, real: inside, ignored: null })
    } else {
      onFolder?.({ path: posixFolderOf(path), real: posixFolderOf(inside) })
      if (looksAtFiles) this.#take({ path, real: inside }, stats)
    }
  }

  #missed(path: string, error: unknown): void {
    this.#isWhole = false
    this.#troubles.push(toFileTrouble(path, error))
  }

  #unnamed(path: string): void {
    this.#troubles.push(createFileTrouble(path, 'encoding', 'its name is not valid UTF-8'))
  }
}

export function createTooLargeTrouble(
  path: string,
  sizeBytes: number,
  bytesMax: number,
): FileProblem {
  return createFileTrouble(
    path,
    'too_large',
    `it has ${sizeBytes} bytes, and at most ${bytesMax} are read`,
  )
}

export function getModifiedAt({ mtimeMs }: Pick<Stats, 'mtimeMs'>): Instant {
  return Math.floor(mtimeMs) as Instant // the file system's time is system time
}

/** Names that are not UTF-8 cannot be converted to text and back. */
function hasInvalidName(path: string): boolean {
  return path.includes('\uFFFD')
}

function joinRelative({ path, real }: WalkedFolder, name: string): WalkedFolder {
  return {
    path: path === '' ? name : `${path}/${name}`,
    real: real === '' ? name : `${real}/${name}`,
  }
}

function posixFolderOf(path: string): string {
  const folder = dirname(path)
  return folder === '.' ? '' : folder
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}
