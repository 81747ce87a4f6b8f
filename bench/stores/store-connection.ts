/** Opens the stores that are compared, in the process that measures them. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../src/app/system-clock.ts'
import { EXACT_ROWS_MAX } from '../../src/storage/lancedb/nearest-search.ts'
import { openPostgresStore } from '../../src/storage/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Store } from '../../src/storage/store.ts'
import type { VectorIndex } from '../../src/storage/vector-index.ts'
import { withVectorReplica } from '../../src/storage/vector-replica/failover-vector-index.ts'
import type { ReplicaConfiguration } from '../../src/storage/vector-replica/replica-controller.ts'
import type { ReplicaSearchOutcome } from '../../src/storage/vector-replication.ts'
import { loadFrom, tableFacts } from '../../test/support/lancedb.ts'
import { runSql, startPglite } from '../../test/support/postgres-servers.ts'
import type { Corpus, Question } from '../recall/corpus.ts'
import { FILTER, spaceOf } from '../recall/engine-queries.ts'
import { HITS } from './base.ts'
import { serverMemoryMb } from './server.ts'

/** Where one store of one corpus is. */
export type StorePlace =
  | { readonly kind: 'sqlite'; readonly folder: string; readonly isEncrypted: boolean }
  | { readonly kind: 'pglite'; readonly folder: string }
  | {
      readonly kind: 'postgres'
      readonly url: string
      readonly schema: string
      /** Where the server keeps its data. */
      readonly serverFolder: string
    }
  /** SQLite, with its vectors in LanceDB as well; `package` is the folder that LanceDB is installed in. */
  | { readonly kind: 'lancedb'; readonly folder: string; readonly package: string }

export type OpenedStore = {
  readonly store: Store
  readonly vectors: VectorIndex
  /** Waits until all that searches use has been made: indexes, statistics, copies. */
  settle(corpus: Corpus): Promise<void>
  /** Throws when searches were not answered by what is to be measured. */
  check(): void
  /** Memory of other processes that work for it; null where that is unknown. */
  elsewhereMb(): number | null
  /** Closes it, and says how much it takes on disk. */
  close(): Promise<number>
}

/** As it is by default, and needed here to know whether an index is to be waited for. */
const SCANNED_VECTORS_MAX = 20_000
const POLL_MS = 100
const MB = 2 ** 20
const KEY = { kind: 'raw', hex: '5e'.repeat(32) } as const
/** The share of searches that a mirror must have answered for its row to be about it. */
const ANSWERED_SHARE_MIN = 0.99
const OWN_SCHEMA = 'bench'
/** A minute by default, for which nobody should have to wait here. */
const KEEP_VERSIONS_MS = 2_000

export async function openStore(place: StorePlace): Promise<OpenedStore> {
  switch (place.kind) {
    case 'sqlite':
      return openSqlite(place)
    case 'pglite':
      return openPglite(place)
    case 'postgres':
      return openPostgres(place.url, place.schema, () => serverMemoryMb(place.serverFolder))
    case 'lancedb':
      return openLance(place)
  }
}

async function openSqlite(place: StorePlace & { kind: 'sqlite' }): Promise<OpenedStore> {
  const store = await openFile(place.folder, place.isEncrypted)
  return {
    store,
    vectors: store.vectors,
    settle: async () => {},
    check: () => {},
    elsewhereMb: () => 0,
    close: async () => {
      await store.close()
      return folderMb(place.folder)
    },
  }
}

function openFile(folder: string, isEncrypted: boolean) {
  const key = isEncrypted ? KEY : null
  return openSqliteStore({ path: join(folder, 'memory.db'), now: Date.now, key })
}

/** The database is in this process, behind a socket that the driver of PostgreSQL connects to. */
async function openPglite({ folder }: StorePlace & { kind: 'pglite' }): Promise<OpenedStore> {
  const server = await startPglite({ pgvector: true, folder })
  const opened = await openPostgres(server.url, OWN_SCHEMA, () => 0)
  return {
    ...opened,
    close: async () => {
      const disk = await opened.close()
      await server.stop()
      return disk
    },
  }
}

