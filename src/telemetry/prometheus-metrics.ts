/** Metrics in Prometheus format, in a separate registry: a host program may have its own. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { withTimeout } from '../lib/timeout.ts'
import {
  COUNTERS,
  type CounterName,
  GAUGES,
  type GaugeReading,
  HISTOGRAMS,
  type HistogramName,
} from './telemetry.ts'

export type MetricsOptions = {
  /** Reads the gauges on every scrape. */
  readonly gauges?: () => Promise<readonly GaugeReading[]>
  /** The timeout of reading gauges. Default: two seconds. */
  readonly gaugeTimeoutMs?: number
  /** Also export process metrics: CPU, memory, event loop. Default: no. */
  readonly process?: boolean
}

export interface PrometheusMetrics {
  count(name: CounterName, labels: Labels, by?: number): void
  observe(name: HistogramName, seconds: number, labels: Labels): void
  /** The response body of `/metrics`. */
  text(): Promise<string>
  readonly contentType: string
}

type Labels = Readonly<Record<string, string>>
type MetricRow = { readonly labels: readonly string[]; readonly help: string }

/** From a tenth of a millisecond, for reads from memory, up to slow models. */
const BUCKETS = [
  0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]
/**
 * Limits label cardinality, so that an unbounded label cannot fill the memory: further values
 * become `other`.
 */
const SERIES_MAX = 2_000
const LABEL_CHARACTERS_MAX = 100
const GAUGES_MS = 2_000
/** The sampling interval of the event loop; the usual 10 ms would keep an idle process awake. */
const EVENT_LOOP_MS = 100

export function createPrometheusMetrics(options: MetricsOptions = {}): PrometheusMetrics {
  const registry = new Registry()
  const registers = [registry]
  const counters = mapTable(COUNTERS, (name, { help, labels }: MetricRow) => ({
    metric: new Counter<string>({ name, help, labelNames: labels, registers }),
    series: createSeries(labels),
  }))
  const histograms = mapTable(HISTOGRAMS, (name, { help, labels }: MetricRow) => ({
    metric: new Histogram<string>({ name, help, labelNames: labels, registers, buckets: BUCKETS }),
    series: createSeries(labels),
  }))
  if (options.process === true) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_MS })
  }
  return {
    contentType: registry.contentType,
    count: (name, labels, by = 1) => {
      if (!(by >= 0 && by < Number.POSITIVE_INFINITY)) return
      const { metric, series } = counters[name]
      metric.inc(series(labels), by)
    },
    observe: (name, seconds, labels) => {
      if (!Number.isFinite(seconds)) return
      const { metric, series } = histograms[name]
      metric.observe(series(labels), seconds)
    },
    text: async () => {
      const [own, readings] = await Promise.all([registry.metrics(), readInTime(options)])
      return readings.length === 0 ? own : `${own}\n${await toText(readings)}`
    },
  }
}

/** Reset on every scrape: an unavailable gauge is omitted rather than reported stale. */
async function toText(readings: readonly GaugeReading[]): Promise<string> {
  const registry = new Registry()
  for (const name of new Set(readings.map((reading) => reading.name))) {
    const { help, labels: labelNames } = GAUGES[name]
    const gauge = new Gauge<string>({ name, help, labelNames, registers: [registry] })
    for (const reading of readings) {
      if (reading.name === name) gauge.set(reading.labels, reading.value)
    }
  }
  return registry.metrics()
}

/**
 * Operators read metrics when something is wrong: they must be served even when the store hangs.
 */
async function readInTime({
  gauges,
  gaugeTimeoutMs: gaugesMs = GAUGES_MS,
}: MetricsOptions): Promise<readonly GaugeReading[]> {
  if (gauges === undefined) return []
  const read = await withTimeout(gaugesMs, gauges)
  return read.kind === 'done' ? read.result : []
}

/** Sanitizes labels: exactly those of the table, short, and of bounded cardinality. */
function createSeries(names: readonly string[]): (labels: Labels) => Record<string, string> {
  const known = new Map<string, Record<string, string>>()
  const other = Object.fromEntries(names.map((name) => [name, 'other']))
  return (labels) => {
    let key = ''
    for (const name of names) key += `${labels[name]}\n`
    const present = known.get(key)
    if (present !== undefined) return present
    if (known.size >= SERIES_MAX) return other
    const values = names.map((name) => [
      name,
      String(labels[name] ?? 'none').slice(0, LABEL_CHARACTERS_MAX),
    ])
    const made = Object.fromEntries(values)
    known.set(key, made)
    return made
  }
}

function mapTable<Name extends string, Row, Result>(
  table: Readonly<Record<Name, Row>>,
  make: (name: Name, row: Row) => Result,
): Readonly<Record<Name, Result>> {
  const names = Object.keys(table) as Name[] // a table has no other keys
  return Object.fromEntries(names.map((name) => [name, make(name, table[name])])) as Record<
    Name,
    Result
  > // one for each name
}
