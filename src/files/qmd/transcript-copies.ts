/**
 * Copies of transcripts for `qmd`, which indexes whatever is in a file: what was said, without secrets, each message on the
 * line that it has in the transcript. They are made again when the transcript has changed, and removed when it is gone.
 */
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import type { FileStat } from '../file.ts'
import type { FolderScan } from '../file-tree.ts'
import { COPY_SUFFIX } from './qmd-collections.ts'

export type TranscriptCopyOptions = {
  readonly scan: FolderScan
  /** What was said in a transcript; null when it can't be read now. */
  readonly read: (path: string) => Promise<string | null>
  /** Where the copies are. */
  readonly folder: string
}

export async function copyTranscripts(parts: TranscriptCopyOptions): Promise<void> {
  const { files, isComplete: isWhole } = parts.scan
  await mkdir(parts.folder, { recursive: true, mode: 0o700 })
  for (const file of files) await copy(parts, file)
  // What could not be looked at has not vanished.
  if (isWhole) await removeOthers(parts.folder, new Set(files.map(({ path }) => copyOf(path))))
}

function copyOf(path: string): string {
  return `${path}${COPY_SUFFIX}`
}

/** A copy has the time of what it was made from: that tells whether it is still true. */
async function copy({ read, folder }: TranscriptCopyOptions, file: FileStat): Promise<void> {
  const target = join(folder, copyOf(file.path))
  if ((await modifiedAt(target)) === seconds(file.modifiedAt)) return
  const text = await read(file.path)
  if (text === null) return
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  await writeFile(target, text, { mode: 0o600 })
  await utimes(target, seconds(file.modifiedAt), seconds(file.modifiedAt))
}

async function modifiedAt(path: string): Promise<number | null> {
  try {
    return seconds((await stat(path)).mtimeMs)
  } catch {
    return null
  }
}

/** To the millisecond: not every file system keeps more. */
function seconds(ms: number): number {
  return Math.round(ms) / 1_000
}

async function removeOthers(folder: string, kept: ReadonlySet<string>): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const name = path
      .slice(folder.length + 1)
      .split(sep)
      .join('/')
    if (!kept.has(name)) await rm(path, { force: true })
  }
}
