/**
 * Anti-entropy: compares a replica with the store and the primary index, page by page, and repairs
 * it on request.
 */
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { DOCUMENT_TYPES } from '../../domain/search-document.ts'
import { compareText } from '../../lib/compare.ts'
import type { VectorSpace } from '../vector-index.ts'
import type { ReplicaDifferences } from '../vector-replication.ts'
import {
  computePointHash,
  isWithheld,
  type ReplicaWriterDependencies,
  syncMemories,
} from './replica-writer.ts'

export type ComparisonOptions = {
  readonly isRepairing: boolean
  /** Called with the number of memories compared since the last call. Throws to stop. */
  readonly onProgress: (more: number) => void
}

type ListedPoint = { readonly id: MemoryId; readonly owner: OwnerId; readonly textHash: string }

type PointHashes = ReadonlyMap<MemoryId, string>

const PAGE = 500
const NONE: ReplicaDifferences = { missing: 0, stale: 0, orphaned: 0 }

/** All owners of one space. */
export async function compareSpace(
  parts: ReplicaWriterDependencies,
  space: VectorSpace,
  comparing: ComparisonOptions,
): Promise<ReplicaDifferences> {
  const places = await parts.store.listPlaces()
  const owners = new Set(places.map(({ owner }) => owner as OwnerId)) // as returned by the store
  const held = await parts.replica.count(space)
  let found = NONE
  let seen = 0
  for (const owner of owners) {
    for await (const page of pagesOf(parts, space, owner)) {
      found = sum(found, await repairDifferences(parts, space, owner, page, comparing))
      seen += page.actual.size
      comparing.onProgress(page.expected.size)
    }
  }
  if (held <= seen) return found
  return sum(found, await removeUnknown(parts, space, owners, comparing))
}

type ComparedPage = { readonly expected: PointHashes; readonly actual: PointHashes }

async function repairDifferences(
  parts: ReplicaWriterDependencies,
  space: VectorSpace,
  owner: OwnerId,
  { expected, actual }: ComparedPage,
  { isRepairing }: ComparisonOptions,
): Promise<ReplicaDifferences> {
  const missing = [...expected.keys()].filter((id) => !actual.has(id))
  const stray = [...actual.keys()].filter((id) => !expected.has(id))
  const stale = [...expected].flatMap(([id, mark]) => {
    const kept = actual.get(id)
    return kept === undefined || kept === mark ? [] : [id]
  })
  const ids = [...missing, ...stale, ...stray]
  for (let at = 0; isRepairing && at < ids.length; at += PAGE) {
    await syncMemories(parts, space, owner, ids.slice(at, at + PAGE))
  }
  return { missing: missing.length, stale: stale.length, orphaned: stray.length }
}

/** Pairs the expected and the actual points of an owner, one range of ids after the other. */
async function* pagesOf(
  { store, vectors, replica, expiredRemovedBefore: cleanedBefore }: ReplicaWriterDependencies,
  space: VectorSpace,
  owner: OwnerId,
): AsyncGenerator<ComparedPage> {
  const scope = { owner }
  const read = readerOf((page) => replica.list(space, { owner, ...page }))
  let after: string | undefined
  do {
    const from = after === undefined ? {} : { after }
    const { rows, next } = await store.findDocuments(scope, {
      ...{ where: { types: DOCUMENT_TYPES }, limit: PAGE, order: 'oldest' },
      ...from,
    })
    const page = { limit: PAGE, ...from } as { limit: number; after?: MemoryId } // an id of the previous page
    const listed = await vectors.list(space, scope, page)
    const hashes = new Map(listed.map(({ id, textHash }) => [id, textHash]))
    const expected = new Map<MemoryId, string>()
    for (const row of rows) {
      const hash = hashes.get(row.id)
      if (hash === undefined || isWithheld(row, cleanedBefore)) continue
      expected.set(row.id, computePointHash(hash, row))
    }
    // The last range is unbounded: anything beyond it in the replica is not in the store.
    const actual = await read(next === null ? null : (rows.at(-1)?.id ?? null))
    yield { expected, actual: new Map(actual.map(({ id, textHash }) => [id, textHash])) }
    after = next ?? undefined
  } while (after !== undefined)
}

/** Reads a list up to an id, or to its end. */
function readerOf(
  list: (page: {
    readonly limit: number
    readonly after?: MemoryId
  }) => Promise<readonly ListedPoint[]>,
): (last: MemoryId | null) => Promise<readonly ListedPoint[]> {
  let waiting: readonly ListedPoint[] = []
  let after: MemoryId | undefined
  let isAtEnd = false
  return async (last) => {
    const isBeyond = ({ id }: ListedPoint) => last !== null && compareText(id, last) > 0
    const read: ListedPoint[] = []
    for (;;) {
      const end = waiting.findIndex(isBeyond)
      read.push(...(end === -1 ? waiting : waiting.slice(0, end)))
      waiting = end === -1 ? [] : waiting.slice(end)
      if (end !== -1 || isAtEnd) return read
      waiting = await list({ limit: PAGE, ...(after === undefined ? {} : { after }) })
      after = waiting.at(-1)?.id
      isAtEnd = waiting.length < PAGE
    }
  }
}

/** Points of owners that the store no longer knows. */
async function removeUnknown(
  { replica }: ReplicaWriterDependencies,
  space: VectorSpace,
  owners: ReadonlySet<OwnerId>,
  { isRepairing }: ComparisonOptions,
): Promise<ReplicaDifferences> {
  let stray = 0
  let after: MemoryId | undefined
  for (;;) {
    const page = await replica.list(space, {
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    })
    const unknown = page.filter(({ owner }) => !owners.has(owner))
    stray += unknown.length
    for (const owner of isRepairing ? new Set(unknown.map(({ owner }) => owner)) : []) {
      const ids = unknown.flatMap((point) => (point.owner === owner ? [point.id] : []))
      await replica.remove(space, owner, ids)
    }
    after = page.at(-1)?.id
    if (page.length < PAGE || after === undefined) return { ...NONE, orphaned: stray }
  }
}

function sum(a: ReplicaDifferences, b: ReplicaDifferences): ReplicaDifferences {
  return {
    missing: a.missing + b.missing,
    stale: a.stale + b.stale,
    orphaned: a.orphaned + b.orphaned,
  }
}
