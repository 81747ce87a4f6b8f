/**
 * A data set in a real engine: SQLite, the embedding model, and one owner per group. Only what a person wrote is
 * indexed: text, speaker, and the caption of a shared picture; never an id, never an answer.
 */
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore, type SqliteStore } from '../src/adapters/sqlite/store.ts'
import { createIds } from '../src/adapters/system/ids.ts'
import { spaceSignature } from '../src/core/embedding.ts'
import type { Instant, MemoryId, Place } from '../src/core/ids.ts'
import type { SettingValues } from '../src/core/settings.ts'
import { createEngineOn, type Engine } from '../src/engine/engine.ts'
import { type EmbeddingOptions, openEmbedder } from '../src/main/embedding.ts'
import type { Embedder } from '../src/ports/embedder.ts'
import type { VectorSpace } from '../src/ports/vector-index.ts'
import { memory } from '../test/fakes/memories.ts'
import { type EvalDocument, parseTime } from './datasets.ts'
import { timeLeft } from './report.ts'

export type Haystack = {
  readonly engine: Engine
  readonly store: SqliteStore
  readonly embedder: Embedder | null
  readonly space: VectorSpace | null
  readonly documentOf: ReadonlyMap<MemoryId, EvalDocument>
  readonly indexMs: number
  readonly bytes: number
  /** What the engine takes for now. */
  setNow(ms: number): void
}

export type HaystackOptions = {
  /** Null: words alone. */
  readonly embedding: EmbeddingOptions | null
  readonly settings?: SettingValues
  readonly onProgress?: (words: string) => void
}

/** Vectors of public texts are kept here between runs: embedding a large set takes an hour. */
export function evalCacheFile(): string {
  const folder = join(homedir(), '.cache', 'recollect', 'evals')
  mkdirSync(folder, { recursive: true })
  return join(folder, 'embeddings.db')
}

/** Ids order the course of a session, so they are drawn in the order of the documents. */
const FIRST_ID_MS = 1_600_000_000_000

export async function openHaystack(
  documents: readonly EvalDocument[],
  options: HaystackOptions,
): Promise<Haystack> {
  let now = Date.now()
  const store = await openSqliteStore({ path: ':memory:', now: () => now })
  const embedder = options.embedding === null ? null : openEmbedder(options.embedding)
  const ids = createIds()
  const engine = createEngineOn({
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
  const began = performance.now()
  await engine.import(lines(documents, documentOf, ids))
  if (embedder !== null) await index(engine, documents.length, options.onProgress)
  const { sizeBytes } = await store.report()
  return {
    engine,
    store,
    embedder,
    space: embedder === null ? null : await spaceOf(embedder),
    documentOf,
    indexMs: performance.now() - began,
    bytes: sizeBytes ?? 0,
    setNow: (ms) => {
      now = ms
    },
  }
}

async function spaceOf(embedder: Embedder): Promise<VectorSpace> {
  const model = await embedder.describe()
  return { signature: spaceSignature(model, 'float32'), dimensions: model.dimensions }
}

async function index(
  engine: Engine,
  total: number,
  onProgress: HaystackOptions['onProgress'],
): Promise<void> {
  const remaining = timeLeft(total)
  let toldAtMs = performance.now()
  await engine.reindex({
    onProgress: ({ done }) => {
      if (done === 0 || performance.now() - toldAtMs < TOLD_EVERY_MS) return
      toldAtMs = performance.now()
      onProgress?.(`indexed ${remaining(done)}`)
    },
  })
}
const TOLD_EVERY_MS = 2_000

/** The documents in the form of an export: complete rows, in bulk, nothing decided about them. */
async function* lines(
  documents: readonly EvalDocument[],
  documentOf: Map<MemoryId, EvalDocument>,
  ids: ReturnType<typeof createIds>,
): AsyncGenerator<string> {
  yield JSON.stringify({ format: 'recollect-export', version: 1, exportedAt: 0 })
  for (const [position, document] of documents.entries()) {
    const id = ids.next('mem', (FIRST_ID_MS + position) as Instant)
    documentOf.set(id, document)
    const at = (document.ts === null ? null : parseTime(document.ts)) ?? FIRST_ID_MS
    const { text, caption, group, session, speaker } = document
    const row = memory({
      id,
      place: { owner: group, user: null, session } as Place, // names of groups and sessions are valid ones
      content: caption === null ? text : `${text}\n${caption}`,
      provenance: {
        source: 'import',
        speaker,
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
