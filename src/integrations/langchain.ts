/** Memory for LangChain and LangGraph: a store, a chat history and a retriever. */
import type { CallbackManagerForRetrieverRun } from '@langchain/core/callbacks/manager'
import { BaseListChatMessageHistory } from '@langchain/core/chat_history'
import { Document } from '@langchain/core/documents'
import {
  type BaseMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  type StoredMessage,
} from '@langchain/core/messages'
import { BaseRetriever, type BaseRetrieverInput } from '@langchain/core/retrievers'
import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from '@langchain/langgraph-checkpoint'
import { hashParts } from '../lib/hash.ts'
import { canonicalJson, isObject } from '../lib/json.ts'
import { groupExchanges } from './exchanges.ts'
import { createItemLog, type ItemLog } from './item-log.ts'
import {
  type MemoryAccess,
  type MemoryScope,
  openMemory,
  type StoredItem,
} from './memory-access.ts'

export type { Memory, MemoryScope } from './memory-access.ts'

const STORE_SOURCE = 'langgraph'
const HISTORY_SOURCE = 'langchain'
const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant' }
const SEARCH_LIMIT = 10
/** A query finds items of all namespaces, which are filtered afterwards. */
const CANDIDATES = 100

export type RecollectStoreOptions = MemoryScope & {
  /** How long items live after they were put. Default: forever. */
  readonly ttlMs?: number
}

/**
 * A LangGraph store: items by namespace and key, filters, and search in natural language.
 *
 * @example
 * import { createEngine } from 'recollect'
 * import { RecollectStore } from 'recollect/langchain'
 *
 * const memory = await createEngine({ path: 'memory.db' })
 * const store = new RecollectStore({ memory, owner: 'my-app' })
 * await store.put(['users', 'ada'], 'tea', { text: 'Ada likes green tea' })
 * const [found] = await store.search(['users'], { query: 'what does Ada drink?' })
 */
export class RecollectStore extends BaseStore {
  readonly #access: MemoryAccess
  readonly #ttlMs: number | null

  constructor(options: RecollectStoreOptions) {
    super()
    this.#access = openMemory(options)
    this.#ttlMs = options.ttlMs ?? null
  }

  /**
   * Runs operations in their order. Of several puts of one key, the last one counts.
   *
   * @example
   * import type { RecollectStore } from 'recollect/langchain'
   *
   * declare const store: RecollectStore
   * const [item] = await store.batch([{ namespace: ['users'], key: 'ada' }])
   */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = []
    for (const operation of operations) results.push(await this.#perform(operation))
    return results as OperationResults<Op> // one for each operation
  }

