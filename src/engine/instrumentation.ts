/**
 * An engine that tells what it does: each call is counted and timed, recall by its legs as well, and what concerns
 * memories runs inside a span. Methods that are not known here, those of the namespaces included, are treated the same
 * way, so that new ones need no change.
 */

import type {
  ConversationRequest,
  PreparedRequest,
  RequestOutcome,
} from '../conversations/conversations.ts'
import type { Memory } from '../domain/memory.ts'
import type { LearnResult } from '../learning/patterns/pattern-learning.ts'
import { ERRORS, toAppError } from '../lib/errors.ts'
import type { RememberResult } from '../memory/memory-writer.ts'
import type { RecallResult, RetrieverReport } from '../recall/recall-result.ts'
import {
  NOOP_TELEMETRY,
  type SpanAttributes,
  type SpanName,
  type Telemetry,
} from '../telemetry/telemetry.ts'
import type { Engine } from './engine.ts'

type EngineMethod = (...given: readonly unknown[]) => unknown

export function instrumentEngine(engine: Engine, telemetry: Telemetry): Engine {
  if (telemetry === NOOP_TELEMETRY) return engine
  const observer = new Observer(telemetry)
  return wrapMethods(engine, (name, method) => observer.watch(name, method))
}

/** The same object with other methods. Namespaces are entered once: what lies deeper is data. */
function wrapMethods<Target extends object>(
  target: Target,
  replace: (name: string, method: EngineMethod) => EngineMethod,
  prefix = '',
): Target {
  const copy: Record<string, unknown> = {}
  for (const name of listMethodNames(target)) {
    const value: unknown = Reflect.get(target, name)
    if (typeof value === 'function') {
      // Called on what it belongs to, where its private parts are.
      const method: EngineMethod = (...given) => Reflect.apply(value, target, given)
      copy[name] = replace(prefix + name, method)
    } else if (prefix === '' && typeof value === 'object' && value !== null) {
      copy[name] = wrapMethods(value, replace, `${name}.`)
    } else {
      copy[name] = value
    }
  }
  return copy as Target // it has everything that the target has
}

/** Those of classes as well, which stand on the prototype. */
function listMethodNames(target: object): ReadonlySet<string> {
  const names = new Set<string>()
  for (
    let level: object | null = target;
    level !== null && level !== Object.prototype;
    level = Reflect.getPrototypeOf(level)
  ) {
    for (const name of Object.getOwnPropertyNames(level))
      if (name !== 'constructor') names.add(name)
  }
  return names
}

