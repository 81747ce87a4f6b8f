/**
 * Controls a replica: which one is configured, its state, and when it is synchronized. Work runs in
 * the background, one task at a time; no search or write waits for it.
 */

import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, type ErrorCode, toAppError } from '../../lib/errors.ts'
import { Mutex } from '../../lib/mutex.ts'
import { addMs, HOUR_MS, type Instant, MINUTE_MS } from '../../lib/time.ts'
import type { OwnerMemories, RemoteChange, Store } from '../store.ts'
import type { VectorIndex, VectorSpace } from '../vector-index.ts'
import type { VectorReplica } from '../vector-replica.ts'
import type {
  ReplicaSearchOutcome,
  ReplicaState,
  ReplicationListener,
  VectorReplicaStatus,
} from '../vector-replication.ts'
import { probeReplica } from './replica-probe.ts'
import { findNextState, type ReplicaEvent } from './replica-state-machine.ts'
import { ReplicaSync } from './replica-sync.ts'
import { type ReplicaTimeouts, withReplicaTimeouts } from './replica-timeouts.ts'

/** The configured replica. A different identity means a different replica. */
export type ReplicaConfiguration =
  | {
      readonly kind: 'mirror'
      readonly name: VectorReplica['name']
      readonly identity: string
      open(): VectorReplica | Promise<VectorReplica>
    }
  | {
      readonly kind: 'refused'
      readonly name: VectorReplica['name'] | null
      readonly because: string
    }
  | { readonly kind: 'none' }

/** Calls `work` once after `ms`, unless the returned function cancels it first. */
export type ScheduleTimer = (ms: number, work: () => void) => () => void

export type ReplicaControllerOptions = {
  readonly store: Store
  readonly vectors: VectorIndex
  readonly clock: Clock
  /** Reads the current settings. */
  readonly configuration: () => Promise<ReplicaConfiguration>
  readonly schedule: ScheduleTimer
  readonly timeouts: ReplicaTimeouts
  readonly lagMax: number
  /**
   * Receives the replicated changes: other processes may have their own replicas of the same
   * memories.
   */
  readonly onChanged: (changed: OwnerMemories) => void
}

/** Delayed, so that short-lived commands do not start it. */
const START_DELAY_MS = 2_000
const TICK_MS = 15_000

/** Counting is slow in a large store: it may use one percent of the time. */
const CHECK_SHARE = 100
const COMPARE_EVERY_MS = 6 * HOUR_MS
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = MINUTE_MS

/** A replica that fails again sooner has not recovered, and the backoff grows. */
const STABLE_MS = MINUTE_MS

/** Errors that no retry fixes. */
const HOPELESS: ReadonlySet<ErrorCode> = new Set([
  'invalid_input',
  'missing_part',
  'unauthenticated',
  'forbidden',
])

type CurrentState = Pick<VectorReplicaStatus, 'state' | 'since' | 'reason' | 'nextRetryAt'>

export class ReplicaController {
  readonly #options: ReplicaControllerOptions
  readonly #listeners = new Set<ReplicationListener>()
  #configured: ReplicaConfiguration = { kind: 'none' }
  #identity: string | null = null
  #replica: VectorReplica | null = null
  #upkeep: ReplicaSync | null = null
  #state: CurrentState
  #isProven = false
  #isInterrupted = false
  #isClosed = false
  #pauseMs = 0
  #checkAt = 0
  readonly #mutex = new Mutex()
  #run: Promise<void> | null = null
  #isRunWanted = false
  #timer: { readonly at: number; readonly cancel: () => void } | null = null

  constructor(options: ReplicaControllerOptions) {
    this.#options = options
    this.#state = { state: 'off', since: options.clock.now(), reason: null, nextRetryAt: null }
    this.schedule(START_DELAY_MS)
  }

  status(): VectorReplicaStatus {
    const name = this.#configured.kind === 'none' ? null : this.#configured.name
    const isActive = this.#state.state === 'active'
    return {
      backend: name,
      servedBy: isActive && name !== null ? name : 'primary',
      ...this.#state,
      progress: this.#upkeep?.progress ?? null,
      pendingMemories: this.#upkeep === null ? 0 : this.#upkeep.lag.count,
    }
  }

