/**
 * Keeps a mirror: which one the settings name, what state it is in, and when something is done about it. One piece of
 * work is done at a time, in the background; nobody who searches or writes waits for it.
 */
import { AppError, type ErrorCode, toAppError } from '../../domain/errors.ts'
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Instant } from '../../lib/time.ts'
import type { MemoriesOf, NewsFromElsewhere, Store } from '../store.ts'
import type { VectorIndex, VectorSpace } from '../vector-index.ts'
import type { VectorMirror } from '../vector-replica.ts'
import type { TierListener, TierOutcome, TierState, TierStatus } from '../vector-replication.ts'
import { proveMirror } from './replica-probe.ts'
import { nextState, type TierEvent } from './replica-state-machine.ts'
import { Upkeep } from './replica-sync.ts'
import { type MirrorDeadlines, withDeadlines } from './replica-timeouts.ts'

/** The mirror that the settings name. What has another identity is another one. */
export type ConfiguredMirror =
  | {
      readonly kind: 'mirror'
      readonly name: VectorMirror['name']
      readonly identity: string
      open(): VectorMirror | Promise<VectorMirror>
    }
  | {
      readonly kind: 'refused'
      readonly name: VectorMirror['name'] | null
      readonly because: string
    }
  | { readonly kind: 'none' }

/** Calls `work` once after `ms`, unless the function it gives back is called before. */
export type After = (ms: number, work: () => void) => () => void

export type KeeperOptions = {
  readonly store: Store
  readonly vectors: VectorIndex
  readonly clock: Clock
  /** What the settings name now. */
  readonly configuration: () => Promise<ConfiguredMirror>
  readonly after: After
  readonly deadlines: MirrorDeadlines
  readonly behindMax: number
  /** Hears what the mirror has to be told of: other processes have mirrors of their own beside the same memories. */
  readonly onChanged: (changed: MemoriesOf) => void
}

/** A command that ends at once should not begin with this. */
const START_DELAY_MS = 2_000
const TICK_MS = 15_000

/** Counting may take long in a large store: it gets a hundredth of the time. */
const CHECK_SHARE = 100
const COMPARE_EVERY_MS = 6 * 3_600_000
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 60_000

/** Whoever fails again sooner has not recovered, and is tried more seldom. */
const STABLE_MS = 60_000

/** Errors that no second try heals. */
const HOPELESS: ReadonlySet<ErrorCode> = new Set([
  'invalid_input',
  'missing_part',
  'unauthenticated',
  'forbidden',
])

type State = Pick<TierStatus, 'state' | 'since' | 'because' | 'nextTryAt'>

