/**
 * `npm run bench -- files [--data <folder>]`: memory in files over 3,891 public Markdown pages in three languages, which are
 * not part of this repository: the first scan, a rescan, an edit, and lexical queries; hybrid queries and
 * meaning, with vectors of the static model on all pieces; and what embedding them with the built-in model would take.
 *
 * Times are reported as wall time and processor time: where other work shares the machine, the second is what the first
 * would be without it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpackPages } from '../evals/files/corpus.ts'
import { QUESTIONS } from '../evals/files/questions.ts'
import { openEmbedder } from '../src/app/models/model-selection.ts'
import type { SyncReport } from '../src/files/file-search.ts'
import { withLongText } from '../src/models/embedders/long-text.ts'
import { pages as pagesOf } from '../src/storage/access/row-pages.ts'
import { editUntilIndexed, type IndexedTree, OWNER, openTree } from './files/tree.ts'
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  below,
  machine,
  round,
  seededRandom,
} from './harness.ts'

const DATA = '../shared/evals'
const EDITED_PAGE = 'en/docs/concepts/architecture/nodes.md'
const EDITS = 20
const QUERY_RUNS = 3
const EMBEDDED_TEXTS = 48
const SEED = 7
const MEMORY_MB_MAX = 500

export async function benchFiles(options: BenchOptions): Promise<BenchReport> {
  const { progress, scale, data = DATA } = options
  const folder = mkdtempSync(join(tmpdir(), 'recollect-bench-'))
  const pages = join(folder, 'pages')
  try {
    progress('unpacking')
    const random = seededRandom(SEED)
    const count = unpackPages(
      data,
      pages,
      (path) => path === EDITED_PAGE || scale >= 1 || random() < scale,
    )
    const rssBefore = process.memoryUsage.rss()
    let results: Results
    const tree = await openTree(folder, pages)
    try {
      progress('indexing')
      const first = await measured(() => tree.files.sync(OWNER))
      // The highest that it ever was, not what is left of it.
      const peakMb = megabytes(process.resourceUsage().maxRSS * 1_024 - rssBefore)
      progress('rescanning')
      const again = await measured(() => tree.files.sync(OWNER))
      progress('editing')
      const edits = await measureEdits(tree, join(pages, EDITED_PAGE))
      progress('asking')
      const queries = await measureQuestions(tree)
      progress('embedding')
      const embedding = await measureEmbedding(tree, first.result.chunks)
      results = { first, again, edits, queries, peakMb, embedding }
    } finally {
      await tree.close()
    }
    progress('asking by meaning')
    return toReport(count, results, await measureMeaning(folder, pages))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Results = {
  readonly first: Measured<SyncReport>
  readonly again: Measured<SyncReport>
  readonly edits: Times
  readonly queries: Times
  readonly peakMb: number
  readonly embedding: BenchRow
}
type Meaning = { readonly embedded: Measured<SyncReport>; readonly queries: Times }

function toReport(files: number, results: Results, meaning: Meaning): BenchReport {
  const { first, again, edits, queries, peakMb, embedding } = results
  const { chunks } = first.result
  return {
    bench: 'files',
    machine: machine(),
    rows: [
      { what: `first index of ${files} files`, ...timesOf(first), chunks, addedPeakMb: peakMb },
      { what: 'a rescan without changes', ...timesOf(again) },
      { what: 'an edit, after the quiet', ...latencies(edits) },
      { what: 'a query, lexical', ...latencies(queries) },
      { what: 'embedding all, static model', ...timesOf(meaning.embedded) },
      { what: 'a query, hybrid', ...latencies(meaning.queries) },
      embedding,
    ],
    bars: [
      below('first keyword index, s', first.wallMs / 1_000, 20),
      below('first keyword index, processor s', first.cpuMs / 1_000, 20),
      below('a rescan, s', again.wallMs / 1_000, 1.5),
      below('an edit is findable after the quiet, p95 ms', percentile(edits.wallMs, 0.95), 300),
      below('a lexical query, p95 ms', percentile(queries.wallMs, 0.95), 30),
      below('a lexical query, p95 processor ms', percentile(queries.cpuMs, 0.95), 30),
      below('a hybrid query, p95 ms', percentile(meaning.queries.wallMs, 0.95), 30),
      below(
        'a question by meaning too, p95 processor ms',
        percentile(meaning.queries.cpuMs, 0.95),
        30,
      ),
      below('memory added by the first index at its peak, MB', peakMb, MEMORY_MB_MAX),
    ],
  }
}

/** With a model that takes next to no time for a question, so that what is measured is the search. */
async function measureMeaning(home: string, pages: string): Promise<Meaning> {
  const embedder = openEmbedder({ source: 'static' })
  if (embedder === null) throw new Error('The static model is missing.')
  const tree = await openTree(home, pages, embedder)
  try {
    const embedded = await measured(() => tree.files.sync(OWNER, { embeds: true }))
    await tree.files.start()
    await tree.files.sync(OWNER)
    const [first] = QUESTIONS
    const { mode } = await tree.files.search(OWNER, { text: first?.text ?? '' })
    if (mode !== 'hybrid') throw new Error('Nothing is found by meaning.')
    return { embedded, queries: await measureQuestions(tree) }
  } finally {
    await tree.close()
  }
}

