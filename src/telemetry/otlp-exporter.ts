/**
 * Exports spans to a collector: OTLP over HTTP, as JSON, in batches. Implemented here because the
 * current OpenTelemetry SDK requires a newer Node and dozens of packages for what is one request
 * with a list. A program with its own SDK keeps it: our spans then go to its tracer provider, and
 * this exporter stays inactive. Spans wait in a bounded queue. An unreachable collector costs
 * spans, never memory, time or errors.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { parseBaseUrl } from '../domain/service-endpoint.ts'
import { DelayedTask } from '../lib/delayed-task.ts'
import { exponentialBackoffMs } from '../lib/retry.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import { MINUTE_MS } from '../lib/time.ts'
import { encodeTraceRequest, type OtlpService } from './otlp-format.ts'
import { createRecordingTracer, type EndedSpan } from './span-recorder.ts'

export type OtlpExporterOptions = {
  /** The collector's URL; `/v1/traces` is appended unless present. */
  readonly endpoint: string
  readonly version: string
  /** The service name. Default: `recollect`. */
  readonly serviceName?: string
  /** For collectors that require authentication. */
  readonly headers?: Readonly<Record<string, string>>
  /** The delay before a batch is sent. Default: five seconds. */
  readonly batchIntervalMs?: number
  /** The timeout of a request. Default: ten seconds. */
  readonly timeoutMs?: number
  /** Called when spans are dropped; `because` is the response status, `queue full` or `closed`. */
  readonly onLost?: (spans: number, because: string) => void
}

export interface OtlpExporter {
  /** False when the program already has a tracer provider, which then gets the spans. */
  readonly isActive: boolean
  /** Sends the queued spans, as far as possible now. */
  flush(): Promise<void>
  /** Flushes once more and stops. */
  close(): Promise<void>
}

const QUEUE_SPANS_MAX = 4_096
const BATCH_SPANS_MAX = 512
const BATCH_MS = 5_000
const DEADLINE_MS = 10_000
const PAUSE_MS_MAX = MINUTE_MS
/** Shutdown must not wait long for spans. */
const CLOSE_MS = 2_000
/** The statuses that the protocol declares retryable. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504])

type SendOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused'; readonly because: string }
  | { readonly kind: 'unreachable'; readonly pauseMs?: number }

export function openOtlpExporter(options: OtlpExporterOptions): OtlpExporter {
  const batches = new SpanExporter(options)
  const tracer = createRecordingTracer((span) => batches.add(span))
  if (!trace.setGlobalTracerProvider({ getTracer: () => tracer })) {
    return { isActive: false, flush: async () => {}, close: async () => {} }
  }
  // Without a context manager, spans would lose their parents across an await.
  const manager = new AsyncContextManager()
  const isOurs = context.setGlobalContextManager(manager)
  let closing: Promise<void> | undefined
  return {
    isActive: true,
    flush: () => batches.flush(),
    close: () => {
      closing ??= batches.close().finally(() => {
        trace.disable()
        if (isOurs) context.disable()
      })
      return closing
    },
  }
}

class SpanExporter {
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #service: OtlpService
  readonly #batchMs: number
  readonly #deadlineMs: number
  readonly #onLost: (spans: number, because: string) => void
  #queue: EndedSpan[] = []
  readonly #delayedSend = new DelayedTask(() => void this.#send())
  readonly #sending = new SingleFlight(() => this.#sendAll())
  #failures = 0
  /** Spans dropped because the queue was full; reported together at the next attempt. */
  #overflow = 0
  #isClosed = false
  readonly #giveUp = new AbortController()

  constructor(options: OtlpExporterOptions) {
    this.#url = tracesUrl(options.endpoint)
    this.#headers = { ...options.headers, 'content-type': 'application/json' }
    this.#service = { name: options.serviceName ?? 'recollect', version: options.version }
    this.#batchMs = options.batchIntervalMs ?? BATCH_MS
    this.#deadlineMs = options.timeoutMs ?? DEADLINE_MS
    this.#onLost = options.onLost ?? (() => {})
  }

  add(span: EndedSpan): void {
    if (this.#isClosed) return
    if (this.#queue.length >= QUEUE_SPANS_MAX) this.#overflow++
    else this.#queue.push(span)
    const isFull = this.#queue.length >= BATCH_SPANS_MAX && this.#failures === 0
    this.#sendIn(isFull ? 0 : this.#batchMs)
  }

  async flush(): Promise<void> {
    await this.#sending.running
    await this.#send()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const patience = setTimeout(() => this.#giveUp.abort(), CLOSE_MS)
    await this.flush()
    clearTimeout(patience)
    this.#delayedSend.cancel()
    if (this.#queue.length > 0) this.#onLost(this.#queue.length, 'closed')
    this.#queue = []
  }

  #sendIn(ms: number): void {
    if (ms === 0) {
      this.#send()
      return
    }
    this.#delayedSend.schedule(ms)
  }

  #send(): Promise<void> {
    this.#delayedSend.cancel()
    return this.#sending.run()
  }

  async #sendAll(): Promise<void> {
    if (this.#overflow > 0) this.#onLost(this.#overflow, 'queue full')
    this.#overflow = 0
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, BATCH_SPANS_MAX)
      const outcome = await this.#post(batch)
      if (outcome.kind === 'unreachable') {
        this.#pause(outcome.pauseMs)
        return
      }
      // Spans recorded meanwhile are queued behind the batch.
      this.#queue = this.#queue.slice(batch.length)
      this.#failures = 0
      if (outcome.kind === 'refused') this.#onLost(batch.length, outcome.because)
    }
  }

  /** The batch stays at the head until it is sent or the queue overflows. */
  #pause(pauseMs: number | undefined): void {
    this.#failures++
    const limits = { firstMs: this.#batchMs, maxMs: PAUSE_MS_MAX }
    const backoff = exponentialBackoffMs(this.#failures - 1, limits)
    if (!this.#isClosed) this.#sendIn(Math.min(pauseMs ?? backoff, PAUSE_MS_MAX))
  }

  async #post(batch: readonly EndedSpan[]): Promise<SendOutcome> {
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(encodeTraceRequest(this.#service, batch)),
        // Redirects are refused: another server must not get the spans and headers.
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(this.#deadlineMs), this.#giveUp.signal]),
      })
      await response.body?.cancel()
      if (response.ok) return { kind: 'sent' }
      return PASSING.has(response.status)
        ? { kind: 'unreachable', ...retryAfter(response) }
        : { kind: 'refused', because: String(response.status) }
    } catch {
      return { kind: 'unreachable' }
    }
  }
}

function retryAfter(response: Response): { readonly pauseMs?: number } {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return seconds > 0 ? { pauseMs: seconds * 1_000 } : {}
}

function tracesUrl(endpoint: string): string {
  const base = parseBaseUrl(endpoint, 'the trace collector')
  return base.endsWith('/v1/traces') ? base : `${base}/v1/traces`
}

class AsyncContextManager implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT
  }

  with<Given extends unknown[], Work extends (...given: Given) => ReturnType<Work>>(
    within: Context,
    work: Work,
    self?: ThisParameterType<Work>,
    ...given: Given
  ): ReturnType<Work> {
    return this.#storage.run(within, () => work.call(self as ThisParameterType<Work>, ...given))
  }

  bind<Target>(within: Context, target: Target): Target {
    if (typeof target !== 'function') return target
    const bound = (...given: unknown[]) =>
      this.#storage.run(within, () => Reflect.apply(target, undefined, given))
    return bound as Target // named like the target
  }

  enable(): this {
    return this
  }

  disable(): this {
    this.#storage.disable()
    return this
  }
}
