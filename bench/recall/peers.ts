/**
 * Others on the same texts and vectors, each in its plainest use: sqlite-vec's table of floats, a loop in JavaScript,
 * Orama, and LanceDB without and with its index.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { findPackageFolder } from '../../src/lib/package-folder.ts'
import { type Timing, timed } from '../harness.ts'
import { createVecTable } from '../vec-table.ts'
import {
  Corpus,
  type CorpusShape,
  Nearest,
  product,
  type Question,
  shareFound,
  WARM_UP,
} from './corpus.ts'
import { type Held, measureLoopBlock } from './event-loop.ts'

export const PEERS = ['sqlite-vec', 'JavaScript', 'Orama', 'LanceDB', 'LanceDB IVF-PQ'] as const
export type PeerName = (typeof PEERS)[number]

const HELD_QUESTIONS = 20
const BATCH = 1_000

type Peer = {
  vector(question: Question, limit: number): Promise<readonly number[]>
  /** By words and meaning, where the peer can. */
  readonly hybrid?: (question: Question, limit: number) => Promise<readonly number[]>
}

type OpenPeer = (corpus: Corpus, folder: string) => Promise<Peer>

export type PeerInput = {
  readonly peer: PeerName
  readonly shape: CorpusShape
  readonly folder: string
  readonly nearest: readonly (readonly number[])[]
}

export type PeerCost = {
  readonly memoriesPerSecond: number
  readonly vector: Timing
  readonly hybrid: Timing | null
  readonly held: Held
  readonly shareFound: number
  readonly rssMb: number
  /** Zero for those that keep nothing on disk. */
  readonly diskMb: number
}

