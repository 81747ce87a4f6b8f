/**
 * Who is signed in with a browser, by the hash of what its cookie says: so that a server that was started anew, or
 * another one on the same store, still knows them.
 */
import type { ApiKeyId } from '../domain/ids.ts'
import type { Instant } from '../lib/time.ts'
import {
  buildEntryChange,
  buildEntryRemoval,
  getSystemEntry,
  listEntries,
  removeExpiredEntries,
} from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'

export type LoginRecord = { readonly key: ApiKeyId; readonly expiresAt: number }

export interface LoginRecords {
  /**
   * Stores a login under the hash of its token. Beyond the limit of a key, its oldest login is removed.
   *
   * @example
   * type Login = Parameters<typeof engine.admin.keys.logins.open>[1]
   * const store = (hash: string, login: Login) => engine.admin.keys.logins.open(hash, login)
   */
  open(hash: string, login: LoginRecord): Promise<void>
  /**
   * Null when there is no such login, or when it has expired.
   *
   * @example
   * const login = await engine.admin.keys.logins.get('3f1c9e')
   */
  get(hash: string): Promise<LoginRecord | null>
  /**
   * @example
   * await engine.admin.keys.logins.close('3f1c9e')
   */
  close(hash: string): Promise<void>
}

/** One key must not fill the store. */
const LOGINS_PER_KEY_MAX = 50

export function createLoginRecords(ports: StoreDependencies): LoginRecords {
  const { store, clock } = ports
  const idOf = (hash: string) => `lgn_${hash}`
  const close = async (hash: string) => {
    const entry = await getSystemEntry(ports, idOf(hash))
    if (entry !== null) await store.commit([buildEntryRemoval(entry)])
  }
  return {
    open: async (hash, { key, expiresAt }) => {
      await removeExpiredEntries(ports, ['login'])
      const own = (await listEntries(ports, { kinds: ['login'] })).filter(
        ({ body }) => body.key === key,
      )
      const tooMany = own
        .toSorted((a, b) => a.at - b.at)
        .slice(0, Math.max(0, own.length - LOGINS_PER_KEY_MAX + 1))
      const { change } = buildEntryChange(
        {
          ...{ id: idOf(hash), kind: 'login' as const, at: clock.now(), body: { key } },
          expiresAt: expiresAt as Instant, // counted from the clock
        },
        null,
      )
      await store.commit([...tooMany.map((entry) => buildEntryRemoval(entry)), change])
    },
    get: async (hash) => {
      const entry = await getSystemEntry(ports, idOf(hash))
      if (entry?.expiresAt == null || entry.expiresAt <= clock.now()) return null
      return { key: entry.body.key as ApiKeyId, expiresAt: entry.expiresAt } // as written above
    },
    close,
  }
}
