/** Workspace on the local file system. */
import { isUtf8 } from 'node:buffer'
import type { Stats } from 'node:fs'
import { mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { statOrNull, trySyncFolder } from '../../lib/atomic-file.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { FolderEntry, Workspace } from '../file-tree.ts'
import {
  createTemporaryName,
  NEW_FOLDER_MODE,
  removeTemporaryFiles,
  replaceFile,
} from './atomic-replace.ts'
import { toWriteError } from './file-errors.ts'
import { readBytes } from './file-snapshot.ts'
import { FolderLock } from './folder-lock.ts'
import {
  assertInside,
  isInside,
  isMissing,
  openFolderInside,
  openInside,
  parseRelativePath,
  resolveRealPath,
} from './path-guard.ts'

export type WorkspaceOptions = {
  /** Absolute; created on the first write. */
  readonly path: string
  readonly clock: Clock
  /** Larger files are neither read nor written. */
  readonly fileBytesMax?: number
  /** How long a writer waits for the lock. */
  readonly lockWaitMs?: number
}

const FILE_BYTES_MAX = 10_000_000
const LOCK_WAIT_MS = 15_000

/** Retries after concurrent saves of editors. */
const ATTEMPTS_MAX = 8
const LINE_BREAK = 10

type FileContent = { readonly bytes: Buffer; readonly stats: Stats }

/** An open folder that stays the same while its path may change, and a name in it. */
type TargetLocation = { readonly folder: string; readonly name: string }

export function createWorkspace(options: WorkspaceOptions): Workspace {
  const { path, clock, fileBytesMax = FILE_BYTES_MAX, lockWaitMs = LOCK_WAIT_MS } = options
  return new FolderWorkspace(path, '', new FolderLock(clock, lockWaitMs), fileBytesMax)
}

class FolderWorkspace implements Workspace {
  readonly #path: string
  /** The folder that confines this workspace; empty for the workspace itself. */
  readonly #fence: string
  /** The lock of the whole workspace, shared by all its restricted views. */
  readonly #lock: FolderLock
  readonly #fileBytesMax: number

  constructor(path: string, fence: string, lock: FolderLock, fileBytesMax: number) {
    this.#path = path
    this.#fence = fence
    this.#lock = lock
    this.#fileBytesMax = fileBytesMax
  }

  within(folder: string): Workspace {
    const fence = join(this.#fence, parseRelativePath(folder))
    return new FolderWorkspace(this.#path, fence, this.#lock, this.#fileBytesMax)
  }

  async list(path: string, depth: number): Promise<readonly FolderEntry[] | null> {
    if (path !== '') parseRelativePath(path)
    return toWorkspaceError(path, async () => {
      const base = await this.#realFence()
      if (base === null) return null
      const target = await orNull(resolveRealPath(base, path))
      const stats = target === null ? null : await orNull(stat(target))
      if (target === null || stats === null || !isFileOrFolder(stats)) return null
      const isFolder = stats.isDirectory()
      const entry = { path, isFolder, sizeBytes: stats.size }
      return isFolder ? [entry, ...(await this.#entries(base, target, path, depth))] : [entry]
    })
  }

  async #entries(
    base: string,
    folder: string,
    path: string,
    depth: number,
  ): Promise<readonly FolderEntry[]> {
    if (depth < 1) return []
    const names = ((await orNull(readdir(folder))) ?? []).filter((name) => !name.startsWith('.'))
    const entries: FolderEntry[] = []
    for (const name of names.sort()) {
      const target = await realpath(join(folder, name)).catch(() => null)
      if (target === null || !isInside(base, target)) continue
      const stats = await orNull(stat(target))
      if (stats === null || !isFileOrFolder(stats)) continue
      const below = path === '' ? name : `${path}/${name}`
      const isFolder = stats.isDirectory()
      entries.push({ path: below, isFolder, sizeBytes: stats.size })
      if (isFolder) entries.push(...(await this.#entries(base, target, below, depth - 1)))
    }
    return entries
  }

  async read(path: string): Promise<string | null> {
    parseRelativePath(path)
    return toWorkspaceError(path, async () => {
      const base = await this.#realFence()
      const content = base === null ? null : await this.#content(base, path)
      return content === null ? null : content.bytes.toString('utf8')
    })
  }

  async create(path: string, text: string): Promise<boolean> {
    return this.#changing(path, async (base) => {
      const bytes = this.#bytesOf(path, text)
      if (await this.#isThere(base, path)) return false
      return this.#at(base, path, ({ folder, name }) => replaceFile(folder, name, bytes, null))
    })
  }

  async update(path: string, change: (text: string | null) => string | null): Promise<void> {
    await this.#rewrite(path, (bytes) => {
      if (bytes !== null && !isUtf8(bytes)) throw createNotTextError(path)
      const text = bytes === null ? null : bytes.toString('utf8')
      const changed = change(text)
      return changed === null || changed === text ? null : this.#bytesOf(path, changed)
    })
  }

  async append(path: string, text: string): Promise<void> {
    const added = this.#bytesOf(path, text.endsWith('\n') ? text : `${text}\n`)
    await this.#rewrite(path, (bytes) => {
      if (bytes === null || bytes.length === 0) return added
      // Appends bytes, because existing content need not be UTF-8; only its line ends matter.
      if (bytes.includes(0)) throw createNotTextError(path)
      const isWhole = bytes.at(-1) === LINE_BREAK
      return this.#fitting(path, Buffer.concat(isWhole ? [bytes, added] : [bytes, BREAK, added]))
    })
  }

  async remove(path: string): Promise<boolean> {
    return this.#changing(path, async (base) => {
      if (!(await this.#isThere(base, path))) return false
      return this.#at(base, path, async ({ folder, name }) => {
        // Renames the folder first, so that it disappears atomically.
        const gone = join(folder, createTemporaryName())
        await rename(join(folder, name), gone)
        await rm(gone, { recursive: true, force: true })
        await trySyncFolder(folder)
        return true
      })
    })
  }

  async rename(from: string, to: string): Promise<'renamed' | 'missing' | 'taken'> {
    parseRelativePath(to)
    return this.#changing(from, async (base) => {
      if (await this.#isThere(base, to)) return 'taken'
      if (!(await this.#isThere(base, from))) return 'missing'
      if (to.startsWith(`${from}/`)) {
        throw new AppError('invalid_input', `${from} can't be moved into itself.`)
      }
      return this.#at(base, from, (source) =>
        this.#at(base, to, async (target) => {
          await rename(join(source.folder, source.name), join(target.folder, target.name))
          await trySyncFolder(source.folder)
          await trySyncFolder(target.folder)
          return 'renamed' as const
        }),
      )
    })
  }

  /** Reads, changes and replaces; retries when an editor was faster. */
  async #rewrite(path: string, decide: (bytes: Buffer | null) => Uint8Array | null): Promise<void> {
    await this.#changing(path, async (base) => {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        // Follows a link to the edited file; the link stays a link.
        const target = await orNull(resolveRealPath(base, path))
        const actual = target === null ? path : relative(base, target).split(sep).join('/')
        const content = await this.#contentToChange(base, actual)
        const changed = decide(content?.bytes ?? null)
        if (changed === null) return
        const isDone = await this.#at(base, actual, ({ folder, name }) =>
          replaceFile(folder, name, changed, content?.stats ?? null),
        )
        if (isDone) return
      }
      throw new AppError('conflict', `${path} is changed by others all the time. Try again.`)
    })
  }

  async #contentToChange(base: string, path: string): Promise<FileContent | null> {
    const content = await this.#content(base, path)
    if (content !== null) return content
    // A dangling link is not a file.
    if ((await statOrNull(join(base, path))) !== null) {
      throw new AppError('invalid_input', `${path} is no file.`, { field: 'path' })
    }
    return null
  }

  /** Null for a missing file. */
  async #content(base: string, path: string): Promise<FileContent | null> {
    const file = await orNull(openInside(base, path))
    if (file === null) return null
    try {
      const stats = await file.stat()
      if (!stats.isFile()) return null
      this.#refuseLarge(path, stats.size)
      return { bytes: await readBytes(file, 0, stats.size), stats }
    } finally {
      await file.close()
    }
  }

  #bytesOf(path: string, text: string): Buffer {
    return this.#fitting(path, Buffer.from(text, 'utf8'))
  }

  #fitting(path: string, bytes: Buffer): Buffer {
    this.#refuseLarge(path, bytes.length)
    return bytes
  }

  #refuseLarge(path: string, bytes: number): void {
    if (bytes <= this.#fileBytesMax) return
    throw new AppError(
      'too_large',
      `${path} has ${bytes} bytes, and files may have ${this.#fileBytesMax}.`,
      { path },
    )
  }

  /** Inspects the entry without following it. An escaping link is refused. */
  async #isThere(base: string, path: string): Promise<boolean> {
    await orNull(resolveRealPath(base, path))
    return (await statOrNull(join(base, path))) !== null
  }

  /** Runs `work` under the lock with the real path of the confining folder. */
  async #changing<Result>(path: string, work: (base: string) => Promise<Result>): Promise<Result> {
    parseRelativePath(path)
    return toWorkspaceError(path, () =>
      this.#lock.runExclusive(
        async () => {
          await mkdir(this.#path, { recursive: true, mode: NEW_FOLDER_MODE })
          return realpath(this.#path)
        },
        async () => work(await this.#madeFence()),
      ),
    )
  }

  /** Null for a missing folder. */
  async #realFence(): Promise<string | null> {
    const base = await orNull(realpath(this.#path))
    return base === null || this.#fence === '' ? base : orNull(resolveRealPath(base, this.#fence))
  }

  async #madeFence(): Promise<string> {
    const base = await realpath(this.#path)
    return this.#fence === '' ? base : createFolder(base, this.#fence)
  }

  /** Creates parent folders and works in the last one, even if its path changes meanwhile. */
  async #at<Result>(
    base: string,
    path: string,
    work: (spot: TargetLocation) => Promise<Result>,
  ): Promise<Result> {
    const parent = dirname(path)
    const real = parent === '.' ? base : await createFolder(base, parent)
    const handle = await openFolderInside(base, real)
    try {
      const folder = handle === null ? real : await pathOfOpen(handle.fd, real)
      await removeTemporaryFiles(folder)
      return await work({ folder, name: basename(path) })
    } finally {
      await handle?.close()
    }
  }
}

