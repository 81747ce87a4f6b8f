import type { MemoryId, OwnerId, ReceiptId, TurnId } from '../../domain/ids.ts'
import type { ApiFormat, BlockPlacement, TokenUsage } from '../../domain/model-call.ts'
import type { Place } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { Instant } from '../../lib/time.ts'
import type { GateSection } from '../gate/types.ts'

/**
 * What memory did for one request. It names memories and turns by id and holds no text of theirs. The lines that the model
 * read are stored per memory and turn, see `core/receipt-text.ts`, so that erasing one of these redacts all receipts.
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
  /** Null when something was injected; otherwise why not, as a code of `SKIPPED` in `engine/conversations`. */
  readonly skipped: string | null
  /** The code of the error that memory met, if it did. */
  readonly error: string | null
  /** What failed: `identity`, `recall`, or legs of it, `meaning`, `rerank`, `keyword`. */
  readonly degraded: readonly string[]
  /** What kind of memories the message was found to need; null when that was not asked, or by an earlier version. */
  readonly gate: ReceiptGate | null
  readonly results: readonly ReceiptMemory[]
  /** Of those that were given, or in shadow mode would have been: those that are always given. */
  readonly identityIds: readonly MemoryId[]
  /** What of earlier conversations was given word for word, or would have been. */
  readonly excerptIds: readonly TurnId[]
  readonly injected: {
    readonly placement: BlockPlacement
    readonly memories: readonly MemoryId[]
    readonly tokens: number
  } | null
  /** In shadow mode, what would have been injected. */
  readonly dryRun: { readonly memories: readonly MemoryId[]; readonly tokens: number } | null
  /** The lines of the injected block in its order, in shadow mode of the one that would have been; empty without one. */
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
   * How the answer ended: `cut` when it became too long, `broken` when the connection, the provider or the client gave
   * up, `unread` when it was packed in a way that can't be read here. Null when there was none, or by an earlier version.
   */
  readonly answer: 'whole' | 'cut' | 'broken' | 'unread' | null
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
 * Why the line of a piece is not shown. `erased`: the memory or turn was erased, and the line with it. `forgotten`: the
 * memory is in the trash, and the line is shown again once it is restored. `not-kept`: the line was not stored.
 */
export const REDACTION_REASONS = ['erased', 'forgotten', 'not-kept'] as const

export type RedactionReason = (typeof REDACTION_REASONS)[number]

/** A piece with the line as the model read it, or the reason why it is not shown. */
export type ReceiptLine = Omit<ReceiptCitation, 'line'> &
  (
    | { readonly line: string; readonly redaction: null }
    | { readonly line: null; readonly redaction: RedactionReason }
  )

/** A receipt with the texts that it cites. */
export type ReceiptDetail = Omit<Receipt, 'pieces' | 'frame'> & {
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

export const NO_TOOL_MEMORY_IDS: ToolMemoryIds = { found: [], saved: [], updated: [], forgotten: [] }

/** What kind of memories a message needs, and who said so. */
export type ReceiptGate = {
  /** The setting `relevanceGateMode`. */
  readonly mode: Settings['relevanceGateMode']
  /** What decided. A model that can't be asked leaves it to the rules, `heuristic`. */
  readonly by: Settings['relevanceGateMode']
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
