/**
 * Receipts, written together: one commit for many, a moment after they came. Whoever reads them gets those that were
 * still waiting as well. Each owner keeps as many as its settings say, and for as long.
 */

import type { Entry } from '../../domain/entry.ts'
import type { OwnerId, ReceiptId } from '../../domain/ids.ts'
import { parseScope, type Scope, type ScopeInput } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import { NO_YIELD, type YieldTurn } from '../../lib/backpressure.ts'
import { DelayedTask } from '../../lib/delayed-task.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import { retryBriefly } from '../../lib/retry.ts'
import { addMs, DAY_MS } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { parseCursor, parseLimit } from '../../storage/access/page-request.ts'
import { removeExpiredEntries } from '../../storage/access/system-entries.ts'
import type { Change, Page } from '../../storage/store.ts'
import type { ReceiptQuery } from '../conversations.ts'
import type { Receipt, ReceiptDetail } from './receipt.ts'
import { decodeReceipt } from './receipt-codec.ts'
import { getReceiptDetail, type NewReceipt, storeReceipts } from './receipt-lines.ts'

const WRITE_AFTER_MS = 250
const BATCH = 100

/** So few lines go into a commit that others are answered between two of them. */
const PIECES_PER_COMMIT = 250

/** Beyond this the oldest are given up: a store that fails for long must not fill the memory. */
const PENDING_MAX = 10_000
const LIST_LIMIT = 50

/** What is too old or too much is removed with every so many new ones, so many at a time. */
const CLEAN_EVERY = 100
const CLEANED_ROWS = 500
const OWNERS_COUNTED_MAX = 10_000
const RECEIPT_ID = /^rcp_\w{1,60}$/

export class ReceiptLog {
  readonly #ports: MemoryDependencies
  readonly #settingsOf: (owner: OwnerId) => Promise<Settings>
  /** Gives way to requests before writing what nobody asked for yet. */
  readonly #giveWay: YieldTurn
  #pending: NewReceipt[] = []
  #writing: Promise<void> = Promise.resolve()
  readonly #write = new DelayedTask(() => void this.#giveWay().then(() => this.flush()))
  /** How many an owner got since its old ones were removed. */
  readonly #added = new LruCache<OwnerId, number>({ entriesMax: OWNERS_COUNTED_MAX })
  #lost = 0

  constructor(
    ports: MemoryDependencies,
    settingsOf: (owner: OwnerId) => Promise<Settings>,
    giveWay: YieldTurn = NO_YIELD,
  ) {
    this.#ports = ports
    this.#settingsOf = settingsOf
    this.#giveWay = giveWay
  }

