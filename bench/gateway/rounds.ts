/** Requests to all targets in turn, so that other load on the machine affects all of them alike. */
import { setTimeout } from 'node:timers/promises'
import { type BenchOptions, seededRandom, type Timing } from '../harness.ts'
import { Client } from './client.ts'
import type { Target } from './targets.ts'

const ROUNDS = 7
const TURNS = 200
/** So many requests of either kind go to each before any is timed: only after some thousand is everything compiled. */
const WARM_UP_TURNS = 3_000

/** Until the first byte of a stream, until its last one, and until an answer in one piece. */
export const NAMES = ['first', 'last', 'whole'] as const
export type Measure = (typeof NAMES)[number]
type Timings = Readonly<Record<Measure, Timing>>

export type Measured = {
  readonly target: Target
  /** Medians of the rounds: what it took, and what that was more than the direct call of the same round. */
  readonly took: Timings
  readonly added: Timings
  readonly injectedShare: number
}

function warmUpTurns(scale: number): number {
  return Math.max(40, Math.ceil(WARM_UP_TURNS * scale))
}

/** How many requests each target gets before any is timed: a stream and an answer in one piece by turns. */
export function warmUpRequests(scale: number): number {
  return warmUpTurns(scale) * 2
}

export type Pace = {
  /** Before each request. */
  readonly pauseMs?: number
  /** Whether the target is warm. */
  readonly isWarm?: boolean
  /** Requests to one target before the next has its turn. */
  readonly inARow?: number
}

/** One request at a time, each target in its turn. */
export async function measureInTurn(
  targets: readonly Target[],
  { progress, scale }: BenchOptions,
  { pauseMs = 0, isWarm = false, inARow = 1 }: Pace = {},
): Promise<readonly Measured[]> {
  const clients = targets.map((target) => new Client(target))
  const shuffled = shuffler()
  const turns = Math.max(40, Math.ceil(TURNS * scale))
  if (!isWarm) {
    progress('one after the other, warming up')
    await requestInTurn(clients, { turns: warmUpTurns(scale), pauseMs: 0, inARow }, shuffled)
  }
  const rounds: (readonly Round[])[] = []
  for (let number = 1; number <= ROUNDS; number++) {
    const pace = pauseMs > 0 ? `${pauseMs} ms apart` : 'one after the other'
    progress(`${pace}, round ${number} of ${ROUNDS}`)
    rounds.push(await requestInTurn(clients, { turns, pauseMs, inARow }, shuffled))
  }
  for (const client of clients) client.close()
  return targets.map((target, index) => {
    const own = rounds.map((results) => results[index] as Round) // there is one for each client
    const base = rounds.map((results) => results[0] as Round) // the direct call is the first
    return {
      target,
      took: medians(own.map(({ times }) => times)),
      added: medians(own.map(({ times }, number) => minus(times, base[number]?.times))),
      injectedShare: median(own.map(({ injectedShare }) => injectedShare)),
    }
  })
}

type Round = { readonly times: Timings; readonly injectedShare: number }

async function requestInTurn(
  clients: readonly Client[],
  { turns, pauseMs, inARow }: { turns: number; pauseMs: number; inARow: number },
  shuffled: <Item>(items: readonly Item[]) => readonly Item[],
): Promise<readonly Round[]> {
  const results = clients.map((client) => ({
    client,
    times: { first: [] as number[], last: [] as number[], whole: [] as number[] },
    injected: 0,
  }))
  for (let turn = 0; turn < turns; turn += inARow) {
    for (const result of shuffled(results)) {
      for (let row = 0; row < inARow; row++) {
        if (pauseMs > 0) await setTimeout(pauseMs)
        const streamed = await result.client.send(true)
        result.times.first.push(streamed.firstMs)
        result.times.last.push(streamed.lastMs)
        if (streamed.isInjected) result.injected++
      }
    }
    for (const result of shuffled(results)) {
      for (let row = 0; row < inARow; row++) {
        if (pauseMs > 0) await setTimeout(pauseMs)
        const { lastMs } = await result.client.send(false)
        result.times.whole.push(lastMs)
      }
    }
  }
  return results.map(({ times, injected }) => ({
    times: byMeasure((measure) => timingOf(times[measure])),
    injectedShare: injected / times.first.length,
  }))
}

function byMeasure(make: (measure: Measure) => Timing): Timings {
  return { first: make('first'), last: make('last'), whole: make('whole') }
}

function medians(rounds: readonly Timings[]): Timings {
  return byMeasure((measure) => ({
    p50: median(rounds.map((times) => times[measure].p50)),
    p95: median(rounds.map((times) => times[measure].p95)),
  }))
}

function minus(times: Timings, base: Timings | undefined): Timings {
  return byMeasure((measure) => ({
    p50: times[measure].p50 - (base?.[measure].p50 ?? Number.NaN),
    p95: times[measure].p95 - (base?.[measure].p95 ?? Number.NaN),
  }))
}

function timingOf(times: readonly number[]): Timing {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95) }
}

export function median(values: readonly number[]): number {
  return timingOf(values).p50
}

/** Draws another order each time, the same in every run. */
export function shuffler() {
  const random = seededRandom(67)
  return <Item>(items: readonly Item[]): readonly Item[] =>
    items
      .map((item) => ({ item, at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item)
}
