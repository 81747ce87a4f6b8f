/**
 * Maps roots to collections of `qmd`, and paths in a collection to result paths.
 *
 * A collection's name contains a hash of its path and pattern, so that a changed root becomes another collection even
 * where `qmd` reports neither.
 */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { hashParts } from '../../lib/hash.ts'
import type { FileRoot, FileSource } from '../file.ts'

/** `name` prefixes result paths of the root. */
export type QmdRoot = FileRoot & { readonly name: string }

export type QmdCollection = {
  readonly name: string
  /** The absolute path of an existing folder. */
  readonly path: string
  readonly pattern: string
  readonly source: FileSource
  readonly root: QmdRoot
  /** Maps a path in the collection to a path in the root. */
  pathInRoot(path: string): string
}

/** One glob; matches that the root's own rules exclude are dropped from results. */
const TEXT_PATTERN = '**/*.{md,markdown,mdx,txt,text,rst}'
const NOTE_PATTERN = '**/*.{md,markdown,txt}'
/** The suffix of redacted transcript copies. */
export const COPY_SUFFIX = '.md'
const SLUG_CHARACTERS_MAX = 32
const HASH_CHARACTERS = 12

/** For existing roots; the folder of copies is created when it is filled. */
export function toQmdCollections(
  roots: readonly QmdRoot[],
  copiesOf: (root: QmdRoot) => string,
): readonly QmdCollection[] {
  return roots
    .filter(({ path }) => existsSync(path))
    .flatMap((root) => (root.kind === 'sessions' ? sessions(root, copiesOf(root)) : files(root)))
    .filter(({ path, source }) => source === 'sessions' || existsSync(path))
}

function files(root: QmdRoot): readonly QmdCollection[] {
  if (root.kind === 'workspace') {
    const named = (name: string) => of(root, name, root.path, name, (path) => path)
    const folder = join(root.path, 'memory')
    const dated = of(root, 'memory-dir', folder, NOTE_PATTERN, (path) => `memory/${path}`)
    return [named('MEMORY.md'), named('memory.md'), dated]
  }
  if (statSync(root.path).isFile()) {
    const name = basename(root.path)
    return [of(root, root.name, dirname(root.path), literal(name), (path) => path)]
  }
  return [of(root, root.name, root.path, patternOf(root.include), (path) => path)]
}

function sessions(root: QmdRoot, copies: string): readonly QmdCollection[] {
  return [
    of(root, root.name, copies, `**/*${COPY_SUFFIX}`, (path) =>
      path.endsWith(COPY_SUFFIX) ? path.slice(0, -COPY_SUFFIX.length) : path,
    ),
  ]
}

function of(
  root: QmdRoot,
  name: string,
  path: string,
  pattern: string,
  pathInRoot: QmdCollection['pathInRoot'],
): QmdCollection {
  const hash = hashParts(root.id, name, path, pattern)
  return {
    name: `${slug(name)}-${hash.slice(0, HASH_CHARACTERS)}`,
    path,
    pattern,
    source: root.kind === 'sessions' ? 'sessions' : 'memory',
    root,
    pathInRoot,
  }
}

function slug(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return plain.slice(0, SLUG_CHARACTERS_MAX) || 'files'
}

function patternOf(include: readonly string[]): string {
  // A glob without a slash matches names at any depth, as in ignore files.
  const globs = include.map((glob) => (glob.includes('/') ? glob : `**/${glob}`))
  if (globs.length === 0) return TEXT_PATTERN
  return globs.length === 1 ? (globs[0] ?? '') : `{${globs.join(',')}}`
}

/** Escapes a name into a glob that matches only this name. */
function literal(name: string): string {
  return name.replace(/[\\*?[\]{}()!+@|,]/g, '\\$&')
}

/** Resolves a printed path to a file of a collection; null when it is in none. */
export function resolveCollectionFile(
  collections: readonly QmdCollection[],
  file: string,
): { readonly collection: QmdCollection; readonly path: string } | null {
  const plain = file.replace(/^qmd:\/\/+/, '').replace(/\?index=[^?]*$/, '')
  for (const collection of collections) {
    const path = plain.startsWith(`${collection.name}/`)
      ? plain.slice(collection.name.length + 1)
      : pathBelow(collection.path, plain)
    if (path !== null) return { collection, path: collection.pathInRoot(path) }
  }
  return null
}

/** Resolves an absolute path, which some versions print. */
function pathBelow(folder: string, file: string): string | null {
  if (!file.startsWith(sep) && !file.includes(':')) return null
  for (const base of [folder, existsSync(folder) ? realpathSync(folder) : folder]) {
    if (file.startsWith(base + sep)) return relative(base, file).split(sep).join('/')
  }
  return null
}
