/**
 * Circuit breaker: after several failures in a row a service is not called for a while, so that its callers do not wait for
 * it in vain. Then one call probes whether it answers again; an answer closes the circuit, a failure prolongs the pause.
 */

import { raceAbort } from './abort.ts'
import type { Clock } from './clock.ts'
import { AppError, toAppError } from './errors.ts'
import { remainingMs } from './time.ts'
import { type TimedResult, withTimeout } from './timeout.ts'

/** What an error says about the service: it is failing, it has answered (by refusing the input), or nothing. */
export type ErrorVerdict = 'failure' | 'answer' | 'nothing'

export type CircuitBreakerOptions = {
  readonly clock: Clock
  /** Failures in a row that open the circuit. */
  readonly failuresMax: number
  /** How long the circuit stays open after that; `Infinity` for good. */
  readonly resetMs: number
  /** Every failed probe doubles the pause, up to this. Default: `resetMs`, so that pauses do not grow. */
  readonly resetMsMax?: number
  /**
   * Who probes an open circuit. `caller`: the first call after the pause, which waits for its result, one at a time.
   * `background`: that call is refused like all others, and a copy of it probes while nobody waits.
   */
  readonly probe?: 'caller' | 'background'
  /** Timeouts are failures in any case. */
  readonly classify?: (error: AppError) => ErrorVerdict
  /** Whether an answer that comes after the timeout closes the circuit. */
  readonly closesOnLateAnswer?: boolean
}

/** Tells the breaker which part of a task waits for the service; failures of other parts say nothing about it. */
export type GuardedCall = {
  /** Waits until the service is ready, which is no answer yet. */
  awaitLoad<Loaded>(load: () => Promise<Loaded>): Promise<Loaded>
  awaitAnswer<Answer>(ask: () => Promise<Answer>): Promise<Answer>
}

export type GuardedTask<Result> = (signal: AbortSignal, call: GuardedCall) => Promise<Result>

/** Failures, timeouts included, without an answer in between. */
type Outage = {
  readonly failures: number
  readonly since: number
  readonly reason: string
  /** The longest timeout of the failed calls: a call with a longer one may succeed where they did not. */
  readonly timeoutMs: number
  /** Null while the circuit is closed. */
  readonly pause: { readonly ms: number; readonly until: number } | null
}

export class CircuitBreaker {
  readonly #clock: Clock
  readonly #failuresMax: number
  readonly #resetMs: number
  readonly #resetMsMax: number
  readonly #probesInBackground: boolean
  readonly #classify: (error: AppError) => ErrorVerdict
  readonly #closesOnLateAnswer: boolean
  readonly #closing = new AbortController()
  #outage: Outage | null = null
  #answers = 0
  #isProbing = false
  #backgroundProbe: Promise<void> | null = null

  constructor(options: CircuitBreakerOptions) {
    this.#clock = options.clock
    this.#failuresMax = options.failuresMax
    this.#resetMs = options.resetMs
    this.#resetMsMax = options.resetMsMax ?? options.resetMs
    this.#probesInBackground = options.probe === 'background'
    this.#classify = options.classify ?? classifyError
    this.#closesOnLateAnswer = options.closesOnLateAnswer ?? false
  }

  /** Failures in a row; 0 after an answer. */
  get failures(): number {
    return this.#outage?.failures ?? 0
  }

  /** Why the circuit is open; null when it is closed. */
  get openReason(): string | null {
    const { reason, since, pause } = this.#outage ?? {}
    if (reason === undefined || since === undefined || !pause) return null
    if (pause.until === Number.POSITIVE_INFINITY) return reason
    return `No answer since ${toIso(since)}; tried again after ${toIso(pause.until)}: ${reason}`
  }

  /** Until when calls are refused; null when a call would be made. */
  openUntil(): number | null {
    const pause = this.#outage?.pause
    if (!pause) return null
    const now = this.#clock.now()
    if (remainingMs(pause.until, now, pause.ms) > 0) return pause.until
    return this.#isProbing ? now + pause.ms : null
  }

  /** Like `withTimeout`; while the circuit is open, fails at once as if the time were up. */
  run<Result>(
    timeoutMs: number,
    task: (signal: AbortSignal) => Promise<Result>,
  ): Promise<TimedResult<Result>> {
    return this.runGuarded(timeoutMs, (signal, { awaitAnswer }) => awaitAnswer(() => task(signal)))
  }

