/** The memories of an owner that stand in a file as well, for the mirror. */

import { type OwnerId, parseId } from '../../domain/ids.ts'
import { isTrusted, type Memory } from '../../domain/memory.ts'
import type { ScopeInput } from '../../domain/scope.ts'
import type { DraftInput } from '../../memory/draft.ts'
import * as correct from '../../memory/memory-editor.ts'
import type { RememberResult } from '../../memory/memory-writer.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { PinnedMemories } from './memory-file-sync.ts'

export type PinnedMemoriesDependencies = {
  readonly ports: MemoryDependencies
  readonly remember: (scope: ScopeInput, draft: DraftInput) => Promise<RememberResult>
}

/** More would make a file that nobody reads. */
const MIRRORED_MAX = 200
const SOURCE = 'files'

export function createPinnedMemories({
  ports,
  remember,
}: PinnedMemoriesDependencies): PinnedMemories {
  const home = (owner: OwnerId) => ({ owner, user: null })
  return {
    list: async (owner) => {
      const found = new Map<string, Memory>()
      const statuses = ['active'] as const
      for (const where of [{ categories: ['identity'] }, { pinned: true }] as const) {
        const query = { where: { statuses, ...where }, order: 'oldest' } as const
        for await (const page of pages(ports.store, 'memory', home(owner), query)) {
          for (const memory of page) if (isTrusted(memory.trust)) found.set(memory.id, memory)
        }
      }
      return [...found.values()].slice(0, MIRRORED_MAX)
    },
    edit: async (owner, id, content) => {
      await correct.edit(ports, home(owner), parseId('mem', id), { content })
    },
    add: async (owner, content, isIdentity) => {
      const { memory } = await remember(home(owner), {
        ...{ content, pinned: true, provenance: { source: SOURCE } },
        ...(isIdentity ? { category: 'identity' as const } : {}),
      })
      // What was known already may not have been pinned; and what stands in the file stays there.
      if (!memory.pinned) await correct.edit(ports, home(owner), memory.id, { pinned: true })
    },
    unpin: async (owner, { id, isIdentity }) => {
      if (isIdentity) await correct.forget(ports, home(owner), parseId('mem', id))
      else await correct.edit(ports, home(owner), parseId('mem', id), { pinned: false })
    },
  }
}