  subscribe(listener: ReplicationListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * The replica, if it can serve this owner now; else the reason. Null where none is configured.
   */
  selectReplica(
    owner: OwnerId,
    unendedAt: Instant | undefined,
  ): VectorReplica | ReplicaSearchOutcome | null {
    if (this.#configured.kind === 'none') return null
    if (this.#state.state !== 'active' || this.#replica === null) return 'inactive'
    const { lag: behind, expiredRemovedBefore: cleanedBefore } = this.#upkeep ?? {}
    if (behind === undefined || behind.affectsOwner(owner)) return 'stale'
    const isCleaned = cleanedBefore != null && (unendedAt ?? 0) < cleanedBefore
    return isCleaned ? 'unsupported_filter' : this.#replica
  }

  recordSearch(outcome: ReplicaSearchOutcome): void {
    const servedBy = outcome === 'answered' ? this.status().servedBy : 'primary'
    for (const { onSearch } of this.#listeners) onSearch?.(servedBy, outcome)
  }

  /** A search failed: no other search uses the replica until a retry succeeds. */
  recordFailure(replica: VectorReplica, error: unknown): void {
    if (replica !== this.#replica) return // a replica that is no longer in use
    this.#blame(error, 'failed')
    this.schedule(0)
  }

  /** The replica returned nothing although the index holds something. */
  requestCheck(): void {
    this.#checkAt = 0
    this.schedule(0)
  }

  recordChange(owner: OwnerId, ids: readonly MemoryId[], space?: VectorSpace): void {
    if (ids.length === 0) return
    const isMirrored = this.#identity === null || this.#configured.kind !== 'none'
    if (isMirrored) this.#options.onChanged({ owner, ids })
    this.#note(owner, ids, space)
  }

  /**
   * Another process has changed these memories. It replicates them as well, but may be cut off or
   * die first; so this process replicates them too, which is idempotent, and the primary serves
   * their owners until then.
   */
  recordRemoteChange(changed: RemoteChange['memories']): void {
    if (changed === 'any') {
      this.#upkeep?.lag.addEverything()
      this.#soon()
    } else {
      for (const { owner, ids } of changed) this.#note(owner, ids)
    }
  }

  #note(owner: OwnerId, ids: readonly MemoryId[], space?: VectorSpace): void {
    if (this.#upkeep === null) return
    if (space === undefined) this.#upkeep.lag.add(owner, ids)
    else this.#upkeep.recordChange(space, owner, ids)
    this.#soon()
  }

  recordDrop(space: VectorSpace): void {
    this.#upkeep?.recordDrop(space)
    this.#soon()
  }

  /** The settings may have changed, which makes the work in progress obsolete. */
  async reloadSettings(): Promise<void> {
    const wanted = await this.#wanted()
    if (wanted === null || identityOf(wanted) === this.#identity) return
    this.#isInterrupted = true
    this.schedule(0)
  }

  /** Reads the settings and retries at once after a failure. Waits until the result is known. */
  async reconfigure(): Promise<VectorReplicaStatus> {
    await this.reloadSettings()
    const { state } = this.#state
    if (state === 'misconfigured') this.#identity = null
    if (state === 'down') this.#state = { ...this.#state, nextRetryAt: this.#now() }
    if (!this.#isInterrupted && !RESTING.has(state)) return this.status()
    await this.#run // started with the previous settings; it ends soon
    const decided = this.#whenDecided()
    await Promise.race([this.#runNow(), decided.promise])
    decided.stop()
    return this.status()
  }

  /** The status after the settings were first read. */
  async loadStatus(): Promise<VectorReplicaStatus> {
    if (this.#identity === null) await this.#mutex.run(() => this.#configure())
    return this.status()
  }

  /** Waits until the replica is up to date, or known to be unavailable. */
  async waitUntilSettled(): Promise<VectorReplicaStatus> {
    for (let round = 0; round < SETTLE_ROUNDS_MAX; round++) {
      await this.#runNow()
      const { state } = this.#state
      const isUpToDate = state === 'active' && this.#upkeep?.lag.isEmpty === true
      if (this.#isClosed || RESTING.has(state) || isUpToDate) break
    }
    return this.status()
  }

  /** The replica, without waiting for work in progress; null where none is open yet. */
  get replica(): VectorReplica | null {
    return this.#replica
  }

  /** Runs exclusive work on the replica. Null where none is configured, or it is refused. */
  async runExclusive<Result>(
    work: (replica: VectorReplica, upkeep: ReplicaSync) => Promise<Result>,
  ): Promise<Result | null> {
    return this.#mutex.run(async () => {
      await this.#configure()
      if (this.#configured.kind !== 'mirror') return null
      const { replica, upkeep } = await this.#open(this.#configured)
      return work(replica, upkeep)
    })
  }

  schedule(ms: number): void {
    if (this.#isClosed) return
    const at = this.#options.clock.now() + ms
    if (this.#timer !== null && this.#timer.at <= at) return
    this.#timer?.cancel()
    const cancel = this.#options.schedule(ms, () => {
      this.#timer = null
      this.#runNow().catch(() => {}) // reported through the state
    })
    this.#timer = { at, cancel }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#isInterrupted = true
    this.#timer?.cancel()
    this.#timer = null
    this.#listeners.clear()
    await this.#release() // first: it aborts the work in progress
    await this.#run?.catch(() => {})
    await this.#mutex.idle()
    await this.#release()
  }

  #now(): Instant {
    return this.#options.clock.now()
  }

  /** Only where work is possible now; else it starts once the replica recovers. */
  #soon(): void {
    if (this.#state.state === 'active' || this.#state.state === 'lagging') this.schedule(0)
  }

  #runNow(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    if (this.#run !== null) {
      this.#isRunWanted = true
      return this.#run
    }
    this.#run = this.#mutex
      .run(() => this.#work())
      .finally(() => {
        this.#run = null
        const isWanted = this.#isRunWanted
        this.#isRunWanted = false
        this.schedule(isWanted ? 0 : this.#restMs())
      })
    return this.#run
  }

  #restMs(): number {
    const { state, nextRetryAt: nextTryAt } = this.#state
    if (state === 'down') return Math.max(0, (nextTryAt ?? 0) - this.#now())
    return RESTING.has(state) || state === 'active' ? TICK_MS : 0
  }

  /** Repeats as long as it makes progress. */
  async #work(): Promise<void> {
    for (;;) {
      await this.#configure()
      const { state } = this.#state
      try {
        await this.#step(state)
      } catch (error) {
        this.#blame(error, state === 'active' ? 'missed' : 'failed')
      }
      if (this.#isClosed || this.#state.state === state) return
    }
  }

  async #step(state: ReplicaState): Promise<void> {
    if (this.#isClosed || this.#configured.kind !== 'mirror') return
    if (state === 'down') {
      if (this.#now() >= (this.#state.nextRetryAt ?? 0)) this.#move('due')
      return
    }
    const { replica, upkeep } = await this.#open(this.#configured)
    switch (state) {
      case 'checking':
        await this.#prove(replica)
        upkeep.requireComparison()
        return this.#move('proven')
      case 'backfilling':
        await upkeep.catchUp()
        return this.#move('caughtUp')
      case 'recovering':
        if (!this.#isProven) await this.#prove(replica)
        return this.#catchUp(upkeep)
      case 'lagging':
        return this.#catchUp(upkeep)
      case 'active':
        return this.#keepUp(upkeep)
      default:
    }
  }

  async #prove(replica: VectorReplica): Promise<void> {
    await probeReplica(replica)
    this.#isProven = true
  }

  async #catchUp(upkeep: ReplicaSync): Promise<void> {
    await upkeep.prepareSpaces()
    if ((await upkeep.sampleCheck({ isStrict: false })) === 'emptied') {
      upkeep.requireComparison()
      return this.#move('emptied')
    }
    await upkeep.catchUp()
    if ((await upkeep.sampleCheck({ isStrict: true })) !== 'same') {
      upkeep.requireComparison()
      await upkeep.catchUp()
    }
    this.#move('caughtUp')
  }

  async #keepUp(upkeep: ReplicaSync): Promise<void> {
    if (upkeep.lag.isUnbounded) return this.#move('overwhelmed')
    await upkeep.replicatePending()
    if (this.#now() < this.#checkAt) return
    const began = this.#now()
    const checked = await upkeep.sampleCheck({ isStrict: false })
    this.#checkAt = this.#now() + Math.max(TICK_MS, CHECK_SHARE * (this.#now() - began))
    if (checked !== 'same') {
      upkeep.requireComparison()
      return this.#move(checked === 'emptied' ? 'emptied' : 'differed')
    }
    if (this.#now() - (upkeep.lastComparedAt ?? 0) > COMPARE_EVERY_MS) await upkeep.compareAll()
  }

  async #open(configured: ReplicaConfiguration & { readonly kind: 'mirror' }) {
    const { store, vectors, clock, timeouts: deadlines, lagMax: behindMax } = this.#options
    this.#replica ??= withReplicaTimeouts(await configured.open(), deadlines)
    const replica = this.#replica
    this.#upkeep ??= new ReplicaSync({
      ...{ store, vectors, replica, clock, lagMax: behindMax },
      isStopped: () => this.#isInterrupted,
    })
    return { replica, upkeep: this.#upkeep }
  }

  /** Null where the store cannot be read, which says nothing about the configuration. */
  #wanted(): Promise<ReplicaConfiguration | null> {
    return this.#options.configuration().catch(() => null)
  }

  async #configure(): Promise<void> {
    if (this.#isClosed) return
    this.#isInterrupted = false
    const wanted = await this.#wanted()
    if (wanted === null || identityOf(wanted) === this.#identity) return
    await this.#release()
    this.#identity = identityOf(wanted)
    this.#configured = wanted
    if (wanted.kind === 'mirror') this.#move('configured')
    else if (wanted.kind === 'refused') this.#move('refused', wanted.because)
    else if (this.#state.state !== 'off') this.#move('switchedOff')
  }

  async #release(): Promise<void> {
    const replica = this.#replica
    this.#replica = null
    this.#upkeep = null
    this.#isProven = false
    this.#pauseMs = 0
    this.#checkAt = 0
    await replica?.close().catch(() => {}) // nothing uses it any more
  }

  #blame(thrown: unknown, event: 'failed' | 'missed'): void {
    const { code, message } = toAppError(thrown)
    if (code === 'cancelled') return
    const because = code === 'internal' ? 'The replica failed unexpectedly.' : message
    const { state } = this.#state
    const isNew = state === 'checking' || state === 'backfilling' || !this.#isProven
    const hopeless: ReplicaEvent = isNew ? 'refused' : 'doubted'
    this.#move(HOPELESS.has(code) ? hopeless : event, because)
  }

  #move(event: ReplicaEvent, because: string | null = null): void {
    const from = this.#state
    const state = findNextState(from.state, event)
    if (state === null) return
    const now = this.#now()
    if (state === 'down') this.#pauseMs = this.#nextPause(from, now)
    const nextTryAt = state === 'down' ? addMs(now, this.#pauseMs) : null
    this.#state = { state, since: now, reason: because, nextRetryAt: nextTryAt }
    const status = this.status()
    for (const { onState } of this.#listeners) onState?.(status)
  }

  #nextPause({ state, since }: CurrentState, now: Instant): number {
    const wasStable = state === 'active' && now - since >= STABLE_MS
    if (wasStable || this.#pauseMs === 0) return PAUSE_MS_MIN
    return Math.min(PAUSE_MS_MAX, this.#pauseMs * 2)
  }

  /** Resolves when it is known whether the replica is usable. */
  #whenDecided(): { readonly promise: Promise<void>; readonly stop: () => void } {
    let stop = () => {}
    const promise = new Promise<void>((resolve) => {
      stop = this.subscribe({
        onState: ({ state }) => {
          if (!TRYING.has(state)) resolve()
        },
      })
    })
    return { promise, stop }
  }
}

const RESTING: ReadonlySet<ReplicaState> = new Set(['off', 'misconfigured', 'down'])
const TRYING: ReadonlySet<ReplicaState> = new Set(['checking', 'recovering'])
const SETTLE_ROUNDS_MAX = 100

function identityOf(configured: ReplicaConfiguration): string {
  if (configured.kind === 'mirror') return `${configured.name} ${configured.identity}`
  return configured.kind === 'none' ? 'none' : `refused ${configured.because}`
}

/** Why no replica can be used. */
export function createReplicaUnavailableError(status: VectorReplicaStatus): AppError {
  return new AppError('unavailable', status.reason ?? 'No vector replica is configured.')
}
