/** The changes that add, rename or remove a file in the index. */

import type { DocumentId, SessionId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Instant } from '../../lib/time.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Change, Store } from '../../storage/store.ts'
import type { Chunk, FileProblem } from '../file.ts'
import { numberChunks } from './chunk-numbers.ts'
import {
  buildChunkMemory,
  buildFileChange,
  buildFileRemoval,
  type FileRecord,
  type GenerationScope,
  type IndexedFile,
  parseChunkNumber,
  renameChunk,
} from './index-rows.ts'
import type { IndexWriter } from './index-writer.ts'

/** Removes large files in batches, so that other writers get their turn. */
const GOING_TOGETHER = 1_000

export type NewFile = Omit<IndexedFile, 'document' | 'chunks'>
export type NewChunk = Chunk & { readonly saidAt?: Instant | null }

/** All chunks of a file in order. */
export async function loadChunks(
  store: Store,
  home: GenerationScope,
  document: DocumentId,
): Promise<readonly Memory[]> {
  const rows: Memory[] = []
  const scope = { ...home, session: document as string as SessionId }
  const query = { where: {}, order: 'oldest' } as const
  for await (const page of pages(store, 'memory', scope, query)) rows.push(...page)
  return rows
}

/** The last chunks of a file in order. */
export async function loadLastChunks(
  store: Store,
  home: GenerationScope,
  document: DocumentId,
  count: number,
): Promise<readonly Memory[]> {
  const scope = { ...home, session: document as string as SessionId }
  const { rows } = await store.find('memory', scope, { where: {}, order: 'newest', limit: count })
  return [...rows].reverse()
}

export type ChunkReplacement = {
  /** The present chunks of the replaced range in order. */
  readonly known: readonly Memory[]
  readonly chunks: readonly NewChunk[]
  /** The unchanged chunks before that range: their number and the last of them. */
  readonly unchanged?: { readonly count: number; readonly last: Memory | undefined }
}

/** Replaces chunks by others. */
export function buildReplacementChanges(
  writer: IndexWriter,
  file: NewFile & { readonly document: DocumentId },
  before: Pick<FileRecord, 'version'> | null,
  { known, chunks, unchanged = { count: 0, last: undefined } }: ChunkReplacement,
): readonly Change[] {
  const { home, change } = writer
  const { numbers, removed: gone } = numberChunks(
    known.map((row) => ({ number: parseChunkNumber(row.id), text: getChunkIdentity(row) })),
    chunks.map((chunk) =>
      getChunkIdentity(buildChunkMemory(home, file, chunk, { number: 0, version: 1, change })),
    ),
    unchanged.last === undefined ? 0 : parseChunkNumber(unchanged.last.id),
  )
  const rows = new Map(known.map((row) => [parseChunkNumber(row.id), row]))
  const puts = chunks.map((chunk, index): Change => {
    const number = numbers[index] ?? 0
    const old = rows.get(number)
    const version = (old?.version ?? 0) + 1
    const row = buildChunkMemory(home, file, chunk, { number, version, change })
    const expect = old === undefined ? 'absent' : { version: old.version }
    return { op: 'put', table: 'memory', row, expect }
  })
  const removed = gone.flatMap((number) => rows.get(number) ?? [])
  const entry = { ...file, chunks: unchanged.count + chunks.length }
  return [
    buildFileChange(home, entry, before, writer.now()),
    ...buildRemoval(home, removed),
    ...puts,
  ]
}

export function buildMoveChanges(
  writer: IndexWriter,
  before: FileRecord,
  to: NewFile,
  rows: readonly Memory[],
): readonly Change[] {
  const { home, change } = writer
  const file = { ...to, document: before.document, chunks: before.chunks }
  return [
    buildFileRemoval(home, before),
    buildFileChange(home, file, null, writer.now()),
    ...rows.map((row): Change => {
      const expect = { version: row.version }
      return { op: 'put', table: 'memory', row: renameChunk(row, to, change), expect }
    }),
  ]
}

/**
 * Removes a file from the index, a large one in batches. Its entry is removed with the last batch but invalidated with
 * the first, so that a file that reappears is read again.
 */
export async function removeFromIndex(
  store: Store,
  writer: IndexWriter,
  before: FileRecord,
): Promise<void> {
  const { home } = writer
  const rows = await loadChunks(store, home, before.document)
  let record = before
  let from = 0
  for (; rows.length - from > GOING_TOGETHER; from += GOING_TOGETHER) {
    const { refused } = writer
    const chunks = rows.length - from - GOING_TOGETHER
    const left = { ...record, ...NOTHING_KNOWN, chunks }
    const going = buildRemoval(home, rows.slice(from, from + GOING_TOGETHER))
    await writer.write([buildFileChange(home, left, record, writer.now()), ...going])
    await writer.flush()
    if (writer.refused > refused) return // a concurrent writer knows the current state
    record = { ...left, version: record.version + 1 }
  }
  await writer.write([buildFileRemoval(home, record), ...buildRemoval(home, rows.slice(from))])
}

const NOTHING_KNOWN = { hash: '', sizeBytes: 0, modifiedAt: 0 as Instant, mark: null }

/** Metadata of the file itself. */
export function buildStatChange(
  writer: IndexWriter,
  before: FileRecord,
  file: NewFile,
): readonly Change[] {
  const { document, chunks } = before
  return [buildFileChange(writer.home, { ...file, document, chunks }, before, writer.now())]
}

export function createChunkLimitProblem(path: string, count: number, most: number): FileProblem {
  return {
    path,
    reason: 'too_large',
    message: `${path}: it makes ${count} chunks, and ${most} of them are indexed.`,
  }
}

function buildRemoval(home: GenerationScope, rows: readonly Memory[]): readonly Change[] {
  return rows.map(({ id }) => ({ op: 'remove', table: 'memory', scope: home, id, expect: 'any' }))
}

/** The text that is indexed and embedded. */
function getChunkIdentity({ provenance, content }: Pick<Memory, 'provenance' | 'content'>): string {
  return `${provenance.speaker ?? ''}\n${content}`
}
