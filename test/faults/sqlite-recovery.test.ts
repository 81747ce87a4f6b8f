/**
 * Salvage from real damage: bytes of a database of 1,500 memories are zeroed, flipped, cut off or overwritten.
 * What is recovered must be exactly what was written; the damaged file must be kept as it was.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  detectFileKind,
  openSqliteFile,
} from '../../src/storage/sqlite/connection/database-file.ts'
import {
  type DatabaseKey,
  describeMissingCipher,
} from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { parsePassphrase } from '../../src/storage/sqlite/encryption/encryption-key.ts'
import { toKeyVerifierPath } from '../../src/storage/sqlite/encryption/key-verifier.ts'
import {
  type RecoveryReport,
  recoverDatabase,
} from '../../src/storage/sqlite/recovery/database-recovery.ts'
import { quarantineDatabase } from '../../src/storage/sqlite/recovery/quarantine.ts'
import { PAGE_BYTES } from '../../src/storage/sqlite/schema/migrations.ts'
import { type Change, TABLES } from '../../src/storage/store.ts'
import { owner } from '../fakes/memories.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import {
  type Everything,
  errorOf,
  everything,
  everythingIn,
  expectSame,
  expectSearchable,
  fill,
  filledFile,
  itEncrypts,
  numbered,
  randomKey,
  using,
} from './sqlite-support.ts'

const MEMORIES = 1_500
const PAGE = PAGE_BYTES

type Sample = { readonly bytes: Buffer; readonly check: Buffer | null; readonly rows: Everything }

async function sample(key: DatabaseKey | null): Promise<Sample> {
  const path = temporaryFile('sample.db')
  await filledFile(path, MEMORIES, key)
  const check = key === null ? null : readFileSync(toKeyVerifierPath(path))
  const rows = await everythingIn(path, key)
  return { bytes: readFileSync(path), check, rows }
}

/** Damages a copy of the sample, salvages it and checks everything that must hold whatever the damage was. */
async function salvaged(
  from: Sample,
  key: DatabaseKey | null,
  damage: (bytes: Buffer) => Buffer,
): Promise<{ readonly outcome: RecoveryReport; readonly path: string; readonly rows: Everything }> {
  const path = temporaryFile('damaged.db')
  const damaged = damage(Buffer.from(from.bytes))
  writeFileSync(path, damaged)
  if (from.check !== null) writeFileSync(toKeyVerifierPath(path), from.check)
  const progress: number[] = []
  const outcome = await recoverDatabase({
    path,
    key,
    now: Date.now,
    onProgress: (done) => progress.push(done),
  })
  expect(progress.length).toBeGreaterThan(0)
  expect(readFileSync(join(outcome.quarantined, basename(path))).equals(damaged)).toBe(true)
  expect(detectFileKind(path)).toBe(key === null ? 'plain' : 'encrypted')
  const rows = await using(path, key, async (store) => {
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
    return everything(store)
  })
  expect(rows.memory.size).toBe(outcome.copied.memory)
  for (const table of TABLES) {
    if (outcome.unnamedPlaces > 0) break
    for (const [id, row] of rows[table]) {
      if (!isDeepStrictEqual(row, from.rows[table].get(id)))
        expect(row).toEqual(from.rows[table].get(id))
    }
  }
  return { outcome, path, rows }
}

const zeroPages = (numbers: readonly number[]) => (bytes: Buffer) => {
  for (const number of numbers) bytes.fill(0, (number - 1) * PAGE, number * PAGE)
  return bytes
}

/** Page numbers by what stands on them: 13 is a leaf of a table, 5 an inner page of one, 10 a leaf of an index. */
function pagesOfKind(bytes: Buffer, kind: number, holding = ''): readonly number[] {
  return Array.from({ length: bytes.length / PAGE }, (_, index) => index + 1).filter((number) => {
    const page = bytes.subarray((number - 1) * PAGE, number * PAGE)
    return number > 1 && page[0] === kind && page.includes(holding)
  })
}

