/**
 * One look at all roots of an owner, after which a generation holds what the files hold.
 *
 * What is found on the disk is the truth, and what is known of it is read anew each time. So it does not matter what was
 * missed before, whether a look was cut short, or who else indexes the same files: whatever is left is done by the next look.
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

/** By root. */
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

/** Files of roots that there are no longer. */
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
