/** What the index keeps: an entry for each file, and a memory for each of its chunks. */
import type { Entry } from '../../domain/entry.ts'
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
import type { Change } from '../../storage/store.ts'
import type { Chunk, FileProblem, FileSource, HashedFileStat } from '../file.ts'
import { decodeProblem, encodeProblem, type StoredProblem } from './problem-codec.ts'

/** Where the rows of a generation are. */
export type GenerationScope = { readonly owner: OwnerId; readonly user: UserId }

/** How far a transcript was read. */
export type SessionCheckpoint = {
  /** Where reading goes on, the number of lines before that, and what the file begins with up to there. */
  readonly offset: number
  readonly line: number
  readonly head: string
  /** What stands right before `offset`; it was not always noted. */
  readonly foot?: string
  /** Lines that could not be read, before `offset` and behind it. */
  readonly broken?: number
  readonly openBroken?: number
  /** How many chunks were made of what stands behind `offset`: they are made again with what follows. */
  readonly open: number
  /** Up to where it was read, and up to which line. */
  readonly readTo: number
  readonly readLines: number
}

export type IndexedFile = HashedFileStat & {
  readonly root: string
  readonly document: DocumentId
  readonly source: FileSource
  readonly chunks: number
  readonly mark: SessionCheckpoint | null
  readonly trouble: FileProblem | null
}

type StoredFile = Omit<IndexedFile, 'trouble'> & { readonly trouble: StoredProblem | null }

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
  const row: Entry = {
    id: buildFileId(home, root, path),
    place: { ...home, session: null },
    kind: 'file',
    about: null,
    at: now,
    expiresAt: null,
    version: (before?.version ?? 0) + 1,
    body: {
      ...{ root, path, sizeBytes, modifiedAt, hash, document, source, chunks },
      mark: file.mark,
      trouble: file.trouble && encodeProblem(file.trouble),
    },
  }
  const expect = before === null ? 'absent' : { version: before.version }
  return { op: 'put', table: 'entry', row, expect }
}

export function buildFileRemoval(home: GenerationScope, { id, version }: FileRecord): Change {
  return { op: 'remove', table: 'entry', scope: home, id, expect: { version } }
}

export function toFileRecord({ id, version, body }: Entry): FileRecord {
  const { trouble, ...file } = body as unknown as StoredFile // as `buildFileChange` wrote it
  return { ...file, trouble: trouble && decodeProblem(trouble), id, version }
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