async function openPostgres(
  url: string,
  schema: string,
  elsewhereMb: OpenedStore['elsewhereMb'],
): Promise<OpenedStore> {
  const store = await openPostgresStore({
    ...{ connectionString: url, schema, exactSearchVectorsMax: SCANNED_VECTORS_MAX },
    // A write that waits for an index is slow, which is to be seen, and not an error.
    statementTimeoutMs: 0,
  })
  const { vectors } = store
  if (vectors === null) throw new Error('pgvector is missing or too old.')
  return {
    store,
    vectors,
    elsewhereMb,
    settle: async ({ shape }) => {
      const isIndexed = shape.memories / shape.owners > SCANNED_VECTORS_MAX
      while (vectors.report().indexBuildsRunning !== 0) await delay(POLL_MS)
      const { failure } = vectors.report()
      if (failure !== undefined) throw new Error(`An index could not be built: ${failure}`)
      if (isIndexed && !(await hasIndex(url, schema))) throw new Error('There is no index.')
      // What the server would do by itself within minutes.
      await runSql(url, 'VACUUM ANALYZE')
    },
    check: () => {},
    close: async () => {
      await store.close()
      return schemaMb(url, schema)
    },
  }
}

async function hasIndex(url: string, schema: string): Promise<boolean> {
  const found = await runSql(
    url,
    `SELECT 1 FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
     WHERE relnamespace = $1::regnamespace AND amname = 'hnsw' AND indisvalid`,
    [schema],
  )
  return found.length > 0
}

/** Tables with all that belongs to them. The log and what every database has of its own are left out. */
async function schemaMb(url: string, schema: string): Promise<number> {
  const [row] = await runSql<{ bytes: string }>(
    url,
    `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
     WHERE relnamespace = $1::regnamespace AND relkind = 'r'`,
    [schema],
  )
  return Math.round(Number(row?.bytes) / MB)
}

async function openLance(place: StorePlace & { kind: 'lancedb' }): Promise<OpenedStore> {
  const stored = await openFile(place.folder, false)
  const folder = join(place.folder, 'lancedb')
  const load = () => loadFrom(place.package)
  const mirror: ReplicaConfiguration = {
    kind: 'mirror',
    name: 'lancedb',
    identity: folder,
    open: async () => {
      const { openLanceVectorReplica: openLanceMirror } = await import(
        '../../src/storage/lancedb/lancedb-vector-replica.ts'
      )
      return openLanceMirror({ folder, clock: systemClock, load, keepVersionsMs: KEEP_VERSIONS_MS })
    },
  }
  const {
    store,
    vectors,
    replication: tiers,
  } = withVectorReplica({
    ...{ store: stored, vectors: stored.vectors, clock: systemClock },
    configuration: async () => mirror,
  })
  const outcomes = new Map<ReplicaSearchOutcome, number>()
  tiers.subscribe({
    onSearch: (_, outcome) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1),
  })
  return {
    store,
    vectors,
    elsewhereMb: () => 0,
    settle: async (corpus) => {
      await tiers.settle()
      const { state, reason: because } = tiers.status()
      if (state !== 'active') throw new Error(`LanceDB is ${state}: ${because}`)
      const { shape } = corpus
      if (shape.memories / shape.owners <= EXACT_ROWS_MAX) return
      const facts = () => tableFacts({ kind: 'installed', folder, load }, folder, spaceOf(shape))
      // It makes its index when a search would have used it.
      while (!(await facts()).indexes.some((name) => name.startsWith('vector_'))) {
        for (const question of corpus.questions().slice(0, 1)) {
          await nearestTo(vectors, corpus, question)
        }
        await delay(POLL_MS)
      }
      outcomes.clear()
    },
    check: () => {
      const all = [...outcomes.values()].reduce((sum, count) => sum + count, 0)
      if ((outcomes.get('answered') ?? 0) >= all * ANSWERED_SHARE_MIN) return
      throw new Error(`LanceDB did not answer: ${JSON.stringify(Object.fromEntries(outcomes))}`)
    },
    close: async () => {
      await untilTidy(folder)
      await vectors.close()
      await store.close()
      return folderMb(place.folder)
    },
  }
}

export async function nearestTo(
  vectors: VectorIndex,
  { shape }: Corpus,
  { owner, vector }: Question,
) {
  return vectors.search(spaceOf(shape), { owner }, { vector, limit: HITS, where: FILTER })
}

/** Waits until what many small writes leave behind has been removed, so that it isn't counted as needed. */
async function untilTidy(folder: string): Promise<void> {
  for (let before = -1, after = folderMb(folder); before !== after; after = folderMb(folder)) {
    before = after
    await delay(3 * KEEP_VERSIONS_MS)
  }
}

function folderMb(folder: string): number {
  const bytes = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
  return Math.round(bytes / MB)
}
