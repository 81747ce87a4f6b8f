import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FileProblem } from '../../src/files/file.ts'
import type { FileReadResult } from '../../src/files/file-tree.ts'
import { child, ended } from '../faults/sqlite-support.ts'
import { folderWith, pause, rootAt, treeOf } from './file-support.ts'

const tree = treeOf()
const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex')

/** The text, or what is in the way. */
function told(read: FileReadResult): string | FileProblem['reason'] {
  return read.kind === 'read' ? read.text : read.trouble.reason
}

async function textOf(bytes: Uint8Array): Promise<FileReadResult> {
  return tree.read(rootAt(folderWith({ 'a.md': bytes })), 'a.md')
}

describe('where a path may lead', () => {
  const outside = folderWith({ 'secret.md': 'secret' })

  it('[FS8] a path that leads out by its words is refused', async () => {
    const root = rootAt(folderWith({ 'a.md': 'x', 'b/c.md': 'y' }))
    const paths = [
      ...['../secret.md', 'b/../../secret.md', '..', '.', '', './a.md', 'b//c.md', 'b/', '/'],
      ...[join(outside, 'secret.md'), '\\..\\secret.md', 'b\\c.md', 'a.md\0', 'x'.repeat(5_000)],
    ]
    for (const path of paths) {
      await expect(tree.read(root, path)).rejects.toMatchObject({ code: 'invalid_input' })
      await expect(tree.readTail(root, path, 0)).rejects.toMatchObject({ code: 'invalid_input' })
    }
    expect(told(await tree.read(root, '%2e%2e/secret.md'))).toBe('missing')
    expect(told(await tree.read(root, '..a.md'))).toBe('missing')
  })

  it('[FS9] a link that leads out is not followed', async () => {
    const folder = folderWith({ 'a.md': 'x' })
    symlinkSync(outside, join(folder, 'out'))
    symlinkSync(join(outside, 'secret.md'), join(folder, 'out.md'))
    symlinkSync('a.md', join(folder, 'in.md'))
    const root = rootAt(folder)
    expect(told(await tree.read(root, 'out/secret.md'))).toBe('outside_root')
    expect(told(await tree.read(root, 'out/none.md'))).toBe('outside_root')
    expect(told(await tree.read(root, 'out.md'))).toBe('outside_root')
    expect(told(await tree.read(root, 'in.md'))).toBe('x')
    symlinkSync(join(outside, 'secret.md'), join(folder, 'out.jsonl'))
    await expect(tree.readTail(rootAt(folder, 'sessions'), 'out.jsonl', 0)).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })

  it('[FS9] a folder whose name only begins like that of the root is outside', async () => {
    const parent = folderWith({ 'notes/a.md': 'x', 'notes-secret/b.md': 'secret' })
    symlinkSync('../notes-secret', join(parent, 'notes', 'more'))
    expect(told(await tree.read(rootAt(join(parent, 'notes')), 'more/b.md'))).toBe('outside_root')
  })

  it('[FS9] a link that replaces a folder during the read is not followed', async () => {
    const folder = folderWith({ 'here/secret.md': 'public' })
    const swapping = child('../files/swap.child.ts', { folder, outside })
    try {
      if (swapping.stdout !== null) await once(swapping.stdout, 'data')
      const seen = new Map<string, number>()
      for (let reads = 0; reads < 3_000; reads++) {
        const text = told(await tree.read(rootAt(folder), 'here/secret.md'))
        seen.set(text, (seen.get(text) ?? 0) + 1)
      }
      expect([...seen.keys()]).not.toContain('secret')
      expect(seen.get('public')).toBeGreaterThan(0)
      expect(seen.get('outside_root')).toBeGreaterThan(0)
    } finally {
      swapping.stdin?.write('stop')
      await ended(swapping)
    }
  }, 60_000)

  it('[FS9] only files that a scan would name are read', async () => {
    const folder = folderWith({
      '.env': 'KEY=1',
      'src/key.md': 'secret',
      'memory/a.md': 'x',
      'memory/key.pem': 'secret',
      'memory/.git/b.md': 'secret',
    })
    const root = rootAt(folder, 'workspace')
    expect(told(await tree.read(root, 'memory/a.md'))).toBe('x')
    for (const path of ['.env', 'src/key.md', 'memory/key.pem', 'memory/.git/b.md']) {
      expect(told(await tree.read(root, path))).toBe('outside_root')
    }
    const some = rootAt(folder, 'path', { exclude: ['src/'] })
    expect(told(await tree.read(some, 'src/key.md'))).toBe('outside_root')
  })

  it('[FS6] reports missing files and non-files as problems', async () => {
    const folder = folderWith({ 'a.md': 'x', 'folder.md/': '' })
    expect(told(await tree.read(rootAt(folder), 'none.md'))).toBe('missing')
    expect(told(await tree.read(rootAt(folder), 'a.md/b.md'))).toBe('missing')
    expect(told(await tree.read(rootAt(folder), 'folder.md'))).toBe('unreadable')
    expect(told(await tree.read(rootAt(join(folder, 'none')), 'a.md'))).toBe('missing')
    expect(await tree.readTail(rootAt(folder, 'sessions'), 'none.jsonl', 0)).toBeNull()
  })
})

