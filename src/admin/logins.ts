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
  SYSTEM_SCOPE,
} from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'

export type LoginRecord = { readonly key: ApiKeyId; readonly expiresAt: number }

export interface LoginRecords {
  /** Those of the same key that are one too many go, the oldest first. */
  open(hash: string, login: LoginRecord): Promise<void>
  /** Null when there is none, or its time is over. */
  get(hash: string): Promise<LoginRecord | null>
  close(hash: string): Promise<void>
}

/** One key must not fill the store. */
const LOGINS_PER_KEY_MAX = 50

export function createLoginRecords(ports: StoreDependencies): LoginRecords {
  const { store, clock } = ports
  const idOf = (hash: string) => `lgn_${hash}`
  const close = async (hash: string) => {
    const entry = await getSystemEntry(ports, 'login', idOf(hash))
    if (entry !== null) await store.commit([buildEntryRemoval(entry)])
  }
  return {
    open: async (hash, { key, expiresAt }) => {
      await removeExpiredEntries(ports, ['login'])
      const own = (await listEntries(ports, SYSTEM_SCOPE, 'login')).filter(
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
      const entry = await getSystemEntry(ports, 'login', idOf(hash))
      if (entry?.expiresAt == null || entry.expiresAt <= clock.now()) return null
      return { key: entry.body.key, expiresAt: entry.expiresAt }
    },
    close,
  }
}
