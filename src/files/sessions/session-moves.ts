/**
 * Transcripts that are found under another name: moved, renamed, or rotated while another one was begun in their place.
 * They may have grown since, so they are known again by what was read of them, not by all that they hold.
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

/** More than a commit can give another name. */
const MOVED_CHUNKS_MAX = 200_000

/**
 * Gives what was made of them their new names, and takes them out of `records`, where what was replaced goes as well. Tells
 * what is known now under the new names.
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
    if (entry === null) continue // somebody else was faster: the next look knows it
    taken.set(to, toFileRecord(entry))
    counts.moved++
  }
}

/** Logs rotate in a row, so a name that is left goes before the one that takes its place. */
function pickNextMove(
  waiting: ReadonlyMap<string, FileRecord>,
  records: ReadonlyMap<string, FileRecord>,
): string | null {
  const leaving = new Set([...waiting.values()].map(({ path }) => path))
  for (const to of waiting.keys()) if (!leaving.has(to) || !records.has(to)) return to
  return null // they have changed places, and are read anew
}

/** What was known under another name, by the new one. */
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

/** Whether a tail goes on with the transcript that the mark was made of. */
export function isSameTranscript(mark: SessionCheckpoint, tail: FileTail): boolean {
  if (mark.offset === 0) return true // all of it is read again
  const isKnown = mark.foot === undefined || tail.footBefore === mark.foot
  return isKnown && tail.headBefore === mark.head && tail.next >= mark.readTo
}

/** Whether a path leads to the transcript of a record; null when that can't be told. */
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

/** Of several that begin alike, those that look untouched first, then those of the same name. */
function rankDissimilarity(file: FileStat, record: FileRecord): number {
  if (file.sizeBytes === record.sizeBytes && file.modifiedAt === record.modifiedAt) return 0
  return getBaseName(file.path) === getBaseName(record.path) ? 1 : 2
}

function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Null where it can't be read: what is wrong is told by whoever needs it. */
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
