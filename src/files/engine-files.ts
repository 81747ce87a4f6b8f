/** Memory in files as programs hold it: owners come as plain text, and are checked. */

import type { OwnerId } from '../domain/ids.ts'
import { parseScope } from '../domain/scope.ts'
import type { FileContents } from './file-contents.ts'
import type { FileSearch } from './file-search.ts'
import type { Workspace } from './file-tree.ts'
import type { Files } from './files.ts'
import type { NamedRoot, RootInput } from './roots.ts'

type RestParameters<Method extends (owner: OwnerId, ...rest: never[]) => unknown> = Method extends (
  owner: OwnerId,
  ...rest: infer Given
) => unknown
  ? Given
  : never

export interface EngineFiles {
  /** Where an owner's files are. */
  readonly roots: {
    /** One that is there already gets the new globs. One that holds the same files as another is refused. */
    add(owner: string, input: RootInput): Promise<NamedRoot>
    /** False when there is none with this id. The files stay. */
    remove(owner: string, id: string): Promise<boolean>
    list(owner: string): Promise<readonly NamedRoot[]>
  }
  /** What the built-in index holds: files of a root with their state, and chunks of a file. */
  readonly contents: {
    files(
      owner: string,
      ...rest: RestParameters<FileContents['files']>
    ): ReturnType<FileContents['files']>
    chunks(
      owner: string,
      ...rest: RestParameters<FileContents['chunks']>
    ): ReturnType<FileContents['chunks']>
  }
  /** The lines that answer a question, best first; none when nothing fits. */
  search(
    owner: string,
    ...rest: RestParameters<FileSearch['search']>
  ): ReturnType<FileSearch['search']>
  /** A file, or some lines of it; empty, with a reason, when there is none. */
  readFile(
    owner: string,
    ...rest: RestParameters<FileSearch['readFile']>
  ): ReturnType<FileSearch['readFile']>
  status(owner: string): ReturnType<FileSearch['status']>
  /** Looks at all files now; `force` reads and cuts every one anew. */
  sync(owner: string, ...rest: RestParameters<FileSearch['sync']>): ReturnType<FileSearch['sync']>
  probeEmbeddingAvailability(): ReturnType<FileSearch['probeEmbeddingAvailability']>
  probeVectorAvailability(): ReturnType<FileSearch['probeVectorAvailability']>
  /** Where memory may write; `not_found` when the owner has no workspace. See `createMemoryTool`. */
  workspace(owner: string): Promise<Workspace>
  /** Adds to the note of today, in the owner's time zone, and tells its path. */
  append(owner: string, text: string): Promise<{ readonly path: string }>
  /** Notes that something was written to an owner's files, so that the next question knows it. */
  touch(owner: string): void
  /** From now on files are looked at when they change, and from time to time. */
  start(): Promise<void>
}

export function parseOwnerNames(files: Files): EngineFiles {
  const named = (owner: string) => parseScope({ owner }).owner
  return {
    roots: {
      add: async (owner, input) => files.roots.add(named(owner), input),
      remove: async (owner, id) => files.roots.remove(named(owner), id),
      list: async (owner) => files.roots.list(named(owner)),
    },
    contents: {
      files: async (owner, root, asked) => files.contents.files(named(owner), root, asked),
      chunks: async (owner, path, asked) => files.contents.chunks(named(owner), path, asked),
    },
    search: async (owner, query) => files.search(named(owner), query),
    readFile: async (owner, path, range) => files.readFile(named(owner), path, range),
    status: async (owner) => files.status(named(owner)),
    sync: async (owner, options) => files.sync(named(owner), options),
    probeEmbeddingAvailability: () => files.probeEmbeddingAvailability(),
    probeVectorAvailability: () => files.probeVectorAvailability(),
    workspace: async (owner) => files.workspace(named(owner)),
    append: async (owner, text) => files.appendToDailyNote(named(owner), text),
    touch: (owner) => files.markDirty(named(owner)),
    start: () => files.start(),
  }
}
