/**
 * Telemetry for operators: log lines, metrics and spans. All names are in the closed tables below,
 * so that documentation, dashboards and code cannot drift apart. No call ever throws or blocks, and
 * no output contains the text of a memory or a question, a key or a secret, unless the operator
 * enabled texts in spans.
 */

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const LOG_EVENTS = {
  started: 'The server listens.',
  stopping: 'The server is stopping.',
  stopped: 'The server has stopped.',
  request: 'A request completed.',
  request_failed: 'A request failed with a server error.',
  operation: 'An engine call completed.',
  operation_failed: 'An engine call failed with an internal error.',
  retriever_failed: 'A retriever began to fail; recall answers from the others.',
  retriever_recovered: 'The retriever works again.',
  health_changed: 'The health status changed.',
  spans_dropped: 'Spans could not be exported to the collector and were dropped.',
  job_finished: 'A background job ended.',
  file_watch_failed: 'Files could not be watched.',
  vector_replica_state_changed: 'The state of the vector replica changed.',
} as const
export type LogEvent = keyof typeof LOG_EVENTS

/**
 * The only fields of a log line. Anything else is dropped, so that nothing is logged by accident.
 */
export const LOG_FIELDS = {
  requestId: 'Correlates the lines of one request.',
  owner: 'The owner of the data.',
  actor: "The id of the caller's API key; never the key itself.",
  transport: 'The interface: `http`, `mcp`, `cli`.',
  method: 'The HTTP method.',
  route: 'The route pattern, without parameter values.',
  status: 'The HTTP status of the response.',
  operation: 'The engine call.',
  outcome: '`ok`, or the code of the error.',
  code: 'The code of an error.',
  retriever: 'The retriever: `keyword`, `vector`, `rerank`.',
  state: 'The new state.',
  reasons: 'Reason codes.',
  job: 'The kind of background work.',
  count: 'How many.',
  durationMs: 'The duration in milliseconds.',
  host: 'The address that the server listens on, or that it could not reach.',
  port: 'The port it listens on.',
  version: 'Of Recollect.',
} as const
export type LogField = keyof typeof LOG_FIELDS

export type LogFields = {
  readonly [Name in LogField]?: string | number | boolean | null | readonly string[] | undefined
} & {
  /** Logged as its code and location. */
  readonly error?: unknown
}

type MetricDeclaration = { readonly labels: readonly string[]; readonly help: string }

export const COUNTERS = {
  recollect_http_requests_total: {
    labels: ['method', 'route', 'status'],
    help: 'Completed requests.',
  },
  recollect_operations_total: {
    labels: ['operation', 'outcome'],
    help: 'Engine calls; outcome is ok or an error code.',
  },
  recollect_recall_retrievers_total: {
    labels: ['retriever', 'state'],
    help: 'Runs of the recall retrievers: searched, skipped or failed.',
  },
  recollect_recalls_abstained_total: {
    labels: [],
    help: 'Recalls that returned nothing because nothing reached the similarity threshold.',
  },
  recollect_memories_recalled_total: {
    labels: [],
    help: 'Memories and turns returned by recall.',
  },
  recollect_contexts_injected_total: {
    labels: [],
    help: 'Requests with an injected context block.',
  },
  recollect_injected_tokens_total: { labels: [], help: 'Tokens added to prompts.' },
  recollect_gateway_requests_total: {
    labels: ['format', 'outcome'],
    help: 'Requests forwarded to models; outcome is injected, or the reason why no memories were added.',
  },
  recollect_provider_responses_total: {
    labels: ['provider', 'outcome'],
    help: 'How requests to models ended: with the status of the provider, or unreachable, timeout, interrupted (the response broke off) or client_closed (by the client, or because the server stopped).',
  },
  recollect_conversations_dropped_total: {
    labels: [],
    help: 'Conversation parts dropped because the queue was full or the store kept failing.',
  },
  recollect_jobs_total: {
    labels: ['job', 'outcome'],
    help: 'Completed background jobs.',
  },
  recollect_model_requests_total: {
    labels: ['outcome'],
    help: 'Language model calls made by memory itself; outcome is ok or an error code.',
  },
  recollect_model_tokens_total: {
    labels: ['direction'],
    help: 'Tokens used by these calls: input or output.',
  },
  recollect_vector_searches_total: {
    labels: ['backend', 'outcome'],
    help: 'Vector searches while a vector replica is configured: the backend that served them, and why the replica did not.',
  },
  recollect_spans_dropped_total: {
    labels: [],
    help: 'Spans that could not be exported to the collector.',
  },
} as const satisfies Readonly<Record<string, MetricDeclaration>>

