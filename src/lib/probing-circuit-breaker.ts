/**
 * Keeps a model that hangs or fails from costing every question its deadline. After a few failures in a row the model
 * rests: questions go on without it at once. From time to time one of them sets off a trial that nobody waits for, and
 * as soon as the model answers, it takes part again.
 */

import { raceAbort } from './abort.ts'
import type { Clock } from './clock.ts'
import { AppError } from './errors.ts'
import { type TimedResult, withTimeout } from './timeout.ts'

/** How work waits for the model. Whatever else it does says nothing about it. */
export type GuardedCall = {
  /** For the model to be ready, which is no answer yet. */
  awaitLoad<Loaded>(load: () => Promise<Loaded>): Promise<Loaded>
  awaitAnswer<Answer>(ask: () => Promise<Answer>): Promise<Answer>
}

export type GuardedTask<Result> = (signal: AbortSignal, model: GuardedCall) => Promise<Result>

/** Failures, late answers included, without an answer in between. */
type FailureStreak = {
  readonly failures: number
  readonly since: number
  readonly because: string
  /** The longest that was waited. A question that may wait longer can get what the others did not. */
  readonly patienceMs: number
  /** Null as long as the model is asked. */
  readonly rest: { readonly ms: number; readonly until: number } | null
}

const FAILURES_MAX = 3
const REST_MS_MIN = 5_000
const REST_MS_MAX = 60_000

export class ProbingCircuitBreaker {
  readonly #clock: Clock
  readonly #closing = new AbortController()
  #streak: FailureStreak | null = null
  #answers = 0
  #trial: Promise<void> | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Why the model is not asked at the moment; null when it is. */
  getOpenReason(): string | null {
    if (this.#streak === null || this.#streak.rest === null) return null
    const { since, because, rest } = this.#streak
    return `It has not answered since ${formatTime(since)} and is tried again after ${formatTime(rest.until)}: ${because}`
  }

  /** Like `withinTime`, but at once while the model rests. */
  async run<Result>(deadlineMs: number, work: GuardedTask<Result>): Promise<TimedResult<Result>> {
    const trouble = this.getOpenReason()
    if (trouble === null || deadlineMs > (this.#streak?.patienceMs ?? 0)) {
      return this.#attempt(deadlineMs, work, (because) => this.#failed(deadlineMs, because))
    }
    this.#tryWhenDue(work)
    const error = new AppError('unavailable', trouble)
    return { kind: 'failed', reason: trouble, error, isTimeout: true }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#trial
  }

  async #attempt<Result>(
    deadlineMs: number,
    work: GuardedTask<Result>,
    blame: (because: string) => void,
  ): Promise<TimedResult<Result>> {
    const began = this.#clock.now()
    const answers = this.#answers
    let isWaiting = false
    let isOver = false
    const waited = async <Answer>(wait: () => Promise<Answer>, then: () => void) => {
      isWaiting = true
      const answer = await wait()
      isWaiting = false
      then()
      return answer
    }
    const answered = () => this.#answered(this.#clock.now() - began)
    const waiting: GuardedCall = {
      awaitLoad: (load) => waited(load, () => (isOver ? this.#stirred() : undefined)),
      awaitAnswer: (ask) => waited(ask, () => (isOver ? undefined : answered())),
    }
    const outcome = await withTimeout(deadlineMs, (signal) => work(signal, waiting))
    isOver = true
    if (outcome.kind === 'done' || !isWaiting) return outcome
    const { code } = outcome.error
    // Whoever refuses a text is there and has read it. And an answer says more than a failure of what was asked before.
    if (code === 'invalid_input') answered()
    else if (code !== 'cancelled' && answers === this.#answers) blame(outcome.reason)
    return outcome
  }

  /** An answer that the questions before would not have waited for ends nothing. */
  #answered(tookMs: number): void {
    if (this.#streak?.rest && tookMs > this.#streak.patienceMs) return
    this.#answers++
    this.#streak = null
  }

  #failed(deadlineMs: number, because: string): void {
    const now = this.#clock.now()
    const failures = (this.#streak?.failures ?? 0) + 1
    const begins = failures >= FAILURES_MAX ? { ms: REST_MS_MIN, until: now + REST_MS_MIN } : null
    this.#streak = {
      failures,
      because,
      since: this.#streak?.since ?? now,
      patienceMs: Math.max(deadlineMs, this.#streak?.patienceMs ?? 0),
      rest: this.#streak?.rest ?? begins,
    }
  }

  /** It has loaded after all: no need to wait until the rest is over. */
  #stirred(): void {
    if (this.#streak?.rest) {
      this.#streak = { ...this.#streak, rest: { ...this.#streak.rest, until: this.#clock.now() } }
    }
  }

  /** One at a time. Each that fails doubles the time until the next. */
  #tryWhenDue(work: GuardedTask<unknown>): void {
    const closing = this.#closing.signal
    const streak = this.#streak
    if (!streak?.rest || this.#trial !== null || closing.aborted) return
    const left = streak.rest.until - this.#clock.now()
    // A clock that was set back must not prolong it.
    if (left > 0 && left <= streak.rest.ms) return
    const stoppable: GuardedTask<unknown> = (late, model) =>
      raceAbort(work(AbortSignal.any([late, closing]), model), closing)
    this.#trial = this.#attempt(streak.patienceMs, stoppable, (because) => this.#prolong(because))
      .then(() => {})
      .finally(() => {
        this.#trial = null
      })
  }

  #prolong(because: string): void {
    if (!this.#streak?.rest) return
    const ms = Math.min(REST_MS_MAX, this.#streak.rest.ms * 2)
    this.#streak = { ...this.#streak, because, rest: { ms, until: this.#clock.now() + ms } }
  }
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString()
}
