/**
 * Roots: the folders and files of an owner. They are stored with the memories, so that they are exported and erased
 * with them; the index is not.
 */
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { EntryOf } from '../domain/entries/entry.ts'
import type { FileRootBody } from '../domain/entries/file-entries.ts'
import { type OwnerId, parseEntryId } from '../domain/ids.ts'
import { SYSTEM_OWNER } from '../domain/scope.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import { hashParts } from '../lib/hash.ts'
import {
  buildEntryChange,
  buildEntryRemoval,
  getEntry,
  listEntries,
} from '../storage/access/system-entries.ts'
import type { Store } from '../storage/store.ts'
import { type FileRoot, ROOT_KINDS, type RootKind } from './file.ts'

/** `name` prefixes result paths of this root; empty for the workspace. */
export type NamedRoot = FileRoot & { readonly name: string }

export type RootInput = {
  readonly kind: RootKind
  /** Absolute, or relative to the workspace. */
  readonly path: string
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
}

export interface Roots {
  /** An existing root takes the new globs. A root that overlaps another one is refused. */
  add(owner: OwnerId, input: RootInput): Promise<NamedRoot>
  /** False for an unknown id. */
  remove(owner: OwnerId, id: string): Promise<boolean>
  /** The workspace first, then the others by name. */
  list(owner: OwnerId): Promise<readonly NamedRoot[]>
  /** Lists the owners that have file roots. */
  owners(): Promise<readonly OwnerId[]>
}

const ROOTS_MAX = 100
const GLOBS_MAX = 100
const GLOB_CHARACTERS_MAX = 500
const PATH_CHARACTERS_MAX = 4_000
const ADD_TRIES = 4

export function createRoots({
  store,
  clock,
}: {
  readonly store: Store
  readonly clock: Clock
}): Roots {
  const entriesOf = (owner: OwnerId) => listEntries({ store }, { owner, user: null }, 'file-root')
  const list = async (owner: OwnerId) =>
    (await entriesOf(owner)).map(toRoot).sort((a, b) => (a.name < b.name ? -1 : 1))

  const add = async (owner: OwnerId, input: RootInput): Promise<NamedRoot | null> => {
    const entries = await entriesOf(owner)
    const known = entries.map(toRoot)
    const given = parseRoot(owner, input, known)
    const before = entries.find(({ id }) => id === given.id) ?? null
    assertNoOverlap(given, known)
    if (before === null && known.length >= ROOTS_MAX) {
      throw new AppError('invalid_input', `An owner can have at most ${ROOTS_MAX} roots.`)
    }
    const root = { ...given, name: getRootName(given, known) }
    const { change } = buildEntryChange(
      {
        id: root.id,
        place: { owner, user: null, session: null },
        ...{ kind: 'file-root', about: owner, at: before?.at ?? clock.now(), body: toBody(root) },
      },
      before,
    )
    const outcome = await store.commit([change])
    return outcome.kind === 'committed' ? root : null
  }

  return {
    list,
    add: async (owner, input) => {
      for (let tries = 0; tries < ADD_TRIES; tries++) {
        const root = await add(owner, input)
        if (root !== null) return root
      }
      throw new AppError(
        'conflict',
        'Another process is changing the roots of this owner. Retry shortly.',
      )
    },
    remove: async (owner, id) => {
      const scope = { owner, user: null }
      const entry = await getEntry({ store }, scope, 'file-root', parseEntryId(id))
      if (entry === null) return false
      await store.commit([buildEntryRemoval(entry, { version: entry.version })])
      return true
    },
    owners: async () => {
      const places = await store.listPlaces()
      const names = new Set(places.flatMap(({ owner, user }) => (user === null ? [owner] : [])))
      names.delete(SYSTEM_OWNER)
      const having: OwnerId[] = []
      for (const name of names) {
        const owner = name as OwnerId // as stored
        const where = { kinds: ['file-root'] } as const
        const { rows } = await store.find('entry', { owner, user: null }, { where, limit: 1 })
        if (rows.length > 0) having.push(owner)
        await yieldToEventLoop()
      }
      return having
    },
  }
}

/** The path in results: each path identifies one file in all roots. */
export function toDisplayPath({ kind, name, path: root }: NamedRoot, path: string): string {
  if (kind === 'workspace') return path
  // A root that is a single file has its name.
  return path === basename(root) ? name : `${name}/${path}`
}

