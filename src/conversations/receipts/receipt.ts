import type {
  ReceiptBody,
  ReceiptCitation,
  ToolMemoryIds,
} from '../../domain/entries/conversation-entries.ts'
import type { ReceiptId } from '../../domain/ids.ts'
import type { Place } from '../../domain/scope.ts'
import type { Instant } from '../../lib/time.ts'

export type {
  ReceiptCitation,
  ReceiptGate,
  ReceiptMemory,
  ToolMemoryIds,
} from '../../domain/entries/conversation-entries.ts'

/**
 * What memory did for one request. It names memories and turns by id and holds no text of theirs. The lines that the model
 * read are stored per memory and turn, see `line-citations.ts`, so that erasing one of these redacts all receipts.
 */
export type Receipt = ReceiptBody & {
  readonly id: ReceiptId
  /** Includes the session of the request. */
  readonly place: Place
  readonly at: Instant
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

export const NO_TOOL_MEMORY_IDS: ToolMemoryIds = {
  found: [],
  saved: [],
  updated: [],
  forgotten: [],
}
