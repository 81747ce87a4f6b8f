/** Bodies of entries that belong to conversations: receipts, the lines they cite, and how sessions are recognized. */
import type { Instant } from '../../lib/time.ts'
import type { MemoryId, OwnerId, SessionId, TurnId } from '../ids.ts'
import {
  API_FORMATS,
  type ApiFormat,
  BLOCK_PLACEMENTS,
  type BlockPlacement,
  type TokenUsage,
} from '../model-call.ts'
import type { Settings } from '../settings/settings.ts'
import { choice, instant, list, nullable, number, object, optional, text } from './body-codec.ts'

/** The kinds of memories that a message may need. */
export const GATE_SECTIONS = ['identity', 'pinned', 'episode', 'transcript', 'none'] as const

export type GateSection = (typeof GATE_SECTIONS)[number]

/** What kind of memories a message needs, and who decided it. */
export type ReceiptGate = {
  /** The setting `gateway.gateMode`. */
  readonly mode: Settings['gateway.gateMode']
  /** What decided. When the model is unavailable, the rules decide: `heuristic`. */
  readonly by: Settings['gateway.gateMode']
  /** `all`: nothing was decided, and every kind may be of use. */
  readonly section: GateSection | 'all'
  /** One of a few fixed sentences. It holds no word of the message. */
  readonly reason: string
}

/** A recalled memory with the score after each ranking stage. */
export type ReceiptMemory = {
  readonly memory: MemoryId
  readonly score: number
  readonly coverage: number
  readonly trail: readonly { readonly stage: string; readonly score: number }[]
}

/** One line of a context block: which version of which memory or turn it renders. */
export type ReceiptCitation = {
  readonly kind: 'memory' | 'turn'
  readonly id: MemoryId | TurnId
  readonly version: number
  /** Shared memory belongs to another owner than the receipt. */
  readonly owner: OwnerId
  /** The key of the line among the stored lines of the memory or turn; null when the line was not stored. */
  readonly lineKey: string | null
}

/** Memories that calls of memory tools found or changed, each once. */
export type ToolMemoryIds = {
  readonly found: readonly MemoryId[]
  readonly saved: readonly MemoryId[]
  readonly updated: readonly MemoryId[]
  readonly forgotten: readonly MemoryId[]
}

type SelectedMemories = { readonly memories: readonly MemoryId[]; readonly tokens: number }

export type ReceiptBody = {
  /** Joins the receipt with the log. */
  readonly requestId: string
  readonly format: ApiFormat
  readonly model: string
  readonly provider: string
  /** The status of the provider's response; null when there was none. */
  readonly status: number | null
  /** Why nothing was injected, as a code of `CONTEXT_SKIP_REASONS`; null when something was. */
  readonly skipped: string | null
  /** The code of the error that memory met, if it did. */
  readonly error: string | null
  /** What failed: `identity`, `recall`, or its retrievers: `vector`, `rerank`, `keyword`. */
  readonly degraded: readonly string[]
  readonly gate: ReceiptGate | null
  readonly results: readonly ReceiptMemory[]
  /** The injected memories, or in a dry run those that would have been, that belong to the identity section. */
  readonly identityIds: readonly MemoryId[]
  /** Turns of earlier conversations that were injected as excerpts, or would have been. */
  readonly excerptIds: readonly TurnId[]
  readonly injected: ({ readonly placement: BlockPlacement } & SelectedMemories) | null
  /** In a dry run, what would have been injected. */
  readonly dryRun: SelectedMemories | null
  /** The lines of the injected block in its order; in a dry run those of the block that would have been. */
  readonly lines: readonly ReceiptCitation[]
  /** The block without its lines, so that its exact text can be rebuilt after the format has changed; null without one. */
  readonly frame: string | null
  readonly turns: readonly TurnId[]
  readonly extracted: readonly MemoryId[]
  /** Calls of memory tools that the gateway answered, such as `memory_search`. */
  readonly toolCalls: readonly string[]
  readonly memoryToolResults: ToolMemoryIds
  /**
   * How the response ended. `truncated`: the output limit was reached. `interrupted`: the connection, the provider or
   * the client gave up. `unparsed`: its encoding is not supported here. Null when there was no response.
   */
  readonly answer: 'complete' | 'truncated' | 'interrupted' | 'unparsed' | null
  readonly usage: TokenUsage | null
  readonly timings: {
    /** The time memory took before the request went out. */
    readonly prepareMs: number
    readonly firstByteMs: number | null
    readonly totalMs: number
    /** The time recording took afterwards, in the background. */
    readonly recordMs: number | null
  }
}

