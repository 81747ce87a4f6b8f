/**
 * One look at all roots of an owner, after which a generation holds what the files hold.
 *
 * What is found on the disk is the truth, and what is known of it is read anew each time. So it does not matter what was
 * missed before, whether a look was cut short, or who else indexes the same files: whatever is left is done by the next look.
 */

import { pages } from '../../storage/access/row-pages.ts'
import type { FileTree } from '../file-tree.ts'
import type { NamedRoot } from '../roots.ts'
import { passSessions } from '../sessions/session-scan.ts'
import { takeOut } from './chunk-changes.ts'
import { passFiles } from './file-scan.ts'
import type { Generation, Generations } from './generations.ts'
import { type FileRecord, toFileRecord } from './index-rows.ts'
import { type IndexPorts, IndexWriter } from './index-writer.ts'
import { PassCounts, type PassOptions } from './root-scan.ts'

export async function pass(
  ports: IndexPorts,
  tree: FileTree,
  generations: Generations,
  generation: Generation,
  roots: readonly NamedRoot[],
  options: PassOptions,
): Promise<PassCounts> {
  const writer = new IndexWriter(ports, generations, generation)
  const counts = new PassCounts()
  const known = await knownFiles(ports, writer)
  await removeStrays(ports, writer, known, roots, counts)
  for (const root of roots) {
    const look = { ...options, ports, tree, root, writer, counts, known: known.get(root.id) ?? [] }
    await (root.kind === 'sessions' ? passSessions(look) : passFiles(look))
    await writer.flush()
  }
  counts.refused = writer.refused
  return counts
}

/** By root. */
export async function knownFiles(
  { store }: Pick<IndexPorts, 'store'>,
  { home }: Pick<IndexWriter, 'home'>,
): Promise<Map<string, FileRecord[]>> {
  const byRoot = new Map<string, FileRecord[]>()
  const query = { where: { kinds: ['file'] }, order: 'oldest' } as const
  for await (const page of pages(store, 'entry', home, query)) {
    for (const entry of page) {
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
  { store }: IndexPorts,
  writer: IndexWriter,
  known: ReadonlyMap<string, readonly FileRecord[]>,
  roots: readonly NamedRoot[],
  counts: PassCounts,
): Promise<void> {
  const present = new Set(roots.map(({ id }) => id))
  for (const [root, files] of known) {
    if (present.has(root)) continue
    for (const file of files) {
      await takeOut(store, writer, file)
      counts.removed++
    }
  }
  await writer.flush()
}
