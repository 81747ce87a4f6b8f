/**
 * One scan of all roots of an owner.
 *
 * The disk is authoritative and the index state is read anew by each scan. Missed events, interrupted scans and
 * concurrent indexers therefore need no special handling: the next scan completes their work.
 */

import { parseEntries } from '../../domain/entries/entry.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { FileTree } from '../file-tree.ts'
import type { NamedRoot } from '../roots.ts'
import { scanSessions } from '../sessions/session-scan.ts'
import { removeFromIndex } from './chunk-changes.ts'
import { scanFiles } from './file-scan.ts'
import type { Generation, Generations } from './generations.ts'
import { type FileRecord, toFileRecord } from './index-rows.ts'
import { IndexWriter, type IndexWriterDependencies } from './index-writer.ts'
import { ScanCounts, type ScanOptions } from './root-scan.ts'

export async function scanRoots(
  ports: IndexWriterDependencies,
  tree: FileTree,
  generations: Generations,
  generation: Generation,
  roots: readonly NamedRoot[],
  options: ScanOptions,
): Promise<ScanCounts> {
  const writer = new IndexWriter(ports, generations, generation)
  const counts = new ScanCounts()
  const known = await loadIndexedFiles(ports, writer)
  await removeStrays(ports, writer, known, roots, counts)
  for (const root of roots) {
    const look = { ...options, ports, tree, root, writer, counts, known: known.get(root.id) ?? [] }
    await (root.kind === 'sessions' ? scanSessions(look) : scanFiles(look))
    await writer.flush()
  }
  counts.refused = writer.refused
  return counts
}

/** By root id. */
export async function loadIndexedFiles(
  { store }: Pick<IndexWriterDependencies, 'store'>,
  { home }: Pick<IndexWriter, 'home'>,
): Promise<Map<string, FileRecord[]>> {
  const byRoot = new Map<string, FileRecord[]>()
  const query = { where: { kinds: ['file'] }, order: 'oldest' } as const
  for await (const page of pages(store, 'entry', home, query)) {
    for (const entry of parseEntries('file', page)) {
      const record = toFileRecord(entry)
      const known = byRoot.get(record.root) ?? []
      known.push(record)
      byRoot.set(record.root, known)
    }
  }
  return byRoot
}

/** Files of removed roots. */
async function removeStrays(
  { store }: IndexWriterDependencies,
  writer: IndexWriter,
  known: ReadonlyMap<string, readonly FileRecord[]>,
  roots: readonly NamedRoot[],
  counts: ScanCounts,
): Promise<void> {
  const present = new Set(roots.map(({ id }) => id))
  for (const [root, files] of known) {
    if (present.has(root)) continue
    for (const file of files) {
      await removeFromIndex(store, writer, file)
      counts.removed++
    }
  }
  await writer.flush()
}