const GATE_MODES = ['off', 'heuristic', 'llm'] as const
const memoryIds = list(text<MemoryId>())
const selected = { memories: memoryIds, tokens: number }

export const receiptBody = object<ReceiptBody>({
  requestId: text(),
  format: choice(API_FORMATS),
  model: text(),
  provider: text(),
  status: nullable(number),
  skipped: nullable(text()),
  error: nullable(text()),
  degraded: list(text()),
  gate: nullable(
    object<ReceiptGate>({
      mode: choice(GATE_MODES),
      by: choice(GATE_MODES),
      section: choice([...GATE_SECTIONS, 'all']),
      reason: text(),
    }),
  ),
  results: list(
    object<ReceiptMemory>({
      memory: text<MemoryId>(),
      score: number,
      coverage: number,
      trail: list(object({ stage: text(), score: number })),
    }),
  ),
  identityIds: memoryIds,
  excerptIds: list(text<TurnId>()),
  injected: nullable(object({ placement: choice(BLOCK_PLACEMENTS), ...selected })),
  dryRun: nullable(object(selected)),
  lines: list(
    object<ReceiptCitation>({
      kind: choice(['memory', 'turn']),
      id: text<MemoryId | TurnId>(),
      version: number,
      owner: text<OwnerId>(),
      lineKey: nullable(text()),
    }),
  ),
  frame: nullable(text()),
  turns: list(text<TurnId>()),
  extracted: memoryIds,
  toolCalls: list(text()),
  memoryToolResults: object<ToolMemoryIds>({
    found: memoryIds,
    saved: memoryIds,
    updated: memoryIds,
    forgotten: memoryIds,
  }),
  answer: nullable(choice(['complete', 'truncated', 'interrupted', 'unparsed'])),
  usage: nullable(object<TokenUsage>({ input: number, output: number, cached: nullable(number) })),
  timings: object<ReceiptBody['timings']>({
    prepareMs: number,
    firstByteMs: nullable(number),
    totalMs: number,
    recordMs: nullable(number),
  }),
})

/** A line of a context block as the model read it. */
export type CitedLine = {
  readonly key: string
  readonly text: string
  /** When the last receipt that cites the line has expired; up to a day later. */
  readonly expiresAt: Instant
}

/** The lines of one memory or turn that receipts cite. */
export type ReceiptLineBody = { readonly lines: readonly CitedLine[] }

export const receiptLineBody = object<ReceiptLineBody>({
  lines: list(object<CitedLine>({ key: text(), text: text(), expiresAt: instant })),
})

/** Turns that a forgotten fact disables, or facts that disable a turn: whichever the entry is not about. */
export type TurnSuppressionBody = { readonly links: readonly string[] }

export const turnSuppressionBody = object<TurnSuppressionBody>({ links: list(text()) })

/** Leads from something that a request repeats to the session that it continues. */
export type SessionLinkBody = {
  readonly session: SessionId
  /** The position of the next exchange in the session. */
  readonly position: number
  /** The hash of the last user message, where the client sends only what is new. */
  readonly last?: string
  /** The user turn of an answer that comes in several requests. */
  readonly turn?: TurnId
}

export const sessionLinkBody = object<SessionLinkBody>({
  session: text<SessionId>(),
  position: number,
  last: optional(text()),
  turn: optional(text<TurnId>()),
})

/** The session that a user of an owner is in. */
export type OpenSessionBody = { readonly session: SessionId }

export const openSessionBody = object<OpenSessionBody>({ session: text<SessionId>() })

/** The owner that a response stored by a provider was made for. */
export type ResponseOwnerBody = { readonly ownerHash: string }

export const responseOwnerBody = object<ResponseOwnerBody>({ ownerHash: text() })
