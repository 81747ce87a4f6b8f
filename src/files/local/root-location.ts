/** Resolves the real location of a root. */
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { FileProblem, FileRoot } from '../file.ts'
import { createFileTrouble, toFileTrouble } from './file-errors.ts'

/** `only` is set when the root is a single file: it hides the rest of its folder. */
export type RootLocation = {
  readonly folder: string
  readonly onlyFile: string | null
  /** Differs when another folder replaces the one at the path. */
  readonly identity: string
}

/** The root itself may be a link. */
export async function locateRoot(root: FileRoot): Promise<RootLocation | FileProblem> {
  try {
    const real = await realpath(root.path)
    const stats = await stat(real, { bigint: true })
    if (stats.isDirectory()) {
      return { folder: real, onlyFile: null, identity: `${real}:${stats.dev}:${stats.ino}` }
    }
    if (!stats.isFile() || root.kind !== 'path') {
      return createFileTrouble('', 'unreadable', `${root.path} is no folder`)
    }
    const folder = dirname(real)
    const { dev, ino } = await stat(folder, { bigint: true })
    return { folder, onlyFile: basename(real), identity: `${real}:${dev}:${ino}` }
  } catch (error) {
    const { reason: because, message } = toFileTrouble('', error)
    return { path: '', reason: because, message: message.replace('The folder:', `${root.path}:`) }
  }
}

export function isFileTrouble(base: RootLocation | FileProblem): base is FileProblem {
  return 'reason' in base
}
