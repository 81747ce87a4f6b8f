/** The index of a tree of files, whose commits can be waited for. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { toIndexEngine } from '../../src/app/file-composition.ts'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock as clock } from '../../src/app/system-clock.ts'
import type { OwnerId } from '../../src/domain/ids.ts'
import { INDEX_COMMIT_CHANGES_MAX } from '../../src/domain/limits.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { createFileIndex } from '../../src/files/file-index.ts'
import { FILE_DEFAULTS, FILE_TIMINGS } from '../../src/files/file-options.ts'
import { createFiles, type Files } from '../../src/files/files.ts'
import { createFileTree } from '../../src/files/local/local-file-tree.ts'
import { createRoots } from '../../src/files/roots.ts'
import type { Embedder } from '../../src/models/embedder.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Store } from '../../src/storage/store.ts'

export const OWNER = 'reader' as OwnerId // a name that is valid

export type IndexedTree = {
  readonly files: Files
  readonly store: Store
  /** When something was last written to the index, as `performance.now`. */
  lastCommitAt(): number
  close(): Promise<void>
}

/** Opened again, it is the same index; with a model, its pieces are found by meaning as well. */
export async function openTree(
  home: string,
  folder: string,
  embedder?: Embedder,
): Promise<IndexedTree> {
  const open = (name: string) =>
    openSqliteStore({
      ...{ path: join(home, name), now: Date.now },
      commitChangesMax: INDEX_COMMIT_CHANGES_MAX,
    })
  const [store, index] = await Promise.all([open('memory.db'), open('files.db')])
  let lastCommitAt = 0
  const innerStore: Store = {
    ...index,
    commit: async (changes) => {
      const outcome = await index.commit(changes)
      lastCommitAt = performance.now()
      return outcome
    },
  }
  const ids = createIdGenerator()
  const inner = createEngineWith({
    ...{ store: innerStore, clock, ids, settings: {} },
    ...(embedder === undefined ? {} : { embedder, vectors: index.vectors }),
  })
  const files = createFiles({
    roots: createRoots({ store, clock }),
    indexExists: () => true,
    openIndex: async () =>
      createFileIndex({
        ...{ store, innerStore, clock, ids, inner: toIndexEngine(inner) },
        tree: createFileTree({ clock }),
        workspaceOf: () => {
          throw new Error('nothing is written here')
        },
        settingsOf: async () => FILE_DEFAULTS,
      }),
  })
  await files.roots.add(OWNER, { kind: 'path', path: folder })
  return {
    ...{ files, store: index, lastCommitAt: () => lastCommitAt },
    close: async () => {
      await files.close()
      await store.close()
    },
  }
}

/** How long after the quiet that is waited for an edit is in the index, in milliseconds. */
export async function editUntilIndexed(
  { lastCommitAt }: IndexedTree,
  path: string,
  line: string,
): Promise<number> {
  const edited = performance.now()
  appendFileSync(path, `\n${line}\n`)
  while (lastCommitAt() < edited) await new Promise((resolve) => setTimeout(resolve, 2))
  return lastCommitAt() - edited - FILE_TIMINGS.debounceMs
}
