/**
 * Compares a tree of files with the index, first by attributes, then by the contents of candidates. A file that
 * reappears elsewhere with the same content was moved, and keeps its chunks.
 */
import { compareText } from '../../lib/compare.ts'
import type { FileStat, HashedFileStat } from '../file.ts'

export type TreeDiff = {
  /** Same size and time. */
  readonly unchanged: readonly HashedFileStat[]
  /** New, or with another size or time: the content must be compared. */
  readonly maybeChanged: readonly FileStat[]
  readonly vanished: readonly HashedFileStat[]
}

/**
 * `isWhole` is false when a part of the tree was unreadable: files missing there may still exist. The last of duplicate
 * listings wins.
 */
export function diffTree(
  known: ReadonlyMap<string, HashedFileStat>,
  seen: Iterable<FileStat>,
  isWhole = true,
): TreeDiff {
  const now = new Map(Array.from(seen, (file) => [file.path, file]))
  const unchanged: HashedFileStat[] = []
  const maybeChanged: FileStat[] = []
  for (const file of now.values()) {
    const before = known.get(file.path)
    if (before !== undefined && isSameStat(before, file)) unchanged.push(before)
    else maybeChanged.push(file)
  }
  const vanished = isWhole ? [...known.values()].filter(({ path }) => !now.has(path)) : []
  return { unchanged, maybeChanged, vanished }
}

function isSameStat(before: HashedFileStat, now: FileStat): boolean {
  return before.sizeBytes === now.sizeBytes && before.modifiedAt === now.modifiedAt
}

export type FileChange = { readonly from: HashedFileStat; readonly to: HashedFileStat }

/** Each file is in exactly one list. */
export type ResolvedTreeDiff = {
  readonly added: readonly HashedFileStat[]
  readonly changed: readonly FileChange[]
  /** Only size or time changed, not the content. */
  readonly restamped: readonly FileChange[]
  readonly moved: readonly FileChange[]
  readonly removed: readonly HashedFileStat[]
  /** Unreadable: known files keep their chunks, new ones stay unknown. */
  readonly unread: readonly FileStat[]
}

/** `hashes` holds the SHA-256 of changed candidates by path; unreadable files are missing. */
export function resolveTreeDiff(
  known: ReadonlyMap<string, HashedFileStat>,
  { maybeChanged, vanished }: TreeDiff,
  hashes: ReadonlyMap<string, string>,
): ResolvedTreeDiff {
  const fresh: HashedFileStat[] = []
  const changed: FileChange[] = []
  const touched: FileChange[] = []
  const unread: FileStat[] = []
  for (const file of maybeChanged) {
    const hash = hashes.get(file.path)
    const from = known.get(file.path)
    if (hash === undefined) unread.push(file)
    else if (from === undefined) fresh.push({ ...file, hash })
    else (from.hash === hash ? touched : changed).push({ from, to: { ...file, hash } })
  }
  const moved = findMoves(vanished, fresh)
  const left = new Set(moved.map(({ from }) => from.path))
  const arrived = new Set(moved.map(({ to }) => to.path))
  return {
    added: fresh.filter(({ path }) => !arrived.has(path)),
    changed,
    restamped: touched,
    moved,
    removed: vanished.filter(({ path }) => !left.has(path)),
    unread,
  }
}

/**
 * A missing file matches at most one new file; further copies count as new. Files with the same name match first, the
 * others by path.
 */
function findMoves(
  vanished: readonly HashedFileStat[],
  fresh: readonly HashedFileStat[],
): readonly FileChange[] {
  const gone = groupByHash(vanished)
  const moves: FileChange[] = []
  for (const [hash, arrivals] of groupByHash(fresh)) {
    const departures = gone.get(hash)
    if (departures !== undefined) moves.push(...pairMoves(departures, arrivals))
  }
  return moves
}

function pairMoves(
  departures: readonly HashedFileStat[],
  arrivals: readonly HashedFileStat[],
): readonly FileChange[] {
  const waiting = new Map<string, HashedFileStat[]>()
  for (const from of departures) addToGroup(waiting, getBaseName(from), from)
  const moves: FileChange[] = []
  const renamed: HashedFileStat[] = []
  for (const to of arrivals) {
    const from = waiting.get(getBaseName(to))?.shift()
    if (from === undefined) renamed.push(to)
    else moves.push({ from, to })
  }
  const rest = [...waiting.values()].flat().sort(compareByPath)
  renamed.slice(0, rest.length).forEach((to, index) => {
    const from = rest[index]
    if (from !== undefined) moves.push({ from, to })
  })
  return moves
}

/** Grouped by hash, sorted by path. */
function groupByHash(
  files: readonly HashedFileStat[],
): ReadonlyMap<string, readonly HashedFileStat[]> {
  const groups = new Map<string, HashedFileStat[]>()
  for (const file of [...files].sort(compareByPath)) addToGroup(groups, file.hash, file)
  return groups
}

function addToGroup(
  groups: Map<string, HashedFileStat[]>,
  key: string,
  file: HashedFileStat,
): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [file])
  else group.push(file)
}

function compareByPath(a: HashedFileStat, b: HashedFileStat): number {
  return compareText(a.path, b.path)
}

function getBaseName({ path }: HashedFileStat): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
