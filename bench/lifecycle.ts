/**
 * `npm run bench -- lifecycle`: recording turns of an owner with 100,000 memories on SQLite, and consolidating them.
 *
 * Consolidation runs three times on the same memories: by itself, again on the result, and while queries run
 * all the time, which are answered by words and by vectors together.
 * How long the event loop is held is what anything else in the process has to wait at most; with questions, it counts
 * what they hold themselves.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  atMost,
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  below,
  machine,
  round,
} from './harness.ts'
import type { Consolidated } from './lifecycle/consolidation.ts'
import { inProcess } from './lifecycle/worker.ts'

const MEMORIES = 100_000
const SEED = 11
/** Far above what a busy loop costs a question, and far below what it costs to wait for something in the background. */
const RECALL_MS_MAX = 250

export async function benchLifecycle({ progress, scale }: BenchOptions): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-bench-'))
  const memories = Math.round(MEMORIES * scale)
  const undisturbed = { path: join(folder, 'undisturbed.db'), memories, seed: SEED }
  const queried = { ...undisturbed, path: join(folder, 'queried.db') }
  const recorded = { ...undisturbed, path: join(folder, 'recorded.db') }
  try {
    progress('filling')
    await inProcess('fill', undisturbed)
    copyFileSync(undisturbed.path, queried.path)
    copyFileSync(undisturbed.path, recorded.path)
    progress('recording turns')
    const recording = await inProcess('record', recorded)
    progress('consolidating')
    const first = await inProcess('consolidate', { ...undisturbed, hasQueries: false })
    progress('consolidating again')
    const again = await inProcess('consolidate', { ...undisturbed, hasQueries: false })
    progress('consolidating, with questions')
    const busy = await inProcess('consolidate', { ...queried, hasQueries: true })
    return {
      bench: 'lifecycle',
      machine: machine(),
      rows: [
        { what: 'a turn until it is recorded', ...latencies(recording.keepMs) },
        { what: 'its commit', ...latencies(recording.commitMs) },
        { what: 'all that it leaves behind', ...latencies(recording.wholeMs) },
        rowOf(`consolidating ${memories} memories`, first),
        rowOf('again, with nothing left to do', again),
        rowOf('with queries at the same time', busy),
        { what: 'recall before it', ...latencies(busy.before) },
        { what: 'recall at the same time', ...latencies(busy.during) },
      ],
      bars: [
        below('recording a turn, p95 ms', percentile(recording.keepMs, 0.95), 3),
        atMost('commits that hold a turn', recording.commits, 1),
        below('consolidating 100,000 memories of one owner, s', first.seconds, 60),
        below('the same with queries at the same time, s', busy.seconds, 60),
        below('memory added, MB', Math.max(first.rssAddedMb, busy.rssAddedMb), 300),
        atMost('event loop held by consolidation, ms', first.heldMs, 50),
        atMost('event loop held with queries at the same time, ms', busy.heldMs, 50),
        atMost('computed in one turn where nothing is left to do, ms', again.computedMs, 50),
        below('the longest recall at the same time, ms', percentile(busy.during, 1), RECALL_MS_MAX),
      ],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function rowOf(what: string, { report, ...measured }: Consolidated): BenchRow {
  const { durationsMs } = report
  return {
    what,
    seconds: round(measured.seconds),
    totalMb: Math.round(measured.rssMb),
    addedMb: Math.round(measured.rssAddedMb),
    heldMs: round(measured.heldMs),
    heldP99: round(measured.heldP99Ms),
    computedMs: round(measured.computedMs),
    merged: report.merged,
    promoted: report.promoted,
    evicted: report.evicted,
    episodes: report.episodesDeleted,
    turns: report.turnsDeleted,
    trimmed: report.expiredEntriesDeleted,
    ...Object.fromEntries(
      Object.entries(durationsMs).map(([step, ms]) => [`${step}S`, round(ms / 1_000)]),
    ),
  }
}

function latencies(times: readonly number[]): BenchRow {
  const at = (share: number) => round(percentile(times, share))
  return { times: times.length, p50Ms: at(0.5), p95Ms: at(0.95), maxMs: at(1) }
}

function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
}