type Measured<Result> = {
  readonly result: Result
  readonly wallMs: number
  readonly cpuMs: number
}

async function measured<Result>(work: () => Promise<Result>): Promise<Measured<Result>> {
  const began = performance.now()
  const before = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  return { result, wallMs: performance.now() - began, cpuMs: (user + system) / 1_000 }
}

type Times = { readonly wallMs: readonly number[]; readonly cpuMs: readonly number[] }

/** Each is found by the question that follows, or there is nothing to measure. */
async function measureEdits(tree: IndexedTree, path: string): Promise<Times> {
  await tree.files.start()
  await tree.files.sync(OWNER)
  const [wallMs, cpuMs]: [number[], number[]] = [[], []]
  for (let edit = 0; edit < EDITS; edit++) {
    const word = `quokka${edit}${SEED}`
    const { result, cpuMs: cpu } = await measured(() =>
      editUntilIndexed(tree, path, `The ${word} is here.`),
    )
    const { hits } = await tree.files.search(OWNER, { text: word })
    if (hits.length === 0) throw new Error('An edit was not found.')
    wallMs.push(result)
    cpuMs.push(cpu)
  }
  return { wallMs, cpuMs }
}

/** All questions once to warm up, and then as often as it takes for a 95th percentile. */
async function measureQuestions({ files }: IndexedTree): Promise<Times> {
  const [wallMs, cpuMs]: [number[], number[]] = [[], []]
  for (let asking = 0; asking <= QUERY_RUNS; asking++) {
    for (const { text } of QUESTIONS) {
      const times = await measured(() => files.search(OWNER, { text }))
      if (asking === 0) continue
      wallMs.push(times.wallMs)
      cpuMs.push(times.cpuMs)
    }
  }
  return { wallMs, cpuMs }
}

async function measureEmbedding({ store }: IndexedTree, chunks: number): Promise<BenchRow> {
  const opened = openEmbedder({})
  if (opened === null) return { what: 'embedding: there is no model' }
  const embedder = withLongText(opened)
  const texts = await spread(store, Math.max(1, Math.floor(chunks / EMBEDDED_TEXTS)))
  try {
    await embedder.embed(['warm up'], { purpose: 'document' })
    const { wallMs } = await measured(() => embedder.embed(texts, { purpose: 'document' }))
    return {
      what: `embedding, from ${texts.length} pieces`,
      meanMs: round(wallMs / texts.length),
      allMinutes: round((wallMs / texts.length / 60_000) * chunks),
    }
  } finally {
    await embedder.close()
  }
}

/** The text of every n-th piece: those that lie together are alike. */
async function spread(store: IndexedTree['store'], step: number): Promise<readonly string[]> {
  const texts: string[] = []
  let seen = 0
  const query = { where: {}, order: 'oldest' } as const
  for await (const page of pagesOf(store, 'memory', { owner: OWNER }, query)) {
    for (const { content } of page) if (seen++ % step === 0) texts.push(content)
  }
  return texts
}

function timesOf({ wallMs, cpuMs }: Measured<unknown>): BenchRow {
  return { seconds: round(wallMs / 1_000), processorS: round(cpuMs / 1_000) }
}

function latencies({ wallMs, cpuMs }: Times): BenchRow {
  return {
    times: wallMs.length,
    p50Ms: round(percentile(wallMs, 0.5)),
    p95Ms: round(percentile(wallMs, 0.95)),
    processorP50Ms: round(percentile(cpuMs, 0.5)),
    processorP95Ms: round(percentile(cpuMs, 0.95)),
  }
}

function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000)
}
