/**
 * Brings what the index has of transcripts in step with them.
 *
 * A transcript only grows, so each time only its new lines are read. One that has become shorter, or begins otherwise, is
 * another one, and is read from the start. What is read lately but makes no whole chunk yet is cut again together with
 * what follows.
 */
import { AppError } from '../../core/errors.ts'
import type { FileTrouble } from '../../core/files/file.ts'
import { cutSession, readSessionLines } from '../../core/files/session-lines.ts'
import { diffTree } from '../../core/files/tree.ts'
import type { ReadTail } from '../../ports/file-tree.ts'
import { chunksOf, FILE_CHUNKS_MAX, removed, replaced, tooManyChunks } from './documents.ts'
import { type RootPass, stopIfAborted } from './root-pass.ts'
import { type FileRecord, fileId, type SessionMark, toFileRecord } from './rows.ts'

export async function passSessions(pass: RootPass): Promise<void> {
  const { tree, root, known, counts, signal, onProgress } = pass
  const scan = await tree.scan(root, signal)
  for (const trouble of scan.troubles) counts.trouble(root, trouble)
  const records = new Map(known.map((record) => [record.path, record]))
  const diff = diffTree(records, scan.files, scan.isWhole)
  for (const { path } of diff.unchanged) unchanged(pass, records.get(path))
  let filesDone = diff.unchanged.length
  for (const file of diff.maybeChanged) {
    stopIfAborted(signal)
    await follow(pass, file.path, records.get(file.path) ?? null)
    const filesTotal = scan.files.length
    onProgress?.({ root: root.path, filesDone: ++filesDone, filesTotal, path: file.path })
  }
  for (const { path } of diff.vanished) {
    const record = records.get(path)
    if (record === undefined) continue
    const rows = await chunksOf(pass.ports.store, pass.writer.home, record.document)
    await pass.writer.write(removed(pass.writer, record, rows))
    counts.removed++
  }
}

function unchanged({ root, counts }: RootPass, record: FileRecord | undefined): void {
  counts.unchanged++
  counts.chunks += record?.chunks ?? 0
  if (record?.trouble != null) counts.trouble(root, record.trouble)
}

const NOTHING_READ: SessionMark = {
  ...{ offset: 0, line: 0, head: '', open: 0, readTo: 0, readLines: 0 },
}

/** What is read again at each look is little, even where nearly nothing of it was said by anybody. */
const OPEN_BYTES_MAX = 100_000

/** Reads on where the last look has stopped, as much at once as a tail gives. */
async function follow(pass: RootPass, path: string, before: FileRecord | null): Promise<void> {
  const { counts, writer, ports, signal } = pass
  let record = before
  for (let parts = 0; ; parts++) {
    stopIfAborted(signal)
    const read = await readOn(pass, path, record?.mark ?? NOTHING_READ)
    if (read === null) break
    if (parts === 0 && !isEnough(pass, read)) {
      counts.unchanged++
      break
    }
    await writer.write(await changesFor(pass, path, record, read))
    await writer.flush()
    if (parts === 0) countFile(counts, before)
    const entry = await ports.store.get(
      'entry',
      writer.home,
      fileId(writer.home, pass.root.id, path),
    )
    record = entry === null ? null : toFileRecord(entry)
    if (record === null || read.tail.next >= read.tail.sizeBytes || !hasAdvanced(read)) break
  }
  counts.chunks += record?.chunks ?? 0
  if (record?.trouble != null) counts.trouble(pass.root, record.trouble)
}

type Read = {
  readonly tail: ReadTail
  /** Where it was read from: the beginning, when it is not the transcript that it was. */
  readonly from: SessionMark
}

async function readOn(pass: RootPass, path: string, mark: SessionMark): Promise<Read | null> {
  const { tree, root, counts } = pass
  try {
    const tail = await tree.readTail(root, path, mark.offset)
    if (tail === null) {
      counts.unsettled.add(root.id)
      return null
    }
    const isSame = mark.offset === 0 || (tail.headBefore === mark.head && tail.next >= mark.readTo)
    if (isSame) return { tail, from: mark }
    const anew = await tree.readTail(root, path, 0)
    return anew === null ? null : { tail: anew, from: NOTHING_READ }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    counts.trouble(root, troubleOf(path, error))
    return null
  }
}

function troubleOf(path: string, { message, facts }: AppError): FileTrouble {
  return { path, because: facts.because === 'changing' ? 'changing' : 'unreadable', message }
}

/** Whether it has grown so much that it is worth a look. */
function isEnough({ isThorough, settings }: RootPass, { tail, from }: Read): boolean {
  if (isThorough) return true
  const bytes = tail.next - from.readTo
  const messages = from.line + linesIn(tail.text) - from.readLines
  // One that has become shorter is no longer what it was.
  if (bytes < 0) return true
  return bytes > 0 && (bytes >= settings.sessionBytes || messages >= settings.sessionMessages)
}

function linesIn(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

function hasAdvanced({ tail, from }: Read): boolean {
  return tail.next > from.readTo
}

function countFile(counts: RootPass['counts'], before: FileRecord | null): void {
  if (before === null) counts.added++
  else counts.changed++
}

async function changesFor(
  { root, settings, writer, ports }: RootPass,
  path: string,
  record: FileRecord | null,
  { tail, from }: Read,
) {
  const { chunkTokens: tokens, chunkOverlap: overlap, chunkBytesMax: bytesMax } = settings
  const firstLine = from.line + 1
  const said = readSessionLines(tail.text, { firstLine, mails: settings.redactsMails })
  const cut = cutSession(said.messages, { tokens, overlap, bytesMax })
  const chunks = cut.slice(-FILE_CHUNKS_MAX).map((chunk) => ({ ...chunk, saidAt: tail.modifiedAt }))
  const rows = record === null ? [] : await chunksOf(ports.store, writer.home, record.document)
  // What is read from the start replaces everything.
  const stays = from.offset === 0 ? 0 : rows.length - from.open
  const total = stays + cut.length
  const surplus = Math.min(stays, Math.max(0, total - FILE_CHUNKS_MAX))
  const lines = said.nextLine - 1
  const read = { readTo: tail.next, readLines: lines }
  const isOpen = chunks.length <= 1 && tail.next - from.offset <= OPEN_BYTES_MAX
  const mark: SessionMark = isOpen
    ? { ...from, ...read, open: chunks.length }
    : { ...read, offset: tail.next, line: lines, head: tail.head, open: 0 }
  const file = {
    ...{ root: root.id, path, sizeBytes: tail.sizeBytes, modifiedAt: tail.modifiedAt },
    ...{ hash: tail.head, source: 'sessions' as const, mark },
    trouble: total > FILE_CHUNKS_MAX ? tooManyChunks(path, total) : brokenLines(path, said.broken),
    document: record?.document ?? ports.ids.next('doc', writer.now()),
  }
  return replaced(writer, file, record, {
    known: rows.slice(stays),
    chunks,
    kept: rows.slice(surplus, stays),
    dropped: rows.slice(0, surplus),
  })
}

function brokenLines(path: string, count: number): FileTrouble | null {
  if (count === 0) return null
  const message = `${path}: ${count} of its lines are no JSON and were passed over.`
  return { path, because: 'encoding', message }
}