describe('a file at one moment', () => {
  it('[FS10] has its hash, size and time', async () => {
    const folder = folderWith({ 'a.md': 'häh\r\n' })
    utimesSync(join(folder, 'a.md'), 1_700_000_000, 1_700_000_000.5)
    expect(await tree.read(rootAt(folder), 'a.md')).toEqual({
      kind: 'read',
      text: 'häh\r\n',
      hash: sha256('häh\r\n'),
      sizeBytes: 6,
      modifiedAt: 1_700_000_000_500,
      trouble: null,
    })
    const { files } = await tree.scan(rootAt(folder))
    expect(files).toEqual([{ path: 'a.md', sizeBytes: 6, modifiedAt: 1_700_000_000_500 }])
  })

  it('[FS10] is never a mixture of two', async () => {
    const folder = folderWith({})
    const path = join(folder, 'a.md')
    const version = (n: number) => `${n % 10}`.repeat(200_000)
    writeFileSync(path, version(0))
    let isOver = false
    const writer = (async () => {
      for (let n = 0; !isOver; n++) {
        // In turn: in place, piece by piece, and by another file that takes its name.
        if (n % 3 === 0) writeFileSync(path, version(n))
        else if (n % 3 === 1) await pieceByPiece(path, version(n))
        else {
          writeFileSync(`${path}.tmp`, version(n))
          renameSync(`${path}.tmp`, path)
        }
        await pause(n % 20 === 0 ? 45 : 2)
      }
    })()
    let wholes = 0
    for (let reads = 0; reads < 60; reads++) {
      const read = await tree.read(rootAt(folder), 'a.md')
      if (read.kind === 'trouble') {
        expect(read.trouble.reason).toBe('modified_during_read')
        continue
      }
      wholes++
      expect(read.hash).toBe(sha256(read.text))
      expect(new Set(read.text).size).toBeLessThanOrEqual(1)
    }
    isOver = true
    await writer
    expect(wholes).toBeGreaterThan(0)
  })

  it('[FS10] a file that never rests is trouble', async () => {
    const folder = folderWith({ 'a.md': 'x' })
    const timer = setInterval(() => appendFileSync(join(folder, 'a.md'), 'x'), 1)
    expect(told(await tree.read(rootAt(folder), 'a.md'))).toBe('modified_during_read')
    clearInterval(timer)
    await pause(30)
    expect(told(await tree.read(rootAt(folder), 'a.md'))).toMatch(/^x+$/)
  })

  it('[FS11] a change after it was read shows in size or time', async () => {
    const folder = folderWith({ 'a.md': '0' })
    const path = join(folder, 'a.md')
    for (let n = 1; n <= 40; n++) {
      writeFileSync(path, `${n % 10}`)
      const read = await tree.read(rootAt(folder), 'a.md')
      writeFileSync(path, `${(n + 5) % 10}`)
      expect(read).toMatchObject({ kind: 'read', text: `${n % 10}` })
      const time = read.kind === 'read' ? read.modifiedAt : 0
      expect(Math.floor(statSync(path).mtimeMs)).toBeGreaterThan(time)
    }
  })
})

