/**
 * `npm run bench -- gateway`: what the gateway adds to a direct request to a provider.
 *
 * The provider answers from a script, at once, so that only the gateway is measured. The
 * targets alternate in random order: the provider itself, Recollect with its defaults (memory off), and a peer; then the
 * provider and Recollect with memory on, for an owner with 10,000 memories and 10,000 turns. Each runs in a process of
 * its own, and gets as many warm-up requests as the others. The result is the median of several rounds, so that a
 * busy moment of the machine does not distort it. The peer holds the first event of every stream
 * back for 25 ms, on purpose; its cost shows in responses that are not streamed.
 *
 * With memory on, a server goes on working after its response: it records the exchange. With the next request at once, it
 * does both at a time, which measures throughput rather than latency. The bar is about requests with
 * a pause, ten a second; those without one are reported as well.
 *
 * Memory on uses the static model, whose vectors cost next to nothing; embedding the question is measured apart, with
 * the built-in model, because a response waits for it where that model is in use.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openEmbedder } from '../src/app/models/model-selection.ts'
import { type Calibration, calibrate, calibrationRow, scaledLimit } from './calibration.ts'
import { Crowd, type Load } from './gateway/client.ts'
import { Conversations } from './gateway/conversations.ts'
import {
  type Measure,
  type Measured,
  measureInTurn,
  median,
  NAMES,
  shuffler,
  warmUpRequests,
} from './gateway/rounds.ts'
import {
  DIRECT,
  direct,
  installPortkey,
  PEER,
  startPortkey,
  startRecollect,
  type Target,
} from './gateway/targets.ts'
import { startUpstream } from './gateway/upstream.ts'
import {
  atLeast,
  atMost,
  type Bar,
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  below,
  machine,
  round,
  type Timing,
  timed,
} from './harness.ts'

const MEMORIES = 10_000
const TURNS = 10_000
/** With memory on, at 64 connections, of what the same server does with memory off. */
const LOADED_SHARE_MIN = 1 / 6
const CONNECTIONS = 64
/** Before each request to a server that passes on: what another one still does after its answer is over then. */
const APART_MS = 5
/** Before each request to a server with memory on. Two targets alternate: each gets about ten a second. */
const PAUSE_MS = 50
const LOAD_ROUNDS = 3
const LOAD_SECONDS = 5
const LOAD_SECONDS_MIN = 2
/** What is still under way when the time is up must not weigh on the next. */
const SETTLE_MS = 1_000
/** Streams that begin in the same moment. */
const BURST = 200
/** Of each kind, to each server, before throughput is measured. */
const WARM_UP_REQUESTS = 1_000
const STREAMED = 20_000
/** Fewer than what overwhelms a server: this is about what stays behind, not about what waits. */
const STREAMED_CONNECTIONS = 8
/** How often the memory of a server is sampled, and how often the sample is printed. */
const SAMPLES = 20
const SAMPLES_PER_LINE = 5
const EMBEDDED_QUESTIONS = 200
/** Of what the peer adds, what Recollect may add with memory off. */
const PEER_SHARE_MAX = 0.5
const MEMORY_MS_MAX = 12
/** From the second quarter of the requests, when a server has what it needs, to the second half. */
const GROWTH_MAX = 0.1
const INJECTED_SHARE_MIN = 0.99

const MEASURES: Readonly<Record<Measure, string>> = {
  first: 'first byte of a stream',
  last: 'last byte of a stream',
  whole: 'answer in one piece',
}

/** What `--only` can choose. */
export const GATEWAY_PARTS = ['throughput'] as const

export async function benchGateway(options: BenchOptions): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-bench-'))
  const running: { stop(): Promise<void> }[] = []
  const interrupted = () => process.exit(130)
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder)
  try {
    const targets = await startTargets(folder, running, options)
    return await (options.only === 'throughput' ? measureThroughput : measure)(targets, options)
  } finally {
    for (const each of running.reverse()) await each.stop()
    removeFolder()
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted).off('exit', removeFolder)
  }
}

type Targets = {
  readonly direct: Target
  readonly off: Target
  readonly on: Target
  /** Null when it can't be had here. */
  readonly peer: Target | null
}