/** The root of a result path, and the path within it. */
export function resolveDisplayPath(
  roots: readonly NamedRoot[],
  path: string,
): { readonly root: NamedRoot; readonly path: string } | null {
  const plain = path.replace(/^(?:\.\/)+/, '')
  for (const root of roots) {
    if (root.kind === 'workspace') continue
    if (plain === root.name) return { root, path: basename(root.path) }
    if (plain.startsWith(`${root.name}/`)) return { root, path: plain.slice(root.name.length + 1) }
  }
  const workspace = roots.find(({ kind }) => kind === 'workspace')
  return workspace === undefined ? null : { root: workspace, path: plain }
}

type UnnamedRoot = Omit<NamedRoot, 'name'>

function parseRoot(owner: OwnerId, input: RootInput, known: readonly NamedRoot[]): UnnamedRoot {
  const { kind, path } = input
  if (!ROOT_KINDS.includes(kind)) {
    throw invalid('kind', `\`kind\` must be one of ${ROOT_KINDS.join(', ')}.`)
  }
  if (typeof path !== 'string' || path.trim() === '' || path.includes('\0')) {
    throw invalid('path', '`path` must be the path of a file or folder.')
  }
  if (path.length > PATH_CHARACTERS_MAX) throw invalid('path', '`path` is too long.')
  const workspace = known.find((root) => root.kind === 'workspace')
  if (!isAbsolute(path) && workspace === undefined) {
    throw invalid('path', `"${path}" is relative, and there is no workspace that it could be in.`)
  }
  const absolute = resolve(workspace?.path ?? '', path)
  // An owner has one workspace, so adding two at once conflicts here.
  const id = `root_${kind === 'workspace' ? hashParts(owner, kind) : hashParts(owner, kind, absolute)}`
  return {
    id,
    owner,
    kind,
    path: absolute,
    include: parseGlobs('include', input.include ?? []),
    exclude: parseGlobs('exclude', input.exclude ?? []),
  }
}

function parseGlobs(field: string, globs: readonly string[]): readonly string[] {
  const isGlob = (glob: unknown) =>
    typeof glob === 'string' && glob !== '' && glob.length <= GLOB_CHARACTERS_MAX
  if (Array.isArray(globs) && globs.length <= GLOBS_MAX && globs.every(isGlob)) return [...globs]
  throw invalid(
    field,
    `${field} holds at most ${GLOBS_MAX} globs of 1 to ${GLOB_CHARACTERS_MAX} characters.`,
  )
}

/** A file in two roots would be found twice. */
function assertNoOverlap(given: UnnamedRoot, known: readonly NamedRoot[]): void {
  for (const other of known) {
    if (other.id === given.id) {
      if (other.path === given.path) continue
      throw new AppError(
        'conflict',
        `The owner already has a workspace, ${other.path}. Remove it before adding another one.`,
        { root: other.id },
      )
    }
    if (isSessions(given) !== isSessions(other)) continue
    const isShared = listHeldPaths(given).some((a) =>
      listHeldPaths(other).some((b) => isWithin(a, b) || isWithin(b, a)),
    )
    if (!isShared) continue
    throw new AppError(
      'conflict',
      `${given.path} and ${other.path}, which is a root already, hold the same files. Remove that one first.`,
      { root: other.id },
    )
  }
}

/** Transcripts and notes never overlap. */
function isSessions({ kind }: UnnamedRoot): boolean {
  return kind === 'sessions'
}

function listHeldPaths({ kind, path }: UnnamedRoot): readonly string[] {
  if (kind !== 'workspace') return [path]
  return ['MEMORY.md', 'memory.md', 'memory'].map((name) => join(path, name))
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** Reserves the top-level names of the workspace. */
const TAKEN = ['memory', 'memory.md']

function getRootName(given: UnnamedRoot, known: readonly NamedRoot[]): string {
  if (given.kind === 'workspace') return ''
  const before = known.find(({ id }) => id === given.id)
  if (before !== undefined) return before.name
  const taken = new Set([...TAKEN, ...known.map(({ name }) => name.toLowerCase())])
  const plain = given.kind === 'sessions' ? 'sessions' : basename(given.path) || 'files'
  for (let count = 1; ; count++) {
    const name = count === 1 ? plain : addSuffix(plain, count)
    if (!taken.has(name.toLowerCase())) return name
  }
}

/** `notes-2.md`, so that the extension stays. */
function addSuffix(name: string, count: number): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? `${name.slice(0, dot)}-${count}${name.slice(dot)}` : `${name}-${count}`
}

function toBody({ kind, path, include, exclude, name }: NamedRoot): FileRootBody {
  return { kind, path, include, exclude, name }
}

function toRoot({ id, place, body }: EntryOf<'file-root'>): NamedRoot {
  return { id, owner: place.owner, ...body }
}

function invalid(field: string, message: string): AppError {
  return new AppError('invalid_input', message, { field })
}