describe('bytes', () => {
  it('[FS12] marks of UTF-8 and UTF-16 are understood and are no text', async () => {
    const text = '# Grüße\n中文 😀\n'
    const wide = Buffer.from(`\uFEFF${text}`, 'utf16le')
    for (const bytes of [Buffer.from(text), Buffer.from(`\uFEFF${text}`), wide, swapped(wide)]) {
      expect(await textOf(bytes)).toMatchObject({ text, trouble: null, hash: sha256(bytes) })
    }
    expect(told(await textOf(Buffer.from('')))).toBe('')
    expect(told(await textOf(Buffer.from([0xef, 0xbb, 0xbf])))).toBe('')
  })

  it('[FS12] reports bytes that are no text, and reads the rest', async () => {
    expect(await textOf(Buffer.from('caf\xe9 au lait', 'latin1'))).toMatchObject({
      text: 'caf\uFFFD au lait',
      trouble: { path: 'a.md', reason: 'encoding' },
    })
    const odd = Buffer.concat([Buffer.from('\uFEFFab', 'utf16le'), Buffer.from([0x00, 0xd8])])
    expect(await textOf(odd)).toMatchObject({ text: 'ab\uFFFD', trouble: { reason: 'encoding' } })
  })

  it('[FS12] does not read binary files', async () => {
    expect(told(await textOf(Buffer.from('PK\x03\x04\0\0')))).toBe('binary')
    expect(told(await textOf(Buffer.from(`${'x'.repeat(100_000)}\0`)))).toBe('binary')
    expect(told(await textOf(Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])))).toBe('binary')
  })

  it('[FS12] one line of a megabyte, and a file of two hundred that is not read', async () => {
    const line = 'x'.repeat(1_000_000)
    expect(told(await textOf(Buffer.from(line)))).toBe(line)
    const folder = folderWith({ 'a.md': 'x' })
    truncateSync(join(folder, 'a.md'), 200_000_000)
    expect(told(await tree.read(rootAt(folder), 'a.md'))).toBe('too_large')
  })
})

describe('the tail of a transcript', () => {
  const transcript = (text: string | Uint8Array) => {
    const folder = folderWith({ 's.jsonl': text })
    const root = rootAt(folder, 'sessions')
    return {
      path: join(folder, 's.jsonl'),
      tail: (from: number, bytesMax?: number) =>
        treeOf(bytesMax === undefined ? {} : { tailBytesMax: bytesMax }).readTail(
          root,
          's.jsonl',
          from,
        ),
    }
  }

  it('[FS13] is whole lines, from where the last read ended', async () => {
    const { path, tail } = transcript('{"a":1}\n{"ü":2}\n{"half')
    const first = await tail(0)
    expect(first).toMatchObject({ text: '{"a":1}\n{"ü":2}\n', next: 17, sizeBytes: 23 })
    expect(await tail(17)).toMatchObject({ text: '', next: 17 })
    appendFileSync(path, '"}\n')
    const second = await tail(17)
    expect(second).toMatchObject({ text: '{"half"}\n', next: 26 })
    expect(second?.headBefore).toBe(first?.head)
    expect(await tail(26)).toMatchObject({ text: '', next: 26, headBefore: second?.head })
  })

  it('[FS13] detects that it is another file', async () => {
    const { path, tail } = transcript(`${'a'.repeat(2_000)}\n`)
    const first = await tail(0)
    appendFileSync(path, `${'b'.repeat(2_000)}\n`)
    expect((await tail(2_001))?.headBefore).toBe(first?.head)
    writeFileSync(path, `${'c'.repeat(5_000)}\n`)
    expect((await tail(2_001))?.headBefore).not.toBe(first?.head)
    writeFileSync(path, 'short\n')
    expect(await tail(2_001)).toMatchObject({ text: '', next: 0, sizeBytes: 6 })
  })

  it('[FS13] is read in pieces, and an overlong line as an empty one', async () => {
    const lines = ['one', 'x'.repeat(500), 'three', 'ü'.repeat(20), 'y'.repeat(300), 'end']
    const { path, tail } = transcript(`\uFEFF${lines.join('\n')}`)
    const read = async () => {
      let [text, from] = ['', 0]
      for (;;) {
        const piece = await tail(from, 64)
        if (piece === null || piece.next === from) return text
        text += piece.text
        from = piece.next
      }
    }
    expect(await read()).toBe(`one\n\nthree\n${'ü'.repeat(20)}\n\n`)
    appendFileSync(path, '\n')
    expect(await read()).toBe(`one\n\nthree\n${'ü'.repeat(20)}\n\nend\n`)
  })

  it('[FS13] bytes that are no text spoil only their own line', async () => {
    const bytes = Buffer.concat([Buffer.from('a\n'), Buffer.from([0xc3, 10]), Buffer.from('b\n')])
    expect((await transcript(bytes).tail(0))?.text).toBe('a\n\uFFFD\nb\n')
  })
})

async function pieceByPiece(path: string, text: string): Promise<void> {
  const half = text.length / 2
  writeFileSync(path, text.slice(0, half))
  await pause(1)
  appendFileSync(path, text.slice(half))
}

function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes).swap16()
}
