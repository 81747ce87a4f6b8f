/**
 * Telemetry around an engine: every asynchronous call is counted and timed under the name of its method, memory
 * operations run inside spans, and recall and requests to models are measured by their outcome.
 */

import type { Conversations } from '../conversations/conversation-service.ts'
import type { PreparedRequest } from '../conversations/conversations.ts'
import type { Memory } from '../domain/memory.ts'
import type { Files } from '../files/files.ts'
import type { Learning, Summaries } from '../learning/learning.ts'
import { ERRORS, toAppError } from '../lib/errors.ts'
import { getField } from '../lib/json.ts'
import type { MemoryService } from '../memory/memory-service.ts'
import type { RecallResult } from '../recall/recall-result.ts'
import type { ReplicaState, ReplicationListener } from '../storage/vector-replication.ts'
import {
  NOOP_TELEMETRY,
  type SpanAttributes,
  type SpanName,
  type Telemetry,
} from '../telemetry/telemetry.ts'
import type { Engine } from './engine.ts'
import type { EngineAdmin } from './engine-admin.ts'

export function instrumentEngine(engine: Engine, telemetry: Telemetry): Engine {
  if (telemetry === NOOP_TELEMETRY) return engine
  const meter = new OperationMeter(telemetry)
  const memories = instrumentMemories(engine.memories, meter)
  const { remember, get, list, edit, forget, restore, undo } = memories
  return {
    ...{ ...engine, memories, remember, get, list, edit, forget, restore, undo },
    recall: instrumentRecall(engine.recall, telemetry, meter),
    learn: meter.method('learn', engine.learn, {
      name: 'upsert_memory',
      after: ({ remembered }) => describeMemories(remembered.map(({ memory }) => memory)),
    }),
    ...meter.methods('', engine, ['status', 'warmUp', 'close']),
    context: meter.all('context.', engine.context, ['preview', 'searchSources']),
    conversations: instrumentConversations(engine.conversations, telemetry, meter),
    learning: instrumentLearning(engine.learning, meter),
    files: engine.files === null ? null : instrumentFiles(engine.files, meter),
    jobs: meter.all('jobs.', engine.jobs, METHODS.jobs),
    admin: instrumentAdmin(engine.admin, meter),
  }
}

// biome-ignore format: one line for each service
const METHODS = {
  memories: ['proposeEdit', 'get', 'list', 'count', 'asOf', 'history', 'chain', 'editMatching', 'emptyTrash', 'clear', 'undo', 'recordUse', 'summarize', 'summarizeToFit'],
  turns: ['list', 'get', 'search', 'edit', 'disable', 'restore', 'delete', 'getSources'],
  learning: ['distill', 'ingest', 'consolidate', 'listConsolidations', 'forecastEvictions'],
  signals: ['list', 'get', 'retry', 'forget', 'report'],
  review: ['list', 'approve', 'reject', 'listConflicts', 'resolveConflict', 'keepBoth', 'merge'],
  files: ['search', 'readFile', 'status', 'sync', 'probeEmbeddingAvailability', 'probeVectorAvailability', 'workspace', 'appendToDailyNote', 'createDatedNote', 'start'],
  jobs: ['list', 'get', 'retry', 'cancel', 'runDue', 'start', 'stop'],
  admin: ['listPlaces', 'eraseOwner', 'import', 'importRecords', 'openImport', 'importSource', 'findImportedMemory', 'reindex', 'checkIntegrity', 'testWrite'],
  keys: ['create', 'verify', 'list', 'revoke', 'ensureManagement', 'resetManagement'],
  overview: ['vectors', 'vectorState', 'entities', 'times', 'facets'],
  replication: ['current', 'qdrant', 'changeQdrant', 'health', 'searchReplica', 'cleanUp'],
} as const

type Memories = MemoryService & Summaries

function instrumentMemories(memories: Memories, meter: OperationMeter): Memories {
  const update = { name: 'update_memory', before: describeRecord, after: describeMemory } as const
  const remove = {
    name: 'delete_memory',
    before: describeRecord,
    after: () => ({ memories: 1 }),
  } as const
  // Clearing and emptying the trash have no span: a deletion that names no record means all records.
  return {
    ...memories,
    remember: meter.method('remember', memories.remember, {
      name: 'upsert_memory',
      after: ({ memory }) => describeMemory(memory),
    }),
    edit: meter.method('edit', memories.edit, update),
    disable: meter.method('disable', memories.disable, update),
    restore: meter.method('restore', memories.restore, update),
    forget: meter.method('forget', memories.forget, remove),
    erase: meter.method('erase', memories.erase, remove),
    ...meter.methods('', memories, METHODS.memories),
  }
}

