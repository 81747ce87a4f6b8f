/**
 * Owner locks: leases in the store that let one process at a time work for an owner. Jobs hold one while they run, and
 * so does foreground work that a caller waits for.
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
  readonly lock: OwnerLease | null
}

/** Whether a lease that expired by the clock is really abandoned; see `LeaseWatchdog`. */
export type IsLeaseAbandoned = (lockId: string, version: number) => boolean

export async function loadLock(ports: StoreDependencies, id: string): Promise<LockRow> {
  const entry = await getSystemEntry(ports, LOCK_KIND, id)
  return { id, entry, lock: entry?.body.lease ?? null }
}

export function isLockFree(
  { id, entry, lock }: LockRow,
  now: Instant,
  { leaseMs, processes }: JobLimits,
  isAbandoned: IsLeaseAbandoned,
): boolean {
  if (lock !== null && lock.process !== null && processes.isGone(lock.process)) return true
  return (
    lock === null || (isLeaseExpired(lock, now, leaseMs) && isAbandoned(id, entry?.version ?? 0))
  )
}

export function buildLease(
  holder: string,
  claim: string,
  now: Instant,
  { leaseMs, processes }: JobLimits,
): OwnerLease {
  return { holder, claim, leasedUntil: addMs(now, leaseMs), process: processes.own }
}

/** Rows of free locks stay: one row per owner costs less than removing it after each job. */
export function buildLockChange(
  { id, entry }: LockRow,
  lease: OwnerLease | null,
  about: OwnerId | null,
  at: Instant,
): Change {
  return buildEntryChange({ id, kind: LOCK_KIND, about, at, body: { lease } }, entry).change
}

/** A check that fails a commit unless this claim still holds the lock. */
export function buildLockFence({ id, entry, lock }: LockRow, claim: string): Change {
  if (entry === null || lock?.claim !== claim) {
    throw new AppError('cancelled', 'The job lease was lost to another worker.', { lock: id })
  }
  return {
    op: 'check',
    table: 'entry',
    scope: SYSTEM_SCOPE,
    id: entry.id,
    expect: { version: entry.version },
  }
}

/** Passed to the work that runs under a lock. */
export type LockHold = {
  /** Fires when the caller gives up, when another worker took the lock over, and when the process shuts down. */
  readonly signal: AbortSignal
  /** Added to a commit, the change fails it unless the lock is still held. */
  fence(): Promise<Change>
}

export type LockOptions = {
  readonly signal: AbortSignal
  /** How long to wait while another worker holds the lock. */
  readonly waitMs: number
}

/** `busy`: the lock stayed taken for longer than `waitMs`, and nothing ran. */
export type LockedResult<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'busy' }

export type LeaseHandle<Result = unknown> = {
  readonly claim: string
  /** Resolves to false when another worker holds the lock or the job was cancelled. */
  renew(): Promise<boolean>
  fence(): Promise<Change>
  release(result: WorkResult<Result>): Promise<void>
}

export type WorkResult<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'abandoned'; readonly error: AppError }

/** Resolves to null while another worker holds the lock. */
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

/** The holder of a lock without a job. */
const HOLDER = 'call'
const RENEWALS_PER_LEASE = 3
const FIRST_PAUSE_MS = 20
const PAUSE_MS_MAX = 250
const STOP_OWNER_MS = 5_000

/** Holds owner locks for foreground work. */
export class OwnerLocks {
  readonly #dependencies: OwnerLocksDependencies
  readonly #held = new Set<HeldLock>()
  #isClosed = false

  constructor(dependencies: OwnerLocksDependencies) {
    this.#dependencies = dependencies
  }

