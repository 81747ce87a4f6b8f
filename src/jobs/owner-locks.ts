/**
 * Lanes in the store: whoever holds the lane of an owner may work for it, alone among all processes. Jobs hold one while
 * they run; so does work that somebody asked for and waits for.
 */
import type { EntryOf } from '../domain/entries/entry.ts'
import type { OwnerLease } from '../domain/entries/learning-entries.ts'
import type { OwnerId } from '../domain/ids.ts'
import { createAbortedError, sleep, throwIfAborted } from '../lib/abort.ts'
import type { IntervalTimers } from '../lib/clock.ts'
import { AppError, toAppError } from '../lib/errors.ts'
import { retryBriefly } from '../lib/retry.ts'
import { addMs, type Instant } from '../lib/time.ts'
import { withTimeout } from '../lib/timeout.ts'
import { commitWithRetry } from '../storage/access/optimistic-commit.ts'
import { buildEntryChange, getSystemEntry, SYSTEM_SCOPE } from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { Change } from '../storage/store.ts'
import { buildOwnerLockId, isLeaseExpired, type JobLimits } from './job.ts'

export const LOCK_KIND = 'owner-lock'

export type LockRow = {
  readonly id: string
  readonly entry: EntryOf<typeof LOCK_KIND> | null
  readonly lane: OwnerLease | null
}

/** Whether a lease that has run out by the clock may be believed to have. */
export type IsLeaseAbandoned = (lane: string, version: number) => boolean

export async function loadLock(ports: StoreDependencies, id: string): Promise<LockRow> {
  const entry = await getSystemEntry(ports, LOCK_KIND, id)
  return { id, entry, lane: entry?.body.lease ?? null }
}

export function isLockFree(
  { id, entry, lane }: LockRow,
  now: Instant,
  leaseMs: number,
  isAbandoned: IsLeaseAbandoned,
): boolean {
  return (
    lane === null || (isLeaseExpired(lane, now, leaseMs) && isAbandoned(id, entry?.version ?? 0))
  )
}

export function buildLease(
  holder: string,
  claim: string,
  now: Instant,
  leaseMs: number,
): OwnerLease {
  return { holder, claim, leasedUntil: addMs(now, leaseMs) }
}

/** Lanes stay when nobody holds them: a row for each owner is less than removing it after each job. */
export function buildLockChange(
  { id, entry }: LockRow,
  lease: OwnerLease | null,
  about: OwnerId | null,
  at: Instant,
): Change {
  return buildEntryChange({ id, kind: LOCK_KIND, about, at, body: { lease } }, entry).change
}

/** For a commit that only whoever holds the lane by this claim may make. */
export function buildLockFence({ id, entry, lane }: LockRow, claim: string): Change {
  if (entry === null || lane?.claim !== claim) {
    throw new AppError('cancelled', 'Others do this by now.', { lane: id })
  }
  return {
    op: 'check',
    table: 'entry',
    scope: SYSTEM_SCOPE,
    id: entry.id,
    expect: { version: entry.version },
  }
}

/** What work may use while it holds a lane. */
export type LockHold = {
  /** Fires when the caller gives up, when others took the lane over, and when the process is about to end. */
  readonly signal: AbortSignal
  /** Put into a commit, it refuses the commit to all but the holder. */
  fence(): Promise<Change>
}

export type LockOptions = {
  readonly signal: AbortSignal
  /** How long to wait for others who hold the lane. */
  readonly waitMs: number
}

/** `busy`: others held the lane for longer than that; nothing was done. */
export type LockedResult<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'busy' }

/** A lane that was entered: how it is kept, and left. */
export type LeaseHandle<Result = unknown> = {
  readonly claim: string
  /** False when it is somebody else's by now, or is to be left. */
  renew(): Promise<boolean>
  fence(): Promise<Change>
  release(ended: WorkResult<Result>): Promise<void>
}

/** What became of the work. */
export type WorkResult<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'abandoned'; readonly error: AppError }

/** Null while others hold the lane. */
export type TryAcquire<Result> = () => Promise<LeaseHandle<Result> | null>

type OwnerLocksDependencies = {
  readonly ports: StoreDependencies
  readonly limits: JobLimits
  readonly timers: IntervalTimers
  readonly isAbandoned: IsLeaseAbandoned
}

type HeldLock = {
  readonly owner: OwnerId
  readonly claim: string
  readonly controller: AbortController
  ended: Promise<unknown>
}

/** Stands in the lane in the place of a job. */
const HOLDER = 'call'

/** How often a renewal falls into a lease. */
const RENEWALS = 3
const FIRST_PAUSE_MS = 20
const PAUSE_MS_MAX = 250
const FORGET_WAIT_MS = 5_000

/** Holds lanes for work that somebody waits for. */
export class OwnerLocks {
  readonly #parts: OwnerLocksDependencies
  readonly #holding = new Set<HeldLock>()
  #isClosed = false

  constructor(parts: OwnerLocksDependencies) {
    this.#parts = parts
  }

