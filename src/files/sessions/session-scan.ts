/**
 * Syncs the index with transcripts.
 *
 * Transcripts are append-only, so only new lines are read. One that became shorter or has another beginning is a new
 * transcript and read from the start. The incomplete last chunk is chunked again together with the new lines. Renamed
 * transcripts keep their chunks.
 */
import { throwIfAborted } from '../../lib/abort.ts'
import { AppError } from '../../lib/errors.ts'
import { getEntry } from '../../storage/access/system-entries.ts'
import type { Store } from '../../storage/store.ts'
import { countLineBreaks } from '../../text/lines.ts'
import type { FileProblem, FileStat } from '../file.ts'
import type { FileTail } from '../file-tree.ts'
import {
  buildReplacementChanges,
  type ChunkReplacement,
  loadChunks,
  loadLastChunks,
  removeFromIndex,
} from '../indexing/chunk-changes.ts'
import {
  buildFileId,
  type FileRecord,
  type GenerationScope,
  type SessionCheckpoint,
  toFileRecord,
} from '../indexing/index-rows.ts'
import type { RootScan } from '../indexing/root-scan.ts'
import { diffTree } from '../indexing/tree-diff.ts'
import { chunkSession, parseSessionLines } from './session-lines.ts'
import { applySessionMoves, isSameTranscript } from './session-moves.ts'

export async function scanSessions(pass: RootScan): Promise<void> {
  const { tree, root, known, counts, signal, onProgress } = pass
  const scan = await tree.scan(root, signal)
  for (const trouble of scan.problems) counts.trouble(root, trouble)
  const records = new Map(known.map((record) => [record.path, record]))
  const diff = diffTree(records, scan.files, scan.isComplete)
  for (const { path } of diff.unchanged) unchanged(pass, records.get(path))
  const moves = await applySessionMoves(pass, records, diff)
  let filesDone = diff.unchanged.length
  for (const file of diff.maybeChanged) {
    throwIfAborted(signal)
    const moved = moves.get(file.path)
    if (moved === undefined) await readAppended(pass, file.path, records.get(file.path) ?? null)
    else await followMoved(pass, file, moved)
    const filesTotal = scan.files.length
    onProgress?.({ root: root.path, filesDone: ++filesDone, filesTotal, path: file.path })
  }
  for (const { path } of diff.vanished) {
    const record = records.get(path)
    if (record === undefined) continue
    await removeFromIndex(pass.ports.store, pass.writer, record)
    counts.removed++
  }
}

function unchanged({ root, counts }: RootScan, record: FileRecord | undefined): void {
  counts.unchanged++
  counts.chunks += record?.chunks ?? 0
  if (record?.trouble != null) counts.trouble(root, record.trouble)
}

async function findRecord({ ports, writer, root }: RootScan, path: string) {
  const id = buildFileId(writer.home, root.id, path)
  const entry = await getEntry(ports, writer.home, 'file', id)
  return entry === null ? null : toFileRecord(entry)
}

const NOTHING_READ: SessionCheckpoint = {
  ...{ offset: 0, line: 0, head: '', open: 0, readTo: 0, readLines: 0 },
}

/** Small transcripts are replaced in one commit, like other files. */
const REPLACED_MAX = 1_000

/** Limits the repeated part, even where it contains few messages. */
const OPEN_BYTES_MAX = 100_000

/** Continues after the last read position, one tail at a time. */
async function readAppended(
  pass: RootScan,
  path: string,
  before: FileRecord | null,
  count = countFile,
): Promise<void> {
  const { counts, writer, ports, signal } = pass
  let record = before
  for (let parts = 0; ; parts++) {
    throwIfAborted(signal)
    const read = await readFurther(pass, path, record?.mark ?? NOTHING_READ)
    if (read === null) break
    if (parts === 0 && !hasEnoughGrowth(pass, read)) {
      count(counts, 'unchanged')
      break
    }
    // A read from the start replaces everything.
    if (read.from.offset === 0 && record !== null && record.chunks > REPLACED_MAX) {
      await removeFromIndex(ports.store, writer, record)
      record = null
    }
    await writer.write(await buildChanges(pass, path, record, read))
    await writer.flush()
    if (parts === 0) count(counts, before === null ? 'added' : 'changed')
    record = await findRecord(pass, path)
    if (record === null || read.tail.next >= read.tail.sizeBytes || !isAdvanced(read)) break
  }
  counts.chunks += record?.chunks ?? 0
  if (record?.trouble != null) counts.trouble(pass.root, record.trouble)
}

type SessionRead = {
  readonly tail: FileTail
  /** The start of the read: 0 when the transcript was replaced. */
  readonly from: SessionCheckpoint
}

async function readFurther(
  pass: RootScan,
  path: string,
  mark: SessionCheckpoint,
): Promise<SessionRead | null> {
  const { tree, root, counts } = pass
  try {
    const tail = await tree.readTail(root, path, mark.offset)
    if (tail === null) {
      counts.unsettled.add(root.id)
      return null
    }
    if (isSameTranscript(mark, tail))
      return (await createLimitProblem(pass, path, mark, tail)) ?? { tail, from: mark }
    const anew = await tree.readTail(root, path, 0)
    return anew === null ? null : { tail: anew, from: NOTHING_READ }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    counts.trouble(root, getProblem(path, error))
    return null
  }
}

