/** Sessions of people in a browser. The cookie is a random name for what is kept here, and gone with the process. */
import { createHash, randomBytes } from 'node:crypto'
import type { ApiKeyId } from '../../core/ids.ts'
import type { Clock } from '../../ports/clock.ts'

export const SESSION_COOKIE = 'recollect_session'
const SESSION_MS = 12 * 3_600_000
const SESSIONS_MAX = 10_000
const SESSIONS_PER_KEY_MAX = 50
const ID_BYTES = 32

export type Session = { readonly key: ApiKeyId; readonly expiresAt: number }

export class Sessions {
  readonly #clock: Clock
  /** By the hash of the cookie, so that looking one up takes as long for a wrong one as for a right one. */
  readonly #sessions = new Map<string, Session>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  open(key: ApiKeyId): { readonly id: string; readonly session: Session } {
    this.#removeExpired()
    this.#removeOldestOf(key)
    const id = randomBytes(ID_BYTES).toString('base64url')
    const session = { key, expiresAt: this.#clock.now() + SESSION_MS }
    this.#sessions.set(hashOf(id), session)
    return { id, session }
  }

  get(id: string): Session | null {
    const session = this.#sessions.get(hashOf(id))
    return session !== undefined && session.expiresAt > this.#clock.now() ? session : null
  }

  close(id: string): void {
    this.#sessions.delete(hashOf(id))
  }

  /** One key must not push out the sessions of all others. */
  #removeOldestOf(key: ApiKeyId): void {
    const own = [...this.#sessions].filter(([, session]) => session.key === key)
    for (const [hash] of own.slice(0, Math.max(0, own.length - SESSIONS_PER_KEY_MAX + 1))) {
      this.#sessions.delete(hash)
    }
  }

  #removeExpired(): void {
    const now = this.#clock.now()
    for (const [hash, { expiresAt }] of this.#sessions) {
      // They are in the order in which they end.
      if (expiresAt > now && this.#sessions.size < SESSIONS_MAX) return
      this.#sessions.delete(hash)
    }
  }
}

function hashOf(id: string): string {
  return createHash('sha256').update(id).digest('base64')
}

export function readCookie(header: string | undefined): string | null {
  for (const pair of (header ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === SESSION_COOKIE && value !== undefined && /^[\w-]{1,100}$/.test(value)) return value
  }
  return null
}

export function sessionCookie(id: string, isSecure: boolean): string {
  return cookie(id, SESSION_MS / 1_000, isSecure)
}

export function endedCookie(isSecure: boolean): string {
  return cookie('', 0, isSecure)
}

function cookie(value: string, seconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : ''
  return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
}
