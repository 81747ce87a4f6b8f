/** Unpacks the public documentation pages of the file search eval. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** Where the pages are in a folder of evaluation data. */
export function pagesIn(data: string): string {
  return join(data, 'markdown', 'kubernetes-docs.tar.gz')
}

/** Why the corpus is unavailable; null when it is available. */
export function missingPages(data: string): string | null {
  return existsSync(pagesIn(data)) ? null : `there are no pages at ${pagesIn(data)}`
}

/** Unpacks the selected pages, or all, and returns their number. */
export function unpackPages(
  data: string,
  folder: string,
  isWanted: (path: string) => boolean = () => true,
): number {
  const reason = missingPages(data)
  if (reason !== null) {
    throw new Error(`Evaluation data is missing: ${reason}. Pass its folder with --data <folder>.`)
  }
  let count = 0
  for (const { path, bytes } of filesIn(gunzipSync(readFileSync(pagesIn(data))))) {
    if (!path.endsWith('.md') || !isWanted(path)) continue
    const target = resolve(folder, path)
    if (!target.startsWith(resolve(folder) + sep))
      throw new Error(`${path} leads out of its folder.`)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, bytes)
    count++
  }
  return count
}

const BLOCK_BYTES = 512
const FILE_KINDS = ['0', '\0']

/** The files of a tar archive. Long names are in the entry before the file. */
function* filesIn(archive: Buffer): Generator<{ readonly path: string; readonly bytes: Buffer }> {
  let longName: string | null = null
  for (let at = 0; at + BLOCK_BYTES <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK_BYTES)
    const name = textAt(header, 0, 100)
    if (name === '' && longName === null) return
    const sizeBytes = Number.parseInt(textAt(header, 124, 12), 8)
    const bytes = archive.subarray(at + BLOCK_BYTES, at + BLOCK_BYTES + sizeBytes)
    const kind = String.fromCharCode(header[156] ?? 0)
    const prefix = textAt(header, 345, 155)
    if (kind === 'L') longName = bytes.toString('utf8').replace(/\0+$/, '')
    else if (kind === 'x') longName = /^\d+ path=(.*)$/m.exec(bytes.toString('utf8'))?.[1] ?? null
    else {
      const path = longName ?? (prefix === '' ? name : `${prefix}/${name}`)
      if (FILE_KINDS.includes(kind)) yield { path: path.replace(/^\.\//, ''), bytes }
      longName = null
    }
    at += BLOCK_BYTES * (1 + Math.ceil(sizeBytes / BLOCK_BYTES))
  }
}

function textAt(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length)
  const end = field.indexOf(0)
  return field.subarray(0, end < 0 ? length : end).toString('utf8')
}
