/**
 * Loads a data set into a real engine: SQLite, the embedding model, and one owner per group. Indexes only what a person
 * wrote (text, speaker, captions of shared pictures), never ids or answers.
 */
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createIdGenerator } from '../src/app/id-generator.ts'
import { type EmbeddingOptions, openEmbedder } from '../src/app/models/model-selection.ts'
import { buildSpaceSignature } from '../src/domain/embedding-text.ts'
import type { MemoryId, OwnerId, SessionId } from '../src/domain/ids.ts'
import { CONTENT_CHARACTERS_MAX } from '../src/domain/limits.ts'
import type { SettingValues } from '../src/domain/settings/settings.ts'
import { createEngineWith, type Engine } from '../src/engine/engine.ts'
import type { Instant } from '../src/lib/time.ts'
import type { Embedder } from '../src/models/embedder.ts'
import { openSqliteStore, type SqliteStore } from '../src/storage/sqlite/sqlite-store.ts'
import type { VectorSpace } from '../src/storage/vector-index.ts'
import { memory } from '../test/fakes/memories.ts'
import { type EvalDocument, parseTime } from './datasets.ts'
import { timeLeft } from './report.ts'

export type Haystack = {
  readonly engine: Engine
  readonly store: SqliteStore
  readonly embedder: Embedder | null
  readonly space: VectorSpace | null
  readonly documentOf: ReadonlyMap<MemoryId, EvalDocument>
  /** The owner of a group. */
  ownerOf(group: string): OwnerId
  readonly indexMs: number
  readonly bytes: number
  /** Sets the clock of the engine. */
  setNow(ms: number): void
}

export type HaystackOptions = {
  /** Null: keyword search only. */
  readonly embedding: EmbeddingOptions | null
  readonly settings?: SettingValues
  readonly onProgress?: (words: string) => void
}

/** The default embedder of a fresh machine, with a cache file: embedding a large set takes an hour. */
export function evalEmbedding(): EmbeddingOptions {
  const folder = join(homedir(), '.cache', 'recollect', 'evals')
  mkdirSync(folder, { recursive: true })
  return {
    source: 'auto',
    cacheFile: join(folder, 'embeddings.db'),
    cachesLocal: true,
    cacheFileBytesMax: CACHE_BYTES_MAX,
  }
}

/** Enough for a million texts. A smaller cache would evict them before the next run. */
const CACHE_BYTES_MAX = 2 * 1024 ** 3

/** Ids order the turns of a session, so they are generated in the order of the documents. */
const FIRST_ID_MS = 1_600_000_000_000

export async function openHaystack(
  documents: readonly EvalDocument[],
  options: HaystackOptions,
): Promise<Haystack> {
  let now = Date.now()
  const store = await openSqliteStore({ path: ':memory:', now: () => now })
  const embedder = options.embedding === null ? null : openEmbedder(options.embedding)
  const ids = createIdGenerator()
  const engine = createEngineWith({
    store,
    clock: {
      now: () => now as Instant,
      sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    },
    ids,
    settings: options.settings ?? {},
    ...(embedder === null ? {} : { embedder, vectors: store.vectors }),
  })
  const documentOf = new Map<MemoryId, EvalDocument>()
  const ownerOf = numbered<OwnerId>('group')
  const began = performance.now()
  const { failed, skipped, failures } = await engine.admin.import(
    lines(documents, { documentOf, ownerOf, ids }),
  )
  if (failed + skipped > 0) {
    throw new Error(`${failed + skipped} documents could not be imported: ${failures[0]?.message}`)
  }
  if (embedder !== null) await index(engine, documents.length, options.onProgress)
  const { sizeBytes } = await store.getReport()
  return {
    engine,
    store,
    embedder,
    space: embedder === null ? null : await spaceOf(embedder),
    documentOf,
    ownerOf,
    indexMs: performance.now() - began,
    bytes: sizeBytes ?? 0,
    setNow: (ms) => {
      now = ms
    },
  }
}

async function spaceOf(embedder: Embedder): Promise<VectorSpace> {
  const model = await embedder.describe()
  return { signature: buildSpaceSignature(model, 'float32'), dimensions: model.dimensions }
}

async function index(
  engine: Engine,
  total: number,
  onProgress: HaystackOptions['onProgress'],
): Promise<void> {
  const remaining = timeLeft(total)
  let reportedAtMs = performance.now()
  await engine.admin.reindex({
    onProgress: ({ done }) => {
      if (done === 0 || performance.now() - reportedAtMs < REPORT_INTERVAL_MS) return
      reportedAtMs = performance.now()
      onProgress?.(`indexed ${remaining(done)}`)
    },
  })
}
const REPORT_INTERVAL_MS = 2_000

/** Maps the names of a set to valid names: its own may be too long or contain invalid characters. */
function numbered<Name extends string>(kind: string): (name: string) => Name {
  const known = new Map<string, Name>()
  return (name) => {
    const own = known.get(name) ?? (`${kind}-${known.size + 1}` as Name) // letters and digits
    known.set(name, own)
    return own
  }
}

/** Renders the documents as an export: complete rows that are imported without write decisions. */
async function* lines(
  documents: readonly EvalDocument[],
  {
    documentOf,
    ownerOf,
    ids,
  }: {
    readonly documentOf: Map<MemoryId, EvalDocument>
    readonly ownerOf: (group: string) => OwnerId
    readonly ids: ReturnType<typeof createIdGenerator>
  },
): AsyncGenerator<string> {
  const sessionOf = numbered<SessionId>('session')
  yield JSON.stringify({ format: 'recollect-export', version: 1, exportedAt: 0 })
  for (const [position, document] of documents.entries()) {
    const at = (document.ts === null ? null : parseTime(document.ts)) ?? FIRST_ID_MS
    const { group, session, speaker } = document
    for (const content of contentsOf(document)) {
      const id = ids.next('mem', (FIRST_ID_MS + position) as Instant)
      documentOf.set(id, document)
      const row = memory({
        id,
        place: {
          owner: ownerOf(group),
          user: null,
          session: session === null ? null : sessionOf(session),
        },
        content,
        provenance: {
          source: 'import',
          speaker: speaker?.slice(0, SPEAKER_CHARACTERS_MAX) ?? null,
          turns: [],
          extractor: null,
          extractorVersion: null,
        },
        createdAt: at as Instant,
        updatedAt: at as Instant,
      })
      yield JSON.stringify({ table: 'memory', row })
    }
  }
}

/** Longer speakers are no names. */
const SPEAKER_CHARACTERS_MAX = 100

/** The text of a document with the caption of its picture; empty where both are blank. */
export function textOf({ text, caption }: Pick<EvalDocument, 'text' | 'caption'>): string {
  return [text, caption ?? ''].filter((part) => part.trim() !== '').join('\n')
}

/** The text of a document, split if it exceeds a memory, and empty if it is blank. */
function contentsOf(document: EvalDocument): readonly string[] {
  const whole = textOf(document)
  const parts: string[] = []
  for (let start = 0; start < whole.length; start += CONTENT_CHARACTERS_MAX) {
    parts.push(whole.slice(start, start + CONTENT_CHARACTERS_MAX))
  }
  return parts.filter((part) => part.trim() !== '')
}
