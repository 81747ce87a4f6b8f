/** Indexes pages with the real file index, on disk, with default settings. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toIndexEngine } from '../../src/app/file-composition.ts'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import { type EmbeddingOptions, openEmbedder } from '../../src/app/models/model-selection.ts'
import { systemClock as clock } from '../../src/app/system-clock.ts'
import type { OwnerId } from '../../src/domain/ids.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { createFileIndex } from '../../src/files/file-index.ts'
import { FILE_DEFAULTS } from '../../src/files/file-options.ts'
import type { FileHit } from '../../src/files/file-search.ts'
import { createFiles } from '../../src/files/files.ts'
import { createFileTree } from '../../src/files/local/local-file-tree.ts'
import { createRoots } from '../../src/files/roots.ts'
import { withLongText } from '../../src/models/embedders/long-text.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'

const OWNER = 'reader' as OwnerId // a name that is valid
const HITS_MAX = 10

export type PageIndex = {
  readonly chunks: number
  /** Paths are relative to the folder. */
  ask(text: string): Promise<readonly FileHit[]>
  close(): Promise<void>
}

export type PageIndexOptions = {
  /** Null: keyword search only. */
  readonly embedding: EmbeddingOptions | null
  readonly onProgress?: (words: string) => void
}

export async function openPageIndex(
  folder: string,
  { embedding, onProgress }: PageIndexOptions,
): Promise<PageIndex> {
  const home = mkdtempSync(join(tmpdir(), 'recollect-pages-'))
  const open = (name: string) => openSqliteStore({ path: join(home, name), now: Date.now })
  const [store, innerStore] = await Promise.all([open('memory.db'), open('files.db')])
  const embedder = embedding === null ? null : openEmbedder(embedding)
  const ids = createIdGenerator()
  const inner = createEngineWith({
    ...{ store: innerStore, clock, ids, settings: {} },
    ...(embedder === null ? {} : { embedder: withLongText(embedder), vectors: innerStore.vectors }),
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
  const { name } = await files.roots.add(OWNER, { kind: 'path', path: folder })
  const { chunks } = await files.sync(OWNER, {
    onProgress: ({ filesDone, filesTotal }) => onProgress?.(`read ${filesDone} of ${filesTotal}`),
  })
  if (embedder !== null) {
    await inner.admin.reindex({
      onProgress: ({ done }) => onProgress?.(`embedded ${done} of ${chunks}`),
    })
  }
  // Where files are watched, a search scans them only after a change.
  await files.start()
  return {
    chunks,
    ask: async (text) => {
      const { hits } = await files.search(OWNER, { text, maxResults: HITS_MAX })
      return hits.map((hit) => ({ ...hit, path: hit.path.slice(name.length + 1) }))
    },
    close: async () => {
      await files.close()
      await store.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
}
