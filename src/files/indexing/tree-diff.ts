/**
 * What has changed in a tree of files: first by what a look tells, then by the contents of those files that may be others
 * than before. A file that is found elsewhere with the same contents has moved, and keeps what was made of it.
 */
import { compareText } from '../../lib/compare.ts'
import type { KnownFile, SeenFile } from '../file.ts'

export type TreeDiff = {
  /** Size and time are as they were. */
  readonly unchanged: readonly KnownFile[]
  /** New, or of another size or time: their contents must be looked at. */
  readonly maybeChanged: readonly SeenFile[]
  readonly vanished: readonly KnownFile[]
}

/**
 * `isWhole` is false when a part of the tree could not be looked at: then what was not seen may still be there.
 * Of files that are seen twice, the last look counts.
 */
export function diffTree(
  known: ReadonlyMap<string, KnownFile>,
  seen: Iterable<SeenFile>,
  isWhole = true,
): TreeDiff {
  const now = new Map(Array.from(seen, (file) => [file.path, file]))
  const unchanged: KnownFile[] = []
  const maybeChanged: SeenFile[] = []
  for (const file of now.values()) {
    const before = known.get(file.path)
    if (before !== undefined && looksLike(before, file)) unchanged.push(before)
    else maybeChanged.push(file)
  }
  const vanished = isWhole ? [...known.values()].filter(({ path }) => !now.has(path)) : []
  return { unchanged, maybeChanged, vanished }
}

function looksLike(before: KnownFile, now: SeenFile): boolean {
  return before.sizeBytes === now.sizeBytes && before.modifiedAt === now.modifiedAt
}

export type Change = { readonly from: KnownFile; readonly to: KnownFile }

/** Each file is in one list only. */
export type SettledTree = {
  readonly added: readonly KnownFile[]
  readonly changed: readonly Change[]
  /** Only size or time have changed, if those were told wrongly before; the contents have not. */
  readonly touched: readonly Change[]
  readonly moved: readonly Change[]
  readonly removed: readonly KnownFile[]
  /** Could not be read: what is known of them stays as it is, and those that are new stay unknown. */
  readonly unread: readonly SeenFile[]
}

/** `hashes` are the SHA-256 of the files that may have changed, by path; those that could not be read are missing. */
export function settleTree(
  known: ReadonlyMap<string, KnownFile>,
  { maybeChanged, vanished }: TreeDiff,
  hashes: ReadonlyMap<string, string>,
): SettledTree {
  const fresh: KnownFile[] = []
  const changed: Change[] = []
  const touched: Change[] = []
  const unread: SeenFile[] = []
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
    touched,
    moved,
    removed: vanished.filter(({ path }) => !left.has(path)),
    unread,
  }
}

/**
 * Each vanished file is one new file at most: of several with the same contents one has moved, and the others are copies.
 * Those that kept their name find each other first, the rest in the order of their paths.
 */
function findMoves(vanished: readonly KnownFile[], fresh: readonly KnownFile[]): readonly Change[] {
  const gone = byHash(vanished)
  const moves: Change[] = []
  for (const [hash, arrivals] of byHash(fresh)) {
    const departures = gone.get(hash)
    if (departures !== undefined) moves.push(...pair(departures, arrivals))
  }
  return moves
}

function pair(departures: readonly KnownFile[], arrivals: readonly KnownFile[]): readonly Change[] {
  const waiting = new Map<string, KnownFile[]>()
  for (const from of departures) push(waiting, nameOf(from), from)
  const moves: Change[] = []
  const renamed: KnownFile[] = []
  for (const to of arrivals) {
    const from = waiting.get(nameOf(to))?.shift()
    if (from === undefined) renamed.push(to)
    else moves.push({ from, to })
  }
  const rest = [...waiting.values()].flat().sort(byPath)
  renamed.slice(0, rest.length).forEach((to, index) => {
    const from = rest[index]
    if (from !== undefined) moves.push({ from, to })
  })
  return moves
}

/** By hash, those with the same one in the order of their paths. */
function byHash(files: readonly KnownFile[]): ReadonlyMap<string, readonly KnownFile[]> {
  const groups = new Map<string, KnownFile[]>()
  for (const file of [...files].sort(byPath)) push(groups, file.hash, file)
  return groups
}

function push(groups: Map<string, KnownFile[]>, key: string, file: KnownFile): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [file])
  else group.push(file)
}

function byPath(a: KnownFile, b: KnownFile): number {
  return compareText(a.path, b.path)
}

function nameOf({ path }: KnownFile): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