export async function measurePeer({
  peer: name,
  shape,
  folder,
  nearest,
}: PeerInput): Promise<PeerCost> {
  const corpus = new Corpus(shape)
  const questions = corpus.questions()
  const limit = nearest[0]?.length ?? 0
  const began = performance.now()
  const peer = await OPEN[name](corpus, folder)
  const seconds = (performance.now() - began) / 1_000
  const at = (run: number) => questions[run % questions.length] as Question // never empty
  const { hybrid } = peer
  const timedWarm = async (search: (run: number) => Promise<unknown>) => {
    for (let run = 0; run < WARM_UP; run++) await search(run)
    return timed(questions.length, search)
  }
  const vector = await timedWarm((run) => peer.vector(at(run), limit))
  const rssMb = Math.round(process.memoryUsage().rss / 2 ** 20)
  const found: (readonly number[])[] = []
  for (let run = 0; run < nearest.length; run++) found.push(await peer.vector(at(run), limit))
  return {
    memoriesPerSecond: Math.round(shape.memories / seconds),
    vector,
    hybrid: hybrid === undefined ? null : await timedWarm((run) => hybrid(at(run), limit)),
    held: await measureLoopBlock(HELD_QUESTIONS, (run) => (hybrid ?? peer.vector)(at(run), limit)),
    shareFound: shareFound(found, nearest),
    rssMb,
    diskMb: Math.round(bytesIn(folder) / 2 ** 20),
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

const OPEN: Readonly<Record<PeerName, OpenPeer>> = {
  'sqlite-vec': openVec,
  JavaScript: openLoop,
  Orama: openOrama,
  LanceDB: (corpus, folder) => openLance(corpus, folder, false),
  'LanceDB IVF-PQ': (corpus, folder) => openLance(corpus, folder, true),
}

async function openVec(corpus: Corpus, folder: string): Promise<Peer> {
  const { memories, dimensions } = corpus.shape
  const vectors = (function* () {
    for (let number = 0; number < memories; number++) yield corpus.vectorOf(number)
  })()
  const table = createVecTable(join(folder, 'vec.db'), dimensions, vectors)
  return { vector: async ({ vector }, limit) => table.nearest(vector, limit) }
}

async function openLoop(corpus: Corpus): Promise<Peer> {
  const { memories, dimensions } = corpus.shape
  const all = new Float32Array(memories * dimensions)
  for (let number = 0; number < memories; number++) {
    all.set(corpus.vectorOf(number), number * dimensions)
  }
  return {
    vector: async ({ vector }, limit) => {
      const nearest = new Nearest(limit)
      for (let number = 0; number < memories; number++) {
        nearest.offer(number, product(vector, all, number * dimensions))
      }
      return nearest.numbers
    },
  }
}

/** What is used of Orama. */
type Orama = {
  create(options: { readonly schema: object }): object
  insertMultiple(database: object, documents: readonly object[], batch: number): Promise<unknown>
  search(
    database: object,
    query: object,
  ): Promise<{ readonly hits: readonly { readonly id: string }[] }>
}

async function openOrama(corpus: Corpus): Promise<Peer> {
  const { create, insertMultiple, search } = peerModule('@orama/orama') as Orama
  const { dimensions } = corpus.shape
  const database = create({ schema: { text: 'string', vector: `vector[${dimensions}]` } })
  for (const batch of batches(corpus)) {
    const documents = batch.map(({ number, text, vector }) => ({
      id: `${number}`,
      text,
      vector: [...vector],
    }))
    await insertMultiple(database, documents, BATCH)
  }
  const searchBy = async (mode: 'vector' | 'hybrid', { text, vector }: Question, limit: number) => {
    const property = { value: [...vector], property: 'vector' }
    const { hits } = await search(database, { mode, term: text, vector: property, limit })
    return hits.map(({ id }) => Number(id))
  }
  return {
    vector: (question, limit) => searchBy('vector', question, limit),
    hybrid: (question, limit) => searchBy('hybrid', question, limit),
  }
}

/** What is used of LanceDB. */
type LanceQuery = {
  nearestTo(vector: Float32Array): LanceQuery
  distanceType(type: 'cosine'): LanceQuery
  fullTextSearch(text: string): LanceQuery
  rerank(reranker: object): LanceQuery
  select(columns: readonly string[]): LanceQuery
  limit(limit: number): LanceQuery
  toArray(): Promise<readonly { readonly number: number }[]>
}
type LanceTable = {
  add(rows: readonly object[]): Promise<unknown>
  createIndex(column: string, options?: object): Promise<void>
  query(): LanceQuery
}
type Lance = {
  connect(folder: string): Promise<{
    createTable(name: string, rows: readonly object[]): Promise<LanceTable>
  }>
  readonly Index: { fts(): object; ivfPq(options: object): object }
  readonly rerankers: { readonly RRFReranker: { create(): Promise<object> } }
}

async function openLance(corpus: Corpus, folder: string, isIndexed: boolean): Promise<Peer> {
  const { connect, Index, rerankers } = peerModule('@lancedb/lancedb') as Lance
  const connection = await connect(join(folder, 'lance'))
  let table: LanceTable | undefined
  for (const batch of batches(corpus)) {
    const rows = batch.map(({ vector, ...row }) => ({ ...row, vector: [...vector] }))
    if (table === undefined) table = await connection.createTable('item', rows)
    else await table.add(rows)
  }
  if (table === undefined) throw new Error('There is nothing to search.')
  const { createIndex } = table
  await createIndex.call(table, 'text', { config: Index.fts() })
  if (isIndexed) {
    await table.createIndex('vector', { config: Index.ivfPq({ distanceType: 'cosine' }) })
  }
  const reranker = await rerankers.RRFReranker.create()
  const filled = table
  const near = ({ vector }: Question) => filled.query().nearestTo(vector).distanceType('cosine')
  const numbers = async (query: LanceQuery, limit: number) => {
    const rows = await query.limit(limit).toArray()
    return rows.map(({ number }) => Number(number))
  }
  return {
    vector: (question, limit) => numbers(near(question).select(['number', '_distance']), limit),
    hybrid: (question, limit) =>
      numbers(near(question).fullTextSearch(question.text).rerank(reranker), limit),
  }
}

function* batches(corpus: Corpus) {
  let batch: { readonly number: number; readonly text: string; readonly vector: Float32Array }[] =
    []
  let number = 0
  for (const text of corpus.texts()) {
    batch.push({ number, text, vector: corpus.vectorOf(number) })
    number++
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Beside what is installed for the package itself, and ignored like it. */
function peersFolder(): string {
  return join(findPackageFolder(), 'node_modules', '.peers')
}

function peerModule(name: string): unknown {
  return createRequire(join(peersFolder(), 'package.json'))(name)
}

/** Installs the peers that are no dependencies. What stands in the way, as a sentence; null when nothing does. */
export function installPeers(progress: (what: string) => void): string | null {
  const wanted = join(findPackageFolder(), 'bench', 'peers', 'package.json')
  if (isInstalled(wanted)) return null
  progress('installing the peers with npm, once')
  mkdirSync(peersFolder(), { recursive: true })
  copyFileSync(wanted, join(peersFolder(), 'package.json'))
  const args = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--prefix', '.']
  const { status, stderr } = spawnSync('npm', args, {
    cwd: peersFolder(),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status === 0 && isInstalled(wanted)) return null
  return `npm could not install them: ${stderr?.trim().split('\n').at(-1) ?? 'there is no npm'}`
}

function isInstalled(wanted: string): boolean {
  const { dependencies } = JSON.parse(readFileSync(wanted, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return Object.entries(dependencies).every(([name, version]) => {
    try {
      const path = join(peersFolder(), 'node_modules', name, 'package.json')
      return JSON.parse(readFileSync(path, 'utf8')).version === version
    } catch {
      return false
    }
  })
}