  async hold<Result>(
    owner: OwnerId,
    work: (hold: LockHold) => Promise<Result>,
    { signal, waitMs }: LockOptions,
    tryToEnter: TryAcquire<Result> = () => this.#tryToEnter(owner),
  ): Promise<LockedResult<Result>> {
    const tenure = await this.#enter(tryToEnter, signal, waitMs)
    if (tenure === null) return { kind: 'busy' }
    const controller = new AbortController()
    const { claim } = tenure
    const holding: HeldLock = { owner, claim, controller, ended: Promise.resolve() }
    const ended = this.#work(tenure, work, controller, signal)
    holding.ended = ended.catch(() => {}) // whoever called hears of it
    this.#holding.add(holding)
    if (this.#isClosed) controller.abort()
    try {
      return { kind: 'done', result: await ended }
    } finally {
      this.#holding.delete(holding)
    }
  }

  stop(claim: string): void {
    for (const holding of this.#holding) if (holding.claim === claim) holding.controller.abort()
  }

  async stopAll(owner: OwnerId): Promise<void> {
    const meant = [...this.#holding].filter((holding) => holding.owner === owner)
    await this.#stop(meant, FORGET_WAIT_MS)
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosed = true
    await this.#stop([...this.#holding], graceMs)
  }

  async #stop(meant: readonly HeldLock[], graceMs: number): Promise<void> {
    for (const { controller } of meant) controller.abort()
    await withTimeout(graceMs, () => Promise.all(meant.map(({ ended }) => ended)))
  }

  async #work<Result>(
    tenure: LeaseHandle<Result>,
    work: (hold: LockHold) => Promise<Result>,
    controller: AbortController,
    signal: AbortSignal,
  ): Promise<Result> {
    const { ports, limits, timers } = this.#parts
    const renew = async () => {
      if (!(await tenure.renew())) controller.abort()
    }
    const stopRenewing = timers.every(limits.leaseMs / RENEWALS, () => {
      renew().catch(() => {}) // there are more to come before the lease runs out
    })
    // A lane that can't be left is free when its lease has run out.
    const leave = async (ended: WorkResult<Result>) => {
      stopRenewing()
      await retryBriefly(ports.clock, () => tenure.release(ended)).catch(() => {})
    }
    try {
      const result = await work({
        signal: AbortSignal.any([signal, controller.signal]),
        fence: () => tenure.fence(),
      })
      await leave({ kind: 'done', result })
      return result
    } catch (thrown) {
      await leave({ kind: 'abandoned', error: toAppError(thrown) })
      throw thrown
    }
  }

  /** Null when others hold the lane for too long. The wait is counted in pauses, which no clock can set. */
  async #enter<Result>(
    tryToEnter: TryAcquire<Result>,
    signal: AbortSignal,
    waitMs: number,
  ): Promise<LeaseHandle<Result> | null> {
    let pauseMs = FIRST_PAUSE_MS
    for (let waitedMs = 0; ; waitedMs += pauseMs) {
      if (this.#isClosed) throw createAbortedError()
      throwIfAborted(signal)
      const tenure = await tryToEnter()
      if (tenure !== null) return tenure
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX, waitMs - waitedMs)
      if (pauseMs <= 0) return null
      await sleep(pauseMs, signal)
    }
  }

  async #tryToEnter(owner: OwnerId): Promise<LeaseHandle | null> {
    const { ports, limits, isAbandoned } = this.#parts
    const row = await this.#row(owner)
    const now = ports.clock.now()
    if (!isLockFree(row, now, limits.leaseMs, isAbandoned)) return null
    const claim: string = ports.ids.next('job', now)
    const { kind } = await ports.store.commit([
      buildLockChange(row, buildLease(HOLDER, claim, now, limits.leaseMs), owner, now),
    ])
    if (kind === 'conflict') return null
    return {
      claim,
      renew: () => this.#renew(owner, claim),
      fence: async () => buildLockFence(await this.#row(owner), claim),
      release: () => this.#leave(owner, claim),
    }
  }

  async #renew(owner: OwnerId, claim: string): Promise<boolean> {
    const { ports, limits } = this.#parts
    return commitWithRetry<boolean>(ports, async () => {
      const row = await this.#row(owner)
      if (row.lane?.claim !== claim) return { changes: [], result: false }
      const now = ports.clock.now()
      const lease = buildLease(HOLDER, claim, now, limits.leaseMs)
      return { changes: [buildLockChange(row, lease, owner, now)], result: true }
    })
  }

  async #leave(owner: OwnerId, claim: string): Promise<void> {
    const { ports } = this.#parts
    await commitWithRetry(ports, async () => {
      const row = await this.#row(owner)
      const isOurs = row.lane?.claim === claim
      return {
        changes: isOurs ? [buildLockChange(row, null, owner, ports.clock.now())] : [],
        result: null,
      }
    })
  }

  #row(owner: OwnerId): Promise<LockRow> {
    return loadLock(this.#parts.ports, buildOwnerLockId(owner))
  }
}