async function startTargets(
  folder: string,
  running: { stop(): Promise<void> }[],
  { progress, only }: BenchOptions,
): Promise<Targets> {
  const stopAtEnd = <Started extends { stop(): Promise<void> }>(started: Started): Started => {
    running.push(started)
    return started
  }
  const { baseUrl } = stopAtEnd(await startUpstream())
  const memories = MEMORIES // the bars are about so many, and filling takes only seconds
  const turns = TURNS
  progress(`filling two stores with ${memories.toLocaleString('en')} memories and as many turns`)
  const recollect = async (name: string, hasMemory: boolean) => {
    const sizes = { memories, turns }
    const options = { folder: join(folder, hasMemory ? 'on' : 'off'), baseUrl, hasMemory, ...sizes }
    return stopAtEnd(await startRecollect(name, options))
  }
  const [off, on] = await Promise.all([
    recollect('Recollect, memory off', false),
    recollect('Recollect, memory on', true),
  ])
  const peer = only === undefined ? await startPeer(baseUrl, progress) : null
  if (peer !== null) stopAtEnd(peer)
  return { direct: direct(baseUrl), off, on, peer }
}

/** Null, and a word about it, when it can't be had here. */
async function startPeer(
  baseUrl: string,
  progress: BenchOptions['progress'],
): Promise<Target | null> {
  const missing = installPortkey(progress)
  const peer = missing === null ? await startPortkey(baseUrl).catch((error: Error) => error) : null
  if (peer !== null && !(peer instanceof Error)) return peer
  process.stderr.write(`\nLeft out: ${PEER}. ${missing ?? peer?.message}\n`)
  return null
}

async function measure(targets: Targets, options: BenchOptions): Promise<BenchReport> {
  const { off, on, peer } = targets
  const all = [targets.direct, off, on, ...(peer === null ? [] : [peer])]
  options.progress('calibrating')
  const calibration = await calibrate()
  const embedding = await embeddingTimes(options)
  // A server with memory on goes on working after its response, which on a small machine would slow the next target down.
  const passing = await measureInTurn(
    all.filter((target) => target !== on),
    options,
    { pauseMs: APART_MS },
  )
  const hurried = (await measureInTurn([targets.direct, on], options)).slice(1)
  const pace = { pauseMs: PAUSE_MS, isWarm: true }
  const paced = await measureInTurn([targets.direct, on], options, pace)
  const single = [...passing, ...paced.slice(1)]
  const loads = await measureLoads(all, options)
  const rows = NAMES.flatMap((measure) => [
    ...rowsOf(measure, single, loads),
    ...rowsOf(measure, paced.slice(0, 1), loads, ', with a pause'),
    ...rowsOf(measure, hurried, loads, ', without a pause'),
  ])
  rows.push({
    what: 'requests to each before any is timed',
    requests: warmUpRequests(options.scale),
  })
  rows.push(...embedding.map(({ what, took }) => ({ what, ...took })))
  rows.push(calibrationRow(calibration))
  const embeddingMs = embedding[0]?.took.p50 ?? Number.NaN
  const bars = barsOf(single, targets, embeddingMs, loads, calibration)
  bars.push(atMost(`errors at ${CONNECTIONS} connections`, countErrors(loads), 0))
  for (const target of [off, on]) await measureGrowth(target, options, rows, bars)
  return { bench: 'gateway', machine: machine(), rows, bars }
}

/** Memory off and on side by side, at many connections and with a burst of streams. */
async function measureThroughput(targets: Targets, options: BenchOptions): Promise<BenchReport> {
  const { off, on } = targets
  options.progress('calibrating')
  const calibration = await calibrate()
  options.progress('warming up')
  for (const target of [off, on]) {
    const crowd = new Crowd(target, STREAMED_CONNECTIONS, 71)
    const amount = Math.ceil(WARM_UP_REQUESTS * options.scale)
    for (const streams of [true, false]) await crowd.send(streams, { amount })
  }
  const loads = await measureLoads([off, on], options)
  const rows: BenchRow[] = [off, on].flatMap((target) => {
    const load = loads.get(target) as LoadResult // both were measured
    return (['streamed', 'whole'] as const).map((answers) => ({
      what: `${target.name}, ${answers}, ${CONNECTIONS} connections`,
      perSecond: load[answers],
      withMemory: round(load.injectedShares[answers]),
      ...(load.processorMs === null ? {} : { processorMs: round(load.processorMs[answers]) }),
    }))
  })
  options.progress(`${BURST} streams at once`)
  const burst = await new Crowd(on, BURST, 73).send(true, { amount: BURST })
  rows.push({ what: `${on.name}, ${BURST} streams at once`, withMemory: burst.injectedShare })
  rows.push(calibrationRow(calibration))
  const bars = [
    ...throughputBars(targets, loads),
    atLeast(
      `${on.name}: share of ${BURST} simultaneous streams with memory`,
      burst.injectedShare,
      1,
    ),
    atMost(`errors at ${CONNECTIONS} connections`, countErrors(loads), 0),
  ]
  return { bench: 'gateway', machine: machine(), rows, bars }
}

