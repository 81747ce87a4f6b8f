/** Real files in temporary folders, and how they are looked at. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/system-clock.ts'
import type { FileRoot, RootKind } from '../../src/files/file.ts'
import type { FileTree } from '../../src/files/file-tree.ts'
import { createFileTree, type FileTreeOptions } from '../../src/files/local/local-file-tree.ts'
import { owner } from '../fakes/memories.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

export function treeOf(options: Partial<FileTreeOptions> = {}): FileTree {
  return createFileTree({ clock: systemClock, ...options })
}

export function rootAt(
  path: string,
  kind: RootKind = 'path',
  globs: { readonly include?: readonly string[]; readonly exclude?: readonly string[] } = {},
): FileRoot {
  const { include = [], exclude = [] } = globs
  return { id: 'root_1', owner: owner('ada'), kind, path, include, exclude }
}

/** A folder with these files in it; a name that ends in a slash is a folder. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = temporaryFolder()
  put(folder, files)
  return folder
}

export function put(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(name.endsWith('/') ? path : dirname(path), { recursive: true })
    if (!name.endsWith('/')) writeFileSync(path, content)
  }
}

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

/** Root may do everything: permissions bind only somebody else, whom root can become for a while. */
export const canLosePermissions = process.platform !== 'win32'

/** A folder that others may enter, which those for all tests are not. */
export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-open-'))
  chmodSync(folder, 0o777)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export async function withoutPermissions<Result>(work: () => Promise<Result>): Promise<Result> {
  if (!isRoot) return work()
  process.seteuid?.(NOBODY)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

/** Null where it can't be had: only root may mount. */
export function smallFileSystem(size: string): string | null {
  if (process.platform !== 'linux' || !isRoot) return null
  const folder = join(temporaryFolder(), 'small')
  mkdirSync(folder)
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder])
  if (status !== 0) return null
  onTestFinished(() => void spawnSync('umount', ['-l', folder]))
  return folder
}

/** Waits until something is so; the test's own time limit ends it when it never is. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(5)
}

export async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}