class Observer {
  readonly #telemetry: Telemetry
  /** Retrievers whose last call failed: only a change is logged. */
  readonly #failing = new Set<string>()
  /** The format of requests that got memories and have not ended yet. */
  readonly #formats = new WeakMap<object, string>()

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry
  }

  watch(operation: string, method: EngineMethod): EngineMethod {
    const span = SPAN_OF[operation]
    return (...given) => {
      const started = this.#telemetry.monotonicSeconds()
      const outcome =
        span === undefined ? method(...given) : this.#inSpan(operation, span, method, given)
      if (outcome instanceof Promise) return this.#awaited(operation, given, started, outcome)
      if (isStream(outcome)) return this.#streamed(operation, given, started, outcome)
      if (operation === 'conversations.recordOutcome')
        ignoreErrors(() => this.#recorded(given, outcome))
      if (operation === 'conversations.prepareWithoutMemory')
        ignoreErrors(() => this.#prepared(given, outcome))
      return outcome
    }
  }

  #inSpan(
    operation: string,
    { name, before, after }: SpanKind,
    method: EngineMethod,
    given: readonly unknown[],
  ): Promise<unknown> {
    const facts =
      ignoreErrors(() => ({ ...getScopeAttributes(given[0]), ...before?.(given) })) ?? {}
    return this.#telemetry.span(name, facts, async (note) => {
      const result = await method(...given)
      ignoreErrors(() => {
        note(after(result))
        if (operation === 'recall') this.#recalled(result as RecallResult) // what recall returns
      })
      return result
    })
  }

  /** Whoever asked goes on first: a request that only passes through would wait longest for being counted. */
  #awaited(
    operation: string,
    given: readonly unknown[],
    started: number,
    work: Promise<unknown>,
  ): Promise<unknown> {
    work.then(
      (result) => {
        const seconds = this.#secondsSince(started)
        if (operation === 'conversations.prepare') ignoreErrors(() => this.#prepared(given, result))
        runLater(() => {
          this.#ended(operation, given, seconds)
          if (operation === 'recall') this.#timeRecall(result as RecallResult, seconds) // what recall returns
        })
      },
      (thrown) => {
        const seconds = this.#secondsSince(started)
        runLater(() => this.#failed(operation, given, seconds, thrown))
      },
    )
    return work
  }

  /** It ends when its last line has been read, or nobody wants more. */
  async *#streamed(
    operation: string,
    given: readonly unknown[],
    started: number,
    stream: AsyncIterable<unknown>,
  ): AsyncIterable<unknown> {
    let hasFailed = false
    try {
      yield* stream
    } catch (thrown) {
      hasFailed = true
      const seconds = this.#secondsSince(started)
      runLater(() => this.#failed(operation, given, seconds, thrown))
      throw thrown
    } finally {
      const seconds = this.#secondsSince(started)
      if (!hasFailed) runLater(() => this.#ended(operation, given, seconds))
    }
  }

  #secondsSince(started: number): number {
    return ignoreErrors(() => this.#telemetry.monotonicSeconds() - started) ?? Number.NaN
  }

  #ended(operation: string, given: readonly unknown[], seconds: number): void {
    this.#measure(operation, 'ok', seconds)
    this.#telemetry.log('debug', 'operation', {
      operation,
      outcome: 'ok',
      owner: getOwner(given),
      durationMs: toMilliseconds(seconds),
    })
  }

  #failed(operation: string, given: readonly unknown[], seconds: number, thrown: unknown): void {
    const { code } = toAppError(thrown)
    this.#measure(operation, code, seconds)
    const about = {
      operation,
      outcome: code,
      owner: getOwner(given),
      durationMs: toMilliseconds(seconds),
    }
    // What callers get wrong is told to them, and not worth an operator's attention.
    if (ERRORS[code].status < 500) this.#telemetry.log('debug', 'operation', about)
    else {
      const level = code === 'internal' ? 'error' : 'warn'
      this.#telemetry.log(level, 'operation_failed', { ...about, error: thrown })
    }
  }

  #measure(operation: string, outcome: string, seconds: number): void {
    this.#telemetry.count('recollect_operations_total', { operation, outcome })
    this.#telemetry.observe('recollect_operation_seconds', seconds, { operation })
  }

  #timeRecall({ strategy }: RecallResult, seconds: number): void {
    this.#telemetry.observe('recollect_recall_seconds', seconds, { strategy })
  }

  #recalled({ retrievers, abstained, memories }: RecallResult): void {
    for (const [retriever, report] of Object.entries(retrievers)) this.#retriever(retriever, report)
    if (abstained) this.#telemetry.count('recollect_recalls_abstained_total', {})
    if (memories.length > 0) {
      this.#telemetry.count('recollect_memories_recalled_total', {}, memories.length)
    }
  }

  #prepared([request]: readonly unknown[], result: unknown): void {
    const { format } = request as ConversationRequest // what prepare and passing take, and return
    const prepared = result as PreparedRequest | null
    if (prepared === null) return
    const { skipped } = prepared
    if (skipped === null) this.#formats.set(prepared, format)
    else runLater(() => this.#passed(format, skipped))
  }

  /** Whether there was a place for the memories is known only when the request has ended. */
  #recorded([prepared, outcome]: readonly unknown[], lost: unknown): void {
    const { tokens } = prepared as PreparedRequest // what record takes
    const { placement, skipped } = outcome as RequestOutcome
    const format = this.#formats.get(prepared as object)
    if (format !== undefined && this.#formats.delete(prepared as object)) {
      this.#passed(format, skipped ?? 'injected')
      if (placement !== null) {
        this.#telemetry.count('recollect_contexts_injected_total', {})
        this.#telemetry.count('recollect_injected_tokens_total', {}, tokens)
      }
    }
    if (typeof lost === 'number' && lost > 0) {
      this.#telemetry.count('recollect_conversations_dropped_total', {}, lost)
    }
  }

  #passed(format: string, outcome: string): void {
    this.#telemetry.count('recollect_gateway_requests_total', { format, outcome })
  }

  #retriever(retriever: string, { state }: RetrieverReport): void {
    this.#telemetry.count('recollect_recall_retrievers_total', { retriever, state })
    if (state === 'failed' && !this.#failing.has(retriever)) {
      this.#failing.add(retriever)
      this.#telemetry.log('warn', 'retriever_failed', { retriever, state })
    } else if (state === 'searched' && this.#failing.delete(retriever)) {
      this.#telemetry.log('info', 'retriever_recovered', { retriever, state })
    }
  }
}

