/**
 * `npm run bench -- http`: what the HTTP server adds to the engine.
 *
 * An owner with 10,000 memories in SQLite, keyword recall only, so that no model hides what the server costs. The server
 * runs in a process of its own; the client is in this one and shares the machine with it, so at 32 connections both
 * wait for the processor. `engine` and `operations` do the same calls without HTTP, on a file with the same content, in this
 * process; `operations` adds what every API does: validation, the audit log, the shape of the response. What the
 * server adds is measured over one connection: each call alternates with the same call without HTTP, and with a request that
 * does nothing, so that all meet the same machine. The client's own work counts as added.
 * With `--soak 60`, it then sends all calls for 60 seconds and reports errors and memory growth.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import type { OperationContext } from '../src/api/operations/operation.ts'
import { createEngine } from '../src/app/composition.ts'
import type { Engine } from '../src/engine/engine.ts'
import {
  atMost,
  type Bar,
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  below,
  machine,
  round,
  type Timing,
} from './harness.ts'
import { type BenchCall, benchCalls, fill, OWNER, SETTINGS } from './http/calls.ts'
import { type BenchServer, startServer } from './http/server.ts'

const MEMORIES = 10_000
const CONNECTIONS = 32
const SECONDS = 5
const SINGLE_RUNS = 500
/** Rounds to warm up are part of the work, as on a server that has been running. */
const WARM_UP_FACTOR = 1.3
const ADDED_MS_MAX = 1
/** What a request costs that does nothing: the client, the connection and the machine. */
const LIVE = { name: 'GET live', request: () => ({ method: 'GET', path: '/health/live' }) }
const SOAK_GROWTH_MAX = 0.25
/** The share of a soak after which a server has what it needs, and should need no more. */
const SETTLED_SHARE = 0.3
const SOAK_SAMPLES = 20

type Load = Timing & {
  /** What only one in twenty is faster than: what it costs when nothing else wants the machine. */
  readonly least: number
  readonly perSecond: number
  readonly errors: number
}

export async function benchHttp(options: BenchOptions): Promise<BenchReport> {
  const { progress, scale, soakSeconds = 0 } = options
  const folder = mkdtempSync(join(tmpdir(), 'recollect-bench-'))
  const memories = Math.ceil(MEMORIES * scale)
  const rows: BenchRow[] = []
  const bars: Bar[] = []
  try {
    progress(`filling two stores with ${memories.toLocaleString('en')} memories`)
    const engine = await createEngine({
      path: join(folder, 'engine.db'),
      embedding: false,
      settings: SETTINGS,
    })
    await fill(engine, memories)
    const server = await startServer({ path: join(folder, 'server.db'), memories })
    try {
      for (const call of benchCalls()) {
        await measureCall(call, engine, server, options, rows, bars)
      }
      if (soakSeconds > 0) await soak(server, soakSeconds, progress, rows, bars)
    } finally {
      await server.stop()
      await engine.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { bench: 'http', machine: machine(), rows, bars }
}

async function measureCall(
  call: BenchCall,
  engine: Engine,
  server: BenchServer,
  { progress, scale }: BenchOptions,
  rows: BenchRow[],
  bars: Bar[],
): Promise<void> {
  const seconds = Math.max(1, SECONDS * Math.min(1, scale))
  const runs = Math.max(50, Math.ceil(SINGLE_RUNS * Math.min(1, scale)))
  const context: OperationContext = {
    engine,
    version: 'bench',
    embeddingProviders: [],
    signal: new AbortController().signal,
    caller: { key: null, role: 'user', home: OWNER, actsFor: [] },
  }
  const bare = {
    engine: () => call.engine(engine),
    operations: () => call.operation(context),
  }
  progress(`${call.name}: one after the other`)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  await server.insideMs()
  const single = await timedInTurn(runs, {
    ...bare,
    http: () => sendCall(agent, server, call),
    nothing: () => sendCall(agent, server, LIVE),
  })
  const inside = loadOf([...(await server.insideMs())], 1, 0)
  agent.destroy()
  for (const [layer, work] of Object.entries(bare)) {
    progress(`${call.name}: ${layer}, ${CONNECTIONS} at once`)
    rows.push(rowOf(call, layer, single[layer], await inFlight(seconds, work)))
  }
  progress(`${call.name}: http, ${CONNECTIONS} at once`)
  const load = await cannon(server, [call], CONNECTIONS, seconds)
  rows.push(rowOf(call, 'http', single.http, load))
  rows.push(rowOf(call, 'http, inside the server', inside))
  rows.push(rowOf(call, 'http of nothing, in turn with it', single.nothing))
  const p50 = (layer: string) => single[layer]?.p50 ?? Number.NaN
  bars.push(
    below(
      `${call.name}: added inside the server to the operation, p50, ms`,
      inside.p50 - p50('operations'),
      ADDED_MS_MAX,
    ),
    below(
      `${call.name}: added by the door and the way there to the operation, p50, ms`,
      p50('http') - p50('operations'),
      ADDED_MS_MAX,
    ),
    below(
      `${call.name}: added to the bare engine, p50, ms`,
      p50('http') - p50('engine'),
      ADDED_MS_MAX,
    ),
    atMost(`${call.name}: errors`, load.errors, 0),
  )
}

function rowOf({ name }: BenchCall, layer: string, single?: Load, load?: Load): BenchRow {
  return {
    what: `${name}, ${layer}`,
    ...(single === undefined
      ? {}
      : { singleLeast: single.least, singleP50: single.p50, singleP95: single.p95 }),
    ...(load === undefined
      ? {}
      : { perSecond32: load.perSecond, p50at32: load.p50, p95at32: load.p95 }),
  }
}

/** Times several things by turns, so that whatever else the machine does falls on all of them alike. */
async function timedInTurn(
  runs: number,
  works: { readonly [name: string]: () => Promise<unknown> },
): Promise<{ readonly [name: string]: Load }> {
  const names = Object.keys(works)
  const times = new Map(names.map((name) => [name, [] as number[]]))
  for (let run = 0; run < runs * WARM_UP_FACTOR; run++) {
    for (const name of names) {
      const started = performance.now()
      await works[name]?.()
      if (run >= runs * (WARM_UP_FACTOR - 1)) times.get(name)?.push(performance.now() - started)
    }
  }
  return Object.fromEntries(names.map((name) => [name, loadOf(times.get(name) ?? [], 1, 0)]))
}

/** One request over a keep-alive connection. */
function sendCall(
  agent: Agent,
  { url, key }: BenchServer,
  call: Pick<BenchCall, 'name' | 'request'>,
): Promise<void> {
  const { method, path, body } = call.request()
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    request(`${url}${path}`, { agent, method, headers }, (response) => {
      const isFine = (response.statusCode ?? 500) < 300
      response.resume().once('end', () => {
        if (isFine) resolve()
        else reject(new Error(`${call.name} was answered with ${response.statusCode}.`))
      })
    })
      .once('error', reject)
      .end(body)
  })
}

