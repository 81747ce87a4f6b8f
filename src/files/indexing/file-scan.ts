/** Brings what the index has of a root of notes in step with the files that are there. */

import type { DocumentId } from '../../domain/ids.ts'
import { cutMarkdown, cutText } from '../chunking/chunker.ts'
import type { Chunk, SeenFile } from '../file.ts'
import { momentOfPath } from '../file-dates.ts'
import type { FileSettings } from '../file-options.ts'
import type { ReadFile } from '../file-tree.ts'
import { MIRROR_FILE, withoutMirror } from '../memory-file/memory-file.ts'
import { pathOutside } from '../roots.ts'
import {
  chunksOf,
  moved,
  type NewFile,
  replaced,
  takeOut,
  tooManyChunks,
  touched,
} from './chunk-changes.ts'
import type { FileRecord } from './index-rows.ts'
import { type RootPass, stopIfAborted } from './root-scan.ts'
import { diffTree, settleTree, type TreeDiff } from './tree-diff.ts'

/** Reading waits for the disk, cutting and writing for nothing: so the next ones are read meanwhile. */
const READ_AHEAD = 8

export async function passFiles(pass: RootPass): Promise<void> {
  const { tree, root, known, counts, signal, onProgress } = pass
  const scan = await tree.scan(root, signal)
  for (const trouble of scan.troubles) counts.trouble(root, trouble)
  const records = new Map(known.map((record) => [record.path, record]))
  const diff = diffTree(records, scan.files, scan.isWhole)
  for (const { path } of diff.unchanged) unchanged(pass, records.get(path))
  const moves = await movesIn(pass, records, diff)
  const left = new Map(diff.vanished.flatMap(({ path }) => pair(path, records.get(path))))
  const filesTotal = scan.files.length
  let filesDone = diff.unchanged.length
  for await (const { file, read } of ahead(pass, diff.maybeChanged)) {
    const from = moves.get(file.path) ?? null
    const isMoved = await take(pass, read, file, { before: records.get(file.path) ?? null, from })
    if (isMoved && from !== null) left.delete(from.path)
    onProgress?.({ root: root.path, filesDone: ++filesDone, filesTotal, path: file.path })
  }
  for (const record of left.values()) {
    await takeOut(pass.ports.store, pass.writer, record)
    counts.removed++
  }
}

/** Where files that are gone have turned up, by their new paths. Only then are files read twice. */
async function movesIn(
  pass: RootPass,
  records: ReadonlyMap<string, FileRecord>,
  diff: TreeDiff,
): Promise<ReadonlyMap<string, FileRecord>> {
  if (diff.vanished.length === 0 || diff.maybeChanged.length === 0) return new Map()
  const hashes = new Map<string, string>()
  for await (const { file, read } of ahead(pass, diff.maybeChanged)) {
    if (read.kind === 'read') hashes.set(file.path, read.hash)
  }
  const { moved } = settleTree(records, diff, hashes)
  return new Map(moved.flatMap(({ from, to }) => pair(to.path, records.get(from.path))))
}

function pair<Value>(key: string, value: Value | undefined): readonly (readonly [string, Value])[] {
  return value === undefined ? [] : [[key, value]]
}

function unchanged({ root, counts }: RootPass, record: FileRecord | undefined): void {
  counts.unchanged++
  counts.chunks += record?.chunks ?? 0
  if (record?.trouble != null) counts.trouble(root, record.trouble)
}

/** True when the file was known by another path. */
async function take(
  pass: RootPass,
  read: ReadFile,
  seen: SeenFile,
  { before, from }: { readonly before: FileRecord | null; readonly from: FileRecord | null },
): Promise<boolean> {
  const { root, counts, writer } = pass
  const { trouble } = read
  if (trouble !== null) counts.trouble(root, trouble)
  const told = { ...seen, root: root.id, source: 'memory', mark: null, trouble } as const
  if (read.kind === 'trouble') {
    // Until it can be read, what is indexed of it stays. What is no text will be none the next time.
    if (read.trouble.because === 'binary') await put(pass, { ...told, hash: '' }, before, [])
    return false
  }
  const { hash, sizeBytes, modifiedAt } = read
  const file: NewFile = { ...told, sizeBytes, modifiedAt, hash }
  if (before?.hash === hash) {
    counts.unchanged++
    counts.chunks += before.chunks
    await writer.write(touched(writer, before, { ...file, trouble: before.trouble }))
    return false
  }
  if (from?.hash === hash) {
    counts.moved++
    counts.chunks += from.chunks
    const rows = await chunksOf(pass.ports.store, writer.home, from.document)
    await writer.write(moved(writer, from, file, rows))
    return true
  }
  const isOurs = root.kind === 'workspace' && file.path === MIRROR_FILE
  const text = isOurs ? withoutMirror(read.text) : read.text
  await put(pass, file, before, cut(file.path, text, pass.settings))
  return false
}

async function put(
  pass: RootPass,
  given: NewFile,
  before: FileRecord | null,
  all: readonly Chunk[],
): Promise<void> {
  const { writer, ports, counts, root } = pass
  const { chunksMax } = pass.settings
  const isCut = all.length > chunksMax
  const trouble = isCut ? tooManyChunks(given.path, all.length, chunksMax) : given.trouble
  if (isCut && trouble !== null) counts.trouble(root, trouble)
  const saidAt = momentOfPath(pathOutside(root, given.path))
  const chunks = all.slice(0, chunksMax).map((chunk) => ({ ...chunk, saidAt }))
  const known = before === null ? [] : await chunksOf(ports.store, writer.home, before.document)
  const document: DocumentId = before?.document ?? ports.ids.next('doc', writer.now())
  await writer.write(replaced(writer, { ...given, document, trouble }, before, { known, chunks }))
  counts.chunks += chunks.length
  if (before === null) counts.added++
  else counts.changed++
}

const MARKDOWN = /\.(?:md|markdown|mdx|mdown|mkd)$/i

export function cut(path: string, text: string, settings: FileSettings): readonly Chunk[] {
  const { chunkTokens: tokens, chunkOverlap: overlap, chunkBytesMax: bytesMax } = settings
  const options = { tokens, overlap, bytesMax }
  return MARKDOWN.test(path) ? cutMarkdown(text, options) : cutText(text, options)
}

/** In the given order, each with what was read of it. */
async function* ahead(
  { tree, root, signal }: RootPass,
  files: readonly SeenFile[],
): AsyncGenerator<{ readonly file: SeenFile; readonly read: ReadFile }> {
  const reading: Promise<ReadFile>[] = []
  try {
    for (const [index, file] of files.entries()) {
      stopIfAborted(signal)
      while (reading.length < READ_AHEAD && index + reading.length < files.length) {
        const next = files[index + reading.length]
        if (next === undefined) break
        const read = tree.read(root, next.path)
        read.catch(() => {}) // told in its turn
        reading.push(read)
      }
      const read = await reading.shift()
      if (read !== undefined) yield { file, read }
    }
  } finally {
    await Promise.allSettled(reading)
  }
}
