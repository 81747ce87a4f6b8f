/**
 * Failed attempts to get in, counted for each address. The first few are answered at once, further ones later and
 * later, and then none for a while. A key that worked before is never kept out by the failures of others.
 */

import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { MINUTE_MS } from '../../../lib/time.ts'

const FREE_FAILURES = 3
const DELAY_MS = 100
const DELAY_MS_MAX = 3_000
const FAILURES_MAX = 20
const BLOCKED_MS = MINUTE_MS
/** After this time without a failure, an address starts anew. */
const REMEMBERED_MS = 15 * 60_000
const ADDRESSES_MAX = 10_000
/** Slowed answers that one address may have open: each holds a connection. */
const WAITING_MAX = 8

type Failures = { count: number; lastAt: number; waiting: number }

export class LoginThrottle {
  readonly #clock: Clock
  readonly #failures = new Map<string, Failures>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Refuses an address that has failed too often. */
  assertNotBlocked(address: string): void {
    const known = this.#failures.get(networkPrefix(address))
    if (known === undefined) return
    const leftMs = known.lastAt + BLOCKED_MS - this.#clock.now()
    if (known.count >= FAILURES_MAX && leftMs > 0) throw tooMany(leftMs)
  }

  /** Counts a failure and takes its time before it returns. */
  async recordFailure(address: string, signal: AbortSignal): Promise<void> {
    const failures = this.#failuresOf(networkPrefix(address))
    failures.count++
    failures.lastAt = this.#clock.now()
    const over = failures.count - FREE_FAILURES
    if (over <= 0) return
    if (failures.waiting >= WAITING_MAX) throw tooMany(DELAY_MS_MAX)
    failures.waiting++
    try {
      await this.#clock.sleep(Math.min(DELAY_MS * 2 ** (over - 1), DELAY_MS_MAX), signal)
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
    // Taken out and put back, so that the one that failed longest ago comes first.
    this.#failures.delete(address)
    const failures =
      known !== undefined && now - known.lastAt < REMEMBERED_MS
        ? known
        : { count: 0, lastAt: now, waiting: 0 }
    this.#failures.set(address, failures)
    if (this.#failures.size > ADDRESSES_MAX) {
      const [oldest] = this.#failures.keys()
      if (oldest !== undefined) this.#failures.delete(oldest)
    }
    return failures
  }
}

/** Whoever has one IPv6 address has as many as they like with the same first half, so those count as one. */
export function networkPrefix(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length)
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4).join(':')
}

function tooMany(leftMs: number): AppError {
  const retryAfter = Math.max(1, Math.ceil(leftMs / 1_000))
  return new AppError('too_many_requests', 'Too many wrong keys came from this address.', {
    retryAfter,
  })
}
