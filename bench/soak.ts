/**
 * `npm run bench -- soak`: minutes of conversations, writes and searches, and what the process keeps of them.
 *
 * Each round serves owners of its own and erases them again, so the store holds as much after it as before. Memory is
 * measured between rounds, after a forced garbage collection: what still grows is not data, but a leak. `--soak 1200`
 * runs for twenty minutes, one minute is the default.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createEngine } from '../src/app/composition.ts'
import type { Engine } from '../src/engine/engine.ts'
import { answerOf, outcomeOf, requestOf } from '../test/conversations/conversations-support.ts'
import { atMost, type BenchOptions, type BenchReport, machine, round } from './harness.ts'
import { Texts } from './texts.ts'

const SECONDS = 60
const OWNERS_PER_ROUND = 4
const EXCHANGES = 25
/** Rounds after which caches have their size; a run shorter than them shows how they fill. */
const SETTLED_ROUNDS = 40
/** Compared are the least of the first rounds after that, and the least of as many last ones. */
const COMPARED_ROUNDS = 5
const GROWTH_MB_MAX = 4
/** Samples that are shown. */
const ROWS = 8
const QUERY_WORDS = 4
const MEBIBYTE = 2 ** 20

type Sample = { readonly heapMb: number; readonly rssMb: number; readonly storedRows: number }

export async function benchSoak({ progress, soakSeconds }: BenchOptions): Promise<BenchReport> {
  const seconds = soakSeconds === undefined || soakSeconds === 0 ? SECONDS : soakSeconds
  const folder = mkdtempSync(join(tmpdir(), 'recollect-bench-'))
  const collectGarbage = exposeGarbageCollector()
  const engine = await createEngine({
    path: join(folder, 'memory.db'),
    embedding: { source: 'static' },
    settings: { 'gateway.enabled': true },
  })
  const samples: Sample[] = []
  let requests = 0
  try {
    const texts = new Texts(29)
    const until = performance.now() + seconds * 1_000
    while (performance.now() < until || samples.length < SETTLED_ROUNDS + 2 * COMPARED_ROUNDS) {
      progress(`round ${samples.length + 1}`)
      requests += await runRound(engine, texts, samples.length)
      await collectGarbage()
      const { heapUsed, rss } = process.memoryUsage()
      const { rows } = await engine.status()
      samples.push({
        heapMb: heapUsed / MEBIBYTE,
        rssMb: rss / MEBIBYTE,
        storedRows: rows.memory + rows.turn,
      })
    }
  } finally {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  }
  const settled = samples.slice(SETTLED_ROUNDS, SETTLED_ROUNDS + COMPARED_ROUNDS)
  const last = samples.slice(-COMPARED_ROUNDS)
  const growthMb = leastHeap(last) - leastHeap(settled)
  return {
    bench: 'soak',
    machine: machine(),
    rows: [
      ...Array.from({ length: ROWS }, (_, n) => {
        const at = Math.round((n * (samples.length - 1)) / (ROWS - 1))
        return { what: `after round ${at + 1}`, ...toCells(samples[at]) }
      }),
      { what: 'in total', rounds: samples.length, requests },
    ],
    bars: [
      atMost(
        'heap after garbage collection: growth at equal data size, MB',
        growthMb,
        GROWTH_MB_MAX,
      ),
      atMost('rows left behind', Math.max(...samples.map(({ storedRows }) => storedRows)), 0),
    ],
  }
}

/** The number of requests. */
async function runRound(engine: Engine, texts: Texts, number: number): Promise<number> {
  const owners = Array.from({ length: OWNERS_PER_ROUND }, (_, n) => `owner-${number}-${n}`)
  await Promise.all(owners.map((owner) => converse(engine, owner, texts)))
  await engine.conversations.flush()
  for (const owner of owners) await engine.admin.eraseOwner(owner)
  return OWNERS_PER_ROUND * EXCHANGES
}

async function converse(engine: Engine, owner: string, texts: Texts): Promise<void> {
  const said: string[] = []
  for (let turn = 0; turn < EXCHANGES; turn++) {
    const text = texts.next()
    said.push(text)
    const request = requestOf(said, { requestId: `${owner}-${turn}`, scope: { owner } })
    const prepared = await engine.conversations.prepare(request)
    const answer = texts.next()
    engine.conversations.recordOutcome(prepared, outcomeOf(prepared, answerOf(answer)))
    said.push(answer)
    await engine.remember({ owner }, { content: text })
    await engine.recall({ owner }, { text: texts.queryFor(text, QUERY_WORDS) })
  }
}

/** Twice, because what finalizers release is collected by the next collection. */
function exposeGarbageCollector(): () => Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void // exposed by the flag
  return async () => {
    for (let time = 0; time < 2; time++) {
      collect()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

function leastHeap(samples: readonly Sample[]): number {
  return Math.min(...samples.map(({ heapMb }) => heapMb))
}

function toCells(sample: Sample | undefined) {
  return {
    heapMb: round(sample?.heapMb ?? Number.NaN),
    rssMb: Math.round(sample?.rssMb ?? Number.NaN),
    rows: sample?.storedRows ?? 0,
  }
}
