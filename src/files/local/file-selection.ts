/** Which files of a root count, by their names alone. Paths are relative to the root, as everywhere. */
import picomatch from 'picomatch'
import type { FileRoot, RootKind } from '../file.ts'

export type FileSelection = {
  includesFile(path: string): boolean
  entersFolder(path: string): boolean
}

/** What programs make for themselves, and nobody wrote to be read. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([
  ...['.git', 'node_modules', '.pnpm-store', '.venv', 'venv', '.tox', '__pycache__'],
])
/** What this program keeps beside files for a moment: see `workspace.ts`. */
export const TEMPORARY_PREFIX = '.recollect'
/** Emacs marks a file that is being edited, and macOS keeps attributes, in files that end like the one they belong to. */
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

/** What the kind allows, the globs to include match, and those to exclude don't. An excluded folder is not entered. */
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

/** True when a folder on the way is one that no root enters. */
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
 * As people know them from ignore files: without a slash a name at any depth, else a path from the root, and what matches a
 * folder matches all that is in it. Repeated alternatives are not understood: matching them can take for ever.
 */
function matcherOf(globs: readonly string[]): (path: string) => boolean {
  const patterns = globs.flatMap((glob) => {
    const path = glob.replace(/\/+$/, '')
    const pattern = path.includes('/') ? path.replace(/^(?:\.?\/)+/, '') : `**/${path}`
    return [pattern, `${pattern}/**`]
  })
  return picomatch(patterns, { dot: true, nonegate: true, noextglob: true })
}
