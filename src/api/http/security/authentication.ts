/** Authenticates a request by its API key header or its login-session cookie. */
import { hash as digest } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { ApiKeys } from '../../../admin/api-keys.ts'
import type { ApiKey } from '../../../domain/access.ts'
import { type CircuitBreaker, createStallBreaker } from '../../../lib/circuit-breaker.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { LruCache } from '../../../lib/lru-cache.ts'
import { withTimeout } from '../../../lib/timeout.ts'
import type { Caller } from '../../operations/authorization.ts'
import { LoginSessions, readSessionCookie } from './login-sessions.ts'
import { LoginThrottle } from './login-throttle.ts'

/** A verified key is cached for this long. A revoked key works no longer than that. */
const VERIFIED_MS = 5_000
/** Time limit for the store lookup of an unknown key. */
const VERIFY_MS_MAX = 2_000
/** Time limit for a key that was valid before. */
const REVERIFY_MS = 1_000
/** How long a previously valid key is accepted while the store is unavailable. */
const STALE_KEY_MS = 10 * 60_000
/** For clients whose authorization header holds the key of a model provider. */
export const API_KEY_HEADER = 'x-recollect-key'
/** LRU cache of valid keys, by hash. */
const VERIFIED_MAX = 5_000

export type Principal = {
  readonly caller: Caller
  /** Cookie authentication is subject to CSRF checks. */
  readonly isSession: boolean
  readonly sessionExpiresAt?: number
}

/** The principal of servers that need no key. */
export const LOCAL_PRINCIPAL: Principal = {
  caller: { key: null, role: 'superadmin', home: 'default', actsFor: [] },
  isSession: false,
}

type VerifiedKey = { readonly key: Promise<ApiKey | null>; readonly at: number }

export class Authenticator {
  readonly loginThrottle: LoginThrottle
  readonly sessions: LoginSessions
  readonly #keys: ApiKeys
  readonly #clock: Clock
  readonly #patience: CircuitBreaker
  readonly #verified = new LruCache<string, VerifiedKey>({ entriesMax: VERIFIED_MAX })
  #listed: { readonly keys: Promise<readonly ApiKey[]>; readonly at: number } | null = null

  constructor(keys: ApiKeys, clock: Clock) {
    this.#keys = keys
    this.#clock = clock
    this.#patience = createStallBreaker(clock)
    this.loginThrottle = new LoginThrottle(clock)
    this.sessions = new LoginSessions(clock, keys.logins)
  }

  /**
   * Null when neither key nor session is sent. A wrong one is an error and counts as a failed
   * attempt.
   */
  async identify(
    request: IncomingMessage,
    address: string,
    signal: AbortSignal,
  ): Promise<Principal | null> {
    const secret = readApiKey(request)
    if (secret !== null) {
      const key = await this.verify(secret, address, signal)
      return { caller: toKeyCaller(key), isSession: false }
    }
    const cookie = readSessionCookie(request.headers.cookie)
    const session = cookie === null ? null : await this.sessions.get(cookie)
    if (cookie === null || session === null) return null
    const key = await this.#keyById(session.key)
    if (key === null) {
      await this.sessions.close(cookie)
      return null
    }
    return { caller: toKeyCaller(key), isSession: true, sessionExpiresAt: session.expiresAt }
  }

  async verify(secret: string, address: string, signal: AbortSignal): Promise<ApiKey> {
    const hash = digest('sha256', secret, 'base64')
    const now = this.#clock.now()
    const known = this.#verified.get(hash)
    if (known === undefined) this.loginThrottle.assertNotBlocked(address)
    const isFresh = known !== undefined && now - known.at < VERIFIED_MS
    const key = await (isFresh ? known : this.#verifyAgain(secret, hash, known)).key
    if (key !== null && (key.expiresAt === null || key.expiresAt > now)) return key
    this.#verified.delete(hash)
    await this.loginThrottle.recordFailure(address, signal)
    throw new AppError('unauthenticated', 'The key is not known, has expired or was revoked.')
  }

  /** Concurrent requests with the same key share one lookup. */
  #verifyAgain(secret: string, hash: string, former: VerifiedKey | undefined): VerifiedKey {
    const now = this.#clock.now()
    const believed = former !== undefined && now - former.at < STALE_KEY_MS ? former : null
    const giveBack = () => {
      if (this.#verified.peek(hash) !== verified) return
      if (believed === null) this.#verified.delete(hash)
      else this.#verified.set(hash, believed)
    }
    const verified: VerifiedKey = { key: this.#verdict(secret, believed, giveBack), at: now }
    this.#verified.set(hash, verified)
    return verified
  }

  /**
   * Looks the key up. While the store is unavailable, a recently valid key still works: proxied
   * requests may not need the store at all.
   */
  async #verdict(
    secret: string,
    believed: VerifiedKey | null,
    giveBack: () => void,
  ): Promise<ApiKey | null> {
    const ask = () => this.#keys.verify(secret)
    const verdict =
      believed === null
        ? await withTimeout(VERIFY_MS_MAX, ask)
        : await this.#patience.run(REVERIFY_MS, ask)
    if (verdict.kind === 'done') return verdict.result
    giveBack()
    if (believed !== null) return believed.key
    if (!verdict.isTimeout) throw verdict.error
    throw new AppError('unavailable', 'The key could not be checked in time. Try again.')
  }

  /** Invalidates the cache, so that key changes take effect at once. */
  forget(): void {
    this.#verified.clear()
    this.#listed = null
  }

  async #keyById(id: string): Promise<ApiKey | null> {
    const now = this.#clock.now()
    const isFresh = this.#listed !== null && now - this.#listed.at < VERIFIED_MS
    const known = isFresh ? await this.#listed?.keys.then(withId(id)) : undefined
    // The cached list may be older than the key.
    const found = known ?? withId(id)(await this.#listAgain(now))
    return found !== undefined && (found.expiresAt === null || found.expiresAt > now) ? found : null
  }

  async #listAgain(now: number): Promise<readonly ApiKey[]> {
    const keys = this.#keys.list()
    this.#listed = { keys, at: now }
    try {
      return await keys
    } catch (error) {
      this.#listed = null
      throw error
    }
  }
}

function withId(id: string): (keys: readonly ApiKey[]) => ApiKey | undefined {
  return (keys) => keys.find((key) => key.id === id)
}

/**
 * The API key of a request. Two different keys are refused as ambiguous. Our own header leaves the
 * standard ones free for the key of the model provider.
 */
function readApiKey({ headers }: IncomingMessage): string | null {
  const { authorization } = headers
  const own = firstHeaderValue(headers, API_KEY_HEADER)
  if (own !== undefined) return own
  const bearer = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null
  if (authorization !== undefined && bearer === null) {
    throw new AppError('unauthenticated', 'Authorization is written as "Bearer rc_…".')
  }
  const apiKey = firstHeaderValue(headers, 'x-api-key') ?? null
  if (bearer !== null && apiKey !== null && bearer !== apiKey) {
    throw new AppError('unauthenticated', 'Authorization and X-Api-Key bring different keys.')
  }
  return bearer ?? apiKey
}

/** The value of a header, or the first of several. */
export function firstHeaderValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'object' ? value[0] : value
}

export function toKeyCaller({ id, role, home, actsFor }: ApiKey): Caller {
  return { key: id, role, home, actsFor }
}
