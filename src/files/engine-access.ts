/** Memory in files as part of an engine: with its store, its settings, and the memories that a file can mirror. */

import type { OwnerId } from '../domain/ids.ts'
import type { ScopeInput } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { DraftInput } from '../memory/draft.ts'
import type { RememberResult } from '../memory/memory-writer.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import type { Change } from '../storage/store.ts'
import type { Files } from './files.ts'
import type { FilesHost } from './files-host.ts'
import { createPinnedMemories } from './memory-file/pinned-memories.ts'

export type FilesHostDependencies = {
  readonly ports: MemoryDependencies & { readonly files?: (host: FilesHost) => Files }
  readonly settings: { resolve(owner: OwnerId | null): Promise<Settings> }
  /** Those who hear of every commit. */
  readonly listeners: Set<(changes: readonly Change[]) => void>
  readonly remember: (scope: ScopeInput, draft: DraftInput) => Promise<RememberResult>
}

/** Null where there is no place for files. */
export function createEngineFiles({
  ports,
  settings,
  listeners,
  remember,
}: FilesHostDependencies): Files | null {
  const files = ports.files?.({
    store: ports.store,
    settingsOf: (owner) => settings.resolve(owner),
    memories: createPinnedMemories({ ports, remember }),
    onMemoriesChanged: (listener) => {
      const heard = (changes: readonly Change[]) => {
        for (const owner of listChangedOwners(changes)) listener(owner)
      }
      listeners.add(heard)
      return () => listeners.delete(heard)
    },
  })
  return files ?? null
}

/** Whose own memories were changed. */
function listChangedOwners(changes: readonly Change[]): ReadonlySet<OwnerId> {
  const owners = new Set<OwnerId>()
  for (const change of changes) {
    if (change.op === 'count' || change.op === 'check' || change.table !== 'memory') continue
    const { owner, user } = change.op === 'put' ? change.row.place : change.scope
    if (user === null || user === undefined) owners.add(owner)
  }
  return owners
}
