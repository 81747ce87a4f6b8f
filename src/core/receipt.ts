import type { Instant, MemoryId, Place, ReceiptId } from './ids.ts'

/** What memory did for one request: what was recalled and why, what was injected, what it cost. */
export type Receipt = {
  readonly id: ReceiptId
  readonly place: Place
  readonly version: number
  readonly at: Instant
  readonly model: string
  readonly recalled: readonly { readonly memory: MemoryId; readonly score: number }[]
  readonly injectedTokens: number
  readonly extracted: readonly MemoryId[]
  readonly durationMs: number
}
