/**
 * `npm run bench -- stores`: every store on the same memories and questions, and several servers on one PostgreSQL.
 *
 * What is searched is described in `recall/corpus.ts`: made texts and vectors, and questions whose vector is known, so
 * that no model hides what a store costs. Each store is filled in one process and queried in another one; what it
 * holds of memory is that of the second, and of the database server where there is one. Writes are memories with
 * their vectors, in batches; `settledS` is what it takes after the last of them until indexes and copies are
 * complete. `recallAt20` is the share of the 20 nearest vectors, by comparing all of them, that the store finds.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runSql } from '../test/support/postgres-servers.ts'
import {
  type Bar,
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  machine,
  round,
} from './harness.ts'
import { interruptible } from './interruption.ts'
import { Plan } from './plan.ts'
import { BASE_DIMENSIONS, type CorpusShape } from './recall/corpus.ts'
import { benchLoad } from './stores/load.ts'
import { cipherNode, lancePackage } from './stores/parts.ts'
import { type BenchServer, startBenchServer } from './stores/server.ts'
import type { StorePlace } from './stores/store-connection.ts'
import type { Filled, QueryResult } from './stores/store-queries.ts'
import { inProcess } from './stores/worker.ts'

const SMALLEST = 10_000
const ORDINARY = 100_000
const OWNERS = 1_000
/** So that an owner has something to search in when a bench is only tried out. */
const PER_OWNER_MIN = 10
const BASE_TEXTS = 1_000
const BASE_TEXTS_MIN = 200
/**
 * PGlite has one process and one thread. Beyond the first it takes longer than all others together, and beyond the second
 * hours; where there is a real server as well, nobody needs to know.
 */
const PGLITE_MEMORIES_MAX = 10_000
const PGLITE_ALONE_MEMORIES_MAX = 100_000
/** What takes longer is left out, so that the others get their turn. A million memories get more. */
const PART_MS_MAX = 5 * 60_000
const LARGE_PART_MS_MAX = 2 * 3_600_000
const LOAD_SECONDS = 120

type Contender = {
  readonly name: string
  readonly memoriesMax: number
  /** Another Node than this one. */
  readonly node: string | null
  place(shape: CorpusShape, folder: string): StorePlace
}

type Run = {
  readonly folder: string
  readonly signal: AbortSignal
  readonly steps: Plan
  readonly rows: BenchRow[]
  readonly bars: Bar[]
  readonly notes: string[]
}

export function benchStores({ progress, scale }: BenchOptions): Promise<BenchReport> {
  return interruptible(async (signal) => {
    const folder = mkdtempSync(join(tmpdir(), 'recollect-bench-'))
    const run: Run = { folder, signal, steps: new Plan(progress), rows: [], bars: [], notes: [] }
    let server: BenchServer | null = null
    try {
      server = await serverFor(run)
      plan(run, await contenders(run, server), server, scale)
      await run.steps.run()
    } finally {
      await server?.stop()
      rmSync(folder, { recursive: true, force: true })
    }
    const { rows, bars, notes } = run
    return { bench: 'stores', machine: machine(), rows, bars, notes }
  })
}

async function serverFor({ steps, notes }: Run): Promise<BenchServer | null> {
  steps.say('starting PostgreSQL')
  const server = await startBenchServer()
  if ('reason' in server) {
    notes.push(`Left out: PostgreSQL, and several servers on it. ${server.reason}`)
    return null
  }
  notes.push(`${server.facts}.`)
  return server
}

async function contenders(run: Run, server: BenchServer | null): Promise<readonly Contender[]> {
  const { steps, notes } = run
  const any = { memoriesMax: Number.POSITIVE_INFINITY, node: null }
  const sqlite = (isEncrypted: boolean) => (_: CorpusShape, folder: string) => ({
    ...({ kind: 'sqlite', folder, isEncrypted } as const),
  })
  const all: Contender[] = [{ ...any, name: 'SQLite', place: sqlite(false) }]
  const cipher = await cipherNode(steps.say)
  if ('reason' in cipher) notes.push(`Left out: encrypted SQLite. ${cipher.reason}`)
  else {
    const { node } = cipher
    all.push({ ...any, name: 'SQLite, encrypted', node, place: sqlite(true) })
    if (node !== null) {
      notes.push(`Encrypted SQLite ran on Node ${versionOf(node)}, which its cipher needs.`)
    }
  }
  const lance = await lancePackage(steps.say)
  if ('reason' in lance) notes.push(`Left out: LanceDB. ${lance.reason}`)
  else {
    const place = (_: CorpusShape, folder: string) => ({
      ...({ kind: 'lancedb', folder, package: lance.folder } as const),
    })
    all.push({ ...any, name: 'SQLite and LanceDB', place })
  }
  all.push({
    name: 'PGlite and pgvector',
    memoriesMax: server === null ? PGLITE_ALONE_MEMORIES_MAX : PGLITE_MEMORIES_MAX,
    node: null,
    place: (_, folder) => ({ kind: 'pglite', folder: join(folder, 'pglite') }),
  })
  if (server !== null) {
    const { url, folder: serverFolder } = server
    const place = ({ memories, owners }: CorpusShape) => ({
      ...({ kind: 'postgres', url, serverFolder, schema: `bench_${memories}_${owners}` } as const),
    })
    all.push({ ...any, name: 'PostgreSQL and pgvector', place })
  }
  return all
}

