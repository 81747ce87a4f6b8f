/** The context and the counters of one root's scan. */

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
  /** Ignores growth thresholds of transcripts. */
  readonly isThorough: boolean
  readonly onProgress?: (progress: SyncProgress) => void
}

/** Dependencies of one root's scan. */
export type RootScan = ScanOptions & {
  readonly ports: IndexWriterDependencies
  readonly tree: FileTree
  readonly root: NamedRoot
  readonly writer: IndexWriter
  readonly known: readonly FileRecord[]
  readonly counts: ScanCounts
}

/** The result of a scan. */
export class ScanCounts {
  added = 0
  changed = 0
  moved = 0
  removed = 0
  unchanged = 0
  chunks = 0
  /** Files left to the next scan because of a concurrent writer. */
  refused = 0
  readonly troubles = new Map<string, FileProblem[]>()
  /** Roots with files that kept changing. */
  readonly unsettled = new Set<string>()

  trouble(root: NamedRoot, trouble: FileProblem): void {
    const path = trouble.path === '' ? root.path : toDisplayPath(root, trouble.path)
    const known = this.troubles.get(root.id) ?? []
    known.push({ ...trouble, path })
    this.troubles.set(root.id, known)
    if (trouble.reason === 'modified_during_read') this.unsettled.add(root.id)
  }
}
