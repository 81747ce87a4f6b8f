/** Changes made by other processes on the same database: cached rows of the owners concerned are invalidated. */

import type { RemoteChange, Store, TakeTokens } from '../store.ts'

export interface ChangeFeed {
  /**
   * Reports changes by other processes until the returned function is called. The listener must not throw.
   *
   * @example
   * const unsubscribe = engine.admin.changeFeed.subscribe(({ owners }) => console.log(owners))
   */
  subscribe(listener: (change: RemoteChange) => void): () => void
  /** Shared rate limit; null where no other process draws on it. */
  readonly takeTokens: TakeTokens | null
  /**
   * Stops listening. Closing the engine does this too.
   *
   * @example
   * engine.admin.changeFeed.close()
   */
  close(): void
}

export type InvalidatedCaches = {
  readonly onSettingsChanged: () => void
  readonly caches: readonly { invalidate(owners: RemoteChange['owners']): void }[]
}

export function createChangeFeed(
  { onRemoteChange, takeTokens }: Store,
  { onSettingsChanged, caches }: InvalidatedCaches,
): ChangeFeed {
  const listeners = new Set<(change: RemoteChange) => void>()
  const unsubscribe = onRemoteChange?.((change) => {
    if (isAboutKind(change, 'setting')) onSettingsChanged()
    for (const cache of caches) cache.invalidate(change.owners)
    for (const listener of listeners) listener(change)
  })
  return {
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    takeTokens: takeTokens ?? null,
    close: () => unsubscribe?.(),
  }
}

export function isAboutKind({ kinds }: RemoteChange, kind: 'setting' | 'key'): boolean {
  return kinds === 'any' || kinds.includes(kind)
}
