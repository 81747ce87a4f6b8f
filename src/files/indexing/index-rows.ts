/** What the index keeps: an entry for each file, and a memory for each of its chunks. */
import type { EntryOf } from '../../domain/entries/entry.ts'
import type { FileBody, SessionCheckpoint } from '../../domain/entries/file-entries.ts'
import type {
  ChangeId,
  DocumentId,
  EntryId,
  MemoryId,
  OwnerId,
  SessionId,
  UserId,
} from '../../domain/ids.ts'
import { PROVENANCE_WORD_CHARACTERS_MAX } from '../../domain/limits.ts'
import type { Memory, MemoryType } from '../../domain/memory.ts'
import { hashParts } from '../../lib/hash.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import { buildEntryChange } from '../../storage/access/system-entries.ts'
import type { Change } from '../../storage/store.ts'
import type { Chunk, FileProblem, FileSource } from '../file.ts'

/** Where the rows of a generation are. */
export type GenerationScope = { readonly owner: OwnerId; readonly user: UserId }

export type { SessionCheckpoint } from '../../domain/entries/file-entries.ts'

export type IndexedFile = Omit<FileBody, 'checkpoint' | 'problem'> & {
  readonly mark: SessionCheckpoint | null
  readonly trouble: FileProblem | null
}

/** A file as its entry tells it. */
export type FileRecord = IndexedFile & { readonly id: EntryId; readonly version: number }

/** One path has one entry, whoever makes it: two that index a file at once meet there. */
export function buildFileId({ owner, user }: GenerationScope, root: string, path: string): EntryId {
  return `file_${hashParts(owner, user, root, path)}` as EntryId // made by our own code
}

export function buildFileChange(
  home: GenerationScope,
  file: IndexedFile,
  before: Pick<FileRecord, 'version'> | null,
  now: Instant,
): Change {
  const { root, path, sizeBytes, modifiedAt, hash, document, source, chunks } = file
  return buildEntryChange(
    {
      id: buildFileId(home, root, path),
      place: { ...home, session: null },
      kind: 'file',
      at: now,
      body: {
        ...{ root, path, sizeBytes, modifiedAt, hash, document, source, chunks },
        ...{ checkpoint: file.mark, problem: file.trouble },
      },
    },
    before,
  ).change
}

export function buildFileRemoval(home: GenerationScope, { id, version }: FileRecord): Change {
  return { op: 'remove', table: 'entry', scope: home, id, expect: { version } }
}

export function toFileRecord({ id, version, body }: EntryOf<'file'>): FileRecord {
  const { checkpoint, problem, ...file } = body
  return { ...file, mark: checkpoint, trouble: problem, id, version }
}

export type ChunkMetadata = {
  readonly path: string
  readonly root: string
  readonly lineFirst: number
  readonly lineLast: number
  readonly headings: readonly string[]
  readonly source: FileSource
}

/** Kept apart by type, which stores can filter by. */
export const MEMORY_TYPE_BY_SOURCE: Readonly<Record<FileSource, MemoryType>> = {
  memory: 'semantic',
  sessions: 'episodic',
}

/** When something is of no particular time. */
const NO_TIME = 0 as Instant

/**
 * The headings stand where it is told of other memories who said them: both words and vectors are made from them. Nothing
 * else about a chunk speaks for or against it: all are equally important, and none fades by itself.
 */
export function buildChunkMemory(
  home: GenerationScope,
  file: Pick<IndexedFile, 'root' | 'path' | 'document' | 'source' | 'modifiedAt'>,
  chunk: Chunk & { readonly saidAt?: Instant | null },
  given: { readonly number: number; readonly version: number; readonly change: ChangeId },
): Memory {
  const { root, path, document, source, modifiedAt } = file
  const { headings, lineFirst, lineLast } = chunk
  const facts: ChunkMetadata = { path, root, lineFirst, lineLast, headings, source }
  return {
    id: buildChunkId(document, given.number),
    place: { ...home, session: document as string as SessionId }, // what stands around it stands in its file
    key: null,
    content: chunk.text,
    type: MEMORY_TYPE_BY_SOURCE[source],
    category: 'general',
    importance: 5,
    salience: 0.5,
    pinned: true,
    trust: 'import',
    status: 'active',
    validFrom: null,
    validUntil: null,
    supersededBy: null,
    conflictsWith: null,
    expiresAt: null,
    provenance: {
      source: 'files',
      speaker: headings.length === 0 ? null : renderHeadings(headings),
      turns: [],
      extractor: null,
      extractorVersion: null,
    },
    entities: [],
    language: null,
    metadata: facts satisfies JsonObject,
    sourceCount: 1,
    useCount: 0,
    lastUsedAt: null,
    version: given.version,
    change: given.change,
    createdAt: chunk.saidAt ?? NO_TIME,
    updatedAt: modifiedAt,
  }
}

/** A chunk under the name that its file has now. */
export function renameChunk(
  row: Memory,
  file: Pick<IndexedFile, 'root' | 'path' | 'modifiedAt'>,
  change: ChangeId,
): Memory {
  const { root, path, modifiedAt } = file
  return {
    ...row,
    metadata: { ...row.metadata, root, path },
    version: row.version + 1,
    change,
    updatedAt: modifiedAt,
  }
}

export function readChunkMetadata({ metadata }: Memory): ChunkMetadata {
  return metadata as unknown as ChunkMetadata // written by `chunkRow`
}

/** The inner ones tell more, so the outer ones go first. */
function renderHeadings(headings: readonly string[]): string {
  for (let from = 0; from < headings.length; from++) {
    const line = headings.slice(from).join(' > ')
    if (line.length <= PROVENANCE_WORD_CHARACTERS_MAX) return line
  }
  return (headings.at(-1) ?? '')
    .slice(0, PROVENANCE_WORD_CHARACTERS_MAX)
    .replace(/[\ud800-\udbff]$/, '')
}

const NUMBER_DIGITS = 10

/** In the order of the file, since stores tell what stands around a memory by the order of ids. */
function buildChunkId(document: DocumentId, number: number): MemoryId {
  return `mem_${document.slice('doc_'.length)}_${String(number).padStart(NUMBER_DIGITS, '0')}` as MemoryId // this is where it is made
}

export function parseChunkNumber(id: MemoryId): number {
  return Number(id.slice(-NUMBER_DIGITS))
}
