/** Problems found by the last scan of each root, stored in the index for other processes. */
import type { EntryOf } from '../../domain/entries/entry.ts'
import type { EntryId, OwnerId } from '../../domain/ids.ts'
import type { Instant } from '../../lib/time.ts'
import { listEntries } from '../../storage/access/system-entries.ts'
import type { Change, Store } from '../../storage/store.ts'
import type { FileProblem } from '../file.ts'
import type { NamedRoot } from '../roots.ts'

export type ScanLogEntry = {
  readonly at: Instant
  readonly problems: readonly FileProblem[]
  /** The total; not all of them are stored. */
  readonly problemsTotal: number
}

const STORED_PROBLEMS_MAX = 100

/** Keeps one entry for each present root. */
export async function writeScanLog(
  store: Store,
  owner: OwnerId,
  roots: readonly NamedRoot[],
  problems: ReadonlyMap<string, readonly FileProblem[]>,
  at: Instant,
): Promise<void> {
  const known = await readScanLog(store, owner)
  const present = new Set(roots.map(({ id }) => id))
  const changes: Change[] = roots.map((root) => {
    const all = problems.get(root.id) ?? []
    const body = {
      ...{ root: root.id, at, problemsTotal: all.length },
      problems: all.slice(0, STORED_PROBLEMS_MAX),
    }
    const row: EntryOf<'file-scan-log'> = {
      id: buildScanLogId(root.id),
      place: { owner, user: null, session: null },
      ...{ kind: 'file-scan-log', about: owner, at, expiresAt: null, version: 1, body },
    }
    return { op: 'put', table: 'entry', row, expect: 'any' }
  })
  for (const root of known.keys()) {
    if (present.has(root)) continue
    const scope = { owner, user: null }
    changes.push({ op: 'remove', table: 'entry', scope, id: buildScanLogId(root), expect: 'any' })
  }
  if (changes.length > 0) await store.commit(changes)
}

/** By root id. */
export async function readScanLog(
  store: Store,
  owner: OwnerId,
): Promise<ReadonlyMap<string, ScanLogEntry>> {
  const logs = await listEntries({ store }, { owner, user: null }, 'file-scan-log')
  return new Map(logs.map(({ body: { root, ...log } }) => [root, log]))
}

function buildScanLogId(root: string): EntryId {
  return `look_${root}` as EntryId // created from a root id
}