function instrumentRecall(
  recall: Engine['recall'],
  telemetry: Telemetry,
  meter: OperationMeter,
): Engine['recall'] {
  /** Retrievers that failed in the last recall: only a change is logged. */
  const failing = new Set<string>()
  const countRetrievers = ({ retrievers }: RecallResult) => {
    for (const [retriever, { state }] of Object.entries(retrievers)) {
      telemetry.count('recollect_recall_retrievers_total', { retriever, state })
      if (state === 'failed' && !failing.has(retriever)) {
        failing.add(retriever)
        telemetry.log('warn', 'retriever_failed', { retriever, state })
      } else if (state === 'searched' && failing.delete(retriever)) {
        telemetry.log('info', 'retriever_recovered', { retriever, state })
      }
    }
  }
  const countedRecall: Engine['recall'] = async (scope, query) => {
    const result = await recall(scope, query)
    ignoreErrors(() => {
      if (result.abstained) telemetry.count('recollect_recalls_abstained_total', {})
      const count = result.memories.length
      if (count > 0) telemetry.count('recollect_memories_recalled_total', {}, count)
      countRetrievers(result)
    })
    return result
  }
  return meter.method(
    'recall',
    countedRecall,
    {
      name: 'search_memory',
      before: (_, query) => describeText('query', getField(query, 'text')),
      after: ({ memories }) => ({
        memories: memories.length,
        contents: () =>
          memories.map(({ memory: { id, content }, score }) => ({ id, content, score })),
      }),
    },
    ({ strategy }, seconds) => telemetry.observe('recollect_recall_seconds', seconds, { strategy }),
  )
}

function instrumentConversations(
  conversations: Conversations,
  telemetry: Telemetry,
  meter: OperationMeter,
): Conversations {
  /** The format of requests with a context block and no outcome yet. */
  const formats = new WeakMap<PreparedRequest, string>()
  const countRequest = (format: string, outcome: string) =>
    telemetry.count('recollect_gateway_requests_total', { format, outcome })
  const onPrepared = (format: string, prepared: PreparedRequest | null) => {
    if (prepared === null) return
    const { skipped } = prepared
    if (skipped === null) formats.set(prepared, format)
    else runLater(() => countRequest(format, skipped))
  }
  return {
    ...conversations,
    ...meter.methods('conversations.', conversations, [
      'waitUntilRecorded',
      'getResponseOwner',
      'claimProviderIds',
      'flush',
    ]),
    ...meter.methods('', conversations, ['recallForPrompt', 'captureMessages']),
    receipts: meter.all('receipts.', conversations.receipts, ['list', 'get']),
    sessions: meter.all('sessions.', conversations.sessions, ['list', 'delete']),
    turns: meter.all('turns.', conversations.turns, METHODS.turns),
    episodes: meter.all('episodes.', conversations.episodes, ['list', 'get']),
    prepare: meter.method('conversations.prepare', async (request) => {
      const prepared = await conversations.prepare(request)
      ignoreErrors(() => onPrepared(request.format, prepared))
      return prepared
    }),
    prepareWithoutMemory: (request) => {
      const prepared = conversations.prepareWithoutMemory(request)
      ignoreErrors(() => onPrepared(request.format, prepared))
      return prepared
    },
    recordOutcome: (prepared, outcome) => {
      const dropped = conversations.recordOutcome(prepared, outcome)
      ignoreErrors(() => {
        const format = formats.get(prepared)
        if (format !== undefined && formats.delete(prepared)) {
          // Whether the request had a position for the block is known only now.
          countRequest(format, outcome.skipped ?? 'injected')
          if (outcome.placement !== null) {
            telemetry.count('recollect_contexts_injected_total', {})
            telemetry.count('recollect_injected_tokens_total', {}, prepared.tokens)
          }
        }
        if (dropped > 0) telemetry.count('recollect_conversations_dropped_total', {}, dropped)
      })
      return dropped
    },
  }
}

