/**
 * A replay: an engine with its own SQLite store for one group of a set. Conversations are written and questions are asked
 * through the production code; `direct-replay.ts` calls the engine, `gateway-replay.ts` uses HTTP.
 */

import { createIdGenerator } from '../../src/app/id-generator.ts'
import type { ReceiptDetail } from '../../src/conversations/receipts/receipt.ts'
import { stripBlocks } from '../../src/domain/context-block.ts'
import type { OwnerId, TurnId } from '../../src/domain/ids.ts'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import type { Instant } from '../../src/lib/time.ts'
import type { Embedder } from '../../src/models/embedder.ts'
import { pages } from '../../src/storage/access/row-pages.ts'
import { openSqliteStore, type SqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { ReplayedConversation, Utterance } from './conversations.ts'
import type { InjectedMemory } from './evidence.ts'

/** The context of a question. */
export type InjectedContext = {
  readonly block: string | null
  readonly tokens: number
  /** Memories and quoted turns, without the identity memories of every block. */
  readonly items: number
  readonly memories: readonly InjectedMemory[]
  /** Documents whose turns the block quotes. */
  readonly quoted: ReadonlySet<string>
  /** Why there is no block. */
  readonly skipped: string | null
  /** Retrievers that failed. */
  readonly degraded: readonly string[]
  readonly prepareMs: number
}

export type Question = {
  readonly text: string
  readonly at: number
  /** The setting `gateway.contextTokensMax`. */
  readonly budget: number
  /** The earlier messages of the session. */
  readonly earlier?: { readonly user: string; readonly assistant: string }
}

export type Message = { readonly role: 'user' | 'assistant'; readonly content: string }

/** The request of a question. */
export function messagesOf({ text, earlier }: Question): readonly Message[] {
  const before: readonly Message[] =
    earlier === undefined
      ? []
      : [
          { role: 'user', content: earlier.user },
          { role: 'assistant', content: earlier.assistant },
        ]
  return [...before, { role: 'user', content: text }]
}

export interface Replay {
  /** Writes the conversations and waits until they are indexed. */
  write(conversations: readonly ReplayedConversation[]): Promise<void>
  /** Asks in a new session that leaves no turns behind. */
  ask(question: Question): Promise<InjectedContext>
  close(): Promise<void>
}

export type OpenReplay = (embedder: Embedder | null) => Promise<Replay>

export const OWNER = 'person' as OwnerId // letters

/** The engine of a replay, with a clock that the replay sets. */
export type ReplayEngine = {
  readonly engine: Engine
  setNow(ms: number): void
  setBudget(tokens: number): Promise<void>
  /** Waits for vectors, and maps stored turns to documents. */
  settle(conversations: readonly ReplayedConversation[]): Promise<void>
  /** The contents of a block by its receipt. */
  findInjected(receipt: ReceiptDetail | null): Promise<Pick<InjectedContext, 'memories' | 'quoted'>>
}

/** Long timeouts, so that the load of the machine does not change the results; durations are reported separately. */
const DEADLINE_MS = 30_000

/** Enough receipts for a run of a thousand questions. */
const RECEIPTS_MAX = 10_000

export async function openReplayEngine(embedder: Embedder | null): Promise<ReplayEngine> {
  let now = Date.now()
  const store = await openSqliteStore({ path: ':memory:', now: () => now })
  const engine = createEngineWith({
    store,
    clock: {
      now: () => now as Instant, // whole milliseconds
      sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    },
    ids: createIdGenerator(),
    settings: {
      'gateway.enabled': true,
      'gateway.contextTimeoutMs': DEADLINE_MS,
      'retention.receiptsMax': RECEIPTS_MAX,
      'server.requestsPerMinute': 0,
    },
    ...(embedder === null ? {} : { embedder: shared(embedder), vectors: store.vectors }),
  })
  let documentsOf: ReadonlyMap<TurnId, readonly string[]> = new Map()
  let budgetNow: number | null = null
  return {
    engine,
    setNow: (ms) => {
      now = ms
    },
    setBudget: async (contextTokensMax) => {
      if (budgetNow === contextTokensMax) return
      await engine.admin.settings.change(OWNER, { 'gateway.contextTokensMax': contextTokensMax })
      budgetNow = contextTokensMax
    },
    settle: async (conversations) => {
      await engine.conversations.flush()
      if (embedder !== null) await engine.admin.reindex()
      documentsOf = await mapTurns(store, conversations)
    },
    findInjected: async (receipt) => {
      // Flushed at once, so that runs are reproducible.
      await engine.memories.recordUse({ owner: OWNER }, [])
      const ids = receipt?.injected?.memories ?? []
      const memories = await Promise.all(ids.map((id) => engine.get({ owner: OWNER }, id)))
      const documentsIn = (turns: readonly TurnId[]) =>
        new Set(turns.flatMap((turn) => documentsOf.get(turn) ?? []))
      return {
        quoted: documentsIn(receipt?.excerptIds ?? []),
        memories: memories
          .filter((memory) => memory !== null)
          .map(({ content, provenance }) => ({
            content,
            documents: documentsIn(provenance.turns),
          })),
      }
    },
  }
}

/** Shared by all engines; closed by whoever opened it. */
function shared(embedder: Embedder): Embedder {
  return {
    describe: (signal) => embedder.describe(signal),
    embed: (texts, options) => embedder.embed(texts, options),
    report: () => embedder.report(),
    close: async () => {},
  }
}

/** Matches turns by content, because the write path decides about positions. */
async function mapTurns(
  store: SqliteStore,
  conversations: readonly ReplayedConversation[],
): Promise<ReadonlyMap<TurnId, readonly string[]>> {
  const utterances = conversations.flatMap(({ exchanges }) =>
    exchanges.flatMap(({ user, assistant }) => [user, ...(assistant === null ? [] : [assistant])]),
  )
  const documentsOf = new Map<string, readonly string[]>()
  for (const utterance of utterances) {
    const content = contentOf(utterance)
    documentsOf.set(content, [...(documentsOf.get(content) ?? []), ...utterance.documents])
  }
  const stored = new Map<TurnId, readonly string[]>()
  for await (const page of pages(store, 'turn', { owner: OWNER }, { where: {} })) {
    for (const { id, content } of page) stored.set(id, documentsOf.get(content.trim()) ?? [])
  }
  const found = new Set([...stored.values()].flat())
  const lost = utterances.flatMap(({ documents }) => documents.filter((id) => !found.has(id)))
  if (lost.length > 0) {
    throw new Error(`${lost.length} documents must be stored as turns; missing: ${lost[0]}.`)
  }
  return stored
}

function contentOf({ text }: Utterance): string {
  return stripBlocks(text).trim()
}

/** Memories and quoted turns that are in a block because of the question. */
export function countItems(count: number, receipt: ReceiptDetail | null): number {
  const injected = new Set(receipt?.injected?.memories ?? [])
  return count - (receipt?.identityIds.filter((id) => injected.has(id)).length ?? 0)
}
