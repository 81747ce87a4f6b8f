/**
 * The receipt log: writes receipts in batches after a short delay, and reads them back, including those not written yet.
 * The settings of an owner limit the number and the age of its receipts.
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
import type { FailureListener } from '../failures.ts'
import type { Receipt, ReceiptDetail } from './receipt.ts'
import { decodeReceipt } from './receipt-codec.ts'
import { getReceiptDetail, type NewReceipt, storeReceipts } from './receipt-lines.ts'

const WRITE_DELAY_MS = 250
const BATCH_MAX = 100

/** Small commits, so that requests are served between two of them. */
const LINES_PER_COMMIT_MAX = 250

/** Beyond this the oldest receipts are dropped: a store that fails for long must not exhaust memory. */
const PENDING_MAX = 10_000
const LIST_LIMIT = 50

/** Expired and surplus receipts of an owner are removed after so many new ones, so many rows at a time. */
const CLEANUP_INTERVAL = 100
const CLEANUP_ROWS_MAX = 500
const OWNERS_COUNTED_MAX = 10_000
const RECEIPT_ID = /^rcp_\w{1,60}$/

type ReceiptLogDependencies = {
  readonly ports: MemoryDependencies
  readonly settings: { resolve(owner: OwnerId): Promise<Settings> }
  readonly onFailure?: FailureListener
}

export class ReceiptLog {
  readonly #dependencies: ReceiptLogDependencies
  readonly #yieldTurn: YieldTurn
  #pending: NewReceipt[] = []
  #writing: Promise<void> = Promise.resolve()
  readonly #write = new DelayedTask(() => void this.#yieldTurn().then(() => this.flush()))
  /** New receipts by owner, since the last cleanup. */
  readonly #added = new LruCache<OwnerId, number>({ entriesMax: OWNERS_COUNTED_MAX })
  #dropped = 0

  constructor(dependencies: ReceiptLogDependencies, yieldTurn: YieldTurn = NO_YIELD) {
    this.#dependencies = dependencies
    this.#yieldTurn = yieldTurn
  }

  /** `lines` are the texts of the receipt's lines. */
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
      this.#dropped += surplus
    }
    if (this.#pending.length < BATCH_MAX) this.#write.schedule(WRITE_DELAY_MS)
    else void this.flush() // never fails
  }

  /** How many receipts were lost since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }

  /** Writes pending receipts. Never fails: receipts that cannot be written after retries are dropped. */
  flush(): Promise<void> {
    this.#write.cancel()
    this.#writing = this.#writing.then(() => this.#writeAll())
    return this.#writing
  }

  async list(scope: ScopeInput, { session, limit, after }: ReceiptQuery): Promise<Page<Receipt>> {
    const parsed = parseScope(session === undefined ? scope : { ...scope, session })
    await this.flush()
    await this.#cleanUp(parsed.owner)
    const page = await this.#dependencies.ports.store.find('entry', parsed, {
      where: { kinds: ['receipt'] },
      order: 'newest',
      limit: parseLimit(limit ?? LIST_LIMIT),
      ...(after === undefined ? {} : { after: parseCursor('rcp', after) }),
    })
    return { rows: page.rows.map(decodeReceipt), next: page.next }
  }

  /** A receipt with the texts of its lines. */
  async get(scope: ScopeInput, id: string): Promise<ReceiptDetail | null> {
    const parsed = parseScope(scope)
    if (!RECEIPT_ID.test(id)) return null
    await this.flush()
    const { store } = this.#dependencies.ports
    const entry = await store.get('entry', parsed, id as ReceiptId) // matches `RECEIPT_ID`
    if (entry === null || entry.kind !== 'receipt') return null
    return getReceiptDetail(store, decodeReceipt(entry))
  }

  /** Drops pending receipts of an owner. */
  async drop(owner: OwnerId): Promise<void> {
    await this.#writing
    this.#pending = this.#pending.filter(({ receipt }) => receipt.place.owner !== owner)
    this.#added.delete(owner)
  }

  async #writeAll(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, computeBatchSize(this.#pending))
      const { clock, store } = this.#dependencies.ports
      try {
        await retryBriefly(clock, () => storeReceipts(store, batch, clock.now()))
      } catch (error) {
        this.#dropped += batch.length
        this.#fail(batch[0]?.receipt.place.owner ?? '', error)
        continue
      }
      await this.#cleanUpAfter(batch)
    }
  }

  async #cleanUpAfter(batch: readonly NewReceipt[]): Promise<void> {
    const owners = new Set<OwnerId>()
    for (const { receipt } of batch) {
      // Including the owner of shared memory, which stores the lines of its memories.
      for (const owner of new Set([
        receipt.place.owner,
        ...receipt.lines.map((each) => each.owner),
      ])) {
        // The first receipt after a start triggers a cleanup, because the owner may have many.
        const added = (this.#added.get(owner) ?? CLEANUP_INTERVAL) + 1
        this.#added.set(owner, added)
        if (added > CLEANUP_INTERVAL) owners.add(owner)
      }
    }
    for (const owner of owners) {
      this.#added.set(owner, 0)
      await this.#cleanUp(owner)
    }
  }

  /** Never fails: the next receipts trigger another cleanup. */
  async #cleanUp(owner: OwnerId): Promise<void> {
    try {
      await this.#removeExpired(owner)
    } catch (error) {
      this.#fail(owner, error)
    }
  }

  #fail(owner: string, error: unknown): void {
    this.#dependencies.onFailure?.({ stage: 'receipt', owner, requestId: null, error })
  }

  /** Removes expired and surplus receipts, expired lines and expired session links. */
  async #removeExpired(owner: OwnerId): Promise<void> {
    const { ports, settings } = this.#dependencies
    const { store, clock } = ports
    const { 'retention.receiptsMax': receiptsMax } = await settings.resolve(owner)
    const scope: Scope = { owner }
    for (const { where, offset } of [
      {
        where: { kinds: ['receipt', 'receipt-text', 'thread'], expiredBy: clock.now() },
        offset: 0,
      },
      { where: { kinds: ['receipt'] }, offset: receiptsMax },
    ] as const) {
      const { rows } = await store.find('entry', scope, { where, offset, limit: CLEANUP_ROWS_MAX })
      if (rows.length > 0) await store.commit(rows.map((row) => buildRemoval(scope, row)))
    }
    await removeExpiredEntries(ports, ['thread'])
  }
}

/** How many receipts fit into a commit with their lines; at least one. */
function computeBatchSize(pending: readonly NewReceipt[]): number {
  let lines = 0
  const end = pending.findIndex(({ receipt }, index) => {
    lines += receipt.lines.length
    return index === BATCH_MAX || (index > 0 && lines > LINES_PER_COMMIT_MAX)
  })
  return end < 0 ? pending.length : end
}

function buildRemoval(scope: Scope, { id, kind, version }: Entry): Change {
  // Lines that were cited again in the meantime stay.
  const expect = kind === 'receipt-text' ? { version } : 'any'
  return { op: 'remove', table: 'entry', scope, id, expect }
}