/** What turning a question into a vector takes, in the static model that memory on uses, and in the built-in one. */
async function embeddingTimes({ progress, scale }: BenchOptions) {
  const runs = Math.max(50, Math.ceil(EMBEDDED_QUESTIONS * scale))
  const times: { readonly what: string; readonly took: Timing }[] = []
  for (const [source, name] of [
    ['static', 'static model, as with memory on'],
    ['transformers', 'built-in model'],
  ] as const) {
    progress(`embedding a question, ${name}`)
    const questions = new Conversations({ model: '', lanes: 1, seed: 53 })
    const embedder = openEmbedder({ source })
    if (embedder === null) throw new Error(`There is no ${source} model.`)
    await embedder.describe()
    const took = await timed(runs, () =>
      embedder.embed([questions.question()], { purpose: 'query' }),
    )
    await embedder.close()
    times.push({ what: `embedding a question, ${name}`, took })
  }
  return times
}

type LoadResult = {
  /** Answers per second. */
  readonly streamed: number
  readonly whole: number
  readonly errors: number
  readonly injectedShare: number
  /** The same for each kind of answer. */
  readonly injectedShares: PerAnswer
  /** Of the server, per answer; null where it is unknown. */
  readonly processorMs: PerAnswer | null
}

type PerAnswer = { readonly streamed: number; readonly whole: number }

/** As many at once as there are connections, for a while, each target in its turn. */
async function measureLoads(
  targets: readonly Target[],
  { progress, scale }: BenchOptions,
): Promise<ReadonlyMap<Target, LoadResult>> {
  const crowds = targets.map((target) => new Crowd(target, CONNECTIONS, 59))
  const duration = Math.max(LOAD_SECONDS_MIN, Math.round(LOAD_SECONDS * scale))
  const shuffled = shuffler()
  const loads = new Map(targets.map((target) => [target, { streams: [], wholes: [] } as Loads]))
  for (let number = 1; number <= LOAD_ROUNDS; number++) {
    for (const [index, target] of shuffled([...targets.entries()])) {
      progress(`${target.name}: ${CONNECTIONS} at once, round ${number} of ${LOAD_ROUNDS}`)
      const crowd = crowds[index] as Crowd // there is one for each target
      for (const streams of [true, false]) {
        const before = target.processorMs()
        const load = await crowd.send(streams, { duration })
        await setTimeout(SETTLE_MS)
        const after = target.processorMs()
        const processorMs = after === null || before === null ? null : after - before
        loads.get(target)?.[streams ? 'streams' : 'wholes'].push({ ...load, processorMs })
      }
    }
  }
  return new Map(
    [...loads].map(([target, { streams, wholes }]) => [target, summed(streams, wholes)]),
  )
}

type MeasuredLoad = Load & { readonly processorMs: number | null }
type Loads = { readonly streams: MeasuredLoad[]; readonly wholes: MeasuredLoad[] }

function summed(streams: readonly MeasuredLoad[], wholes: readonly MeasuredLoad[]): LoadResult {
  const injectedShareOf = (loads: readonly Load[]) =>
    median(loads.map(({ injectedShare }) => injectedShare))
  const processorMsOf = (loads: readonly MeasuredLoad[]) =>
    median(loads.map(({ processorMs, answered }) => (processorMs ?? Number.NaN) / answered))
  const isKnown = [...streams, ...wholes].every(({ processorMs }) => processorMs !== null)
  const perSecond = (loads: readonly Load[]) =>
    Math.round(median(loads.map((load) => load.perSecond)))
  return {
    streamed: perSecond(streams),
    whole: perSecond(wholes),
    errors: [...streams, ...wholes].reduce((sum, { errors }) => sum + errors, 0),
    injectedShare: injectedShareOf([...streams, ...wholes]),
    injectedShares: { streamed: injectedShareOf(streams), whole: injectedShareOf(wholes) },
    processorMs: isKnown
      ? { streamed: processorMsOf(streams), whole: processorMsOf(wholes) }
      : null,
  }
}

