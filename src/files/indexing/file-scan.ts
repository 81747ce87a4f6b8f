/** Syncs the index with the note files of a root. */

import type { DocumentId } from '../../domain/ids.ts'
import { throwIfAborted } from '../../lib/abort.ts'
import { chunkMarkdown, chunkText } from '../chunking/chunker.ts'
import type { Chunk, FileStat } from '../file.ts'
import type { FileOptions } from '../file-options.ts'
import type { FileReadResult } from '../file-tree.ts'
import { MEMORY_FILE, removeMemoryBlock } from '../memory-file/memory-file.ts'
import { toDisplayPath } from '../roots.ts'
import { parsePathDate } from '../search/file-dates.ts'
import {
  buildMoveChanges,
  buildReplacementChanges,
  buildStatChange,
  createChunkLimitProblem,
  loadChunks,
  type NewFile,
  removeFromIndex,
} from './chunk-changes.ts'
import type { FileRecord } from './index-rows.ts'
import type { RootScan } from './root-scan.ts'
import { diffTree, resolveTreeDiff, type TreeDiff } from './tree-diff.ts'

/** Reads ahead, because reading waits for the disk while chunking and writing use the CPU. */
const READ_AHEAD = 8

export async function scanFiles(pass: RootScan): Promise<void> {
  const { tree, root, known, counts, signal, onProgress } = pass
  const scan = await tree.scan(root, signal)
  for (const trouble of scan.problems) counts.trouble(root, trouble)
  const records = new Map(known.map((record) => [record.path, record]))
  const diff = diffTree(records, scan.files, scan.isComplete)
  for (const { path } of diff.unchanged) recordUnchanged(pass, records.get(path))
  const moves = await findMoves(pass, records, diff)
  const left = new Map(diff.vanished.flatMap(({ path }) => pair(path, records.get(path))))
  const filesTotal = scan.files.length
  let filesDone = diff.unchanged.length
  for await (const { file, read } of prefetch(pass, diff.maybeChanged)) {
    const from = moves.get(file.path) ?? null
    const isMoved = await indexFile(pass, read, file, {
      before: records.get(file.path) ?? null,
      from,
    })
    if (isMoved && from !== null) left.delete(from.path)
    onProgress?.({ root: root.path, filesDone: ++filesDone, filesTotal, path: file.path })
  }
  for (const record of left.values()) {
    await removeFromIndex(pass.ports.store, pass.writer, record)
    counts.removed++
  }
}

/** Pairs missing files with new paths of the same content. Files are read twice only in this case. */
async function findMoves(
  pass: RootScan,
  records: ReadonlyMap<string, FileRecord>,
  diff: TreeDiff,
): Promise<ReadonlyMap<string, FileRecord>> {
  if (diff.vanished.length === 0 || diff.maybeChanged.length === 0) return new Map()
  const hashes = new Map<string, string>()
  for await (const { file, read } of prefetch(pass, diff.maybeChanged)) {
    if (read.kind === 'read') hashes.set(file.path, read.hash)
  }
  const { moved } = resolveTreeDiff(records, diff, hashes)
  return new Map(moved.flatMap(({ from, to }) => pair(to.path, records.get(from.path))))
}

function pair<Value>(key: string, value: Value | undefined): readonly (readonly [string, Value])[] {
  return value === undefined ? [] : [[key, value]]
}

function recordUnchanged({ root, counts }: RootScan, record: FileRecord | undefined): void {
  counts.unchanged++
  counts.chunks += record?.chunks ?? 0
  if (record?.trouble != null) counts.trouble(root, record.trouble)
}

/** True for a file that was indexed under another path. */
async function indexFile(
  pass: RootScan,
  read: FileReadResult,
  seen: FileStat,
  { before, from }: { readonly before: FileRecord | null; readonly from: FileRecord | null },
): Promise<boolean> {
  const { root, counts, writer } = pass
  const { trouble } = read
  if (trouble !== null) counts.trouble(root, trouble)
  const attributes = { ...seen, root: root.id, source: 'memory', mark: null, trouble } as const
  if (read.kind === 'trouble') {
    // A temporarily unreadable file keeps its chunks. A binary file will not become text.
    if (read.trouble.reason === 'binary')
      await writeFile(pass, { ...attributes, hash: '' }, before, [])
    return false
  }
  const { hash, sizeBytes, modifiedAt } = read
  const file: NewFile = { ...attributes, sizeBytes, modifiedAt, hash }
  if (before?.hash === hash) {
    counts.unchanged++
    counts.chunks += before.chunks
    await writer.write(buildStatChange(writer, before, { ...file, trouble: before.trouble }))
    return false
  }
  if (from?.hash === hash) {
    counts.moved++
    counts.chunks += from.chunks
    const rows = await loadChunks(pass.ports.store, writer.home, from.document)
    await writer.write(buildMoveChanges(writer, from, file, rows))
    return true
  }
  const isOurs = root.kind === 'workspace' && file.path === MEMORY_FILE
  const text = isOurs ? removeMemoryBlock(read.text) : read.text
  await writeFile(pass, file, before, chunkFile(file.path, text, pass.settings))
  return false
}

async function writeFile(
  pass: RootScan,
  given: NewFile,
  before: FileRecord | null,
  all: readonly Chunk[],
): Promise<void> {
  const { writer, ports, counts, root } = pass
  const { chunksMax } = pass.settings
  const isCut = all.length > chunksMax
  const trouble = isCut ? createChunkLimitProblem(given.path, all.length, chunksMax) : given.trouble
  if (isCut && trouble !== null) counts.trouble(root, trouble)
  const saidAt = parsePathDate(toDisplayPath(root, given.path))
  const chunks = all.slice(0, chunksMax).map((chunk) => ({ ...chunk, saidAt }))
  const known = before === null ? [] : await loadChunks(ports.store, writer.home, before.document)
  const document: DocumentId = before?.document ?? ports.ids.next('doc', writer.now())
  await writer.write(
    buildReplacementChanges(writer, { ...given, document, trouble }, before, { known, chunks }),
  )
  counts.chunks += chunks.length
  if (before === null) counts.added++
  else counts.changed++
}

const MARKDOWN = /\.(?:md|markdown|mdx|mdown|mkd)$/i

export function chunkFile(path: string, text: string, settings: FileOptions): readonly Chunk[] {
  const { chunkTokens: tokens, chunkOverlap: overlap, chunkBytesMax: bytesMax } = settings
  const options = { tokens, overlap, bytesMax }
  return MARKDOWN.test(path) ? chunkMarkdown(text, options) : chunkText(text, options)
}

/** Yields the files in order with their contents. */
async function* prefetch(
  { tree, root, signal }: RootScan,
  files: readonly FileStat[],
): AsyncGenerator<{ readonly file: FileStat; readonly read: FileReadResult }> {
  const reading: Promise<FileReadResult>[] = []
  try {
    for (const [index, file] of files.entries()) {
      throwIfAborted(signal)
      while (reading.length < READ_AHEAD && index + reading.length < files.length) {
        const next = files[index + reading.length]
        if (next === undefined) break
        const read = tree.read(root, next.path)
        read.catch(() => {}) // reported when its turn comes
        reading.push(read)
      }
      const read = await reading.shift()
      if (read !== undefined) yield { file, read }
    }
  } finally {
    await Promise.allSettled(reading)
  }
}
