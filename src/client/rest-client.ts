/** The typed REST client. The everyday methods have the names of the library; `call` reaches every operation. */
import { omitUndefined } from '../lib/object.ts'
import { type Memory, type Operations, ROUTES } from './api-types.ts'
import { RecollectError } from './rest-error.ts'
import {
  type CallOptions,
  type RestRequest,
  readEvents,
  readLines,
  sendRequest,
  type TransportOptions,
} from './rest-transport.ts'

export type ClientOptions = {
  /** Default: `http://127.0.0.1:20128`. */
  readonly url?: string
  /** A key of the server: `rc_…`. Without one, the server must run without keys. */
  readonly apiKey?: string
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Until an answer begins. Default: 30 seconds. */
  readonly timeoutMs?: number
  /** How often a request is repeated that failed for a passing reason. Default: 2. */
  readonly retries?: number
  /** Default: the platform's. */
  readonly fetch?: typeof fetch
}

/** Whose memories. What is missing is decided by the key. */
export type ClientScope = {
  readonly owner?: string
  readonly user?: string | null
  readonly session?: string | null
}

export type OperationName = keyof Operations
export type Input<Name extends OperationName> = Operations[Name]['input']
export type Output<Name extends OperationName> = Operations[Name]['output']

type ScopeField = 'owner' | 'apiKeyId' | 'user' | 'sessionId'
export type Draft = Omit<Input<'memory.add'>, ScopeField>
export type Edit = Omit<Input<'memory.update'>, ScopeField | 'id' | 'version'>

/** Filters with the names of the library. */
export type ClientFilter = {
  readonly statuses?: readonly Memory['status'][]
  readonly types?: readonly Memory['type'][]
  readonly categories?: readonly Memory['category'][]
  readonly trusts?: readonly Memory['trust'][]
  readonly sources?: readonly string[]
  readonly pinned?: boolean
  readonly key?: string
  readonly importanceMin?: number
  readonly createdFrom?: Date | number
  readonly createdBefore?: Date | number
  readonly includeExpired?: boolean
}

export type ClientListQuery = ClientFilter & {
  /** A substring of the content or the key. */
  readonly contains?: string
  readonly order?: NonNullable<Input<'memory.list'>['order']>
  readonly limit?: number
  /** `next` of an earlier page in the same order. */
  readonly after?: string
}

export type ClientRecallQuery = ClientFilter & {
  readonly text: string
  readonly limit?: number
  readonly tokensMax?: number
  readonly strategy?: NonNullable<Input<'memory.search'>['strategy']>
  /** Memories (`facts`), conversation turns, or both. */
  readonly include?: NonNullable<Input<'memory.search'>['include']>
  readonly includeSuspect?: boolean
  readonly asOf?: Date | number
}

/** A turn of a conversation, among recalled memories. */
export type RecalledTurn = {
  readonly id: string
  readonly type: 'turn'
  readonly content: string
  readonly owner: string
  readonly role: string | null
  readonly sessionId: string
  readonly createdAt: string
}

export type ClientRecallResult = Pick<
  Output<'memory.search'>,
  'strategy' | 'abstained' | 'topSimilarity' | 'timeExpression' | 'retrievers'
> & {
  readonly memories: readonly {
    readonly memory: Memory | RecalledTurn
    readonly score: number
    readonly coverage: number
    readonly tokens: number
  }[]
  readonly tokens: number
}

export type ClientMessage = Input<'hook.capture'>['messages'][number]

