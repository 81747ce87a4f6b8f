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
import { HOUR_MS } from '../../../lib/time.ts'

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

type CachedSession = { readonly session: LoginSession | null; readonly believedUntil: number }

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
      // A read-only store can still be viewed; the session is then kept in memory only.
      () => false,
    )
    this.#remember(hashOf(id), session, isStored ? this.#soon() : session.expiresAt)
    return { id, session }
  }

  async get(id: string): Promise<LoginSession | null> {
    const hash = hashOf(id)
    const known = this.#known.get(hash)
    const now = this.#clock.now()
    const isFresh = known !== undefined && now < known.believedUntil
    const session = isFresh ? known.session : await this.#logins.get(hash)
    if (!isFresh) this.#remember(hash, session, this.#soon())
    return session !== null && session.expiresAt > now ? session : null
  }

  async close(id: string): Promise<void> {
    await this.#logins.close(hashOf(id))
    this.#known.delete(hashOf(id))
  }

  #soon(): number {
    return this.#clock.now() + CACHE_TTL_MS
  }

  #remember(hash: string, session: LoginSession | null, believedUntil: number): void {
    this.#known.set(hash, { session, believedUntil })
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