/** Calls with as many under way at once as there are connections, for some seconds. */
async function inFlight(seconds: number, work: () => Promise<unknown>): Promise<Load> {
  const times: number[] = []
  const began = performance.now()
  const until = began + seconds * 1_000
  const worker = async () => {
    while (performance.now() < until) {
      const started = performance.now()
      await work()
      times.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  return loadOf(times, (performance.now() - began) / 1_000, 0)
}

async function cannon(
  { url, key }: BenchServer,
  calls: readonly BenchCall[],
  connections: number,
  duration: number,
): Promise<Load> {
  const times: number[] = []
  const instance = autocannon({
    url,
    connections,
    duration,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    requests: calls.map((call) => ({
      setupRequest: (defaults) => ({ ...defaults, ...call.request() }),
    })),
  })
  instance.on('response', (_client, _status, _bytes, ms: number) => times.push(ms))
  const { errors, timeouts, non2xx, duration: took } = await instance
  return loadOf(times, took, errors + timeouts + non2xx)
}

function loadOf(times: number[], seconds: number, errors: number): Load {
  times.sort((a, b) => a - b)
  const at = (share: number) =>
    round(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN)
  const perSecond = Math.round(times.length / seconds)
  return { least: at(0.05), p50: at(0.5), p95: at(0.95), perSecond, errors }
}

async function soak(
  server: BenchServer,
  seconds: number,
  progress: (what: string) => void,
  rows: BenchRow[],
  bars: Bar[],
): Promise<void> {
  const samples: number[] = []
  const slice = seconds / SOAK_SAMPLES
  let errors = 0
  let requests = 0
  for (let sample = 0; sample < SOAK_SAMPLES; sample++) {
    progress(`soak, ${Math.round((sample / SOAK_SAMPLES) * 100)} %`)
    const load = await cannon(server, benchCalls(), CONNECTIONS, Math.max(1, slice))
    errors += load.errors
    requests += load.perSecond * Math.max(1, slice)
    samples.push(await server.rssMb())
  }
  const settled = samples[Math.floor(samples.length * SETTLED_SHARE)] ?? 0
  const last = samples.at(-1) ?? 0
  rows.push({
    what: `soak, ${seconds} s`,
    perSecond32: Math.round(requests / seconds),
    rssMb: last,
  })
  bars.push(
    atMost('soak: errors', errors, 0),
    atMost('soak: growth of memory after it has settled', last / settled - 1, SOAK_GROWTH_MAX),
  )
}
