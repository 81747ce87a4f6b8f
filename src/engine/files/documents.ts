/** The changes that put a file into the index, rename it there, or take it out. */
import type { Chunk, FileTrouble } from '../../core/files/file.ts'
import type { DocumentId, Instant, SessionId } from '../../core/ids.ts'
import type { Memory } from '../../core/memory.ts'
import type { Change, Store } from '../../ports/store.ts'
import { pages } from '../paging.ts'
import { placeChunks } from './placing.ts'
import {
  chunkRow,
  type FileRecord,
  type Home,
  type IndexedFile,
  numberOf,
  putFile,
  removeFile,
  renamedChunk,
} from './rows.ts'
import type { IndexWriter } from './writer.ts'

/** With its entry and some room, what one commit may change. */
export const FILE_CHUNKS_MAX = 1_900

export type NewFile = Omit<IndexedFile, 'document' | 'chunks'>
export type NewChunk = Chunk & { readonly saidAt?: Instant | null }

/** All chunks of a file, in their order. */
export async function chunksOf(
  store: Store,
  home: Home,
  document: DocumentId,
): Promise<readonly Memory[]> {
  const rows: Memory[] = []
  const scope = { ...home, session: document as string as SessionId }
  const query = { where: {}, order: 'oldest' } as const
  for await (const page of pages(store, 'memory', scope, query)) rows.push(...page)
  return rows
}

export type Replacement = {
  /** What is there now of what is replaced, in its order. */
  readonly known: readonly Memory[]
  readonly chunks: readonly NewChunk[]
  /** What stays as it is, before all that. */
  readonly kept?: readonly Memory[]
  /** What goes without anything in its place. */
  readonly dropped?: readonly Memory[]
}

/** Puts chunks in the place of others. */
export function replaced(
  writer: IndexWriter,
  file: NewFile & { readonly document: DocumentId },
  before: Pick<FileRecord, 'version'> | null,
  { known, chunks, kept = [], dropped = [] }: Replacement,
): readonly Change[] {
  const { home, change } = writer
  const last = kept.at(-1)
  const { numbers, gone } = placeChunks(
    known.map((row) => ({ number: numberOf(row.id), text: identityOf(row) })),
    chunks.map((chunk) =>
      identityOf(chunkRow(home, file, chunk, { number: 0, version: 1, change })),
    ),
    last === undefined ? 0 : numberOf(last.id),
  )
  const rows = new Map(known.map((row) => [numberOf(row.id), row]))
  const puts = chunks.map((chunk, index): Change => {
    const number = numbers[index] ?? 0
    const old = rows.get(number)
    const version = (old?.version ?? 0) + 1
    const row = chunkRow(home, file, chunk, { number, version, change })
    const expect = old === undefined ? 'absent' : { version: old.version }
    return { op: 'put', table: 'memory', row, expect }
  })
  const removed = [...dropped, ...gone.flatMap((number) => rows.get(number) ?? [])]
  const entry = { ...file, chunks: kept.length + chunks.length }
  return [putFile(home, entry, before, writer.now()), ...removalOf(home, removed), ...puts]
}

export function moved(
  writer: IndexWriter,
  before: FileRecord,
  to: NewFile,
  rows: readonly Memory[],
): readonly Change[] {
  const { home, change } = writer
  const file = { ...to, document: before.document, chunks: before.chunks }
  return [
    removeFile(home, before),
    putFile(home, file, null, writer.now()),
    ...rows.map((row): Change => {
      const expect = { version: row.version }
      return { op: 'put', table: 'memory', row: renamedChunk(row, to, change), expect }
    }),
  ]
}

export function removed(
  { home }: IndexWriter,
  before: FileRecord,
  rows: readonly Memory[],
): readonly Change[] {
  return [removeFile(home, before), ...removalOf(home, rows)]
}

/** Nothing but what is known of the file itself. */
export function touched(writer: IndexWriter, before: FileRecord, file: NewFile): readonly Change[] {
  const { document, chunks } = before
  return [putFile(writer.home, { ...file, document, chunks }, before, writer.now())]
}

export function tooManyChunks(path: string, count: number): FileTrouble {
  return {
    path,
    because: 'too_large',
    message: `${path}: it makes ${count} chunks, and ${FILE_CHUNKS_MAX} of them are indexed.`,
  }
}

function removalOf(home: Home, rows: readonly Memory[]): readonly Change[] {
  return rows.map(({ id }) => ({ op: 'remove', table: 'memory', scope: home, id, expect: 'any' }))
}

/** What words and vectors are made from. */
function identityOf({ provenance, content }: Pick<Memory, 'provenance' | 'content'>): string {
  return `${provenance.speaker ?? ''}\n${content}`
}
