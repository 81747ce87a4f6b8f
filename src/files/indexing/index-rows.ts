/** The rows of the index: an entry per file and a memory per chunk. */
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

/** The scope of a generation's rows. */
export type GenerationScope = { readonly owner: OwnerId; readonly user: UserId }

export type { SessionCheckpoint } from '../../domain/entries/file-entries.ts'

export type IndexedFile = Omit<FileBody, 'checkpoint' | 'problem'> & {
  readonly mark: SessionCheckpoint | null
  readonly trouble: FileProblem | null
}

/** Decodes the entry of a file. */
export type FileRecord = IndexedFile & { readonly id: EntryId; readonly version: number }

/** Derived from the path, so that two processes indexing the same file write the same entry. */
export function buildFileId({ owner, user }: GenerationScope, root: string, path: string): EntryId {
  return `file_${hashParts(owner, user, root, path)}` as EntryId // created from a hash
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

/** Separate types, because stores can filter by type. */
export const MEMORY_TYPE_BY_SOURCE: Readonly<Record<FileSource, MemoryType>> = {
  memory: 'semantic',
  sessions: 'episodic',
}

/** For chunks without a date. */
const NO_TIME = 0 as Instant

/**
 * The headings occupy the field of the speaker, which both retrievers index. All other ranking attributes are neutral:
 * chunks have equal importance and do not decay by themselves.
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
    place: { ...home, session: document as string as SessionId }, // the file is the neighborhood
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

/** The chunk under the current path of its file. */
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

/** Inner headings are more specific, so outer ones are cut first. */
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

/** Sorts in file order, because stores find neighbors by the order of ids. */
function buildChunkId(document: DocumentId, number: number): MemoryId {
  return `mem_${document.slice('doc_'.length)}_${String(number).padStart(NUMBER_DIGITS, '0')}` as MemoryId // chunk ids are created here
}

export function parseChunkNumber(id: MemoryId): number {
  return Number(id.slice(-NUMBER_DIGITS))
}
