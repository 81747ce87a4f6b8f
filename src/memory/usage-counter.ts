/**
 * Counts that memories were of use, off the hot path: uses are collected and written together a moment later. What
 * could not be written is written with the next ones; a process that dies loses a second of counting, nothing else.
 */
import type { MemoryId } from '../domain/ids.ts'
import type { Scope } from '../domain/scope.ts'
import type { Clock } from '../lib/clock.ts'
import { DelayedTask } from '../lib/delayed-task.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import type { Instant } from '../lib/time.ts'
import type { Change, Store } from '../storage/store.ts'

const WRITE_AFTER_MS = 1_000

/** Written at once: more would hold up a request that comes meanwhile. */
const BATCH = 50

/** Beyond this, new uses are not remembered: a store that fails for long must not fill the memory. */
const PENDING_MAX = 50_000

type UsageCount = { readonly scope: Scope; readonly id: MemoryId; uses: number; usedAt: Instant }

export class UsageCounter {
  readonly #store: Store
  readonly #clock: Clock
  #pending = new Map<string, UsageCount>()
  /** What cannot be written is kept, and tried again with the next uses. */
  readonly #write = new DelayedTask(() => void this.flush().catch(() => {}))

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  note(scope: Scope, ids: readonly MemoryId[]): void {
    const usedAt = this.#clock.now()
    for (const id of ids) {
      const name = `${scope.owner}\n${id}`
      const known = this.#pending.get(name)
      if (known !== undefined) {
        known.uses++
        known.usedAt = usedAt
      } else if (this.#pending.size < PENDING_MAX) {
        this.#pending.set(name, { scope, id, uses: 1, usedAt })
      }
    }
    if (this.#pending.size > 0) this.#write.schedule(WRITE_AFTER_MS)
  }

  async flush(): Promise<void> {
    this.#write.cancel()
    const uses = [...this.#pending.values()]
    this.#pending = new Map()
    for (let start = 0; start < uses.length; start += BATCH) {
      const batch = uses.slice(start, start + BATCH)
      if (start > 0) await yieldToEventLoop()
      try {
        await this.#store.commit(batch.map((use): Change => ({ op: 'count', ...use })))
      } catch (error) {
        for (const use of uses.slice(start)) {
          const name = `${use.scope.owner}\n${use.id}`
          const later = this.#pending.get(name)
          if (later === undefined) this.#pending.set(name, use)
          else later.uses += use.uses
        }
        throw error
      }
    }
  }
}