describe('salvage of a plain database', () => {
  let plain: Sample
  beforeAll(async () => {
    plain = await sample(null)
  })

  it('[ST25] keeps every row of a database that is not damaged', async () => {
    const { outcome, path, rows } = await salvaged(plain, null, (bytes) => bytes)
    expectSame(rows, plain.rows)
    expect(outcome.lost).toEqual({ memories: 0, rows: {}, pages: [], recentWrites: false })
    await using(path, null, (store) => expectSearchable(store, 1_234))
  })

  it('[ST25] keeps everything but the memories on zeroed pages', async () => {
    const victims = pagesOfKind(plain.bytes, 13, 'zanzibar statement').filter(
      (_, index) => index % 40 === 7,
    )
    expect(victims.length).toBeGreaterThan(3)
    const { outcome, rows } = await salvaged(plain, null, zeroPages(victims))
    expect(outcome.lost.pages).toEqual(victims)
    expect(rows.memory.size).toBeGreaterThan(MEMORIES * 0.9)
    expect(outcome.lost.memories).toBe(MEMORIES - rows.memory.size)
    expect(rows.tombstone.size).toBe(plain.rows.tombstone.size)
  })

  it('[ST25] loses nothing when all inner pages of all tables are lost', async () => {
    const inner = pagesOfKind(plain.bytes, 5)
    expect(inner.length).toBeGreaterThan(1)
    const { rows } = await salvaged(plain, null, zeroPages(inner))
    expectSame(rows, plain.rows)
  })

  it('[ST25] loses nothing when all index pages are lost', async () => {
    const indexes = [...pagesOfKind(plain.bytes, 10), ...pagesOfKind(plain.bytes, 2)]
    const { rows } = await salvaged(plain, null, zeroPages(indexes))
    expectSame(rows, plain.rows)
  })

  it('[ST25] reads on without the first page', async () => {
    const { outcome, rows } = await salvaged(plain, null, (bytes) => {
      randomBytes(PAGE).copy(bytes)
      return bytes
    })
    expectSame(rows, plain.rows)
    expect(outcome.lost.memories).toBeNull()
  })

  it('[ST25] reads on when only the first bytes are garbage', async () => {
    const { rows } = await salvaged(plain, null, (bytes) => {
      bytes.fill(0x55, 0, 16)
      return bytes
    })
    expectSame(rows, plain.rows)
  })

  it('[ST25] recovers the rest of a truncated file', async () => {
    for (const share of [0.8, 0.5]) {
      const { outcome, rows } = await salvaged(plain, null, (bytes) =>
        bytes.subarray(0, Math.floor(bytes.length * share) + 123),
      )
      expect(rows.memory.size).toBeGreaterThan(MEMORIES * (share - 0.25))
      expect(rows.memory.size).toBeLessThan(MEMORIES)
      expect(outcome.copied.memory).toBe(rows.memory.size)
    }
  })

  it('[ST25] leaves out memories whose text was altered', async () => {
    const { outcome, rows } = await salvaged(plain, null, (bytes) => {
      // Not multiples of ten: those have a revision with the same words, which no fingerprint guards.
      for (const number of [101, 701, 1_301]) {
        const at = bytes.indexOf(`statement ${number} about many`)
        expect(at).toBeGreaterThan(0)
        bytes.write('X', at)
      }
      return bytes
    })
    expect(rows.memory.size).toBe(MEMORIES - 3)
    expect(outcome.lost.rows.memory).toBe(3)
    expect(outcome.lost.memories).toBe(3)
  })

  it('[ST25] survives random flipped bytes anywhere', async () => {
    for (let round = 0; round < 3; round++) {
      const places = Array.from({ length: 30 }, () => randomBytes(4).readUInt32BE(0))
      const path = temporaryFile('flipped.db')
      const bytes = Buffer.from(plain.bytes)
      for (const place of places) {
        const at = 100 + (place % (bytes.length - 100))
        bytes[at] = (bytes[at] ?? 0) ^ 0xff
      }
      writeFileSync(path, bytes)
      const outcome = await recoverDatabase({ path, key: null, now: Date.now })
      const context = `flipped at ${places.join(', ')}`
      await using(path, null, async (store) => {
        expect(await store.checkIntegrity({ repair: false }), context).toEqual([])
      })
      expect(outcome.copied.memory, context).toBeGreaterThan(MEMORIES * 0.7)
    }
  })

  it('[ST25] reads the names of owners from the index when the table of places is lost', async () => {
    const places = pagesOfKind(plain.bytes, 13, 'bobänne')
    expect(places).toHaveLength(1)
    const { outcome, rows } = await salvaged(plain, null, zeroPages(places))
    expect(outcome.unnamedPlaces).toBe(0)
    expectSame(rows, plain.rows)
  })

  it('[ST25] keeps owners apart even when their names are lost', async () => {
    const places = [
      ...pagesOfKind(plain.bytes, 13, 'bobänne'),
      ...pagesOfKind(plain.bytes, 10, 'bobänne'),
    ]
    const { outcome, path, rows } = await salvaged(plain, null, zeroPages(places))
    expect(outcome.unnamedPlaces).toBe(3)
    expect(rows.memory.size).toBe(MEMORIES)
    const found = await using(path, null, (store) => store.listPlaces())
    expect(found).toHaveLength(3)
    expect(new Set(found.map((place) => place.owner)).size).toBe(2)
    expect(rows.memory.get(numbered(7).id)?.place.owner).not.toBe(owner('ada'))
  })

  it('[ST25] includes the last writes from the WAL', async () => {
    const path = temporaryFile('recent.db')
    const store = await openSqliteFile({ path, key: null, now: Date.now })
    await fill(store, 200)
    const copy = temporaryFile('copy.db')
    writeFileSync(copy, readFileSync(path))
    writeFileSync(`${copy}-wal`, readFileSync(`${path}-wal`))
    await store.close()
    const outcome = await recoverDatabase({ path: copy, key: null, now: Date.now })
    expect(outcome.copied.memory).toBe(200)
    expect(existsSync(join(outcome.quarantined, 'copy.db-wal'))).toBe(true)
  })

  it('[ST25] does not bring back what was forgotten', async () => {
    const path = temporaryFile('forgotten.db')
    await filledFile(path, 600)
    const before = await everythingIn(path, null)
    await using(path, null, async (store) => {
      const removals = [...before.memory.values()].slice(0, 550).map(({ place, id }): Change => {
        return { op: 'remove', table: 'memory', scope: place, id, expect: { version: 1 } }
      })
      expect(await store.commit(removals)).toEqual({ kind: 'committed' })
    })
    expect(readFileSync(path).includes('zanzibar')).toBe(true)
    const outcome = await recoverDatabase({ path, key: null, now: Date.now })
    expect(outcome.copied.memory).toBe(50)
  })

  it('[ST25] refuses missing files and files in use', async () => {
    const path = temporaryFile('none.db')
    expect((await errorOf(recoverDatabase({ path, key: null, now: Date.now }))).code).toBe(
      'not_found',
    )
    await using(path, null, async () => {
      expect((await errorOf(recoverDatabase({ path, key: null, now: Date.now }))).code).toBe('busy')
    })
  })

  it('[ST25] puts a database aside on request without changing a byte of it', async () => {
    const path = temporaryFile('aside.db')
    writeFileSync(path, plain.bytes)
    const folder = quarantineDatabase({ path, now: Date.now })
    expect(dirname(dirname(folder))).toBe(dirname(path))
    expect(existsSync(path)).toBe(false)
    expect(readFileSync(join(folder, 'aside.db')).equals(plain.bytes)).toBe(true)
    const again = temporaryFile('aside.db')
    await using(again, null, (store) => fill(store, 1))
  })
})

