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
import { LoginSessions, readSessionCookie, SignInTokens } from './login-sessions.ts'
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
  /** When the key expires; null when it does not. */
  readonly keyExpiresAt?: number | null
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
  readonly signInTokens: SignInTokens
  readonly #keys: ApiKeys
  readonly #clock: Clock
  readonly #circuitBreaker: CircuitBreaker
  readonly #verified = new LruCache<string, VerifiedKey>({ entriesMax: VERIFIED_MAX })
  readonly #listeners = new Set<() => void>()
  #listed: { readonly keys: Promise<readonly ApiKey[]>; readonly at: number } | null = null

  constructor(keys: ApiKeys, clock: Clock) {
    this.#keys = keys
    this.#clock = clock
    this.#circuitBreaker = createStallBreaker(clock)
    this.loginThrottle = new LoginThrottle(clock)
    this.sessions = new LoginSessions(clock, keys.logins)
    this.signInTokens = new SignInTokens(clock)
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
      return { caller: toKeyCaller(key), isSession: false, keyExpiresAt: key.expiresAt }
    }
    const cookie = readSessionCookie(request.headers.cookie)
    const session = cookie === null ? null : await this.sessions.get(cookie)
    if (cookie === null || session === null) return null
    const key = await this.#keyById(session.key)
    if (key === null) {
      await this.sessions.close(cookie)
      return null
    }
    const { expiresAt: sessionExpiresAt } = session
    const { expiresAt: keyExpiresAt } = key
    return { caller: toKeyCaller(key), isSession: true, sessionExpiresAt, keyExpiresAt }
  }

  async verify(secret: string, address: string, signal: AbortSignal): Promise<ApiKey> {
    const hash = digest('sha256', secret, 'base64')
    const now = this.#clock.now()
    const known = this.#verified.get(hash)
    if (known === undefined) this.loginThrottle.assertNotBlocked(address)
    const isFresh = known !== undefined && now - known.at < VERIFIED_MS
    const key = await (isFresh ? known : this.#startVerification(secret, hash, known)).key
    if (key !== null && (key.expiresAt === null || key.expiresAt > now)) return key
    this.#verified.delete(hash)
    await this.loginThrottle.recordFailure(address, signal)
    throw new AppError('unauthenticated', 'The API key is unknown, expired or revoked.')
  }

  /** Concurrent requests with the same key share one lookup. */
  #startVerification(secret: string, hash: string, cached: VerifiedKey | undefined): VerifiedKey {
    const now = this.#clock.now()
    const previous = cached !== undefined && now - cached.at < STALE_KEY_MS ? cached : null
    const restorePrevious = () => {
      if (this.#verified.peek(hash) !== verified) return
      if (previous === null) this.#verified.delete(hash)
      else this.#verified.set(hash, previous)
    }
    const verified: VerifiedKey = { key: this.#lookUp(secret, previous, restorePrevious), at: now }
    this.#verified.set(hash, verified)
    return verified
  }

  /**
   * Looks the key up. While the store is unavailable, a recently valid key still works: proxied
   * requests may not need the store at all.
   */
  async #lookUp(
    secret: string,
    previous: VerifiedKey | null,
    restorePrevious: () => void,
  ): Promise<ApiKey | null> {
    const verify = () => this.#keys.verify(secret)
    const lookup =
      previous === null
        ? await withTimeout(VERIFY_MS_MAX, verify)
        : await this.#circuitBreaker.run(REVERIFY_MS, verify)
    if (lookup.kind === 'done') return lookup.result
    restorePrevious()
    if (previous !== null) return previous.key
    if (!lookup.isTimeout) throw lookup.error
    throw new AppError(
      'unavailable',
      'The API key could not be verified within the timeout. Retry.',
    )
  }

  /** Invalidates the cache, so that key changes take effect at once. */
  forget(): void {
    this.#verified.clear()
    this.#listed = null
    for (const listener of this.#listeners) listener()
  }

  /** Whether a principal of an open stream is still authenticated. Counts no failed attempt. */
  async isStillValid(request: IncomingMessage, { caller, isSession }: Principal): Promise<boolean> {
    if (caller.key === null) return true
    const cookie = readSessionCookie(request.headers.cookie)
    if (isSession && (cookie === null || (await this.sessions.get(cookie)) === null)) return false
    return (await this.#keyById(caller.key)) !== null
  }

  /** Calls the listener when keys may have changed, until the returned function is called. */
  onKeysChanged(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async #keyById(id: string): Promise<ApiKey | null> {
    const now = this.#clock.now()
    const isFresh = this.#listed !== null && now - this.#listed.at < VERIFIED_MS
    const known = isFresh ? await this.#listed?.keys.then(withId(id)) : undefined
    // The cached list may be older than the key.
    const found = known ?? withId(id)(await this.#refreshList(now))
    return found !== undefined && (found.expiresAt === null || found.expiresAt > now) ? found : null
  }

  async #refreshList(now: number): Promise<readonly ApiKey[]> {
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
    throw new AppError('unauthenticated', '`Authorization` must have the form "Bearer rc_…".')
  }
  const apiKey =
    firstHeaderValue(headers, 'x-api-key') ?? firstHeaderValue(headers, 'x-goog-api-key') ?? null
  if (bearer !== null && apiKey !== null && bearer !== apiKey) {
    throw new AppError('unauthenticated', '`Authorization` and `X-Api-Key` must hold the same key.')
  }
  return bearer ?? apiKey
}

/** The value of a header, or the first of several. */
export function firstHeaderValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'object' ? value[0] : value
}

export function toKeyCaller({ id, role, home, actsFor, writesAs }: ApiKey): Caller {
  return { key: id, role, home, actsFor, writesAs }
}
