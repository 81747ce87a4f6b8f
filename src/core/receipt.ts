import type { FormatName, Placement, Usage } from './formats/format.ts'
import type { Instant, MemoryId, Place, ReceiptId, TurnId } from './ids.ts'

/**
 * What memory did for one request. It names memories by id and holds no text of theirs or of the conversation, so that
 * what is forgotten is forgotten here too.
 */
export type Receipt = {
  readonly id: ReceiptId
  /** With the session that the request belongs to. */
  readonly place: Place
  readonly at: Instant
  /** Joins it with the log. */
  readonly requestId: string
  readonly format: FormatName
  readonly model: string
  readonly provider: string
  /** What the provider answered with; null when there was no answer. */
  readonly status: number | null
  /** Null when something was injected; otherwise why not, as a code of `SKIPPED` in `engine/conversations`. */
  readonly skipped: string | null
  /** The code of the error that memory met, if it did. */
  readonly error: string | null
  /** Legs of recall that failed: `meaning`, `rerank`, `keyword`. */
  readonly degraded: readonly string[]
  readonly recalled: readonly ReceiptMemory[]
  readonly injected: {
    readonly placement: Placement
    readonly memories: readonly MemoryId[]
    readonly tokens: number
  } | null
  /** In shadow mode, what would have been injected. */
  readonly shadow: { readonly memories: readonly MemoryId[]; readonly tokens: number } | null
  readonly turns: readonly TurnId[]
  readonly extracted: readonly MemoryId[]
  /** Calls of memory tools that were answered here, as `memory_search`. */
  readonly toolCalls: readonly string[]
  readonly usage: Usage | null
  readonly timings: {
    /** What memory took before the request went out. */
    readonly prepareMs: number
    readonly firstByteMs: number | null
    readonly totalMs: number
    /** What keeping took afterwards, in the background. */
    readonly recordMs: number | null
  }
}

/** How a memory got where it was: each step with its score. */
export type ReceiptMemory = {
  readonly memory: MemoryId
  readonly score: number
  readonly coverage: number
  readonly trail: readonly { readonly stage: string; readonly score: number }[]
}
