/** Where a root really lies. */
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { FileTrouble, Root } from '../file.ts'
import { trouble, troubleOf } from './file-errors.ts'

/** `only` is set when the root is a file: nothing else in its folder counts. */
export type Base = {
  readonly folder: string
  readonly only: string | null
  /** Another one: there is another folder now at the same path. */
  readonly identity: string
}

/** The root itself may be a link: whoever named it meant where it leads. */
export async function baseOf(root: Root): Promise<Base | FileTrouble> {
  try {
    const real = await realpath(root.path)
    const stats = await stat(real, { bigint: true })
    if (stats.isDirectory()) {
      return { folder: real, only: null, identity: `${real}:${stats.dev}:${stats.ino}` }
    }
    if (!stats.isFile() || root.kind !== 'path') {
      return trouble('', 'unreadable', `${root.path} is no folder`)
    }
    const folder = dirname(real)
    const { dev, ino } = await stat(folder, { bigint: true })
    return { folder, only: basename(real), identity: `${real}:${dev}:${ino}` }
  } catch (error) {
    const { because, message } = troubleOf('', error)
    return { path: '', because, message: message.replace('The folder:', `${root.path}:`) }
  }
}

export function isTrouble(base: Base | FileTrouble): base is FileTrouble {
  return 'because' in base
}