  #perform(operation: Operation): Promise<unknown> {
    if ('namespacePrefix' in operation) return this.#search(operation)
    if ('value' in operation) return this.#put(operation)
    if ('key' in operation) return this.#get(operation)
    return this.#listNamespaces(operation)
  }

  async #get({ namespace, key }: GetOperation): Promise<Item | null> {
    const stored = await this.#find(namespace, key)
    return stored === undefined ? null : toStoreItem(stored)
  }

  async #find(namespace: readonly string[], key: string): Promise<StoredItem | undefined> {
    const [found] = await this.#access.list({ source: STORE_SOURCE, key: keyOf(namespace, key) })
    return found
  }

  async #put({ namespace, key, value, index }: PutOperation): Promise<null> {
    if (value === null) {
      const stored = await this.#find(namespace, key)
      if (stored !== undefined) await this.#access.forget(stored.id)
      return null
    }
    const metadata = { langgraph: { namespace, key, value, isIndexed: index !== false } }
    const { item } = await this.#access.remember({
      content: renderValue(value, index),
      source: STORE_SOURCE,
      key: keyOf(namespace, key),
      metadata,
      ...(this.#ttlMs === null ? {} : { expiresAt: Date.now() + this.#ttlMs }),
    })
    // A value that reads the same keeps the memory as it is.
    if (canonicalJson(item.metadata) !== canonicalJson(metadata)) {
      await this.#access.replaceMetadata(item.id, metadata)
    }
    return null
  }

  async #search(operation: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix, filter, limit = SEARCH_LIMIT, offset = 0, query } = operation
    const isWanted = (item: Item) =>
      namespacePrefix.every((part, index) => item.namespace[index] === part) &&
      matchesFilter(item.value, filter)
    const all = await this.#items()
    if (query === undefined || query.trim() === '') {
      return all.filter(isWanted).slice(offset, offset + limit)
    }
    const byKey = new Map(all.map((item) => [keyOf(item.namespace, item.key), item]))
    const found = await this.#access.recall({
      ...{ text: query, limit: CANDIDATES, source: STORE_SOURCE },
      include: 'facts',
    })
    const items = found.flatMap(({ metadata, score }) => {
      const place = metadata.langgraph
      if (!isObject(place) || place.isIndexed === false) return []
      const item = byKey.get(keyOf(listOfText(place.namespace), String(place.key)))
      return item === undefined ? [] : [{ ...item, score }]
    })
    return items.filter(isWanted).slice(offset, offset + limit)
  }

  async #listNamespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit, offset = 0 } = operation
    const matching = (await this.#items())
      .map(({ namespace }) => namespace)
      .filter((namespace) =>
        matchConditions.every(({ matchType, path }) =>
          matchesPath(matchType === 'suffix' ? namespace.slice(-path.length) : namespace, path),
        ),
      )
      .map((namespace) => namespace.slice(0, maxDepth))
    const distinct = [...new Map(matching.map((each) => [JSON.stringify(each), each])).values()]
    distinct.sort((a, b) => (a.join(':') < b.join(':') ? -1 : 1))
    return distinct.slice(offset, limit === undefined ? undefined : offset + limit)
  }

  async #items(): Promise<readonly Item[]> {
    return (await this.#access.list({ source: STORE_SOURCE })).map(toStoreItem)
  }
}

/** Keys of memories are shorter than namespaces may be. */
function keyOf(namespace: readonly string[], key: string): string {
  return `${STORE_SOURCE}:${hashParts(...namespace, '\u0000', key)}`
}

function toStoreItem({ metadata, createdAt, updatedAt }: StoredItem): Item {
  const { namespace, key, value } = Object(metadata.langgraph)
  return {
    namespace: listOfText(namespace),
    key: String(key),
    value: { ...value },
    createdAt,
    updatedAt,
  }
}

function listOfText(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}

/** What search reads: the texts of the indexed fields, or of all. */
function renderValue(value: Record<string, unknown>, index: false | string[] | undefined): string {
  const read =
    index === undefined || index === false || index.includes('$')
      ? value
      : index.map((path) => readPath(value, path))
  const texts = listTexts(read)
  return texts.length === 0 ? JSON.stringify(value) : texts.join('\n')
}

/** `a.b`, `list[0].a` and `list[*].a`. */
function readPath(value: unknown, path: string): unknown {
  let found: unknown[] = [value]
  for (const [part] of path.matchAll(/[^.[\]]+/g)) {
    found = found.flatMap((each): unknown[] => {
      if (Array.isArray(each)) return part === '*' ? each : [each.at(Number(part))]
      return isObject(each) ? (part === '*' ? Object.values(each) : [each[part]]) : []
    })
  }
  return found
}

function listTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value]
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)]
  if (Array.isArray(value)) return value.flatMap(listTexts)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, each]) => {
    const texts = listTexts(each)
    // A bare number or word says nothing without its name.
    return texts.map((text) => (isObject(each) || text.includes(' ') ? text : `${name}: ${text}`))
  })
}

function matchesPath(namespace: readonly string[], path: readonly string[]): boolean {
  if (path.length > namespace.length) return false
  return path.every((part, index) => part === '*' || namespace[index] === part)
}

const COMPARISONS: Readonly<Record<string, (actual: unknown, wanted: unknown) => boolean>> = {
  $eq: (actual, wanted) => canonicalJson(actual) === canonicalJson(wanted),
  $ne: (actual, wanted) => canonicalJson(actual) !== canonicalJson(wanted),
  $gt: (actual, wanted) => Number(actual) > Number(wanted),
  $gte: (actual, wanted) => Number(actual) >= Number(wanted),
  $lt: (actual, wanted) => Number(actual) < Number(wanted),
  $lte: (actual, wanted) => Number(actual) <= Number(wanted),
}