export interface Client {
  /**
   * Stores a statement. A statement that contradicts an earlier one supersedes it.
   *
   * @example
   * const { outcome, memory } = await client.remember({ user: 'ada' }, { content: 'I prefer tea over coffee.' })
   */
  remember(scope: ClientScope, draft: Draft, options?: CallOptions): Promise<Output<'memory.add'>>
  /**
   * Stores what a person says about themselves in a text, by patterns and without a model.
   *
   * @example
   * const { remembered } = await client.learn({ user: 'ada' }, 'My name is Ada. I live in Paris.')
   */
  learn(scope: ClientScope, text: string, options?: CallOptions): Promise<Output<'memory.learn'>>
  /**
   * Memories and conversation turns that are relevant to a text, best first. May find nothing.
   *
   * @example
   * const { memories } = await client.recall({ user: 'ada' }, { text: 'what should I drink?', limit: 5 })
   */
  recall(
    scope: ClientScope,
    query: ClientRecallQuery,
    options?: CallOptions,
  ): Promise<ClientRecallResult>
  /**
   * A memory by its id; null when there is none in the scope.
   *
   * @example
   * const memory = await client.get({}, 'mem_01jf8t3z9k')
   */
  get(scope: ClientScope, id: string, options?: CallOptions): Promise<Memory | null>
  /**
   * A page of memories, active ones unless `statuses` says otherwise.
   *
   * @example
   * const { rows, next } = await client.list({ user: 'ada' }, { categories: ['preference'], limit: 20 })
   */
  list(
    scope: ClientScope,
    query?: ClientListQuery,
    options?: CallOptions,
  ): Promise<{
    readonly rows: readonly Memory[]
    readonly next: string | null
    readonly total: number
  }>
  /**
   * Changes the named fields; with `version`, only if the memory still has that version.
   *
   * @example
   * await client.edit({}, 'mem_01jf8t3z9k', { importance: 8 }, { version: 3 })
   */
  edit(
    scope: ClientScope,
    id: string,
    edit: Edit,
    options?: CallOptions & { readonly version?: number },
  ): Promise<Memory>
  /**
   * Moves a memory to the trash. It can be restored.
   *
   * @example
   * await client.forget({}, 'mem_01jf8t3z9k')
   */
  forget(scope: ClientScope, id: string, options?: CallOptions): Promise<Memory>
  /**
   * Restores a forgotten or disabled memory; with `version`, the text of an earlier version.
   *
   * @example
   * await client.restore({}, 'mem_01jf8t3z9k')
   */
  restore(
    scope: ClientScope,
    id: string,
    options?: CallOptions & { readonly version?: number },
  ): Promise<Memory>
  /**
   * Undoes a change: `memory.change` of what a write returned.
   *
   * @example
   * const { memory } = await client.remember({}, { content: 'I live in Munich now.' })
   * await client.undo({}, memory.change)
   */
  undo(scope: ClientScope, change: string, options?: CallOptions): Promise<Output<'memory.undo'>>
  /**
   * The store, the indexes and background work.
   *
   * @example
   * const status = await client.status()
   */
  status(options?: CallOptions): Promise<Output<'system.status'>>
  readonly conversations: {
    /**
     * The context block to prepend to a prompt; empty when nothing is relevant.
     *
     * @example
     * const { block } = await client.conversations.recallForPrompt({ user: 'ada' }, 'Where should I eat?')
     */
    recallForPrompt(
      scope: ClientScope,
      prompt: string,
      options?: CallOptions,
    ): Promise<Output<'hook.recall'>>
    /**
     * Stores what user messages ask to remember, where `hooks.captureEnabled` is on.
     *
     * @example
     * await client.conversations.captureMessages({ user: 'ada' }, [
     *   { role: 'user', content: 'Remember that I am allergic to nuts.' },
     * ])
     */
    captureMessages(
      scope: ClientScope,
      messages: readonly ClientMessage[],
      options?: CallOptions,
    ): Promise<Output<'hook.capture'>>
  }
  /**
   * Any operation of the REST API by its name, typed.
   *
   * @example
   * const { turns } = await client.call('session.turns', { id: 'monday', limit: 50 })
   */
  call<Name extends OperationName>(
    name: Name,
    input: Input<Name>,
    options?: CallOptions,
  ): Promise<Output<Name>>
  /**
   * Lines of an export, as they come. Stop reading to close the connection.
   *
   * @example
   * for await (const line of client.export({ owner: 'ada' })) console.log(line)
   */
  export(scope: ClientScope, options?: CallOptions): AsyncIterable<string>
  /**
   * Imports lines of an export.
   *
   * @example
   * await client.import({ owner: 'grace' }, client.export({ owner: 'ada' }))
   */
  import(
    scope: ClientScope,
    lines: AsyncIterable<string> | Iterable<string>,
    options?: CallOptions,
  ): Promise<Output<'memory.import'>>
  /**
   * Which kinds of data change, as they change (server-sent events). Ends when the server closes the stream.
   *
   * @example
   * for await (const { kinds } of client.changes()) console.log(kinds)
   */
  changes(options?: CallOptions): AsyncIterable<{ readonly kinds: readonly string[] }>
}

