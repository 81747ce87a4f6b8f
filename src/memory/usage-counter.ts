/**
 * Counts uses of memories off the hot path: uses are collected and written together a second later. Failed writes are
 * repeated with the next ones; a crash loses one second of counts.
 */
import type { MemoryId } from '../domain/ids.ts'
import type { Scope } from '../domain/scope.ts'
import type { Clock } from '../lib/clock.ts'
import { DelayedTask } from '../lib/delayed-task.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import type { Instant } from '../lib/time.ts'
import type { Change, Store } from '../storage/store.ts'

const WRITE_DELAY_MS = 1_000

/** Uses per commit. Larger commits would delay concurrent requests. */
const BATCH_SIZE = 50

/** Further uses are dropped, so that a failing store does not exhaust the memory. */
const PENDING_MAX = 50_000

type UsageCount = { readonly scope: Scope; readonly id: MemoryId; uses: number; usedAt: Instant }

export class UsageCounter {
  readonly #store: Store
  readonly #clock: Clock
  #pending = new Map<string, UsageCount>()
  readonly #delayedFlush = new DelayedTask(() => {
    this.flush().catch(() => {}) // failed uses are retried with the next ones
  })

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  note(scope: Scope, ids: readonly MemoryId[]): void {
    const usedAt = this.#clock.now()
    for (const id of ids) {
      const key = buildKey(scope, id)
      const pending = this.#pending.get(key)
      if (pending !== undefined) {
        pending.uses++
        pending.usedAt = usedAt
      } else if (this.#pending.size < PENDING_MAX) {
        this.#pending.set(key, { scope, id, uses: 1, usedAt })
      }
    }
    if (this.#pending.size > 0) this.#delayedFlush.schedule(WRITE_DELAY_MS)
  }

  async flush(): Promise<void> {
    this.#delayedFlush.cancel()
    const uses = [...this.#pending.values()]
    this.#pending = new Map()
    for (let start = 0; start < uses.length; start += BATCH_SIZE) {
      const batch = uses.slice(start, start + BATCH_SIZE)
      if (start > 0) await yieldToEventLoop()
      try {
        await this.#store.commit(batch.map((use): Change => ({ op: 'count', ...use })))
      } catch (error) {
        for (const use of uses.slice(start)) {
          const key = buildKey(use.scope, use.id)
          const later = this.#pending.get(key)
          if (later === undefined) this.#pending.set(key, use)
          else later.uses += use.uses
        }
        throw error
      }
    }
  }
}

/** Names contain no line breaks. */
function buildKey({ owner }: Scope, id: MemoryId): string {
  return `${owner}\n${id}`
}
