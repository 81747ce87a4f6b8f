/** Selects the files of a root by path. Paths are relative to the root. */
import picomatch from 'picomatch'
import type { FileRoot, RootKind } from '../file.ts'

export type FileSelection = {
  includesFile(path: string): boolean
  entersFolder(path: string): boolean
}

/** Generated folders and files that no person reads. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([
  ...['.git', 'node_modules', '.pnpm-store', '.venv', 'venv', '.tox', '__pycache__'],
])
/** Temporary files of this program, see `atomic-replace.ts`. */
export const TEMPORARY_PREFIX = '.recollect'
/** Lock files of Emacs and attribute files of macOS, which share the extension of the file they belong to. */
const SHADOWS = /^(?:\.#|\._)/

const TEXT_NAME = /\.(?:md|markdown|mdx|txt|text|rst)$/i
const NOTE_NAME = /\.(?:md|markdown|txt)$/i
const SESSION_NAME = /\.jsonl$/i
const WORKSPACE_FILES: ReadonlySet<string> = new Set(['MEMORY.md', 'memory.md'])
const WORKSPACE_FOLDER = /^memory(?:\/|$)/

const KINDS: Readonly<Record<RootKind, FileSelection>> = {
  workspace: {
    includesFile: (path) =>
      WORKSPACE_FILES.has(path) || (WORKSPACE_FOLDER.test(path) && NOTE_NAME.test(path)),
    entersFolder: (path) => WORKSPACE_FOLDER.test(path),
  },
  path: { includesFile: (path) => TEXT_NAME.test(path), entersFolder: () => true },
  sessions: { includesFile: (path) => SESSION_NAME.test(path), entersFolder: () => true },
}

/** Files of the right kind that match an include glob and no exclude glob. Excluded folders are not entered. */
export function createFileSelection({ kind, include, exclude }: FileRoot): FileSelection {
  const allowed = KINDS[kind]
  const isIncluded = include.length === 0 ? () => true : matcherOf(include)
  const isExcluded = exclude.length === 0 ? () => false : matcherOf(exclude)
  return {
    includesFile: (path) =>
      !SHADOWS.test(getBaseName(path)) &&
      allowed.includesFile(path) &&
      isIncluded(path) &&
      !isExcluded(path),
    entersFolder: (path) =>
      !isSkipped(getBaseName(path)) && allowed.entersFolder(path) && !isExcluded(path),
  }
}

/** True when a folder in the path is never entered. */
export function isInSkippedFolder(path: string): boolean {
  return path.split('/').some(isSkipped)
}

function isSkipped(name: string): boolean {
  return SKIPPED_FOLDERS.has(name) || name.startsWith(TEMPORARY_PREFIX) || SHADOWS.test(name)
}

export function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/**
 * Globs as in ignore files: without a slash, a name at any depth; otherwise a path from the root. A matching folder
 * includes its content. Repeated alternatives are refused, because matching them can take exponential time.
 */
function matcherOf(globs: readonly string[]): (path: string) => boolean {
  const patterns = globs.flatMap((glob) => {
    const path = glob.replace(/\/+$/, '')
    const pattern = path.includes('/') ? path.replace(/^(?:\.?\/)+/, '') : `**/${path}`
    return [pattern, `${pattern}/**`]
  })
  return picomatch(patterns, { dot: true, nonegate: true, noextglob: true })
}