const DEFAULT_URL = 'http://127.0.0.1:20128'
const TIMEOUT_MS = 30_000
const RETRIES = 2
const JSON_TYPE = 'application/json'
const LINES_TYPE = 'application/x-ndjson'
const EVENTS_TYPE = 'text/event-stream'

/**
 * A client of a Recollect server. It has no dependencies and runs where `fetch` does.
 *
 * @example
 * import { createClient } from 'recollect/client'
 *
 * const client = createClient({ url: 'http://127.0.0.1:20128', apiKey: 'rc_agent_…' })
 * await client.remember({ user: 'ada' }, { content: 'I prefer tea over coffee.' })
 */
export function createClient(options: ClientOptions = {}): Client {
  const transport = createTransport(options)
  const call: Client['call'] = async (name, input, callOptions) => {
    const response = await sendRequest(transport, toRequest(name, input), callOptions)
    // Checked against its schema by the server.
    return (await readJson(response)) as never
  }
  return {
    remember: (scope, draft, given) => call('memory.add', { ...toFields(scope), ...draft }, given),
    learn: (scope, text, given) => call('memory.learn', { ...toFields(scope), text }, given),
    recall: async (scope, query, given) =>
      toRecallResult(
        await call('memory.search', { ...toFields(scope), ...toSearchInput(query) }, given),
      ),
    get: async (scope, id, given) => {
      try {
        return (await call('memory.get', { ...toFields(scope), id }, given)).memory
      } catch (error) {
        if (error instanceof RecollectError && error.code === 'not_found') return null
        throw error
      }
    },
    list: async (scope, query = {}, given) => {
      const { contains, order, limit, after, ...filter } = query
      const fields = omitUndefined({ q: contains, order, limit, after, ...toFilterInput(filter) })
      const page = await call('memory.list', { ...toFields(scope), ...fields }, given)
      return { rows: page.data, next: page.next, total: page.total }
    },
    edit: async (scope, id, edit, given = {}) => {
      const version = omitUndefined({ version: given.version })
      return (await call('memory.update', { ...toFields(scope), id, ...version, ...edit }, given))
        .memory
    },
    forget: async (scope, id, given) =>
      (await call('memory.forget', { ...toFields(scope), id }, given)).memory,
    restore: async (scope, id, given = {}) => {
      const version = omitUndefined({ version: given.version })
      return (await call('memory.restore', { ...toFields(scope), id, ...version }, given)).memory
    },
    undo: (scope, change, given) => call('memory.undo', { ...toFields(scope), change }, given),
    status: (given) => call('system.status', {}, given),
    conversations: {
      recallForPrompt: (scope, prompt, given) =>
        call('hook.recall', { ...toFields(scope), prompt }, given),
      captureMessages: (scope, messages, given) =>
        call('hook.capture', { ...toFields(scope), messages: [...messages] }, given),
    },
    call,
    export: (scope, given) => exportLines(transport, scope, given),
    import: async (scope, lines, given) => {
      const request = toRequest('memory.import', toFields(scope))
      const { body: _, ...head } = request
      const query = toQuery(toFields(scope))
      const streamed = { ...head, path: head.path + query, contentType: LINES_TYPE }
      const body = toByteStream(lines)
      return (await readJson(await sendRequest(transport, { ...streamed, body }, given))) as never // checked by the server
    },
    changes: (given) => streamChanges(transport, given),
  }
}

function createTransport(options: ClientOptions): TransportOptions {
  const { url = DEFAULT_URL, apiKey = null, headers = {} } = options
  if (!/^https?:\/\/[^/]/.test(url)) {
    const message = `\`url\` must be an http or https address; got "${url}".`
    throw new RecollectError('invalid_input', message)
  }
  return {
    url: url.replace(/\/+$/, ''),
    apiKey,
    headers,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    retries: options.retries ?? RETRIES,
    fetch: options.fetch ?? fetch,
  }
}

