import type { OwnerId } from '../domain/ids.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Store } from '../storage/store.ts'
import type { PinnedMemories } from './memory-file/memory-file-sync.ts'

/** What memory in files needs of the engine that it is part of. */
export type FilesHost = {
  readonly store: Store
  readonly settingsOf: (owner: OwnerId | null) => Promise<Settings>
  /** What is pinned, for the mirror of it in a file. */
  readonly memories: PinnedMemories
  /** Calls when memories of an owner may have changed, until what it gives back is called. */
  readonly onMemoriesChanged: (listener: (owner: OwnerId) => void) => () => void
}