  async hold<Result>(
    owner: OwnerId,
    work: (hold: LockHold) => Promise<Result>,
    { signal, waitMs }: LockOptions,
    tryAcquire: TryAcquire<Result> = () => this.#tryAcquire(owner),
  ): Promise<LockedResult<Result>> {
    const lease = await this.#acquire(tryAcquire, signal, waitMs)
    if (lease === null) return { kind: 'busy' }
    const controller = new AbortController()
    const { claim } = lease
    const held: HeldLock = { owner, claim, controller, ended: Promise.resolve() }
    const ended = this.#run(lease, work, controller, signal)
    held.ended = ended.catch(() => {}) // the caller receives the error
    this.#held.add(held)
    if (this.#isClosed) controller.abort()
    try {
      return { kind: 'done', result: await ended }
    } finally {
      this.#held.delete(held)
    }
  }

  stop(claim: string): void {
    for (const held of this.#held) if (held.claim === claim) held.controller.abort()
  }

  async stopAll(owner: OwnerId): Promise<void> {
    await this.#stop(
      [...this.#held].filter((held) => held.owner === owner),
      STOP_OWNER_MS,
    )
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosed = true
    await this.#stop([...this.#held], graceMs)
  }

  async #stop(locks: readonly HeldLock[], graceMs: number): Promise<void> {
    for (const { controller } of locks) controller.abort()
    await withTimeout(graceMs, () => Promise.all(locks.map(({ ended }) => ended)))
  }

  async #run<Result>(
    lease: LeaseHandle<Result>,
    work: (hold: LockHold) => Promise<Result>,
    controller: AbortController,
    signal: AbortSignal,
  ): Promise<Result> {
    const { ports, limits, timers } = this.#dependencies
    const renew = async () => {
      if (!(await lease.renew())) controller.abort()
    }
    const stopRenewing = timers.every(limits.leaseMs / RENEWALS_PER_LEASE, () => {
      renew().catch(() => {}) // the next renewal still comes before the lease expires
    })
    // A lock that cannot be released becomes free when its lease expires.
    const release = async (result: WorkResult<Result>) => {
      stopRenewing()
      await retryBriefly(ports.clock, () => lease.release(result)).catch(() => {})
    }
    try {
      const result = await work({
        signal: AbortSignal.any([signal, controller.signal]),
        fence: () => lease.fence(),
      })
      await release({ kind: 'done', result })
      return result
    } catch (thrown) {
      await release({ kind: 'abandoned', error: toAppError(thrown) })
      throw thrown
    }
  }

  /** Resolves to null after `waitMs`. The wait adds up pauses, so a clock change cannot shorten or extend it. */
  async #acquire<Result>(
    tryAcquire: TryAcquire<Result>,
    signal: AbortSignal,
    waitMs: number,
  ): Promise<LeaseHandle<Result> | null> {
    let pauseMs = FIRST_PAUSE_MS
    for (let waitedMs = 0; ; waitedMs += pauseMs) {
      if (this.#isClosed) throw createAbortedError()
      throwIfAborted(signal)
      const lease = await tryAcquire()
      if (lease !== null) return lease
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX, waitMs - waitedMs)
      if (pauseMs <= 0) return null
      await sleep(pauseMs, signal)
    }
  }

  async #tryAcquire(owner: OwnerId): Promise<LeaseHandle | null> {
    const { ports, limits, isAbandoned } = this.#dependencies
    const row = await this.#row(owner)
    const now = ports.clock.now()
    if (!isLockFree(row, now, limits, isAbandoned)) return null
    const claim: string = ports.ids.next('job', now)
    const { kind } = await ports.store.commit([
      buildLockChange(row, buildLease(HOLDER, claim, now, limits), owner, now),
    ])
    if (kind === 'conflict') return null
    return {
      claim,
      renew: () => this.#renew(owner, claim),
      fence: async () => buildLockFence(await this.#row(owner), claim),
      release: () => this.#release(owner, claim),
    }
  }

  async #renew(owner: OwnerId, claim: string): Promise<boolean> {
    const { ports, limits } = this.#dependencies
    return commitWithRetry<boolean>(ports, async () => {
      const row = await this.#row(owner)
      if (row.lock?.claim !== claim) return { changes: [], result: false }
      const now = ports.clock.now()
      const lease = buildLease(HOLDER, claim, now, limits)
      return { changes: [buildLockChange(row, lease, owner, now)], result: true }
    })
  }

  async #release(owner: OwnerId, claim: string): Promise<void> {
    const { ports } = this.#dependencies
    await commitWithRetry(ports, async () => {
      const row = await this.#row(owner)
      const isOurs = row.lock?.claim === claim
      return {
        changes: isOurs ? [buildLockChange(row, null, owner, ports.clock.now())] : [],
        result: null,
      }
    })
  }

  #row(owner: OwnerId): Promise<LockRow> {
    return loadLock(this.#dependencies.ports, buildOwnerLockId(owner))
  }
}
