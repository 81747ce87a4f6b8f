/** What the scan of one root works with, and what it counts. */

import type { FileProblem } from '../file.ts'
import type { FileOptions } from '../file-options.ts'
import type { SyncProgress } from '../file-search.ts'
import type { FileTree } from '../file-tree.ts'
import { type NamedRoot, toDisplayPath } from '../roots.ts'
import type { FileRecord } from './index-rows.ts'
import type { IndexWriter, IndexWriterDependencies } from './index-writer.ts'

export type ScanOptions = {
  readonly settings: FileOptions
  readonly signal: AbortSignal
  /** Takes the smallest growth of a transcript. */
  readonly isThorough: boolean
  readonly onProgress?: (progress: SyncProgress) => void
}

/** What a look at one root works with. */
export type RootScan = ScanOptions & {
  readonly ports: IndexWriterDependencies
  readonly tree: FileTree
  readonly root: NamedRoot
  readonly writer: IndexWriter
  readonly known: readonly FileRecord[]
  readonly counts: ScanCounts
}

/** What a look has done. */
export class ScanCounts {
  added = 0
  changed = 0
  moved = 0
  removed = 0
  unchanged = 0
  chunks = 0
  /** Files that were left, since somebody else has changed them at the same time. */
  refused = 0
  readonly troubles = new Map<string, FileProblem[]>()
  /** Roots with something that was changed all the time. */
  readonly unsettled = new Set<string>()

  trouble(root: NamedRoot, trouble: FileProblem): void {
    const path = trouble.path === '' ? root.path : toDisplayPath(root, trouble.path)
    const known = this.troubles.get(root.id) ?? []
    known.push({ ...trouble, path })
    this.troubles.set(root.id, known)
    if (trouble.reason === 'modified_during_read') this.unsettled.add(root.id)
  }
}