  /** `lines` are the texts of its pieces. */
  add(
    receipt: Receipt,
    lines: readonly string[],
    {
      'retention.receiptsMax': receiptsMax,
      'retention.receiptDays': receiptDays,
    }: Pick<Settings, 'retention.receiptsMax' | 'retention.receiptDays'>,
  ): void {
    if (receiptsMax === 0) return
    const expiresAt = addMs(receipt.at, receiptDays * DAY_MS)
    this.#pending.push({ receipt, lines, expiresAt })
    const surplus = this.#pending.length - PENDING_MAX
    if (surplus > 0) {
      this.#pending.splice(0, surplus)
      this.#lost += surplus
    }
    if (this.#pending.length >= BATCH)
      void this.flush() // never fails
    else this.#write.schedule(WRITE_AFTER_MS)
  }

  /** How many were given up since the last time somebody asked. */
  takeLost(): number {
    const lost = this.#lost
    this.#lost = 0
    return lost
  }

  /** Writes what waits. It never fails: what can't be written is given up after a while. */
  flush(): Promise<void> {
    this.#write.cancel()
    this.#writing = this.#writing.then(() => this.#writeAll())
    return this.#writing
  }

  async list(scope: ScopeInput, { session, limit, after }: ReceiptQuery): Promise<Page<Receipt>> {
    const parsed = parseScope(session === undefined ? scope : { ...scope, session })
    await this.flush()
    await this.#clean(parsed.owner).catch(() => {}) // reading needs no room to write
    const page = await this.#ports.store.find('entry', parsed, {
      where: { kinds: ['receipt'] },
      order: 'newest',
      limit: parseLimit(limit ?? LIST_LIMIT),
      ...(after === undefined ? {} : { after: parseCursor('rcp', after) }),
    })
    return { rows: page.rows.map(decodeReceipt), next: page.next }
  }

  /** With the texts that it cites. */
  async get(scope: ScopeInput, id: string): Promise<ReceiptDetail | null> {
    const parsed = parseScope(scope)
    if (!RECEIPT_ID.test(id)) return null
    await this.flush()
    const entry = await this.#ports.store.get('entry', parsed, id as ReceiptId) // just looked at
    if (entry === null || entry.kind !== 'receipt') return null
    return getReceiptDetail(this.#ports.store, decodeReceipt(entry))
  }

  /** Lets go of what waits to be written for an owner. */
  async forget(owner: OwnerId): Promise<void> {
    await this.#writing
    this.#pending = this.#pending.filter(({ receipt }) => receipt.place.owner !== owner)
    this.#added.delete(owner)
  }

  async #writeAll(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, computeBatchSize(this.#pending))
      const { clock, store } = this.#ports
      try {
        await retryBriefly(clock, () => storeReceipts(store, batch, clock.now()))
        await this.#cleanAfter(batch)
      } catch {
        this.#lost += batch.length
      }
    }
  }

  async #cleanAfter(batch: readonly NewReceipt[]): Promise<void> {
    const owners = new Set<OwnerId>()
    for (const { receipt } of batch) {
      // With the owner of shared memory, whose lines are stored with it.
      for (const owner of new Set([
        receipt.place.owner,
        ...receipt.lines.map((each) => each.owner),
      ])) {
        // An owner that was not seen since the start may have many.
        const added = (this.#added.get(owner) ?? CLEAN_EVERY) + 1
        this.#added.set(owner, added)
        if (added > CLEAN_EVERY) owners.add(owner)
      }
    }
    for (const owner of owners) {
      this.#added.set(owner, 0)
      await this.#clean(owner).catch(() => {}) // done again with the next ones
    }
  }

  /** Removes what is past its time, and beyond what is kept; expired lines and links of conversations as well. */
  async #clean(owner: OwnerId): Promise<void> {
    const { store, clock } = this.#ports
    const { 'retention.receiptsMax': receiptsMax } = await this.#settingsOf(owner)
    const scope: Scope = { owner }
    for (const { where, offset } of [
      {
        where: { kinds: ['receipt', 'receipt-text', 'thread'], expiredBy: clock.now() },
        offset: 0,
      },
      { where: { kinds: ['receipt'] }, offset: receiptsMax },
    ] as const) {
      const { rows } = await store.find('entry', scope, { where, offset, limit: CLEANED_ROWS })
      if (rows.length > 0) await store.commit(rows.map((row) => buildRemoval(scope, row)))
    }
    await removeExpiredEntries(this.#ports, ['thread'])
  }
}

/** As many of the first as fit into a commit with their lines; one in any case. */
function computeBatchSize(pending: readonly NewReceipt[]): number {
  let pieces = 0
  const over = pending.findIndex(({ receipt }, index) => {
    pieces += receipt.lines.length
    return index === BATCH || (index > 0 && pieces > PIECES_PER_COMMIT)
  })
  return over < 0 ? pending.length : over
}

function buildRemoval(scope: Scope, { id, kind, version }: Entry): Change {
  // A line that is cited again meanwhile stays.
  const expect = kind === 'receipt-text' ? { version } : 'any'
  return { op: 'remove', table: 'entry', scope, id, expect }
}
