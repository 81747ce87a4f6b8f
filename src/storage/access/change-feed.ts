/**
 * Other processes on the same data. What they change is heard where the store can hear it, and then nothing is kept at
 * hand of it any longer; and limits are shared with them where the store can do that.
 */

import type { StoredSettings } from '../../admin/stored-settings.ts'
import type { Reader } from '../../conversations/context/types.ts'
import type { NewsFromElsewhere, Store, TakeAllowance } from '../store.ts'
import type { Tallies } from './count-cache.ts'

export interface Elsewhere {
  /** Answers with the function that ends it. The listener must not fail. */
  onHeard(listener: (news: NewsFromElsewhere) => void): () => void
  /** Null where nobody else takes from the same allowance. */
  readonly take: TakeAllowance | null
  close(): void
}

export type AtHandParts = {
  readonly settings: Pick<StoredSettings, 'forget'>
  readonly tallies: Pick<Tallies, 'forget'>
  readonly reader: Pick<Reader, 'forget'>
}

export function createElsewhere(
  { onElsewhere, takeAllowance }: Store,
  { settings, tallies, reader }: AtHandParts,
): Elsewhere {
  const listeners = new Set<(news: NewsFromElsewhere) => void>()
  const unlisten = onElsewhere?.((news) => {
    if (tellsOf(news, 'setting')) settings.forget()
    tallies.forget(news.owners)
    reader.forget(news.owners)
    for (const listener of listeners) listener(news)
  })
  return {
    onHeard: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    take: takeAllowance ?? null,
    close: () => unlisten?.(),
  }
}

export function tellsOf({ kinds }: NewsFromElsewhere, kind: 'setting' | 'key'): boolean {
  return kinds === 'any' || kinds.includes(kind)
}