/** What a server holds of memory while it streams thousands of answers. */
async function measureGrowth(
  target: Target,
  { progress, scale }: BenchOptions,
  rows: BenchRow[],
  bars: Bar[],
): Promise<void> {
  const part = Math.max(STREAMED_CONNECTIONS, Math.ceil((STREAMED * scale) / SAMPLES))
  const crowd = new Crowd(target, STREAMED_CONNECTIONS, 61)
  const held: number[] = [target.residentMb() ?? Number.NaN]
  let errors = 0
  for (let sample = 0; sample < SAMPLES; sample++) {
    progress(`${target.name}: ${(sample * part).toLocaleString('en')} answers streamed`)
    errors += (await crowd.send(true, { amount: part })).errors
    held.push(target.residentMb() ?? Number.NaN)
  }
  for (const [sample, rssMb] of held.entries()) {
    if (sample % SAMPLES_PER_LINE > 0) continue
    rows.push({ what: `${target.name}: ${(sample * part).toLocaleString('en')} streamed`, rssMb })
  }
  // Garbage goes in waves of thousands of requests; what counts is how low memory still gets.
  const [quarter, half] = [SAMPLES / 4, SAMPLES / 2]
  const growth = Math.min(...held.slice(half)) / Math.min(...held.slice(quarter, half)) - 1
  const streamed = (SAMPLES * part).toLocaleString('en')
  bars.push(
    atMost(
      `${target.name}: growth of memory over ${streamed} streamed answers`,
      growth,
      GROWTH_MAX,
    ),
    atMost(`${target.name}: errors in ${streamed} streamed answers`, errors, 0),
  )
}

/** What each of them took for one measure. */
function rowsOf(
  measure: Measure,
  measured: readonly Measured[],
  loads: ReadonlyMap<Target, LoadResult>,
  how = '',
): readonly BenchRow[] {
  return measured.map(({ target, took, added, injectedShare }) => {
    const load = how === '' ? loads.get(target) : undefined
    const perSecond = { first: undefined, last: load?.streamed, whole: load?.whole }[measure]
    return {
      what: `${MEASURES[measure]}, ${target.name}${how}`,
      p50: round(took[measure].p50),
      p95: round(took[measure].p95),
      ...(target.name === DIRECT
        ? {}
        : { addedP50: round(added[measure].p50), addedP95: round(added[measure].p95) }),
      ...(perSecond === undefined ? {} : { perSecond64: perSecond }),
      ...(perSecond === undefined || injectedShare === 0
        ? {}
        : { withMemory64: round(load?.injectedShare ?? Number.NaN) }),
    }
  })
}

function barsOf(
  measured: readonly Measured[],
  { off, on, peer }: Targets,
  embeddingMs: number,
  loads: ReadonlyMap<Target, LoadResult>,
  calibration: Calibration,
): Bar[] {
  const of = (target: Target | null) => measured.find((each) => each.target === target)
  const bars: Bar[] = []
  const add = (name: string, value: number | undefined, limit: number) =>
    bars.push(below(name, value ?? Number.NaN, limit))
  for (const measure of peer === null ? [] : NAMES) {
    for (const share of ['p50', 'p95'] as const) {
      const byPeer = of(peer)?.added[measure][share] ?? Number.NaN
      add(
        `${off.name}: added to the ${MEASURES[measure]}, ${share}, ms, against half of ${peer?.name}`,
        of(off)?.added[measure][share],
        round(byPeer * PEER_SHARE_MAX),
      )
    }
  }
  for (const measure of NAMES) {
    add(
      `${on.name}: added to the ${MEASURES[measure]} besides embedding, p95, ms`,
      (of(on)?.added[measure].p95 ?? Number.NaN) - embeddingMs,
      scaledLimit(MEMORY_MS_MAX, calibration),
    )
  }
  bars.push(...throughputBars({ off, on }, loads))
  const injected = of(on)?.injectedShare ?? 0
  bars.push(atLeast(`${on.name}: share that got memories`, injected, INJECTED_SHARE_MIN))
  return bars
}

function throughputBars(
  { off, on }: Pick<Targets, 'off' | 'on'>,
  loads: ReadonlyMap<Target, LoadResult>,
): readonly Bar[] {
  return (['streamed', 'whole'] as const).map((answers) => {
    const [plain, loaded] = [loads.get(off)?.[answers], loads.get(on)?.[answers]]
    const share = (loaded ?? Number.NaN) / (plain ?? Number.NaN)
    return atLeast(
      `${on.name}: ${answers} answers per second at ${CONNECTIONS} connections, share of memory off`,
      share,
      LOADED_SHARE_MIN,
    )
  })
}

function countErrors(loads: ReadonlyMap<Target, LoadResult>): number {
  return [...loads.values()].reduce((sum, load) => sum + load.errors, 0)
}