/**
 * A line may be too long for one read together with the repeated part. Then the open chunk is closed and reading
 * continues at that line. Null when there is none, or it is incomplete.
 */
async function createLimitProblem(
  { tree, root }: RootScan,
  path: string,
  mark: SessionCheckpoint,
  { next, sizeBytes, head, foot }: FileTail,
): Promise<SessionRead | null> {
  const { offset, readTo, readLines } = mark
  if (next > readTo || offset === readTo || next === sizeBytes) return null
  const tail = await tree.readTail(root, path, readTo)
  if (tail === null || tail.next <= readTo) return null
  const broken = (mark.broken ?? 0) + (mark.openBroken ?? 0)
  const from = { ...mark, ...{ head, foot, broken, offset: readTo, line: readLines, open: 0 } }
  return { tail, from }
}

function getProblem(path: string, { message, facts }: AppError): FileProblem {
  return {
    path,
    reason: facts.reason === 'modified_during_read' ? 'modified_during_read' : 'unreadable',
    message,
  }
}

/** Whether it has grown enough to be scanned. */
function hasEnoughGrowth({ isThorough, settings }: RootScan, { tail, from }: SessionRead): boolean {
  if (isThorough) return true
  const bytes = tail.next - from.readTo
  const messages = from.line + countLineBreaks(tail.text) - from.readLines
  // A shorter file is another transcript.
  if (bytes < 0) return true
  return bytes > 0 && (bytes >= settings.sessionBytes || messages >= settings.sessionMessages)
}

function isAdvanced({ tail, from }: SessionRead): boolean {
  return tail.next > from.readTo
}

function countFile(counts: RootScan['counts'], as: 'added' | 'changed' | 'unchanged'): void {
  counts[as]++
}

/** Counts as moved, with the growth since. */
async function followMoved(pass: RootScan, file: FileStat, record: FileRecord): Promise<void> {
  const { counts, root } = pass
  if (file.sizeBytes !== record.sizeBytes || file.modifiedAt !== record.modifiedAt) {
    return readAppended(pass, file.path, record, () => {})
  }
  counts.chunks += record.chunks
  if (record.trouble !== null) counts.trouble(root, record.trouble)
}

async function buildChanges(
  { root, settings, writer, ports }: RootScan,
  path: string,
  record: FileRecord | null,
  { tail, from }: SessionRead,
) {
  const { chunkTokens: tokens, chunkOverlap: overlap, chunkBytesMax: bytesMax } = settings
  const firstLine = from.line + 1
  const parsed = parseSessionLines(tail.text, { firstLine, emailAddresses: settings.redactsEmails })
  const cut = chunkSession(parsed.messages, { tokens, overlap, bytesMax })
  const chunks = cut.map((chunk) => ({ ...chunk, saidAt: tail.modifiedAt }))
  const { known, unchanged } = await loadAffectedChunks(ports.store, writer.home, record, from)
  const lines = parsed.nextLine - 1
  const read = { readTo: tail.next, readLines: lines }
  const openBroken = parsed.malformedLines + tail.linesLeftOut
  const broken = (from.broken ?? 0) + openBroken
  const isOpen = chunks.length <= 1 && tail.next - from.offset <= OPEN_BYTES_MAX
  const mark: SessionCheckpoint = isOpen
    ? { ...from, ...read, open: chunks.length, openBroken }
    : {
        ...read,
        ...{ offset: tail.next, line: lines, open: 0, broken, openBroken: 0 },
        ...getCheckpointEdges(tail),
      }
  const file = {
    ...{ root: root.id, path, sizeBytes: tail.sizeBytes, modifiedAt: tail.modifiedAt },
    ...{ hash: tail.head, source: 'sessions' as const, mark },
    trouble: createMalformedLinesProblem(path, broken),
    document: record?.document ?? ports.ids.next('doc', writer.now()),
  }
  return buildReplacementChanges(writer, file, record, { known, chunks, unchanged })
}

/** The chunks replaced by a read from this position, and the number and last of those before. */
async function loadAffectedChunks(
  store: Store,
  home: GenerationScope,
  record: FileRecord | null,
  { offset, open }: SessionCheckpoint,
): Promise<Required<Pick<ChunkReplacement, 'known' | 'unchanged'>>> {
  const nothing = { count: 0, last: undefined }
  if (record === null) return { known: [], unchanged: nothing }
  if (offset === 0)
    return { known: await loadChunks(store, home, record.document), unchanged: nothing }
  const rows = await loadLastChunks(store, home, record.document, open + 1)
  const count = record.chunks - open
  const known = rows.slice(rows.length - Math.min(open, rows.length))
  return { known, unchanged: { count, last: rows.at(-1 - open) } }
}

function getCheckpointEdges({ head, foot }: FileTail): Pick<SessionCheckpoint, 'head' | 'foot'> {
  return { head, foot }
}

function createMalformedLinesProblem(path: string, count: number): FileProblem | null {
  if (count === 0) return null
  const message = `${path}: ${count} of its lines are no JSON, or too long, and were passed over.`
  return { path, reason: 'encoding', message }
}