const BREAK = Buffer.from('\n')

/** The path of an open folder, where the system offers one. */
async function pathOfOpen(descriptor: number, real: string): Promise<string> {
  const name = `/proc/self/fd/${descriptor}`
  return (await orNull(stat(name))) === null ? real : name
}

/** The real path of a folder below a real path; creates missing parts. */
async function createFolder(base: string, path: string): Promise<string> {
  const missing: string[] = []
  for (let at = path; at !== '.'; at = dirname(at)) {
    const real = await orNull(resolveRealPath(base, at))
    if (real !== null) return createSubfolders(base, real, missing)
    missing.unshift(basename(at))
  }
  return createSubfolders(base, base, missing)
}

async function createSubfolders(
  base: string,
  real: string,
  names: readonly string[],
): Promise<string> {
  if (names.length === 0) return real
  const folder = join(real, ...names)
  await mkdir(folder, { recursive: true, mode: NEW_FOLDER_MODE })
  const made = await realpath(folder)
  assertInside(base, made, relative(base, folder))
  return made
}

function isFileOrFolder(stats: Stats): boolean {
  return stats.isFile() || stats.isDirectory()
}

async function orNull<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

async function toWorkspaceError<Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw toWriteError(path, error)
  }
}

function createNotTextError(path: string): AppError {
  return new AppError('invalid_input', `${path} is not written in UTF-8, and was left as it is.`)
}
