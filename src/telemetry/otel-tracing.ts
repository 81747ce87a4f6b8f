/**
 * Spans through OpenTelemetry's API, named and described by its conventions for memory operations.
 * Without a tracer provider, only one inert span is created. With one, of the host program or ours
 * (see `startExporter`), a span names the store and the records; queries and results are included
 * only when the operator enabled that.
 */
import {
  type Attributes,
  context,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { toAppError } from '../lib/errors.ts'
import type { OtlpExporter, OtlpExporterOptions } from './otlp-exporter.ts'
import { type AddSpanAttributes, SPANS, type SpanAttributes, type SpanName } from './telemetry.ts'

export type TracingOptions = {
  readonly version: string
  /** Whether to include questions and memory texts. Default: no. */
  readonly captureContent?: boolean
}

export interface OtelTracing {
  span<Result>(
    name: SpanName,
    facts: SpanAttributes,
    work: (note: AddSpanAttributes) => Promise<Result>,
  ): Promise<Result>
}

const NAME_CHARACTERS_MAX = 200
const QUERY_CHARACTERS_MAX = 4_000
const RECORDS_MAX = 50
const RECORD_CHARACTERS_MAX = 2_000

const unnoted: AddSpanAttributes = () => {}

export function createOtelTracing({
  version,
  captureContent = false,
}: TracingOptions): OtelTracing {
  const tracer = trace.getTracer('recollect', version)
  return {
    span: (name, facts, work) => {
      const span = tracer.startSpan(name, OPTIONS[name])
      if (!span.isRecording()) return work(unnoted)
      const note: AddSpanAttributes = (more) => {
        span.setAttributes(toAttributes(more, captureContent))
      }
      note(facts)
      const within = trace.setSpan(context.active(), span)
      return ended(span, () => context.with(within, () => work(note)))
    },
  }
}

/** Created once. The operation is set at the start, where samplers read it. */
const OPTIONS: Readonly<Record<string, SpanOptions>> = Object.fromEntries(
  Object.keys(SPANS).map((name) => [
    name,
    { kind: SpanKind.INTERNAL, attributes: { 'gen_ai.operation.name': name } },
  ]),
)

async function ended<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    // The message is omitted: it may quote input.
    span.setAttribute('error.type', toAppError(thrown).code)
    span.setStatus({ code: SpanStatusCode.ERROR })
    throw thrown
  } finally {
    span.end()
  }
}

function toAttributes(facts: SpanAttributes, captureContent: boolean): Attributes {
  const { owner, session, memory, memories, query, contents } = facts
  return {
    ...named('gen_ai.memory.store.id', owner),
    ...named('gen_ai.conversation.id', session),
    ...named('gen_ai.memory.record.id', memory),
    ...(memories === undefined ? {} : { 'gen_ai.memory.record.count': memories }),
    ...(captureContent && typeof query === 'string'
      ? { 'gen_ai.memory.query.text': query.slice(0, QUERY_CHARACTERS_MAX) }
      : {}),
    ...(captureContent && contents !== undefined
      ? { 'gen_ai.memory.records': recordsText(contents) }
      : {}),
  }
}

/** Names are as the caller sent them, before validation. */
function named(attribute: string, name: unknown): Attributes {
  return typeof name === 'string' ? { [attribute]: name.slice(0, NAME_CHARACTERS_MAX) } : {}
}

/** Not every backend supports objects as attributes; the conventions use JSON then. */
function recordsText(contents: NonNullable<SpanAttributes['contents']>): string {
  const records = contents().slice(0, RECORDS_MAX)
  return JSON.stringify(
    records.map(({ content, ...rest }) => ({
      ...rest,
      content: content.slice(0, RECORD_CHARACTERS_MAX),
    })),
  )
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/**
 * Runs the work as part of the caller's trace, from a `traceparent` header; an invalid header is
 * ignored.
 */
export function runInTrace<Result>(traceparent: string | undefined, work: () => Result): Result {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return work()
  const caller = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
  }
  if (!trace.isSpanContextValid(caller)) return work()
  return context.with(trace.setSpanContext(context.active(), caller), work)
}

/** Starts exporting spans to a collector. The exporter is loaded only here. */
export async function startOtlpExporter(options: OtlpExporterOptions): Promise<OtlpExporter> {
  const { openOtlpExporter: openExporter } = await import('./otlp-exporter.ts')
  return openExporter(options)
}