function matchesFilter(
  value: Record<string, unknown>,
  filter: Record<string, unknown> = {},
): boolean {
  return Object.entries(filter).every(([name, wanted]) => {
    const conditions: Record<string, unknown> =
      isObject(wanted) && Object.keys(wanted).every((key) => key.startsWith('$'))
        ? { ...wanted }
        : { $eq: wanted }
    return Object.entries(conditions).every(([operator, operand]) => {
      const compare = COMPARISONS[operator]
      if (compare === undefined) {
        const known = Object.keys(COMPARISONS).join(', ')
        throw new TypeError(`\`filter\` must use one of ${known}; got "${operator}".`)
      }
      return compare(value[name], operand)
    })
  })
}

/**
 * A chat history: keeps messages exactly, and records what was said as a conversation to learn from and recall.
 *
 * @example
 * import { createEngine } from 'recollect'
 * import { RecollectChatHistory } from 'recollect/langchain'
 *
 * const memory = await createEngine({ path: 'memory.db' })
 * const history = new RecollectChatHistory({ memory, user: 'ada', session: 'monday' })
 * await history.addUserMessage('I live in Paris.')
 */
export class RecollectChatHistory extends BaseListChatMessageHistory {
  lc_namespace = ['recollect', 'langchain']
  readonly #access: MemoryAccess
  readonly #session: string
  readonly #log: ItemLog<StoredMessage>

  constructor(options: MemoryScope & { readonly session: string }) {
    super()
    this.#access = openMemory(options)
    this.#session = options.session
    this.#log = createItemLog(this.#access, HISTORY_SOURCE)
  }

  /**
   * All messages in their order.
   *
   * @example
   * import type { RecollectChatHistory } from 'recollect/langchain'
   *
   * declare const history: RecollectChatHistory
   * const messages = await history.getMessages()
   */
  override async getMessages(): Promise<BaseMessage[]> {
    return mapStoredMessagesToChatMessages([...(await this.#log.read())])
  }

  override async addMessage(message: BaseMessage): Promise<void> {
    await this.addMessages([message])
  }

  override async addMessages(messages: BaseMessage[]): Promise<void> {
    await this.#log.append(mapChatMessagesToStoredMessages(messages))
    const all = await this.getMessages()
    const exchanges = groupExchanges(
      all.map(({ type, text }) => ({ role: ROLES[type] ?? type, text })),
    )
    if (exchanges.length > 0) await this.#access.ingest(this.#session, exchanges)
  }

  override async clear(): Promise<void> {
    await this.#log.clear()
  }
}

export type RecollectRetrieverOptions = MemoryScope &
  BaseRetrieverInput & {
    /** Default: 8. */
    readonly limit?: number
    /** Memories (`facts`), turns of conversations, or both. Default: both. */
    readonly include?: 'facts' | 'conversations' | 'both'
  }

const RETRIEVER_LIMIT = 8

/**
 * A retriever over memories and turns of conversations. It returns nothing when nothing is relevant.
 *
 * @example
 * import { createEngine } from 'recollect'
 * import { RecollectRetriever } from 'recollect/langchain'
 *
 * const memory = await createEngine({ path: 'memory.db' })
 * const retriever = new RecollectRetriever({ memory, user: 'ada', limit: 5 })
 * const documents = await retriever.invoke('what should I drink?')
 */
export class RecollectRetriever extends BaseRetriever {
  lc_namespace = ['recollect', 'langchain']
  readonly #access: MemoryAccess
  readonly #limit: number
  readonly #include: 'facts' | 'conversations' | 'both'

  constructor(options: RecollectRetrieverOptions) {
    const { memory: _m, owner: _o, user: _u, session: _s, limit, include, ...fields } = options
    super(fields)
    this.#access = openMemory(options)
    this.#limit = limit ?? RETRIEVER_LIMIT
    this.#include = include ?? 'both'
  }

  override async _getRelevantDocuments(
    query: string,
    _run?: CallbackManagerForRetrieverRun,
  ): Promise<Document[]> {
    const found = await this.#access.recall({
      ...{ text: query, limit: this.#limit, include: this.#include },
    })
    return found.map(
      ({ id, type, content, score, createdAt }) =>
        new Document({
          id,
          pageContent: content,
          metadata: { id, type, score, createdAt: createdAt.toISOString() },
        }),
    )
  }
}
