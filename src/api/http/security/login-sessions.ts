/**
 * Browser login sessions. The cookie holds a random token; the store keeps its hash and the key
 * that it stands for.
 */
import { randomBytes } from 'node:crypto'
import type { LoginRecord, LoginRecords } from '../../../admin/api-keys.ts'
import type { ApiKeyId } from '../../../domain/ids.ts'
import type { Clock } from '../../../lib/clock.ts'
import { sha256 } from '../../../lib/hash.ts'
import { LruCache } from '../../../lib/lru-cache.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'

export const SESSION_COOKIE = 'recollect_session'
const SESSION_MS = 12 * HOUR_MS
const CACHED_SESSIONS_MAX = 10_000
const ID_BYTES = 32

export type LoginSession = LoginRecord

/**
 * A verified session is cached for this long. A session that was ended elsewhere works no longer
 * than that.
 */
const CACHE_TTL_MS = 5_000

type CachedSession = { readonly session: LoginSession | null; readonly freshUntil: number }

export class LoginSessions {
  readonly #clock: Clock
  readonly #logins: LoginRecords
  /** Looked up by hash, so that timing does not depend on the token. */
  readonly #known = new LruCache<string, CachedSession>({ entriesMax: CACHED_SESSIONS_MAX })

  constructor(clock: Clock, logins: LoginRecords) {
    this.#clock = clock
    this.#logins = logins
  }

  async open(key: ApiKeyId): Promise<{ readonly id: string; readonly session: LoginSession }> {
    const id = randomBytes(ID_BYTES).toString('base64url')
    const session = { key, expiresAt: this.#clock.now() + SESSION_MS }
    const isStored = await this.#logins.open(hashOf(id), session).then(
      () => true,
      // A read-only store can still be viewed; the session then lives in memory only.
      () => false,
    )
    this.#remember(hashOf(id), session, isStored ? this.#cacheExpiry() : session.expiresAt)
    return { id, session }
  }

  async get(id: string): Promise<LoginSession | null> {
    const hash = hashOf(id)
    const known = this.#known.get(hash)
    const now = this.#clock.now()
    const isFresh = known !== undefined && now < known.freshUntil
    const session = isFresh ? known.session : await this.#logins.get(hash)
    if (!isFresh) this.#remember(hash, session, this.#cacheExpiry())
    return session !== null && session.expiresAt > now ? session : null
  }

  async close(id: string): Promise<void> {
    await this.#logins.close(hashOf(id))
    this.#known.delete(hashOf(id))
  }

  #cacheExpiry(): number {
    return this.#clock.now() + CACHE_TTL_MS
  }

  #remember(hash: string, session: LoginSession | null, freshUntil: number): void {
    this.#known.set(hash, { session, freshUntil })
  }
}

const SIGN_IN_TOKEN_MS = 15 * MINUTE_MS

/** Tokens of sign-in links: each opens one session, within a short time, at the process that issued it. */
export class SignInTokens {
  readonly #clock: Clock
  /** By hash, so that timing does not depend on the token. */
  readonly #keys = new Map<string, { readonly key: ApiKeyId; readonly expiresAt: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  issue(key: ApiKeyId): string {
    const token = randomBytes(ID_BYTES).toString('base64url')
    this.#keys.set(hashOf(token), { key, expiresAt: this.#clock.now() + SIGN_IN_TOKEN_MS })
    return token
  }

  /** The key of a token; null if it is unknown, expired or used. */
  redeem(token: string): ApiKeyId | null {
    const issued = this.#keys.get(hashOf(token))
    this.#keys.delete(hashOf(token))
    return issued !== undefined && issued.expiresAt > this.#clock.now() ? issued.key : null
  }
}

function hashOf(id: string): string {
  return sha256(id)
}

export function readSessionCookie(header: string | undefined): string | null {
  for (const pair of (header ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === SESSION_COOKIE && value !== undefined && /^[\w-]{1,100}$/.test(value)) return value
  }
  return null
}

export function sessionCookie(id: string, isSecure: boolean): string {
  return cookie(id, SESSION_MS / 1_000, isSecure)
}

export function expiredSessionCookie(isSecure: boolean): string {
  return cookie('', 0, isSecure)
}

function cookie(value: string, seconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : ''
  return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
}