  /** Like `run`, for tasks that do more than wait for the service. */
  async runGuarded<Result>(
    timeoutMs: number,
    task: GuardedTask<Result>,
  ): Promise<TimedResult<Result>> {
    const outage = this.#outage
    const isPatient = this.#probesInBackground && timeoutMs > (outage?.timeoutMs ?? 0)
    if (!outage?.pause || isPatient) {
      return this.#attempt(timeoutMs, task, (reason) => this.recordFailure(reason, timeoutMs))
    }
    if (this.#probesInBackground) {
      this.#probeInBackground(task, outage.timeoutMs)
    } else if (this.openUntil() === null) {
      this.#isProbing = true
      return this.#attempt(timeoutMs, task, (reason) => this.#prolong(reason)).finally(() => {
        this.#isProbing = false
      })
    }
    const reason = this.openReason ?? outage.reason
    const error = new AppError('unavailable', reason)
    return { kind: 'failed', reason, error, isTimeout: true }
  }

  /** Calls without a timeout, whatever the state; check `openUntil` before. Rejects with the error of the task. */
  async call<Result>(task: () => Promise<Result>): Promise<Result> {
    const isProbe = this.#outage?.pause != null
    if (isProbe) this.#isProbing = true
    try {
      const result = await task()
      this.recordSuccess()
      return result
    } catch (thrown) {
      const error = toAppError(thrown)
      const verdict = this.#classify(error)
      if (verdict === 'answer') this.recordSuccess()
      else if (verdict === 'failure' && isProbe) this.#prolong(error.message)
      else if (verdict === 'failure') this.recordFailure(error.message)
      throw thrown
    } finally {
      if (isProbe) this.#isProbing = false
    }
  }

  /** Closes the circuit, unless it was opened for good. */
  recordSuccess(): void {
    this.#answers++
    if (this.#outage?.pause?.until !== Number.POSITIVE_INFINITY) this.#outage = null
  }

  recordFailure(reason: string, timeoutMs = 0): void {
    const now = this.#clock.now()
    const { failures = 0, since = now, timeoutMs: before = 0, pause = null } = this.#outage ?? {}
    const isOpen = failures + 1 >= this.#failuresMax
    this.#outage = {
      failures: failures + 1,
      since,
      reason,
      timeoutMs: Math.max(timeoutMs, before),
      pause: pause ?? (isOpen ? this.#pauseFor(this.#resetMs) : null),
    }
  }

  /** Opens the circuit at once. Has no effect on an open one. */
  trip(reason: string): void {
    const { failures = 0, since = this.#clock.now(), pause } = this.#outage ?? {}
    if (pause) return
    const timeoutMs = Number.POSITIVE_INFINITY
    this.#outage = { failures, since, reason, timeoutMs, pause: this.#pauseFor(this.#resetMs) }
  }

  /** Aborts a background probe and waits for its end. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#backgroundProbe
  }

  async #attempt<Result>(
    timeoutMs: number,
    task: GuardedTask<Result>,
    onFailure: (reason: string) => void,
  ): Promise<TimedResult<Result>> {
    const began = this.#clock.now()
    const answers = this.#answers
    let isWaiting = false
    let isOver = false
    const onAnswer = () => {
      if (!isOver || this.#closesOnLateAnswer) this.#recordAnswer(this.#clock.now() - began)
    }
    const wait = async <Value>(start: () => Promise<Value>, onDone: () => void) => {
      isWaiting = true
      try {
        const value = await start()
        isWaiting = false
        onDone()
        return value
      } catch (thrown) {
        if (isOver && this.#classify(toAppError(thrown)) === 'answer') onAnswer()
        throw thrown
      }
    }
    const call: GuardedCall = {
      awaitLoad: (load) => wait(load, () => (isOver ? this.#endPause() : undefined)),
      awaitAnswer: (ask) => wait(ask, onAnswer),
    }
    const result = await withTimeout(timeoutMs, (signal) => task(signal, call))
    isOver = true
    if (result.kind === 'done' || !isWaiting) return result
    const verdict = result.isTimeout ? 'failure' : this.#classify(result.error)
    if (verdict === 'answer') this.#recordAnswer(this.#clock.now() - began)
    // An answer says more than the failure of a call that was made before it.
    if (verdict === 'failure' && answers === this.#answers) onFailure(result.reason)
    return result
  }

  /** With background probes, an answer that the failed calls would not have waited for ends nothing. */
  #recordAnswer(tookMs: number): void {
    const isSlow = this.#probesInBackground && tookMs > (this.#outage?.timeoutMs ?? 0)
    if (this.#outage?.pause && isSlow) return
    this.recordSuccess()
  }

  /** The service has loaded after all: the next call probes it. */
  #endPause(): void {
    if (!this.#outage?.pause) return
    const pause = { ...this.#outage.pause, until: this.#clock.now() }
    this.#outage = { ...this.#outage, pause }
  }

  #probeInBackground(task: GuardedTask<unknown>, timeoutMs: number): void {
    const closing = this.#closing.signal
    if (this.#backgroundProbe !== null || closing.aborted || this.openUntil() !== null) return
    const abortable: GuardedTask<unknown> = (signal, call) =>
      raceAbort(task(AbortSignal.any([signal, closing]), call), closing)
    this.#backgroundProbe = this.#attempt(timeoutMs, abortable, (reason) => this.#prolong(reason))
      .then(() => {})
      .finally(() => {
        this.#backgroundProbe = null
      })
  }

  #prolong(reason: string): void {
    if (!this.#outage?.pause) return
    const pause = this.#pauseFor(Math.min(this.#resetMsMax, this.#outage.pause.ms * 2))
    this.#outage = { ...this.#outage, reason, pause }
  }

  #pauseFor(ms: number): { readonly ms: number; readonly until: number } {
    return { ms, until: this.#clock.now() + ms }
  }
}

/**
 * For a store that may hang: after one call that timed out, nobody waits for the next until the overdue answer has come, save
 * one call every 5 s. An error is an answer here.
 */
export function createStallBreaker(clock: Clock): CircuitBreaker {
  return new CircuitBreaker({
    clock,
    failuresMax: 1,
    resetMs: 5_000,
    classify: () => 'answer',
    closesOnLateAnswer: true,
  })
}

/** For a model that recall and the gate can do without: three failures open it for 5 s, and failed probes for up to 60 s. */
export function createModelBreaker(clock: Clock): CircuitBreaker {
  return new CircuitBreaker({
    clock,
    failuresMax: 3,
    resetMs: 5_000,
    resetMsMax: 60_000,
    probe: 'background',
  })
}

/** A service that refuses its input is there and has read it. A cancelled call says nothing about it. */
function classifyError({ code }: AppError): ErrorVerdict {
  if (code === 'invalid_input') return 'answer'
  return code === 'cancelled' ? 'nothing' : 'failure'
}

function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
