/** Where a root really lies. */
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { FileProblem, FileRoot } from '../file.ts'
import { createFileTrouble, toFileTrouble } from './file-errors.ts'

/** `only` is set when the root is a file: nothing else in its folder counts. */
export type RootLocation = {
  readonly folder: string
  readonly onlyFile: string | null
  /** Another one: there is another folder now at the same path. */
  readonly identity: string
}

/** The root itself may be a link: whoever named it meant where it leads. */
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