export class Keeper {
  readonly #options: KeeperOptions
  readonly #listeners = new Set<TierListener>()
  #configured: ConfiguredMirror = { kind: 'none' }
  #identity: string | null = null
  #mirror: VectorMirror | null = null
  #upkeep: Upkeep | null = null
  #state: State
  #isProven = false
  #isInterrupted = false
  #isClosed = false
  #pauseMs = 0
  #checkAt = 0
  #turn: Promise<unknown> = Promise.resolve()
  #run: Promise<void> | null = null
  #isRunWanted = false
  #timer: { readonly at: number; readonly cancel: () => void } | null = null

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#state = { state: 'off', since: options.clock.now(), because: null, nextTryAt: null }
    this.wake(START_DELAY_MS)
  }

  status(): TierStatus {
    const name = this.#configured.kind === 'none' ? null : this.#configured.name
    const isActive = this.#state.state === 'active'
    return {
      mirror: name,
      answering: isActive && name !== null ? name : 'embedded',
      ...this.#state,
      progress: this.#upkeep?.progress ?? null,
      behind: this.#upkeep === null ? 0 : this.#upkeep.behind.count,
    }
  }

  watch(listener: TierListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The mirror, if it can answer for this owner now; else why it can't. Null where there is none. */
  mirrorFor(owner: OwnerId, unendedAt: Instant | undefined): VectorMirror | TierOutcome | null {
    if (this.#configured.kind === 'none') return null
    if (this.#state.state !== 'active' || this.#mirror === null) return 'state'
    const { behind, cleanedBefore } = this.#upkeep ?? {}
    if (behind === undefined || behind.concerns(owner)) return 'behind'
    const isCleaned = cleanedBefore != null && (unendedAt ?? 0) < cleanedBefore
    return isCleaned ? 'filter' : this.#mirror
  }

  searched(outcome: TierOutcome): void {
    const tier = outcome === 'answered' ? this.status().answering : 'embedded'
    for (const { onSearch } of this.#listeners) onSearch?.(tier, outcome)
  }

  /** A search failed: everybody else is spared that until it has been tried again. */
  failed(mirror: VectorMirror, error: unknown): void {
    if (mirror !== this.#mirror) return // one that is not used any more
    this.#blame(error, 'failed')
    this.wake(0)
  }

  /** The mirror gave nothing where there is something. */
  doubted(): void {
    this.#checkAt = 0
    this.wake(0)
  }

  changed(owner: OwnerId, ids: readonly MemoryId[], space?: VectorSpace): void {
    if (ids.length === 0) return
    const isMirrored = this.#identity === null || this.#configured.kind !== 'none'
    if (isMirrored) this.#options.onChanged({ owner, ids })
    this.#note(owner, ids, space)
  }

  /**
   * Another process has changed these. It tells the mirror as well, but may be cut off from it or die before; so they
   * are copied from here too, which does no harm, and until that is done the index answers for their owners.
   */
  changedElsewhere(changed: NewsFromElsewhere['memories']): void {
    if (changed === 'any') {
      this.#upkeep?.behind.noteEverything()
      this.#soon()
    } else {
      for (const { owner, ids } of changed) this.#note(owner, ids)
    }
  }

  #note(owner: OwnerId, ids: readonly MemoryId[], space?: VectorSpace): void {
    if (this.#upkeep === null) return
    if (space === undefined) this.#upkeep.behind.note(owner, ids)
    else this.#upkeep.noted(space, owner, ids)
    this.#soon()
  }

  dropped(space: VectorSpace): void {
    this.#upkeep?.noteDropped(space)
    this.#soon()
  }

  /** The settings may be others now: then whatever is under way is for nothing. */
  async settingsChanged(): Promise<void> {
    const wanted = await this.#wanted()
    if (wanted === null || identityOf(wanted) === this.#identity) return
    this.#isInterrupted = true
    this.wake(0)
  }

  /** Reads the settings and tries at once what has failed before. Waits until it is known whether it works. */
  async reconsider(): Promise<TierStatus> {
    await this.settingsChanged()
    const { state } = this.#state
    if (state === 'refused') this.#identity = null
    if (state === 'down') this.#state = { ...this.#state, nextTryAt: this.#now() }
    if (!this.#isInterrupted && !RESTING.has(state)) return this.status()
    await this.#run // with the settings of before; it ends soon
    const decided = this.#whenDecided()
    await Promise.race([this.#runNow(), decided.promise])
    decided.stop()
    return this.status()
  }

  /** The status after the settings were read for the first time. */
  async current(): Promise<TierStatus> {
    if (this.#identity === null) await this.#inTurn(() => this.#configure())
    return this.status()
  }

  /** Waits until the mirror is up to date, or it is known that it can't be now. */
  async settle(): Promise<TierStatus> {
    for (let round = 0; round < SETTLE_ROUNDS_MAX; round++) {
      await this.#runNow()
      const { state } = this.#state
      const isUpToDate = state === 'active' && this.#upkeep?.behind.isEmpty === true
      if (this.#isClosed || RESTING.has(state) || isUpToDate) break
    }
    return this.status()
  }

  /** The mirror as it is, without waiting for what is done with it; null where there is none yet. */
  get mirror(): VectorMirror | null {
    return this.#mirror
  }

  /** Does something with the mirror while nothing else is done with it. Null where there is none, or it is refused. */
  async withMirror<Result>(
    work: (mirror: VectorMirror, upkeep: Upkeep) => Promise<Result>,
  ): Promise<Result | null> {
    return this.#inTurn(async () => {
      await this.#configure()
      if (this.#configured.kind !== 'mirror') return null
      const { mirror, upkeep } = await this.#open(this.#configured)
      return work(mirror, upkeep)
    })
  }

  wake(ms: number): void {
    if (this.#isClosed) return
    const at = this.#options.clock.now() + ms
    if (this.#timer !== null && this.#timer.at <= at) return
    this.#timer?.cancel()
    const cancel = this.#options.after(ms, () => {
      this.#timer = null
      this.#runNow().catch(() => {}) // told by the state
    })
    this.#timer = { at, cancel }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#isInterrupted = true
    this.#timer?.cancel()
    this.#timer = null
    this.#listeners.clear()
    await this.#release() // first: it ends what the mirror is still busy with
    await this.#run?.catch(() => {})
    await this.#turn
    await this.#release()
  }

  #now(): Instant {
    return this.#options.clock.now()
  }

  /** Where something can be done about it at once; else it is done when the mirror is well again. */
  #soon(): void {
    if (this.#state.state === 'active' || this.#state.state === 'lagging') this.wake(0)
  }

  #runNow(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    if (this.#run !== null) {
      this.#isRunWanted = true
      return this.#run
    }
    this.#run = this.#inTurn(() => this.#work()).finally(() => {
      this.#run = null
      const isWanted = this.#isRunWanted
      this.#isRunWanted = false
      this.wake(isWanted ? 0 : this.#restMs())
    })
    return this.#run
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => {})
    return done
  }

  #restMs(): number {
    const { state, nextTryAt } = this.#state
    if (state === 'down') return Math.max(0, (nextTryAt ?? 0) - this.#now())
    return RESTING.has(state) || state === 'active' ? TICK_MS : 0
  }

  /** Goes on as long as it gets somewhere. */
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

  async #step(state: TierState): Promise<void> {
    if (this.#isClosed || this.#configured.kind !== 'mirror') return
    if (state === 'down') {
      if (this.#now() >= (this.#state.nextTryAt ?? 0)) this.#move('due')
      return
    }
    const { mirror, upkeep } = await this.#open(this.#configured)
    switch (state) {
      case 'checking':
        await this.#prove(mirror)
        upkeep.doubt()
        return this.#move('proven')
      case 'filling':
        await upkeep.catchUp()
        return this.#move('caughtUp')
      case 'recovering':
        if (!this.#isProven) await this.#prove(mirror)
        return this.#catchUp(upkeep)
      case 'lagging':
        return this.#catchUp(upkeep)
      case 'active':
        return this.#keepUp(upkeep)
      default:
    }
  }

  async #prove(mirror: VectorMirror): Promise<void> {
    await proveMirror(mirror)
    this.#isProven = true
  }

  async #catchUp(upkeep: Upkeep): Promise<void> {
    await upkeep.prepare()
    if ((await upkeep.check({ isStrict: false })) === 'emptied') {
      upkeep.doubt()
      return this.#move('emptied')
    }
    await upkeep.catchUp()
    if ((await upkeep.check({ isStrict: true })) !== 'same') {
      upkeep.doubt()
      await upkeep.catchUp()
    }
    this.#move('caughtUp')
  }

  async #keepUp(upkeep: Upkeep): Promise<void> {
    if (upkeep.behind.isEverything) return this.#move('overwhelmed')
    await upkeep.drain()
    if (this.#now() < this.#checkAt) return
    const began = this.#now()
    const checked = await upkeep.check({ isStrict: false })
    this.#checkAt = this.#now() + Math.max(TICK_MS, CHECK_SHARE * (this.#now() - began))
    if (checked !== 'same') {
      upkeep.doubt()
      return this.#move(checked === 'emptied' ? 'emptied' : 'differed')
    }
    if (this.#now() - (upkeep.comparedAt ?? 0) > COMPARE_EVERY_MS) await upkeep.compareAll()
  }

  async #open(configured: ConfiguredMirror & { readonly kind: 'mirror' }) {
    const { store, vectors, clock, deadlines, behindMax } = this.#options
    this.#mirror ??= withDeadlines(await configured.open(), deadlines)
    const mirror = this.#mirror
    this.#upkeep ??= new Upkeep({
      ...{ store, vectors, mirror, clock, behindMax },
      isStopped: () => this.#isInterrupted,
    })
    return { mirror, upkeep: this.#upkeep }
  }

  /** Null where the store can't be read, which says nothing about what was configured. */
  #wanted(): Promise<ConfiguredMirror | null> {
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
    const mirror = this.#mirror
    this.#mirror = null
    this.#upkeep = null
    this.#isProven = false
    this.#pauseMs = 0
    this.#checkAt = 0
    await mirror?.close().catch(() => {}) // nobody needs it any more
  }

  #blame(thrown: unknown, event: 'failed' | 'missed'): void {
    const { code, message } = toAppError(thrown)
    if (code === 'cancelled') return
    const because = code === 'internal' ? 'It failed in an unexpected way.' : message
    const { state } = this.#state
    const isNew = state === 'checking' || state === 'filling' || !this.#isProven
    const hopeless: TierEvent = isNew ? 'refused' : 'doubted'
    this.#move(HOPELESS.has(code) ? hopeless : event, because)
  }

  #move(event: TierEvent, because: string | null = null): void {
    const from = this.#state
    const state = nextState(from.state, event)
    if (state === null) return
    const now = this.#now()
    if (state === 'down') this.#pauseMs = this.#nextPause(from, now)
    const nextTryAt = state === 'down' ? ((now + this.#pauseMs) as Instant) : null // a later one
    this.#state = { state, since: now, because, nextTryAt }
    const status = this.status()
    for (const { onState } of this.#listeners) onState?.(status)
  }

  #nextPause({ state, since }: State, now: Instant): number {
    const wasStable = state === 'active' && now - since >= STABLE_MS
    if (wasStable || this.#pauseMs === 0) return PAUSE_MS_MIN
    return Math.min(PAUSE_MS_MAX, this.#pauseMs * 2)
  }

  /** When it is known whether the mirror can be used. */
  #whenDecided(): { readonly promise: Promise<void>; readonly stop: () => void } {
    let stop = () => {}
    const promise = new Promise<void>((resolve) => {
      stop = this.watch({
        onState: ({ state }) => {
          if (!TRYING.has(state)) resolve()
        },
      })
    })
    return { promise, stop }
  }
}

const RESTING: ReadonlySet<TierState> = new Set(['off', 'refused', 'down'])
const TRYING: ReadonlySet<TierState> = new Set(['checking', 'recovering'])
const SETTLE_ROUNDS_MAX = 100

function identityOf(configured: ConfiguredMirror): string {
  if (configured.kind === 'mirror') return `${configured.name} ${configured.identity}`
  return configured.kind === 'none' ? 'none' : `refused ${configured.because}`
}

/** Why there is nothing to ask. */
export function noMirror(status: TierStatus): AppError {
  return new AppError(
    'unavailable',
    status.because ?? 'There is no vector store beside the memories.',
  )
}
