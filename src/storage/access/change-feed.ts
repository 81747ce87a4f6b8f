/**
 * Other processes on the same data. What they change is heard where the store can hear it, and then nothing is kept at
 * hand of it any longer; and limits are shared with them where the store can do that.
 */

import type { StoredSettings } from '../../admin/stored-settings.ts'
import type { ContextBuilder } from '../../conversations/context/types.ts'
import type { RemoteChange, Store, TakeTokens } from '../store.ts'
import type { CountCache } from './count-cache.ts'

export interface ChangeFeed {
  /** Answers with the function that ends it. The listener must not fail. */
  subscribe(listener: (news: RemoteChange) => void): () => void
  /** Null where nobody else takes from the same allowance. */
  readonly takeTokens: TakeTokens | null
  close(): void
}

export type InvalidatedCaches = {
  readonly settings: Pick<StoredSettings, 'invalidate'>
  readonly tallies: Pick<CountCache, 'invalidate'>
  readonly reader: Pick<ContextBuilder, 'invalidate'>
}

export function createChangeFeed(
  { onRemoteChange: onElsewhere, takeTokens: takeAllowance }: Store,
  { settings, tallies, reader }: InvalidatedCaches,
): ChangeFeed {
  const listeners = new Set<(news: RemoteChange) => void>()
  const unlisten = onElsewhere?.((news) => {
    if (isAboutKind(news, 'setting')) settings.invalidate()
    tallies.invalidate(news.owners)
    reader.invalidate(news.owners)
    for (const listener of listeners) listener(news)
  })
  return {
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    takeTokens: takeAllowance ?? null,
    close: () => unlisten?.(),
  }
}

export function isAboutKind({ kinds }: RemoteChange, kind: 'setting' | 'key'): boolean {
  return kinds === 'any' || kinds.includes(kind)
}
