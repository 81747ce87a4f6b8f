/**
 * The harness of all benches: timing, progress display, and one report format.
 * A bar is a promise with a number; it is printed with what was measured, and never adjusted to it.
 */
import { arch, cpus, platform, totalmem } from 'node:os'

export type Cell = string | number
export type BenchRow = { readonly [column: string]: Cell }
export type Bar = {
  readonly name: string
  readonly value: number
  readonly bar: string
  readonly holds: boolean
}
export type BenchReport = {
  readonly bench: string
  readonly machine: BenchRow
  readonly rows: readonly BenchRow[]
  readonly bars: readonly Bar[]
  /** What a reader of the numbers should know: what was left out and why, on what they were measured. */
  readonly notes?: readonly string[]
}
export type BenchOptions = {
  /** Tells a person what is going on; does nothing where nobody watches. */
  readonly progress: (what: string) => void
  /** Shrinks the work by this factor, to try a bench out, or enlarges it. Below 1, bars are only indicative. */
  readonly scale: number
  /** How long a bench that has a long run goes on with it; none without. */
  readonly soakSeconds?: number
  /** After how many minutes a bench that fills a large store stops filling it; it goes on with what is there. */
  readonly minutes?: number
  /** One part of a bench that has several; all without. */
  readonly only?: string
  /** Folder with the public data sets, for a bench that reads one. */
  readonly data?: string
}

export function machine(): BenchRow {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    platform: `${platform()} ${arch()}`,
    node: process.versions.node,
  }
}

export function below(name: string, value: number, limit: number): Bar {
  return { name, value: round(value), bar: `< ${limit}`, holds: value < limit }
}

export function atMost(name: string, value: number, limit: number): Bar {
  return { name, value: round(value), bar: `<= ${limit}`, holds: value <= limit }
}

export function atLeast(name: string, value: number, limit: number): Bar {
  return { name, value: round(value), bar: `>= ${limit}`, holds: value >= limit }
}

/** Below so many, percentiles mean nothing. */
const TIMED_MIN = 20

export type Timing = { readonly p50: number; readonly p95: number }

/** Milliseconds per call over `runs` calls, after a tenth as many to warm up; fewer when they take too long. */
export async function timed(
  runs: number,
  call: (run: number) => Promise<unknown>,
  secondsMax = Number.POSITIVE_INFINITY,
): Promise<Timing> {
  const warmUp = Math.ceil(runs / 10)
  const times: number[] = []
  const until = performance.now() + secondsMax * 1_000
  for (let run = 0; run < warmUp + runs; run++) {
    if (times.length >= TIMED_MIN && performance.now() > until) break
    const started = performance.now()
    await call(run)
    if (run >= warmUp) times.push(performance.now() - started)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]
  return { p50: round(at(0.5) ?? Number.NaN), p95: round(at(0.95) ?? Number.NaN) }
}

export function round(value: number): number {
  return Number(value.toPrecision(3))
}

/** Numbers between 0 and 1 that are the same in every run. */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
