/** Who asks: the key in a header, or the session in a cookie, as a caller of operations. */
import { hash as digest } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { ApiKeys } from '../../../admin/api-keys.ts'
import type { ApiKey } from '../../../domain/access.ts'
import { type CircuitBreaker, createStallBreaker } from '../../../lib/circuit-breaker.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { withTimeout } from '../../../lib/timeout.ts'
import type { Caller } from '../../operations/authorization.ts'
import { LoginSessions, readSessionCookie } from './login-sessions.ts'
import { LoginThrottle } from './login-throttle.ts'

/** How long a key is believed without asking the store again; a revoked one works no longer than this. */
const VERIFIED_MS = 5_000
/** How long a store that hangs may hold up a key that nothing is known of. */
const VERIFY_MS_MAX = 2_000
/** And one that worked before. */
const REVERIFY_MS = 1_000
/** How long such a key is believed while the store can't be asked. */
const STALE_KEY_MS = 10 * 60_000
/** For clients whose usual header holds the key of a provider. */
export const API_KEY_HEADER = 'x-recollect-key'
/** Keys that worked, by hash; those used longest ago go first. */
const VERIFIED_MAX = 5_000

export type Principal = {
  readonly caller: Caller
  /** By cookie, which a browser sends whoever makes it ask. */
  readonly isSession: boolean
  readonly sessionExpiresAt?: number
}

/** Whoever asks where no key is needed. */
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
  readonly #verified = new Map<string, VerifiedKey>()
  #listed: { readonly keys: Promise<readonly ApiKey[]>; readonly at: number } | null = null

  constructor(keys: ApiKeys, clock: Clock) {
    this.#keys = keys
    this.#clock = clock
    this.#patience = createStallBreaker(clock)
    this.loginThrottle = new LoginThrottle(clock)
    this.sessions = new LoginSessions(clock, keys.logins)
  }

  /** Null when neither a key nor a session is given; a wrong one is an error, and takes its time. */
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

  /** Others who bring the same key meanwhile wait for the same verdict, and no longer than the first. */
  #verifyAgain(secret: string, hash: string, former: VerifiedKey | undefined): VerifiedKey {
    const now = this.#clock.now()
    const believed = former !== undefined && now - former.at < STALE_KEY_MS ? former : null
    const giveBack = () => {
      if (this.#verified.get(hash) !== verified) return
      if (believed === null) this.#verified.delete(hash)
      else this.#verified.set(hash, believed)
    }
    const verified: VerifiedKey = { key: this.#verdict(secret, believed, giveBack), at: now }
    this.#remember(hash, verified)
    return verified
  }

  /**
   * What the store says. While it can't be asked, a key that worked a moment ago still works: what is asked with it may
   * not need the store at all, as requests that the gateway passes on.
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

  /** Forgets what was verified, so that a change of keys counts at once. */
  forget(): void {
    this.#verified.clear()
    this.#listed = null
  }

  #remember(hash: string, verified: VerifiedKey): void {
    this.#verified.delete(hash)
    this.#verified.set(hash, verified)
    if (this.#verified.size <= VERIFIED_MAX) return
    const [oldest] = this.#verified.keys()
    if (oldest !== undefined) this.#verified.delete(oldest)
  }

  async #keyById(id: string): Promise<ApiKey | null> {
    const now = this.#clock.now()
    const isFresh = this.#listed !== null && now - this.#listed.at < VERIFIED_MS
    const known = isFresh ? await this.#listed?.keys.then(withId(id)) : undefined
    // The list may be older than the key.
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
 * The key that a request brings along. Two different ones are refused: it would be unclear who asks. One in a header of
 * our own leaves the usual ones free for the key of a provider behind us.
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
