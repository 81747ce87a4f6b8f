import { describe, expect, it } from 'vitest'
import { decryptLines, encryptLines } from '../../src/portability/export-encryption.ts'
import { exportLines, importLines } from '../../src/portability/export-import.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { create } from '../conformance/store/store.suite.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { memory } from '../fakes/memories.ts'

/** Fast, for tests only. */
const CHEAP = { N: 2, r: 1, p: 1 }
const PASSPHRASE = 'correct horse'

async function* from(lines: readonly string[]) {
  yield* lines
}
const all = async (lines: AsyncIterable<string>) => {
  const list: string[] = []
  for await (const line of lines) list.push(line)
  return list
}
const sealed = (lines: readonly string[]) => all(encryptLines(from(lines), PASSPHRASE, CHEAP))
const unsealed = (lines: readonly string[], passphrase: string | undefined = PASSPHRASE) =>
  all(decryptLines(from(lines), passphrase))

/** Enough for several pieces. */
const LINES = Array.from({ length: 40 }, (_, index) => `${index} ${'é\u2028"'.repeat(2_000)}`)

describe('an encrypted export', () => {
  it('[PO14] decrypts line by line, and the file reveals nothing', async () => {
    for (const lines of [LINES, ['one'], [], ['', '', 'x', '']]) {
      expect(await unsealed(await sealed(lines))).toEqual(lines)
    }
    const [header = '', ...pieces] = await sealed(LINES)
    expect(pieces.length).toBeGreaterThan(3)
    expect(JSON.parse(header)).toMatchObject({
      format: 'recollect-encrypted',
      version: 1,
      cipher: 'aes-256-gcm',
      kdf: 'scrypt',
    })
    for (const piece of pieces) expect(piece).toMatch(/^[A-Za-z0-9+/]+=*$/)
    const shown = Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64')))
    expect(shown.includes('é\u2028"')).toBe(false)
    expect(await sealed(['same'])).not.toEqual(await sealed(['same']))
  })

  it('[PO14] encrypts and decrypts chunk by chunk at any length', async () => {
    let made = 0
    async function* endless() {
      for (;;) {
        made++
        yield 'x'.repeat(1_000)
      }
    }
    const pieces = encryptLines(endless(), PASSPHRASE, CHEAP)
    let read = 0
    for await (const line of decryptLines(pieces, PASSPHRASE)) {
      expect(line).toHaveLength(1_000)
      // Never more than a few pieces ahead of the reader.
      expect(made - read).toBeLessThan(500)
      read++
      if (read === 2_000) break
    }
    expect(read).toBe(2_000)
  })

  it('[PO14] holds a whole export, and import recognizes it', async () => {
    const portsOn = () => ({
      store: createInMemoryStore(),
      clock: new FakeClock(),
      ids: countingIds(),
      settings: {},
    })
    const [source, target] = [portsOn(), portsOn()]
    await source.store.commit([create(memory({ content: 'between us' }))])
    const file = await all(exportLines(source, null, { passphrase: PASSPHRASE }))
    expect(JSON.parse(file[0] ?? '')).toMatchObject({ N: 65_536, r: 8 })
    expect(file.join('')).not.toContain('between')
    await expect(importLines(target, from(file))).rejects.toMatchObject({ code: 'locked' })
    const result = await importLines(target, from(['', ...file]), { passphrase: PASSPHRASE })
    expect(result).toMatchObject({ imported: 1, failed: 0 })
    const rows = async (ports: typeof source) =>
      (await all(exportLines(ports, null))).map((line) => JSON.parse(line))
    expect(await rows(target)).toEqual(await rows(source))
  })

  it('[PO15] reports a missing or wrong passphrase as such', async () => {
    const file = await sealed(LINES)
    for (const passphrase of ['', 'correct horse ', 'Correct horse']) {
      await expect(unsealed(file, passphrase)).rejects.toMatchObject({ code: 'locked' })
    }
    await expect(all(decryptLines(from(file), undefined))).rejects.toMatchObject({ code: 'locked' })
    await expect(all(encryptLines(from([]), '', CHEAP))).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })

  it('[PO15] detects changed, swapped, repeated and missing chunks', async () => {
    const [header = '', first = '', second = '', ...rest] = await sealed(LINES)
    const changed = `${first.slice(0, 50)}${first[50] === 'A' ? 'B' : 'A'}${first.slice(51)}`
    const otherFile = (await sealed(LINES))[1] ?? ''
    const damages: Record<string, readonly string[]> = {
      changed: [header, changed, second, ...rest],
      swapped: [header, second, first, ...rest],
      repeated: [header, first, first, second, ...rest],
      'one missing': [header, second, ...rest],
      'the end missing': [header, first, second, ...rest.slice(0, -1)],
      'everything missing': [header],
      'something after the end': [header, first, second, ...rest, first],
      'a piece cut': [header, first.slice(0, -8), second, ...rest],
      'no base64': [header, '?', second, ...rest],
      'a piece of another file': [header, otherFile, second, ...rest],
      'the header changed': [header.replace('{', '{ '), first, second, ...rest],
    }
    for (const [what, file] of Object.entries(damages)) {
      await expect(unsealed(file), what).rejects.toMatchObject({ code: 'damaged' })
    }
    const cut = unsealed([header, first, second, ...rest.slice(0, -1)])
    await expect(cut).rejects.toThrow('truncated')
    await expect(unsealed([header, first, 'AAAA', ...rest])).rejects.toMatchObject({
      facts: { line: 3 },
    })
  })

  it('[PO15] refuses expensive and unknown header parameters', async () => {
    const [header = '', piece = ''] = await sealed(['x'])
    const altered = (fields: object) => [
      JSON.stringify({ ...JSON.parse(header), ...fields }),
      piece,
    ]
    for (const fields of [
      { N: 2 ** 30 },
      { N: 3 },
      { r: 2 ** 30 },
      { p: 10_000 },
      { N: -2 },
      { salt: '' },
      { check: 7 },
    ]) {
      await expect(unsealed(altered(fields))).rejects.toMatchObject({ code: 'damaged' })
    }
    for (const fields of [{ version: 2 }, { cipher: 'none' }, { kdf: 'md5' }]) {
      await expect(unsealed(altered(fields))).rejects.toMatchObject({ code: 'invalid_input' })
    }
  })
})
