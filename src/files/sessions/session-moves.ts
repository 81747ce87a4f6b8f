/**
 * Detects renamed and rotated transcripts. They may have grown since, so they are identified by the hashed ranges that
 * were read rather than by their whole content.
 */
import { throwIfAborted } from '../../lib/abort.ts'
import { AppError } from '../../lib/errors.ts'
import { getEntry } from '../../storage/access/system-entries.ts'
import type { FileStat } from '../file.ts'
import type { FileTail } from '../file-tree.ts'
import { buildMoveChanges, loadChunks, removeFromIndex } from '../indexing/chunk-changes.ts'
import {
  buildFileId,
  type FileRecord,
  type SessionCheckpoint,
  toFileRecord,
} from '../indexing/index-rows.ts'
import type { RootScan } from '../indexing/root-scan.ts'
import type { TreeDiff } from '../indexing/tree-diff.ts'

/** The maximum number of renames per commit. */
const MOVED_CHUNKS_MAX = 200_000

/**
 * Renames the indexed files and removes them, and any files they replaced, from `records`. Returns the records under
 * their new paths.
 */
export async function applySessionMoves(
  pass: RootScan,
  records: Map<string, FileRecord>,
  diff: TreeDiff,
): Promise<ReadonlyMap<string, FileRecord>> {
  const { ports, writer, counts } = pass
  const waiting = await findMoves(pass, records, diff)
  const taken = new Map<string, FileRecord>()
  for (;;) {
    const to = pickNextMove(waiting, records)
    const from = to === null ? undefined : waiting.get(to)
    if (to === null || from === undefined) return taken
    waiting.delete(to)
    const overwritten = records.get(to)
    if (overwritten !== undefined) await removeFromIndex(ports.store, writer, overwritten)
    const rows = await loadChunks(ports.store, writer.home, from.document)
    await writer.write(buildMoveChanges(writer, from, { ...from, path: to }, rows))
    await writer.flush()
    for (const path of [to, from.path]) records.delete(path)
    const id = buildFileId(writer.home, pass.root.id, to)
    const entry = await getEntry(ports, writer.home, 'file', id)
    if (entry === null) continue // a concurrent writer was faster; the next scan handles it
    taken.set(to, toFileRecord(entry))
    counts.moved++
  }
}

/** Orders renames so that rotated logs free a path before it is reused. */
function pickNextMove(
  waiting: ReadonlyMap<string, FileRecord>,
  records: ReadonlyMap<string, FileRecord>,
): string | null {
  const leaving = new Set([...waiting.values()].map(({ path }) => path))
  for (const to of waiting.keys()) if (!leaving.has(to) || !records.has(to)) return to
  return null // swapped paths; both are read again
}

/** The record under its new path. */
async function findMoves(
  pass: RootScan,
  records: ReadonlyMap<string, FileRecord>,
  { maybeChanged, vanished }: TreeDiff,
): Promise<Map<string, FileRecord>> {
  const moves = new Map<string, FileRecord>()
  if (maybeChanged.length + vanished.length < 2) return moves
  const departed = vanished.flatMap(({ path }) => records.get(path) ?? [])
  const arrived: FileStat[] = []
  for (const file of maybeChanged) {
    const record = records.get(file.path)
    if (record === undefined) arrived.push(file)
    else if ((await isContinuation(pass, file.path, record)) === false) {
      arrived.push(file)
      departed.push(record)
    }
  }
  if (departed.length === 0) return moves
  const byHead = await groupByHead(pass, arrived)
  for (const record of departed) {
    if (record.chunks > MOVED_CHUNKS_MAX) continue
    const alike = byHead.get(record.hash)?.filter(({ path }) => !moves.has(path)) ?? []
    for (const file of alike.toSorted(
      (a, b) => rankDissimilarity(a, record) - rankDissimilarity(b, record),
    )) {
      if ((await isContinuation(pass, file.path, record)) !== true) continue
      moves.set(file.path, record)
      break
    }
  }
  return moves
}

/** Whether a tail continues the transcript of the mark. */
export function isSameTranscript(mark: SessionCheckpoint, tail: FileTail): boolean {
  if (mark.offset === 0) return true // all of it is read again
  const isKnown = mark.foot === undefined || tail.footBefore === mark.foot
  return isKnown && tail.headBefore === mark.head && tail.next >= mark.readTo
}

/** Whether the path holds the transcript of a record; null when it is unreadable. */
async function isContinuation(
  pass: RootScan,
  path: string,
  record: FileRecord,
): Promise<boolean | null> {
  const { mark, hash } = record
  if (mark === null || mark.readTo === 0) return null
  const isRead = mark.offset > 0
  const tail = await readTail(pass, path, isRead ? mark.offset : mark.readTo)
  if (tail === null) return null
  if (isRead) return isSameTranscript(mark, tail)
  return tail.next >= mark.readTo && tail.headBefore === hash
}

async function groupByHead(
  pass: RootScan,
  files: readonly FileStat[],
): Promise<ReadonlyMap<string, readonly FileStat[]>> {
  const byHead = new Map<string, FileStat[]>()
  for (const file of files) {
    const tail = await readTail(pass, file.path, 0)
    if (tail === null) continue
    const alike = byHead.get(tail.head) ?? []
    alike.push(file)
    byHead.set(tail.head, alike)
  }
  return byHead
}

/** Among transcripts with the same beginning, unchanged ones first, then those with the same name. */
function rankDissimilarity(file: FileStat, record: FileRecord): number {
  if (file.sizeBytes === record.sizeBytes && file.modifiedAt === record.modifiedAt) return 0
  return getBaseName(file.path) === getBaseName(record.path) ? 1 : 2
}

function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Null for an unreadable file; the scan reports it. */
async function readTail(
  { tree, root, signal }: RootScan,
  path: string,
  from: number,
): Promise<FileTail | null> {
  throwIfAborted(signal)
  try {
    return await tree.readTail(root, path, from)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}