function toFields({ owner, user, session }: ClientScope) {
  return omitUndefined({ owner, user: user ?? undefined, sessionId: session ?? undefined })
}

function toRequest<Name extends OperationName>(name: Name, input: object): RestRequest {
  if (!Object.hasOwn(ROUTES, name)) {
    const message = `\`name\` must be an operation of the REST API; got "${name}".`
    throw new RecollectError('invalid_input', message)
  }
  const { method, path: template, isRepeatable } = ROUTES[name]
  const rest: Record<string, unknown> = { ...input }
  const path = template.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = String(rest[field])
    delete rest[field]
    return encodeURIComponent(value)
  })
  if (method === 'GET') {
    return { method, path: path + toQuery(rest), isRepeatable, accept: JSON_TYPE }
  }
  const body = JSON.stringify(rest)
  return { method, path, isRepeatable, accept: JSON_TYPE, body, contentType: JSON_TYPE }
}

function toQuery(fields: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each))
  }
  return query.size === 0 ? '' : `?${query}`
}

function toFilterInput(filter: ClientFilter) {
  const { statuses, types, categories, trusts, sources, createdFrom, createdBefore, ...rest } =
    filter
  return omitUndefined({
    ...rest,
    status: toList(statuses),
    type: toList(types),
    category: toList(categories),
    trust: toList(trusts),
    source: toList(sources),
    createdFrom: toMs(createdFrom),
    createdBefore: toMs(createdBefore),
  })
}

function toSearchInput(query: ClientRecallQuery): Input<'memory.search'> {
  const { text, limit, tokensMax, strategy, include, includeSuspect, asOf, ...filter } = query
  const options = { limit, maxTokens: tokensMax, strategy, include, includeSuspect }
  const fields = omitUndefined({ ...options, asOf: toMs(asOf), ...toFilterInput(filter) })
  return { query: text, detail: 'full', ...fields }
}

function toList<Item>(items: readonly Item[] | undefined): Item[] | undefined {
  return items === undefined ? undefined : [...items]
}

function toMs(time: Date | number | undefined): number | undefined {
  return time instanceof Date ? time.getTime() : time
}

function toRecallResult(answer: Output<'memory.search'>): ClientRecallResult {
  const { results, totalTokens, strategy, abstained, topSimilarity, timeExpression } = answer
  return {
    ...{ strategy, abstained, topSimilarity, timeExpression, retrievers: answer.retrievers },
    memories: results.map((hit) => ({
      memory: hit.memory ?? toTurn(hit),
      score: hit.score,
      coverage: hit.coverage ?? 0,
      tokens: hit.tokens,
    })),
    tokens: totalTokens,
  }
}

function toTurn(hit: Output<'memory.search'>['results'][number]): RecalledTurn {
  return {
    id: hit.id,
    type: 'turn',
    content: hit.content ?? hit.snippet,
    owner: hit.owner,
    role: hit.role ?? null,
    sessionId: hit.sessionId ?? '',
    createdAt: hit.createdAt ?? '',
  }
}

async function* exportLines(
  transport: TransportOptions,
  scope: ClientScope,
  options?: CallOptions,
): AsyncGenerator<string> {
  const request = { ...toRequest('memory.export', toFields(scope)), accept: LINES_TYPE }
  yield* readLines(await sendRequest(transport, request, options))
}

async function* streamChanges(
  transport: TransportOptions,
  options?: CallOptions,
): AsyncGenerator<{ readonly kinds: readonly string[] }> {
  const request = {
    ...{ method: 'GET', path: '/api/events', isRepeatable: true },
    accept: EVENTS_TYPE,
  }
  const response = await sendRequest(transport, request, options)
  for await (const data of readEvents(response, 'changed')) yield JSON.parse(data)
}

function toByteStream(lines: AsyncIterable<string> | Iterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = (async function* () {
    for await (const line of lines) yield encoder.encode(`${line}\n`)
  })()
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => {
      await iterator.return(undefined)
    },
  })
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch (cause) {
    const message =
      'The server must answer with JSON; the response is incomplete or of another program.'
    throw new RecollectError('unavailable', message, { status: response.status, cause })
  }
}
