/**
 * Telemetry: what the running system tells its operator, as log lines, metrics and spans.
 *
 * All names are in the closed tables below, so that documents, dashboards and code can't drift apart. No call ever
 * throws or waits, and none of what is told holds the text of a memory, a question, a key or a secret, unless the
 * operator asked for texts in spans.
 */

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const LOG_EVENTS = {
  started: 'The server listens.',
  stopping: 'The server was asked to stop.',
  stopped: 'The server has stopped.',
  request: 'A request was answered.',
  request_failed: 'A request ended in an error that is not the caller’s.',
  operation: 'A call of the engine ended.',
  operation_failed: 'A call of the engine failed for a reason that is not the caller’s.',
  retriever_failed: 'A retriever began to fail; recall answers from the others.',
  retriever_recovered: 'The retriever works again.',
  health_changed: 'The state of health is another than before.',
  spans_dropped: 'Spans could not be exported to the collector and were dropped.',
  job_finished: 'A background job ended.',
  file_watch_failed: 'Files could not be watched.',
  vector_replica_state_changed: 'The vector replica is in another state than before.',
} as const
export type LogEvent = keyof typeof LOG_EVENTS

/** The only fields a line can have. Whatever else is passed is left out, so nothing can slip in by accident. */
export const LOG_FIELDS = {
  requestId: 'Joins the lines of one request.',
  owner: 'Whose data it was about.',
  actor: 'The id of the API key that asked; never the key itself.',
  transport: 'How it came in: `http`, `mcp`, `cli`.',
  method: 'The method of a request.',
  route: 'The pattern of its address, without what was filled in.',
  status: 'The status it was answered with.',
  operation: 'The call of the engine.',
  outcome: '`ok`, or the code of the error.',
  code: 'The code of an error.',
  retriever: 'The retriever: `keyword`, `vector`, `rerank`.',
  state: 'The state something is in now.',
  reasons: 'Why, as codes of the table of reasons.',
  job: 'The kind of background work.',
  count: 'How many.',
  durationMs: 'How long it took, in milliseconds.',
  host: 'Where the server listens, or what it could not reach.',
  port: 'The port it listens on.',
  version: 'Of Recollect.',
} as const
export type LogField = keyof typeof LOG_FIELDS

export type LogFields = {
  readonly [Name in LogField]?: string | number | boolean | null | readonly string[] | undefined
} & {
  /** Told by its code and its place in the program. */
  readonly error?: unknown
}

type MetricDeclaration = { readonly labels: readonly string[]; readonly help: string }

export const COUNTERS = {
  recollect_http_requests_total: {
    labels: ['method', 'route', 'status'],
    help: 'Requests that were answered.',
  },
  recollect_operations_total: {
    labels: ['operation', 'outcome'],
    help: 'Calls of the engine; outcome is ok or the code of an error.',
  },
  recollect_recall_retrievers_total: {
    labels: ['retriever', 'state'],
    help: 'What the retrievers of recall did: searched, skipped or failed.',
  },
  recollect_recalls_abstained_total: {
    labels: [],
    help: 'Questions that got no answer because nothing was near enough.',
  },
  recollect_memories_recalled_total: {
    labels: [],
    help: 'Memories and turns that were returned by recall.',
  },
  recollect_contexts_injected_total: {
    labels: [],
    help: 'Requests that a context block was injected into.',
  },
  recollect_injected_tokens_total: { labels: [], help: 'Tokens that were added to prompts.' },
  recollect_gateway_requests_total: {
    labels: ['format', 'outcome'],
    help: 'Requests to models that passed; outcome is injected, or why no memories were added.',
  },
  recollect_provider_responses_total: {
    labels: ['provider', 'outcome'],
    help: 'How requests to models ended: with the status of the provider, or unreachable, timeout, interrupted (the response broke off) or client_closed (by the client, or because the server stopped).',
  },
  recollect_conversations_dropped_total: {
    labels: [],
    help: 'Pieces of conversations that were given up: too many waited, or the store failed for long.',
  },
  recollect_jobs_total: {
    labels: ['job', 'outcome'],
    help: 'Pieces of background work that ended.',
  },
  recollect_model_requests_total: {
    labels: ['outcome'],
    help: 'Questions that memory itself put to language models; outcome is ok or the code of an error.',
  },
  recollect_model_tokens_total: {
    labels: ['direction'],
    help: 'Tokens that these took: input or output.',
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
    help: 'How long requests took to answer.',
  },
  recollect_operation_seconds: {
    labels: ['operation'],
    help: 'How long calls of the engine took, failed ones included.',
  },
  recollect_recall_seconds: {
    labels: ['strategy'],
    help: 'How long answered questions took, by strategy.',
  },
  recollect_job_seconds: { labels: ['job'], help: 'How long background work took.' },
} as const satisfies Readonly<Record<string, MetricDeclaration>>

/** Read when somebody asks for the metrics; see `gaugesOf` in `engine/health.ts`. */
export const GAUGES = {
  recollect_ready: { labels: [], help: '1 while questions can be answered, if only in part.' },
  recollect_degraded: {
    labels: ['reason'],
    help: '1 for each reason why something is less than it should be.',
  },
  recollect_memories: { labels: [], help: 'Memories in the store.' },
  recollect_turns: { labels: [], help: 'Turns of conversations in the store.' },
  recollect_memories_without_vector: {
    labels: [],
    help: 'Memories and turns that are not embedded yet and are found by their words only.',
  },
  recollect_embedding_queue: { labels: [], help: 'Memories and turns in the embedding queue.' },
  recollect_vector_replica_state: {
    labels: ['state'],
    help: '1 for the state that the vector replica is in.',
  },
  recollect_vector_replica_pending: {
    labels: [],
    help: 'Memories whose current vector is not replicated yet, where they are tracked one by one.',
  },
  recollect_store_bytes: { labels: [], help: 'Size of the database, where that is known.' },
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

/** Spans are named as OpenTelemetry's conventions for memory name operations. */
export const SPANS = {
  search_memory: 'A question was asked.',
  create_memory: 'Memories were made that the caller knew to be new.',
  update_memory: 'A known memory was changed.',
  upsert_memory: 'A statement was made; whether it is new was decided here.',
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
  /** The memory, when it is one. */
  readonly memory?: string
  /** How many memories it was about. */
  readonly memories?: number
  /** Text, which leaves the process only when the operator asked for that. */
  readonly query?: string
  /** Asked for only then, so that nobody makes it in vain. */
  readonly contents?: () => readonly SpanRecord[]
}

/** Adds what became known to the span that is under way. */
export type AddSpanAttributes = (facts: SpanAttributes) => void

export interface Telemetry {
  log(level: LogLevel, event: LogEvent, fields?: LogFields): void
  count<Name extends CounterName>(name: Name, labels: CounterLabels<Name>, by?: number): void
  observe<Name extends HistogramName>(
    name: Name,
    seconds: number,
    labels: HistogramLabels<Name>,
  ): void
  /** Does the work inside a span; the outcome is that of the work. */
  span<Result>(
    name: SpanName,
    facts: SpanAttributes,
    work: (note: AddSpanAttributes) => Promise<Result>,
  ): Promise<Result>
  /** Seconds since some moment, only ever growing: for measuring how long something took. */
  monotonicSeconds(): number
}

const unnoted: AddSpanAttributes = () => {}

/** Tells nothing. */
export const NOOP_TELEMETRY: Telemetry = {
  log: () => {},
  count: () => {},
  observe: () => {},
  span: (_name, _facts, work) => work(unnoted),
  monotonicSeconds: () => 0,
}
