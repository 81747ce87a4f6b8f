import type { FormatName, Placement, Usage } from './formats/format.ts'
import type { GateSection } from './gate/types.ts'
import type { Instant, MemoryId, Place, ReceiptId, TurnId } from './ids.ts'
import type { Settings } from './settings.ts'

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
  /** What failed: `identity`, `recall`, or legs of it, `meaning`, `rerank`, `keyword`. */
  readonly degraded: readonly string[]
  /** What kind of memories the message was found to need; null when that was not asked, or by an earlier version. */
  readonly gate: ReceiptGate | null
  readonly recalled: readonly ReceiptMemory[]
  /** Of those that were given, or in shadow mode would have been: those that are always given. */
  readonly identity: readonly MemoryId[]
  /** What of earlier conversations was given word for word, or would have been. */
  readonly quoted: readonly TurnId[]
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
  /** What these calls found and did. */
  readonly toolMemories: ToolMemories
  /**
   * How the answer ended: `cut` when it became too long, `broken` when the connection, the provider or the client gave
   * up, `unread` when it was packed in a way that can't be read here. Null when there was none, or by an earlier version.
   */
  readonly answer: 'whole' | 'cut' | 'broken' | 'unread' | null
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

/** Memories that calls of memory tools came by, each once. */
export type ToolMemories = {
  readonly found: readonly MemoryId[]
  readonly saved: readonly MemoryId[]
  readonly updated: readonly MemoryId[]
  readonly forgotten: readonly MemoryId[]
}

export const NO_TOOL_MEMORIES: ToolMemories = { found: [], saved: [], updated: [], forgotten: [] }

/** What kind of memories a message needs, and who said so. */
export type ReceiptGate = {
  /** The setting `relevanceGateMode`. */
  readonly mode: Settings['relevanceGateMode']
  /** What decided. A model that can't be asked leaves it to the rules, `heuristic`. */
  readonly by: Settings['relevanceGateMode']
  /** `all`: it was not decided, and everything may be of use. */
  readonly section: GateSection | 'all'
  /** One of a fixed few sentences: it holds no word of the message. */
  readonly because: string
}

/** How a memory got where it was: each step with its score. */
export type ReceiptMemory = {
  readonly memory: MemoryId
  readonly score: number
  readonly coverage: number
  readonly trail: readonly { readonly stage: string; readonly score: number }[]
}