function instrumentLearning(learning: Learning, meter: OperationMeter): Learning {
  const { signals, review, identity } = learning
  return {
    ...meter.all('', learning, METHODS.learning),
    ...meter.methods('learning.', learning, ['status']),
    signals: meter.all('signals.', signals, METHODS.signals),
    review: meter.all('review.', review, METHODS.review),
    identity: meter.all('identity.', identity, ['list', 'get', 'add']),
  }
}

function instrumentFiles(files: Files, meter: OperationMeter): Files {
  return {
    ...meter.all('files.', files, METHODS.files),
    roots: meter.all('roots.', files.roots, ['add', 'remove', 'list']),
    contents: meter.all('contents.', files.contents, ['files', 'chunks']),
  }
}

function instrumentAdmin(admin: EngineAdmin, meter: OperationMeter): EngineAdmin {
  const { keys, settings, audit, idempotency, replication, overview, models } = admin
  return {
    ...meter.all('', admin, METHODS.admin),
    export: (scope, options) => meter.stream('export', [scope], admin.export(scope, options)),
    keys: meter.all('keys.', keys, METHODS.keys),
    settings: meter.all('settings.', settings, ['resolve', 'getStored', 'change']),
    audit: meter.all('audit.', audit, ['append', 'list']),
    idempotency: meter.all('idempotency.', idempotency, ['runOnce', 'clear']),
    replication: meter.all('replication.', replication, METHODS.replication),
    overview: meter.all('overview.', overview, METHODS.overview),
    models: meter.all('models.', models, ['embed', 'rerank', 'complete', 'providers']),
  }
}

type SpanDefinition<Args extends readonly unknown[], Result> = {
  readonly name: SpanName
  readonly before?: (...args: Args) => SpanAttributes
  readonly after: (result: Result) => SpanAttributes
}

class OperationMeter {
  readonly #telemetry: Telemetry

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry
  }

  /** The same method, counted and timed under this name, in a span where one is defined. */
  method<Args extends readonly unknown[], Result>(
    operation: string,
    call: (...args: Args) => Promise<Result>,
    span?: SpanDefinition<Args, Result>,
    onEnd?: (result: Result, seconds: number) => void,
  ): (...args: Args) => Promise<Result> {
    return (...args) => {
      const startedAt = this.#telemetry.monotonicSeconds()
      const work = span === undefined ? call(...args) : this.#inSpan(span, args, call)
      work.then(
        (result) => {
          const seconds = this.#secondsSince(startedAt)
          // Later, so that the caller continues first.
          runLater(() => {
            this.#recordSuccess(operation, args, seconds)
            onEnd?.(result, seconds)
          })
        },
        (error: unknown) => {
          const seconds = this.#secondsSince(startedAt)
          runLater(() => this.#recordFailure(operation, args, seconds, error))
        },
      )
      return work
    }
  }

  /** The named methods, each measured under the prefix and its name. */
  methods<Service extends object, Name extends string & AsyncMethodNames<Service>>(
    prefix: string,
    service: Service,
    names: readonly Name[],
  ): Pick<Service, Name> {
    const measured = names.map((name) => {
      const call = (...args: readonly unknown[]) =>
        (service as Record<Name, AsyncMethod>)[name](...args) // Name selects asynchronous methods only
      return [name, this.method(prefix + name, call)]
    })
    return Object.fromEntries(measured) as Pick<Service, Name> // the same methods, wrapped
  }

  /** The whole service with the named methods measured. */
  all<Service extends object, Name extends string & AsyncMethodNames<Service>>(
    prefix: string,
    service: Service,
    names: readonly Name[],
  ): Service {
    return { ...service, ...this.methods(prefix, service, names) }
  }

  /** A stream ends when its last item has been read, or when its reader stops. */
  async *stream<Item>(
    operation: string,
    args: readonly unknown[],
    items: AsyncIterable<Item>,
  ): AsyncGenerator<Item> {
    const startedAt = this.#telemetry.monotonicSeconds()
    let hasFailed = false
    try {
      yield* items
    } catch (error) {
      hasFailed = true
      const seconds = this.#secondsSince(startedAt)
      runLater(() => this.#recordFailure(operation, args, seconds, error))
      throw error
    } finally {
      const seconds = this.#secondsSince(startedAt)
      if (!hasFailed) runLater(() => this.#recordSuccess(operation, args, seconds))
    }
  }

  #inSpan<Args extends readonly unknown[], Result>(
    { name, before, after }: SpanDefinition<Args, Result>,
    args: Args,
    call: (...args: Args) => Promise<Result>,
  ): Promise<Result> {
    const attributes =
      ignoreErrors(() => ({ ...describeScope(args[0]), ...before?.(...args) })) ?? {}
    return this.#telemetry.span(name, attributes, async (note) => {
      const result = await call(...args)
      ignoreErrors(() => note(after(result)))
      return result
    })
  }

  #secondsSince(startedAt: number): number {
    return ignoreErrors(() => this.#telemetry.monotonicSeconds() - startedAt) ?? Number.NaN
  }

  #recordSuccess(operation: string, args: readonly unknown[], seconds: number): void {
    this.#telemetry.log('debug', 'operation', this.#record(operation, args, seconds, 'ok'))
  }

  /** Errors of the caller are reported to the caller and not worth an operator's attention. */
  #recordFailure(
    operation: string,
    args: readonly unknown[],
    seconds: number,
    error: unknown,
  ): void {
    const { code } = toAppError(error)
    const fields = this.#record(operation, args, seconds, code)
    if (ERRORS[code].status < 500) this.#telemetry.log('debug', 'operation', fields)
    else {
      const level = code === 'internal' ? 'error' : 'warn'
      this.#telemetry.log(level, 'operation_failed', { ...fields, error })
    }
  }

  #record(operation: string, args: readonly unknown[], seconds: number, outcome: string) {
    this.#telemetry.count('recollect_operations_total', { operation, outcome })
    this.#telemetry.observe('recollect_operation_seconds', seconds, { operation })
    const durationMs = Math.round(seconds * 1_000_000) / 1_000
    return { operation, outcome, owner: getOwner(args[0]), durationMs }
  }
}