function runLater(tell: () => void): void {
  setImmediate(() => ignoreErrors(tell))
}

/** Telling what was done must not undo it. */
function ignoreErrors<Result>(tell: () => Result): Result | undefined {
  try {
    return tell()
  } catch {
    return undefined
  }
}

type SpanKind = {
  readonly name: SpanName
  readonly before?: (given: readonly unknown[]) => SpanAttributes
  readonly after: (result: unknown) => SpanAttributes
}

/**
 * What is a memory operation to OpenTelemetry. Emptying the bin and erasing an owner are none: to delete without
 * naming a record means to delete all of them.
 */
const SPAN_OF: { readonly [operation: string]: SpanKind | undefined } = {
  recall: {
    name: 'search_memory',
    before: ([, query]) => getTextAttributes('query', field(query, 'text')),
    after: (result) => {
      const { memories } = result as RecallResult // what recall returns
      return {
        memories: memories.length,
        contents: () =>
          memories.map(({ memory: { id, content }, score }) => ({ id, content, score })),
      }
    },
  },
  remember: {
    name: 'upsert_memory',
    after: (result) => getMemoriesAttributes([(result as RememberResult).memory]), // what remember returns
  },
  learn: {
    name: 'upsert_memory',
    after: (result) =>
      getMemoriesAttributes((result as LearnResult).remembered.map(({ memory }) => memory)), // likewise
  },
  edit: { name: 'update_memory', before: getRecordAttributes, after: getMemoryAttributes },
  disable: { name: 'update_memory', before: getRecordAttributes, after: getMemoryAttributes },
  restore: { name: 'update_memory', before: getRecordAttributes, after: getMemoryAttributes },
  forget: { name: 'delete_memory', before: getRecordAttributes, after: () => ({ memories: 1 }) },
  erase: { name: 'delete_memory', before: getRecordAttributes, after: () => ({ memories: 1 }) },
}

function getMemoryAttributes(result: unknown): SpanAttributes {
  return getMemoriesAttributes([result as Memory]) // what corrections return
}

function getMemoriesAttributes(memories: readonly Memory[]): SpanAttributes {
  const [only] = memories
  return {
    ...(only !== undefined && memories.length === 1 ? { memory: only.id } : {}),
    memories: memories.length,
    contents: () => memories.map(({ id, content }) => ({ id, content })),
  }
}

/** What callers pass has not been checked yet, and may be anything. */
function getScopeAttributes(scope: unknown): SpanAttributes {
  return {
    ...getTextAttributes('owner', field(scope, 'owner')),
    ...getTextAttributes('session', field(scope, 'session')),
  }
}

/** An id that isn't one may be a text that somebody put in the wrong place. Without any, all records would be meant. */
function getRecordAttributes([, id]: readonly unknown[]): SpanAttributes {
  return { memory: typeof id === 'string' && /^mem_\w{1,60}$/.test(id) ? id : 'invalid' }
}

function getTextAttributes(name: 'owner' | 'session' | 'query', value: unknown): SpanAttributes {
  return typeof value === 'string' ? { [name]: value } : {}
}

/** Calls begin with a scope, or with something that has one. */
function getOwner([first]: readonly unknown[]): string | undefined {
  const owner = field(first, 'owner') ?? field(field(first, 'scope'), 'owner')
  return typeof owner === 'string' ? owner : undefined
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1_000_000) / 1_000
}
