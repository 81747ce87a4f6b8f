import type {
  CounterName,
  LogEvent,
  LogFields,
  LogLevel,
  SpanAttributes,
  SpanName,
  Telemetry,
} from '../../src/telemetry/telemetry.ts'

type Labels = Readonly<Record<string, string>>

export type KeptSpan = {
  readonly name: SpanName
  readonly facts: SpanAttributes
  isFailed: boolean
}

/** Telemetry that keeps what it is told. Its time moves by a second whenever somebody looks. */
export class KeptTelemetry implements Telemetry {
  readonly logged: {
    readonly level: LogLevel
    readonly event: LogEvent
    readonly fields: LogFields
  }[] = []
  readonly spans: KeptSpan[] = []
  readonly observed: {
    readonly name: string
    readonly seconds: number
    readonly labels: Labels
  }[] = []
  readonly #counts = new Map<string, number>()
  #seconds = 0

  log(level: LogLevel, event: LogEvent, fields: LogFields = {}): void {
    this.logged.push({ level, event, fields })
  }

  count(name: CounterName, labels: Labels, by = 1): void {
    const series = seriesOf(name, labels)
    this.#counts.set(series, (this.#counts.get(series) ?? 0) + by)
  }

  observe(name: string, seconds: number, labels: Labels): void {
    this.observed.push({ name, seconds, labels })
  }

  async span<Result>(
    name: SpanName,
    facts: SpanAttributes,
    work: (note: (more: SpanAttributes) => void) => Promise<Result>,
  ): Promise<Result> {
    const settings = { name, facts, isFailed: false }
    this.spans.push(settings)
    try {
      return await work((more) => {
        settings.facts = { ...settings.facts, ...more }
      })
    } catch (error) {
      settings.isFailed = true
      throw error
    }
  }

  monotonicSeconds(): number {
    this.#seconds++
    return this.#seconds
  }

  counted(name: CounterName, labels: Labels = {}): number {
    return this.#counts.get(seriesOf(name, labels)) ?? 0
  }
}

function seriesOf(name: string, labels: Labels): string {
  return `${name} ${JSON.stringify(Object.entries(labels).sort())}`
}
