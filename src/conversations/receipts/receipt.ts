import type { MemoryId, OwnerId, ReceiptId, TurnId } from '../../domain/ids.ts'
import type { ApiFormat, BlockPlacement, TokenUsage } from '../../domain/model-call.ts'
import type { Place } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { Instant } from '../../lib/time.ts'
import type { GateSection } from '../gate/types.ts'

/**
 * What memory did for one request. It names memories and turns by id and holds no text of theirs. The lines that the model
 * read are stored per memory and turn, see `line-citations.ts`, so that erasing one of these redacts all receipts.
 */
export type Receipt = {
  readonly id: ReceiptId
  /** Includes the session of the request. */
  readonly place: Place
  readonly at: Instant
  /** The same id as in the log. */
  readonly requestId: string
  readonly format: ApiFormat
  readonly model: string
  readonly provider: string
  /** HTTP status of the provider; null without a response. */
  readonly status: number | null
  /** Null when something was injected; otherwise why not, as a code of `CONTEXT_SKIP_REASONS`. */
  readonly skipped: string | null
  /** The code of the error that prevented or limited the use of memory. */
  readonly error: string | null
  /** Parts that failed: `identity`, `recall`, or its retrievers `vector`, `rerank`, `keyword`. */
  readonly degraded: readonly string[]
  /** Null when the gate was not asked, and for receipts of earlier versions. */
  readonly gate: ReceiptGate | null
  readonly results: readonly ReceiptMemory[]
  /** The injected memories, or in a dry run those that would have been, that belong to the identity section. */
  readonly identityIds: readonly MemoryId[]
  /** Turns of earlier conversations that were injected as excerpts, or would have been. */
  readonly excerptIds: readonly TurnId[]
  readonly injected: {
    readonly placement: BlockPlacement
    readonly memories: readonly MemoryId[]
    readonly tokens: number
  } | null
  /** In a dry run, what would have been injected. */
  readonly dryRun: { readonly memories: readonly MemoryId[]; readonly tokens: number } | null
  /** The lines of the injected block in its order, in a dry run those of the block that would have been; empty without one. */
  readonly lines: readonly ReceiptCitation[]
  /** The block without its lines, so that the exact text can be rebuilt after the format has changed; null without one. */
  readonly frame: string | null
  readonly turns: readonly TurnId[]
  readonly extracted: readonly MemoryId[]
  /** Names of the memory tools that were called, for example `memory_search`. */
  readonly toolCalls: readonly string[]
  /** Memories that these calls found or changed. */
  readonly memoryToolResults: ToolMemoryIds
  /**
   * How the response ended. `truncated`: the output limit was reached. `interrupted`: the connection, the provider or
   * the client gave up. `unparsed`: its encoding is not supported here. Null when there was no response, and for receipts
   * of earlier versions.
   */
  readonly answer: 'complete' | 'truncated' | 'interrupted' | 'unparsed' | null
  readonly usage: TokenUsage | null
  readonly timings: {
    /** Spent on context before the request was sent. */
    readonly prepareMs: number
    readonly firstByteMs: number | null
    readonly totalMs: number
    /** Spent on recording in the background. */
    readonly recordMs: number | null
  }
}

/** One line of a block: which version of which memory or turn it renders. */
export type ReceiptCitation = {
  readonly kind: 'memory' | 'turn'
  readonly id: MemoryId | TurnId
  readonly version: number
  /** Shared memory belongs to another owner than the receipt. */
  readonly owner: OwnerId
  /** The key of the line in the texts of the memory or turn; null when the line was not stored. */
  readonly lineKey: string | null
}

/**
 * Why the text of a line is redacted. `erased`: the memory or turn was erased, and the line with it. `forgotten`: the
 * memory is in the trash, and the line is shown again once it is restored. `not-stored`: the line was not stored.
 */
export const REDACTION_REASONS = ['erased', 'forgotten', 'not-stored'] as const

export type RedactionReason = (typeof REDACTION_REASONS)[number]

/** A line with its text as the model read it, or the reason why the text is redacted. */
export type ReceiptLine = Omit<ReceiptCitation, 'lineKey'> &
  (
    | { readonly text: string; readonly redaction: null }
    | { readonly text: null; readonly redaction: RedactionReason }
  )

/** A receipt with the texts that it cites. */
export type ReceiptDetail = Omit<Receipt, 'lines' | 'frame'> & {
  readonly lines: readonly ReceiptLine[]
  /** What the model read, byte for byte, with a placeholder for each redacted line; null when there was no block. */
  readonly block: string | null
}

/** Memories that memory tools found or changed, each once. */
export type ToolMemoryIds = {
  readonly found: readonly MemoryId[]
  readonly saved: readonly MemoryId[]
  readonly updated: readonly MemoryId[]
  readonly forgotten: readonly MemoryId[]
}

export const NO_TOOL_MEMORY_IDS: ToolMemoryIds = {
  found: [],
  saved: [],
  updated: [],
  forgotten: [],
}

/** The gate decision: which kind of memories a message needs. */
export type ReceiptGate = {
  /** The setting `gateway.gateMode`. */
  readonly mode: Settings['gateway.gateMode']
  /** What decided. Without an answer of the model, the rules decide: `heuristic`. */
  readonly by: Settings['gateway.gateMode']
  /** `all`: no decision, so every kind is searched. */
  readonly section: GateSection | 'all'
  /** A fixed sentence without words of the message. */
  readonly reason: string
}

/** A recalled memory with its ranking trail. */
export type ReceiptMemory = {
  readonly memory: MemoryId
  readonly score: number
  readonly coverage: number
  readonly trail: readonly { readonly stage: string; readonly score: number }[]
}
