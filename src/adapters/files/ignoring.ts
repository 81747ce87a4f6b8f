/** What `.gitignore` files leave out: each rules the folder it lies in and all below, and the nearest one wins. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import ignore from 'ignore'

export const IGNORE_FILE = '.gitignore'
/** Nobody writes a longer one; what is longer may be anything. */
const IGNORE_FILE_BYTES_MAX = 1_000_000
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
/** As Git decides on most machines. */
const ignoreCase = process.platform === 'darwin' || process.platform === 'win32'

/** The rules of one file, for paths below its folder. */
export type IgnoreRules = {
  /** The folder, with a slash at the end unless it is the root. */
  readonly prefix: string
  readonly rules: ignore.Ignore
  readonly outer: IgnoreRules | null
}

/** Rules that can't be read leave nothing out: rather too much is indexed than too little, and nothing is lost by it. */
export async function ignoreRulesOf(
  folder: string,
  path: string,
  outer: IgnoreRules | null,
): Promise<IgnoreRules | null> {
  const text = await textOf(join(folder, IGNORE_FILE)).catch(() => null)
  if (text === null) return outer
  return {
    prefix: path === '' ? '' : `${path}/`,
    rules: ignore({ ignoreCase }).add(text),
    outer,
  }
}

export function isIgnored(path: string, isFolder: boolean, nearest: IgnoreRules | null): boolean {
  const asked = isFolder ? `${path}/` : path
  for (let level = nearest; level !== null; level = level.outer) {
    const { ignored, unignored } = level.rules.test(asked.slice(level.prefix.length))
    if (ignored || unignored) return ignored
  }
  return false
}

async function textOf(path: string): Promise<string | null> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const { size } = await file.stat()
    if (size > IGNORE_FILE_BYTES_MAX) return null
    return (await file.readFile('utf8')).replace(/^\uFEFF/, '')
  } finally {
    await file.close()
  }
}
