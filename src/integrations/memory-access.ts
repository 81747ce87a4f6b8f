/** What integrations need of memory, of an engine in this process or of a server: one scope, plain values. */
import type { Client } from '../client/index.ts'
import type { Engine } from '../engine/engine.ts'
import { omitUndefined } from '../lib/object.ts'

/** An engine of `createEngine`, or a client of `createClient`. */
export type Memory = Engine | Client

export type MemoryScope = {
  readonly memory: Memory
  /** Default with an engine: `default`; with a client: the owner of its key. */
  readonly owner?: string
  readonly user?: string
  /** The conversation. */
  readonly session?: string
}

export type StoredItem = {
  readonly id: string
  readonly content: string
  readonly key: string | null
  readonly category: string
  readonly metadata: { readonly [name: string]: unknown }
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type RecalledItem = {
  readonly id: string
  readonly content: string
  /** A memory, or a turn of a conversation. */
  readonly type: 'memory' | 'turn'
  readonly score: number
  readonly metadata: { readonly [name: string]: unknown }
  readonly createdAt: Date
}

type Draft = {
  readonly content: string
  /** Names the integration, to find its items again. */
  readonly source: string
  readonly key?: string
  /** Of what a model says by itself. Default: the user's words. */
  readonly trust?: 'assistant'
  readonly metadata?: { readonly [name: string]: unknown }
  readonly expiresAt?: number
}

export type ListFilter = {
  readonly source: string
  readonly key?: string
  readonly status?: 'active' | 'disabled'
}

export type Exchange = { readonly user: string; readonly assistant: string | null }

/** Calls of one scope, the same on an engine and on a server. */
export interface MemoryAccess {
  /** The context block for a prompt; empty when nothing is relevant. */
  buildContext(prompt: string): Promise<string>
  recall(query: {
    readonly text: string
    readonly limit: number
    readonly source?: string
    readonly include?: 'facts' | 'conversations' | 'both'
  }): Promise<readonly RecalledItem[]>
  /** `outcome` says whether it is new, an update, or known already. */
  remember(draft: Draft): Promise<{ readonly outcome: string; readonly item: StoredItem }>
  replaceMetadata(id: string, metadata: StoredItem['metadata']): Promise<void>
  /** Keeps an item out of recall. */
  disable(id: string): Promise<void>
  forget(id: string): Promise<void>
  /** In the order in which they were stored. */
  list(filter: ListFilter): Promise<readonly StoredItem[]>
  /** Records a whole conversation and learns from what is new in it. */
  ingest(conversation: string, exchanges: readonly Exchange[]): Promise<void>
  /** Learns from one message without a conversation. */
  learn(text: string): Promise<void>
}

const PAGE_ITEMS = 100
const DEFAULT_OWNER = 'default'

export function openMemory(scope: MemoryScope): MemoryAccess {
  return 'call' in scope.memory ? openClient(scope.memory, scope) : openEngine(scope.memory, scope)
}

function openEngine(engine: Engine, scope: MemoryScope): MemoryAccess {
  const { owner = DEFAULT_OWNER, user, session } = scope
  const person = { owner, ...omitUndefined({ user }) }
  const place = { ...person, ...omitUndefined({ session }) }
  return {
    buildContext: async (prompt) =>
      (await engine.conversations.recallForPrompt(person, prompt)).block,
    recall: async ({ text, limit, source, include }) => {
      const filter = omitUndefined({ include, sources: toList(source) })
      const { memories } = await engine.recall(person, { text, limit, ...filter })
      return memories.map(({ memory, score }) => toRecalled(memory, score))
    },
    remember: async ({ source, metadata, expiresAt, ...draft }) => {
      const { outcome, memory } = await engine.remember(place, {
        ...draft,
        provenance: { source },
        ...omitUndefined({ expiresAt }),
        ...(metadata === undefined ? {} : { metadata: metadata as never }), // JSON, as the engine checks
      })
      return { outcome, item: toItem(memory) }
    },
    replaceMetadata: async (id, metadata) => {
      await engine.edit(person, id, { metadata: metadata as never }) // JSON, as the engine checks
    },
    disable: async (id) => {
      await engine.memories.disable(person, id)
    },
    forget: async (id) => {
      await engine.forget(person, id)
    },
    list: (filter) =>
      listAll(async (after) => {
        const page = await engine.list(place, { ...toFilter(filter), ...after })
        return { items: page.rows.map(toItem), next: page.next }
      }),
    ingest: async (conversation, exchanges) => {
      await engine.learning.ingest({ ...person, conversation, turns: exchanges })
    },
    learn: async (text) => {
      await engine.learn(place, text)
    },
  }
}

function openClient(client: Client, { owner, user, session }: MemoryScope): MemoryAccess {
  const person = omitUndefined({ owner, user })
  const place = omitUndefined({ owner, user, session })
  return {
    buildContext: async (prompt) =>
      (await client.conversations.recallForPrompt(person, prompt)).block,
    recall: async ({ text, limit, source, include }) => {
      const filter = omitUndefined({ include, sources: toList(source) })
      const { memories } = await client.recall(person, { text, limit, ...filter })
      return memories.map(({ memory, score }) => toRecalled(memory, score))
    },
    remember: async ({ metadata, ...draft }) => {
      const { outcome, memory } = await client.remember(place, {
        ...draft,
        ...(metadata === undefined ? {} : { metadata: metadata as never }), // JSON, as the server checks
      })
      return { outcome, item: toItem(memory) }
    },
    replaceMetadata: async (id, metadata) => {
      await client.edit(person, id, { metadata: metadata as never }) // JSON, as the server checks
    },
    disable: async (id) => {
      await client.call('memory.disable', { id, ...person })
    },
    forget: async (id) => {
      await client.forget(person, id)
    },
    list: (filter) =>
      listAll(async (after) => {
        const page = await client.list(place, { ...toFilter(filter), ...after })
        return { items: page.rows.map(toItem), next: page.next }
      }),
    ingest: async (conversation, exchanges) => {
      await client.call('memory.ingest', {
        ...omitUndefined({ agent_id: owner, user }),
        ...{ conversation_id: conversation, turns: [...exchanges] },
      })
    },
    learn: async (text) => {
      await client.learn(place, text)
    },
  }
}

function toFilter({ source, key, status = 'active' }: ListFilter) {
  const filter = { sources: [source], statuses: [status], ...omitUndefined({ key }) }
  return { ...filter, order: 'oldest' as const, limit: PAGE_ITEMS }
}

async function listAll(
  read: (after: { readonly after?: string }) => Promise<{
    readonly items: readonly StoredItem[]
    readonly next: string | null
  }>,
): Promise<readonly StoredItem[]> {
  const all: StoredItem[] = []
  let after: { readonly after?: string } = {}
  for (;;) {
    const { items, next } = await read(after)
    all.push(...items)
    if (next === null) return all
    after = { after: next }
  }
}

/** The fields that memories of both kinds have. */
type AnyMemory = {
  readonly id: string
  readonly content: string
  readonly key: string | null
  readonly category: string
  readonly metadata: object
  readonly createdAt: string | number
  readonly updatedAt: string | number
}

function toItem(memory: AnyMemory): StoredItem {
  const { id, content, key, category, metadata, createdAt, updatedAt } = memory
  return {
    ...{ id, content, key, category },
    metadata: { ...metadata },
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  }
}

function toRecalled(
  memory: {
    readonly id: string
    readonly type: string
    readonly content: string
    readonly metadata?: object
    readonly createdAt: string | number
  },
  score: number,
): RecalledItem {
  const { id, type, content, metadata = {}, createdAt } = memory
  return {
    ...{ id, content, score },
    type: type === 'turn' ? 'turn' : 'memory',
    metadata: { ...metadata },
    createdAt: new Date(createdAt),
  }
}

function toList<Item>(item: Item | undefined): Item[] | undefined {
  return item === undefined ? undefined : [item]
}
