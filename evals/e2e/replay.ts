/**
 * A replay: an engine on its own SQLite store for one group of a set, which conversations are written to and questions
 * are asked of. Both go the way of production; `direct-replay.ts` calls the engine, `gateway-replay.ts` goes over HTTP.
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

/** What a model is given for a question. */
export type InjectedContext = {
  readonly block: string | null
  readonly tokens: number
  /** Memories and quotations, without those that every block holds because they say who the user is. */
  readonly items: number
  readonly memories: readonly InjectedMemory[]
  /** Documents whose turns the block quotes. */
  readonly quoted: ReadonlySet<string>
  /** Why there is no block. */
  readonly skipped: string | null
  /** Parts of recall that failed. */
  readonly degraded: readonly string[]
  readonly prepareMs: number
}

export type Question = {
  readonly text: string
  readonly at: number
  /** The setting `contextTokensMax`. */
  readonly budget: number
  /** What was said before in the same session. */
  readonly earlier?: { readonly user: string; readonly assistant: string }
}

export type Message = { readonly role: 'user' | 'assistant'; readonly content: string }

/** What a client sends for a question. */
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
  /** Writes the conversations and waits until everything in them can be found. */
  write(conversations: readonly ReplayedConversation[]): Promise<void>
  /** Asks in a session of its own, and leaves no turn behind. */
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
  /** Waits for vectors, and finds out which stored turn is which document. */
  settle(conversations: readonly ReplayedConversation[]): Promise<void>
  /** What a receipt says that a block holds. */
  findInjected(receipt: ReceiptDetail | null): Promise<Pick<InjectedContext, 'memories' | 'quoted'>>
}

/** A busy machine must not decide what is measured: the time that it takes is reported instead. */
const DEADLINE_MS = 30_000

/** Of a run that asks a thousand questions, no receipt is removed before it is read. */
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
      await engine.admin.settings.change(OWNER, { contextTokensMax })
      budgetNow = contextTokensMax
    },
    settle: async (conversations) => {
      await engine.conversations.flush()
      if (embedder !== null) await engine.admin.reindex()
      documentsOf = await mapTurns(store, conversations)
    },
    findInjected: async (receipt) => {
      // Written now and not a second later, so that two runs find the same.
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

/** Serves one engine after the other, and is closed by whoever opened it. */
function shared(embedder: Embedder): Embedder {
  return {
    describe: (signal) => embedder.describe(signal),
    embed: (texts, options) => embedder.embed(texts, options),
    report: () => embedder.report(),
    close: async () => {},
  }
}

/** By content: where a turn stands in its session is up to the write path. */
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

/** Memories and quotations that are in a block because of the question. */
export function countItems(count: number, receipt: ReceiptDetail | null): number {
  const injected = new Set(receipt?.injected?.memories ?? [])
  return count - (receipt?.identityIds.filter((id) => injected.has(id)).length ?? 0)
}
