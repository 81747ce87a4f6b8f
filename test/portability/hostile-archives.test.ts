/** Archives that were made to do harm: refused before they take memory or time, and nothing of them is imported. */
import { writeFileSync } from 'node:fs'
import { crc32, deflateRawSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { foreignDrivers } from '../../src/app/foreign-drivers.ts'
import { openImport } from '../../src/portability/import-source.ts'
import { temporaryFile } from '../support/temporary-folder.ts'

const STORED = 0
const DEFLATED = 8

type Entry = {
  readonly name: string
  readonly method?: number
  readonly bytes: Uint8Array
  /** What the header says. */
  readonly sizeBytes?: number
  /** Points to the bytes of the first entry instead. */
  readonly isOverlapping?: boolean
}

function zipOf(entries: readonly Entry[]): string {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, method = STORED, bytes, sizeBytes = bytes.length, isOverlapping } of entries) {
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(name.length, 26)
    const header = Buffer.alloc(46)
    header.writeUInt32LE(0x02014b50, 0)
    header.writeUInt16LE(method, 10)
    header.writeUInt32LE(crcOf(bytes), 16)
    header.writeUInt32LE(
      isOverlapping === true ? (entries[0]?.bytes.length ?? 0) : bytes.length,
      20,
    )
    header.writeUInt32LE(sizeBytes, 24)
    header.writeUInt16LE(name.length, 28)
    header.writeUInt32LE(isOverlapping === true ? 0 : offset, 42)
    directory.push(header, Buffer.from(name))
    if (isOverlapping === true) continue
    parts.push(local, Buffer.from(name), Buffer.from(bytes))
    offset += 30 + name.length + bytes.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(offset, 16)
  const path = temporaryFile('export.zip')
  writeFileSync(path, Buffer.concat([...parts, ...directory, end]))
  return path
}

/** Node 20 has none of its own before 20.15; the reader does not look at it. */
function crcOf(bytes: Uint8Array): number {
  return typeof crc32 === 'function' ? crc32(bytes) : 0
}

async function importAll(path: string): Promise<number> {
  const opened = await openImport({ source: path }, foreignDrivers)
  try {
    let records = 0
    if (opened.kind === 'records') for await (const record of opened.records) if (record) records++
    return records
  } finally {
    opened.close()
  }
}

const BOMB = deflateRawSync(Buffer.alloc(300 * 2 ** 20))

it.each([
  ['that says its size', 300 * 2 ** 20, 'too_large'],
  ['that hides its size', 1_000, 'invalid_input'],
  ['that says that it is empty', 0, 'invalid_input'],
] as const)('[PO29.2] a bomb %s is refused', async (_, sizeBytes, code) => {
  const bomb = { name: 'conversations.json', method: DEFLATED, bytes: BOMB, sizeBytes }
  await expect(importAll(zipOf([bomb]))).rejects.toMatchObject({ code })
})

it('[PO29.2] entries that share their bytes do not multiply them', async () => {
  const bytes = Buffer.from(`{"bank_id":"b","items":["${'x'.repeat(1_000_000)}"]}`)
  const shared = Array.from({ length: 2_000 }, (_, n) => ({
    ...{ name: `documents/${n}.json`, bytes, sizeBytes: 1, isOverlapping: true },
  }))
  const path = zipOf([{ name: 'manifest.json', bytes }, ...shared])
  for (const from of ['hindsight', undefined]) {
    const options = from === undefined ? {} : { from }
    const reading = async () => {
      const opened = await openImport({ source: path, ...options }, foreignDrivers)
      if (opened.kind !== 'records') return
      for await (const record of opened.records) expect(record).not.toHaveProperty('content')
    }
    await expect(reading()).rejects.toMatchObject({ code: 'invalid_input' })
  }
})

it('[PO29.2] a directory that leads out of the archive, or in circles, is refused', async () => {
  const path = temporaryFile('odd.zip')
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  for (const [count, start] of [
    [65_535, 4],
    [1, 0xffff_fff0],
    [65_535, 0],
  ] as const) {
    end.writeUInt16LE(count, 10)
    end.writeUInt32LE(start, 16)
    writeFileSync(path, Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(400), end]))
    await expect(importAll(path)).rejects.toMatchObject({ code: 'invalid_input' })
  }
})