describe('salvage of an encrypted database', () => {
  const key = randomKey()
  const passphrase =
    describeMissingCipher() === null ? parsePassphrase('correct horse battery') : key
  const samples = new Map<DatabaseKey, Promise<Sample>>()
  const sampleFor = (one: DatabaseKey) => {
    const known = samples.get(one) ?? sample(one)
    samples.set(one, known)
    return known
  }

  itEncrypts('[ST25] keeps every row that pages can still be decrypted for', async () => {
    const from = await sampleFor(key)
    const { outcome, rows } = await salvaged(from, key, (bytes) => {
      zeroPages([200, 201, 202])(bytes)
      for (const number of [30, 90, 150]) bytes[number * PAGE + 77] = 0xaa
      return bytes
    })
    expect(rows.memory.size).toBeGreaterThan(MEMORIES * 0.8)
    expect(rows.memory.size + (outcome.lost.memories ?? 0)).toBe(MEMORIES)
  })

  for (const kind of ['key', 'passphrase'] as const) {
    itEncrypts(`[ST25] reads on without the first page, with a ${kind}`, async () => {
      const used = kind === 'key' ? key : passphrase
      const from = await sampleFor(used)
      const { rows } = await salvaged(from, used, (bytes) => {
        randomBytes(PAGE).copy(bytes)
        return bytes
      })
      expectSame(rows, from.rows)
    })
  }

  itEncrypts('[ST25] recovers the rest of a truncated file', async () => {
    const { rows } = await salvaged(await sampleFor(key), key, (bytes) =>
      bytes.subarray(0, Math.floor(bytes.length * 0.7) + 55),
    )
    expect(rows.memory.size).toBeGreaterThan(MEMORIES * 0.4)
  })

  itEncrypts('[ST25] requires the right key and changes nothing without it', async () => {
    const path = temporaryFile('locked.db')
    await filledFile(path, 20, key)
    const bytes = readFileSync(path)
    for (const wrong of [null, randomKey()]) {
      expect((await errorOf(recoverDatabase({ path, key: wrong, now: Date.now }))).code).toBe(
        'locked',
      )
    }
    truncateSync(toKeyVerifierPath(path))
    expect((await errorOf(recoverDatabase({ path, key: randomKey(), now: Date.now }))).code).toBe(
      'locked',
    )
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })
})