function plan(
  run: Run,
  all: readonly Contender[],
  server: BenchServer | null,
  scale: number,
): void {
  const { folder, signal, steps, notes } = run
  const base = join(folder, 'base')
  steps.add('vectors by the built-in model', 60, (progress) => {
    const texts = Math.max(BASE_TEXTS_MIN, Math.ceil(BASE_TEXTS * Math.min(1, scale)))
    return inProcess('base', { path: base, texts }, { signal, progress })
  })
  for (const shape of shapesFor(scale, base)) {
    let nearest: readonly (readonly number[])[] = []
    steps.add(`what is nearest, ${nameOf(shape)}`, shape.memories / 5_000, async () => {
      nearest = await inProcess('nearest', shape, { signal })
    })
    for (const contender of all) {
      const name = `${contender.name}, ${nameOf(shape)}`
      if (shape.memories > contender.memoriesMax) {
        notes.push(`Left out: ${name}. It would take longer than all others together.`)
        continue
      }
      steps.add(name, secondsFor(shape.memories), (progress) =>
        orLeftOut(run, name, () => measure(run, contender, shape, nearest, progress)),
      )
    }
  }
  if (server === null) return
  const what = 'several servers on one PostgreSQL'
  steps.add(what, LOAD_SECONDS, () =>
    orLeftOut(run, what, async () => {
      const { url } = server
      const report = await benchLoad({ url, folder, scale, signal, say: steps.say })
      run.rows.push(...report.rows)
      run.bars.push(...report.bars)
      notes.push(...report.notes)
    }),
  )
}

/** What fails is left out with its reason, and the others go on. */
async function orLeftOut(run: Run, name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    run.signal.throwIfAborted()
    const reason = error instanceof Error ? error.message : String(error)
    run.notes.push(`Left out: ${name}. ${reason}`)
    run.steps.remark(`left out: ${name}. ${reason}`)
  }
}

/** Up to 100,000 memories, or what the scale makes of it, of one owner and of many. */
export function shapesFor(scale: number, base: string): readonly CorpusShape[] {
  const shapes: CorpusShape[] = []
  const largest = Math.round(ORDINARY * scale)
  const smallest = Math.round(SMALLEST * Math.min(1, scale))
  for (let memories = smallest; memories <= largest; memories *= 10) {
    const owners = Math.min(OWNERS, Math.floor(memories / PER_OWNER_MIN))
    for (const count of [1, owners]) {
      shapes.push({ memories, owners: count, dimensions: BASE_DIMENSIONS, base })
    }
  }
  return shapes
}

async function measure(
  run: Run,
  contender: Contender,
  shape: CorpusShape,
  nearest: readonly (readonly number[])[],
  progress: (share: number) => void,
): Promise<void> {
  const folder = mkdtempSync(join(run.folder, 'store-'))
  const place = contender.place(shape, folder)
  const timeMs = shape.memories > ORDINARY ? LARGE_PART_MS_MAX : PART_MS_MAX
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(timeMs)])
  const { name, node } = contender
  try {
    const filled = await inProcess('fill', { place, shape }, { signal, progress, node })
    const queries = await inProcess('measureQueries', { place, shape, nearest }, { signal, node })
    run.rows.push(storeRow(`${name}, ${nameOf(shape)}`, filled, queries))
  } finally {
    await remove(place, folder)
  }
}

/** Nothing of it is needed any more, and the disk may be small. */
async function remove(place: StorePlace, folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  if (place.kind !== 'postgres') return
  await runSql(place.url, `DROP SCHEMA IF EXISTS "${place.schema}" CASCADE`)
}

function storeRow(what: string, filled: Filled, queries: QueryResult): BenchRow {
  return {
    what,
    writesPerSecond: filled.writesPerSecond,
    settledS: round(filled.settledSeconds),
    hybridP50: queries.hybrid.p50,
    hybridP95: queries.hybrid.p95,
    vectorP50: queries.vector.p50,
    recallAt20: round(queries.shareFound),
    diskMb: filled.diskMb,
    ...(queries.rssMb === null ? {} : { rssMb: queries.rssMb }),
  }
}

function nameOf({ memories, owners }: CorpusShape): string {
  const each = (memories / owners).toLocaleString('en')
  return owners === 1 ? `1 owner × ${each}` : `${owners.toLocaleString('en')} owners × ${each}`
}

function secondsFor(memories: number): number {
  return 20 + memories / 1_000
}

function versionOf(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().replace(/^v/, '')
}
