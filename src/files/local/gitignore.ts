/** `.gitignore` rules: each file applies to its folder and below, and the nearest one wins. */
import { constants, existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import ignore from 'ignore'

export const GITIGNORE_FILE = '.gitignore'
/** Longer files are not rule files. */
const IGNORE_FILE_BYTES_MAX = 1_000_000
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
/** Case sensitivity as Git's default on this platform. */
const ignoreCase = process.platform === 'darwin' || process.platform === 'win32'

/** The rules of one file, for paths below its folder. */
export type IgnoreRules = {
  /** The folder, with a trailing slash unless it is the root. */
  readonly prefix: string
  /** The path from the folder to the root, where the folder is above it. */
  readonly pathFromRules: string
  readonly rules: ignore.Ignore
  readonly parent: IgnoreRules | null
}

/** Unreadable rules ignore nothing, because indexing too much loses nothing. */
export async function readIgnoreRules(
  folder: string,
  path: string,
  outer: IgnoreRules | null,
): Promise<IgnoreRules | null> {
  const text = await textOf(join(folder, GITIGNORE_FILE)).catch(() => null)
  if (text === null) return outer
  const rules = ignore({ ignoreCase }).add(text)
  return { prefix: path === '' ? '' : `${path}/`, pathFromRules: '', rules, parent: outer }
}

/**
 * The rules of the repository above a folder. None when the folder itself is ignored, because then it was named
 * deliberately.
 */
export async function readParentIgnoreRules(folder: string): Promise<IgnoreRules | null> {
  let rules: IgnoreRules | null = null
  for (const above of foldersOfRepository(folder)) {
    const lead = `${relative(above, folder).split(sep).join('/')}/`
    const found = await readIgnoreRules(above, '', rules)
    rules = found === null || found === rules ? rules : { ...found, pathFromRules: lead }
  }
  return isIgnored('', false, rules) ? null : rules
}

/** The folders between the repository root and the folder, outermost first; none outside of a repository. */
function foldersOfRepository(folder: string): readonly string[] {
  const above: string[] = []
  for (let at = folder; !existsSync(join(at, '.git')); at = dirname(at)) {
    if (dirname(at) === at) return []
    above.unshift(dirname(at))
  }
  return above
}

export function isIgnored(path: string, isFolder: boolean, nearest: IgnoreRules | null): boolean {
  const candidate = isFolder ? `${path}/` : path
  for (let level = nearest; level !== null; level = level.parent) {
    const { ignored, unignored } = level.rules.test(
      level.pathFromRules + candidate.slice(level.prefix.length),
    )
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