export const HISTOGRAMS = {
  recollect_http_request_seconds: {
    labels: ['method', 'route'],
    help: 'Duration of requests.',
  },
  recollect_operation_seconds: {
    labels: ['operation'],
    help: 'Duration of engine calls, failed ones included.',
  },
  recollect_recall_seconds: {
    labels: ['strategy'],
    help: 'Duration of successful recalls, by strategy.',
  },
  recollect_job_seconds: { labels: ['job'], help: 'Duration of background jobs.' },
} as const satisfies Readonly<Record<string, MetricDeclaration>>

/** Read on every scrape of the metrics; see `gaugesOf`. */
export const GAUGES = {
  recollect_ready: { labels: [], help: '1 while recall works, even if only in part.' },
  recollect_degraded: {
    labels: ['reason'],
    help: '1 for each active reason of a degraded state.',
  },
  recollect_memories: { labels: [], help: 'Memories in the store.' },
  recollect_turns: { labels: [], help: 'Turns of conversations in the store.' },
  recollect_memories_without_vector: {
    labels: [],
    help: 'Memories and turns that are not embedded yet and are found by keywords only.',
  },
  recollect_embedding_queue: { labels: [], help: 'Memories and turns in the embedding queue.' },
  recollect_vector_replica_state: {
    labels: ['state'],
    help: '1 for the current state of the vector replica.',
  },
  recollect_vector_replica_pending: {
    labels: [],
    help: 'Memories whose current vector is not replicated yet, where they are tracked one by one.',
  },
  recollect_store_bytes: { labels: [], help: 'Size of the database, where known.' },
} as const satisfies Readonly<Record<string, MetricDeclaration>>

export type CounterName = keyof typeof COUNTERS
export type HistogramName = keyof typeof HISTOGRAMS
export type GaugeName = keyof typeof GAUGES

type MetricLabels<Kind extends MetricDeclaration> = {
  readonly [Label in Kind['labels'][number]]: string
}
export type CounterLabels<Name extends CounterName> = MetricLabels<(typeof COUNTERS)[Name]>
export type HistogramLabels<Name extends HistogramName> = MetricLabels<(typeof HISTOGRAMS)[Name]>

export type GaugeReading = {
  readonly name: GaugeName
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Span names follow OpenTelemetry's conventions for memory operations. */
export const SPANS = {
  search_memory: 'A recall.',
  create_memory: 'Memories were created without deduplication.',
  update_memory: 'A memory was updated.',
  upsert_memory: 'A memory was remembered: created, or merged with an existing one.',
  delete_memory: 'A memory was forgotten or erased.',
} as const
export type SpanName = keyof typeof SPANS

export type SpanRecord = {
  readonly id: string
  readonly content: string
  readonly score?: number
}

export type SpanAttributes = {
  readonly owner?: string
  readonly session?: string
  /** The memory, for operations on a single one. */
  readonly memory?: string
  /** The number of memories involved. */
  readonly memories?: number
  /** Text, exported only when the operator enabled it. */
  readonly query?: string
  /** Evaluated only when it is exported. */
  readonly contents?: () => readonly SpanRecord[]
}

/** Adds attributes to the current span. */
export type AddSpanAttributes = (facts: SpanAttributes) => void

export interface Telemetry {
  log(level: LogLevel, event: LogEvent, fields?: LogFields): void
  count<Name extends CounterName>(name: Name, labels: CounterLabels<Name>, by?: number): void
  observe<Name extends HistogramName>(
    name: Name,
    seconds: number,
    labels: HistogramLabels<Name>,
  ): void
  /** Runs the work inside a span and returns its result. */
  span<Result>(
    name: SpanName,
    facts: SpanAttributes,
    work: (note: AddSpanAttributes) => Promise<Result>,
  ): Promise<Result>
  /** Seconds on a monotonic clock, for measuring durations. */
  monotonicSeconds(): number
}

const unnoted: AddSpanAttributes = () => {}

/** Telemetry that does nothing. */
export const NOOP_TELEMETRY: Telemetry = {
  log: () => {},
  count: () => {},
  observe: () => {},
  span: (_name, _facts, work) => work(unnoted),
  monotonicSeconds: () => 0,
}