type AsyncMethod = (...args: readonly unknown[]) => Promise<unknown>

type AsyncMethodNames<Service> = {
  [Name in keyof Service]: Service[Name] extends (...args: never[]) => Promise<unknown>
    ? Name
    : never
}[keyof Service]

function runLater(task: () => void): void {
  setImmediate(() => ignoreErrors(task))
}

/** A failure of telemetry must not fail the call that it reports. */
function ignoreErrors<Result>(task: () => Result): Result | undefined {
  try {
    return task()
  } catch {
    return undefined
  }
}

function describeMemory(memory: Memory): SpanAttributes {
  return describeMemories([memory])
}

function describeMemories(memories: readonly Memory[]): SpanAttributes {
  const [only] = memories
  return {
    ...(only !== undefined && memories.length === 1 ? { memory: only.id } : {}),
    memories: memories.length,
    contents: () => memories.map(({ id, content }) => ({ id, content })),
  }
}

/** Arguments are not validated yet and may be anything. */
function describeScope(scope: unknown): SpanAttributes {
  return {
    ...describeText('owner', getField(scope, 'owner')),
    ...describeText('session', getField(scope, 'session')),
  }
}

/** An invalid id may be text that a caller put in the wrong place; without any id, all records would be meant. */
function describeRecord(_: unknown, id: unknown): SpanAttributes {
  return { memory: typeof id === 'string' && /^mem_\w{1,60}$/.test(id) ? id : 'invalid' }
}

function describeText(name: 'owner' | 'session' | 'query', value: unknown): SpanAttributes {
  return typeof value === 'string' ? { [name]: value } : {}
}

/** The first argument is a scope, or holds one. */
function getOwner(first: unknown): string | undefined {
  const owner = getField(first, 'owner') ?? getField(getField(first, 'scope'), 'owner')
  return typeof owner === 'string' ? owner : undefined
}

const UNHEALTHY: ReadonlySet<ReplicaState> = new Set(['down', 'misconfigured', 'lagging'])

/** Logs every change of the vector replica's state: no request fails because of it. */
export function createReplicationListener(telemetry: Telemetry): ReplicationListener {
  return {
    onState: ({ state, backend }) => {
      const level = UNHEALTHY.has(state) ? 'warn' : 'info'
      telemetry.log(level, 'vector_replica_state_changed', { state, host: backend })
    },
    onSearch: (backend, outcome) => {
      telemetry.count('recollect_vector_searches_total', { backend, outcome })
    },
  }
}
