/**
 * A minimal tracer for OpenTelemetry's API: every span is recorded, unless the caller's trace is
 * unsampled, and handed over when it ends.
 */
import { randomBytes } from 'node:crypto'
import {
  type Attributes,
  type AttributeValue,
  type Context,
  context,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'

/** The data of an ended span. */
export type EndedSpan = {
  readonly context: SpanContext
  readonly parentSpanId: string | null
  readonly name: string
  readonly kind: SpanKind
  readonly startMs: number
  readonly endMs: number
  readonly attributes: ReadonlyMap<string, AttributeValue>
  readonly isFailed: boolean
}

const ATTRIBUTES_MAX = 128

export function createRecordingTracer(onEnd: (span: EndedSpan) => void): Tracer {
  const startSpan = (name: string, options: SpanOptions = {}, from = context.active()): Span => {
    const parent = options.root === true ? undefined : trace.getSpanContext(from)
    if (parent === undefined || !trace.isSpanContextValid(parent)) {
      return new RecordedSpan(name, options, null, newContext(newId(16)), onEnd)
    }
    const isWanted = (parent.traceFlags & TraceFlags.SAMPLED) !== 0
    if (!isWanted) return trace.wrapSpanContext(parent)
    return new RecordedSpan(name, options, parent.spanId, newContext(parent.traceId), onEnd)
  }
  return {
    startSpan,
    startActiveSpan: <Work extends (span: Span) => unknown>(
      name: string,
      ...rest: readonly [...(SpanOptions | Context)[], Work]
    ) => {
      // Options and context are optional; the callback always comes last.
      const work = rest.at(-1) as Work
      const [options, from = context.active()] = rest.slice(0, -1) as [SpanOptions?, Context?]
      const span = startSpan(name, options, from)
      return context.with(trace.setSpan(from, span), () => work(span)) as ReturnType<Work> // the return type of the callback
    },
  }
}

function newContext(traceId: string): SpanContext {
  return { traceId, spanId: newId(8), traceFlags: TraceFlags.SAMPLED }
}

function newId(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}

class RecordedSpan implements Span {
  readonly #context: SpanContext
  readonly #parentSpanId: string | null
  readonly #kind: SpanKind
  readonly #attributes = new Map<string, AttributeValue>()
  readonly #onEnd: (span: EndedSpan) => void
  /** The wall clock may jump, so durations use the monotonic clock. */
  readonly #startMs = Date.now()
  readonly #started = performance.now()
  #name: string
  #isFailed = false
  #isEnded = false

  constructor(
    name: string,
    { kind = SpanKind.INTERNAL, attributes = {} }: SpanOptions,
    parentSpanId: string | null,
    own: SpanContext,
    onEnd: (span: EndedSpan) => void,
  ) {
    this.#name = name
    this.#kind = kind
    this.#parentSpanId = parentSpanId
    this.#context = own
    this.#onEnd = onEnd
    this.setAttributes(attributes)
  }

  spanContext(): SpanContext {
    return this.#context
  }

  setAttribute(name: string, value: AttributeValue): this {
    const hasRoom = this.#attributes.size < ATTRIBUTES_MAX || this.#attributes.has(name)
    if (hasRoom && value != null) this.#attributes.set(name, value)
    return this
  }

  setAttributes(attributes: Attributes): this {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined) this.setAttribute(name, value)
    }
    return this
  }

  setStatus({ code }: SpanStatus): this {
    this.#isFailed = code === SpanStatusCode.ERROR
    return this
  }

  updateName(name: string): this {
    this.#name = name
    return this
  }

  isRecording(): boolean {
    return !this.#isEnded
  }

  /** Only the error's class: messages quote input. */
  recordException(exception: unknown): void {
    this.setAttribute('error.type', exception instanceof Error ? exception.name : typeof exception)
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#onEnd({
      context: this.#context,
      parentSpanId: this.#parentSpanId,
      name: this.#name,
      kind: this.#kind,
      startMs: this.#startMs,
      endMs: this.#startMs + performance.now() - this.#started,
      attributes: this.#attributes,
      isFailed: this.#isFailed,
    })
  }

  // Events and links are not exported.
  addEvent(): this {
    return this
  }

  addLink(): this {
    return this
  }

  addLinks(): this {
    return this
  }
}
