/**
 * Throttles failed logins per client address: the first ones are answered at once, further ones
 * with increasing delay, then refused for a while. Valid keys are never locked out by the failures
 * of others.
 */

import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { LruCache } from '../../../lib/lru-cache.ts'
import { exponentialBackoffMs } from '../../../lib/retry.ts'
import { MINUTE_MS } from '../../../lib/time.ts'

const FREE_FAILURES = 3
const DELAY = { firstMs: 100, maxMs: 3_000 }
const FAILURES_MAX = 20
const BLOCKED_MS = MINUTE_MS
/** The counter of an address resets after this time without a failure. */
const REMEMBERED_MS = 15 * 60_000
const ADDRESSES_MAX = 10_000
/** Delayed responses per address: each holds a connection. */
const WAITING_MAX = 8

type Failures = { count: number; lastAt: number; waiting: number }

export class LoginThrottle {
  readonly #clock: Clock
  readonly #failures = new LruCache<string, Failures>({ entriesMax: ADDRESSES_MAX })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Refuses an address with too many failures. */
  assertNotBlocked(address: string): void {
    const known = this.#failures.peek(networkPrefix(address))
    if (known === undefined) return
    const remainingMs = known.lastAt + BLOCKED_MS - this.#clock.now()
    if (known.count >= FAILURES_MAX && remainingMs > 0) throw tooManyFailures(remainingMs)
  }

  /** Counts a failure and delays its response. */
  async recordFailure(address: string, signal: AbortSignal): Promise<void> {
    const failures = this.#failuresOf(networkPrefix(address))
    failures.count++
    failures.lastAt = this.#clock.now()
    const over = failures.count - FREE_FAILURES
    if (over <= 0) return
    if (failures.waiting >= WAITING_MAX) throw tooManyFailures(DELAY.maxMs)
    failures.waiting++
    try {
      await this.#clock.sleep(exponentialBackoffMs(over - 1, DELAY), signal)
    } finally {
      failures.waiting--
    }
  }

  get addresses(): number {
    return this.#failures.size
  }

  #failuresOf(address: string): Failures {
    const now = this.#clock.now()
    const known = this.#failures.get(address)
    const failures =
      known !== undefined && now - known.lastAt < REMEMBERED_MS
        ? known
        : { count: 0, lastAt: now, waiting: 0 }
    this.#failures.set(address, failures)
    return failures
  }
}

/**
 * IPv6 addresses are counted by their /64 prefix, because a client can use any address within it.
 */
export function networkPrefix(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length)
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4).join(':')
}

function tooManyFailures(remainingMs: number): AppError {
  const retryAfter = Math.max(1, Math.ceil(remainingMs / 1_000))
  return new AppError(
    'too_many_requests',
    'Too many failed authentication attempts from this address. Retry later.',
    {
      retryAfter,
    },
  )
}
