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
  /** With the session that the request belongs to. */
  readonly place: Place
  readonly at: Instant
  /** Joins it with the log. */
  readonly requestId: string
  readonly format: ApiFormat
  readonly model: string
  readonly provider: string
  /** What the provider answered with; null when there was no answer. */
  readonly status: number | null
  /** Null when something was injected; otherwise why not, as a code of `CONTEXT_SKIP_REASONS`. */
  readonly skipped: string | null
  /** The code of the error that memory met, if it did. */
  readonly error: string | null
  /** What failed: `identity`, `recall`, or its retrievers: `vector`, `rerank`, `keyword`. */
  readonly degraded: readonly string[]
  /** What kind of memories the message was found to need; null when that was not asked, or by an earlier version. */
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
  /** Calls of memory tools that were answered here, as `memory_search`. */
  readonly toolCalls: readonly string[]
  /** What these calls found and did. */
  readonly memoryToolResults: ToolMemoryIds
  /**
   * How the response ended. `truncated`: the output limit was reached. `interrupted`: the connection, the provider or
   * the client gave up. `unparsed`: its encoding is not supported here. Null when there was no response, and for receipts
   * of earlier versions.
   */
  readonly answer: 'complete' | 'truncated' | 'interrupted' | 'unparsed' | null
  readonly usage: TokenUsage | null
  readonly timings: {
    /** What memory took before the request went out. */
    readonly prepareMs: number
    readonly firstByteMs: number | null
    readonly totalMs: number
    /** What keeping took afterwards, in the background. */
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

/** Memories that calls of memory tools came by, each once. */
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

/** What kind of memories a message needs, and who said so. */
export type ReceiptGate = {
  /** The setting `relevanceGateMode`. */
  readonly mode: Settings['gateway.gateMode']
  /** What decided. A model that can't be asked leaves it to the rules, `heuristic`. */
  readonly by: Settings['gateway.gateMode']
  /** `all`: it was not decided, and everything may be of use. */
  readonly section: GateSection | 'all'
  /** One of a fixed few sentences: it holds no word of the message. */
  readonly reason: string
}

/** How a memory got where it was: each step with its score. */
export type ReceiptMemory = {
  readonly memory: MemoryId
  readonly score: number
  readonly coverage: number
  readonly trail: readonly { readonly stage: string; readonly score: number }[]
}
