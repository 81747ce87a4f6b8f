/**
 * The note beside an encrypted database that tells a wrong key from a damaged file: `<database>.key-check`.
 *
 * Both look the same to the cipher. The note holds a salted hash of the key, slow to compute for passphrases, so it
 * gives a guesser no better hold than the database itself does. It also holds a copy of the database's first 16
 * bytes: they tell whether the note is about this file, and with a passphrase nothing can be read without them.
 * A database without its note works.
 */
import { createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { syncFile } from '../../../lib/atomic-file.ts'
import { isObject } from '../../../lib/json.ts'
import type { DatabaseKey } from '../connection/sqlite-driver.ts'
import { toKeyMaterial } from './encryption-key.ts'

/** 64 MiB and about half a second: no cheaper to guess against than the cipher's own Argon2id with 19 MiB. */
const SCRYPT = { N: 2 ** 16, r: 8, p: 2, maxmem: 2 ** 27 }
const HASH_BYTES = 32

export type KeyVerifier = {
  readonly format: 1
  readonly salt: string
  readonly hash: string
  /** The first 16 bytes of the database, in hex. */
  readonly header: string
}

export function toKeyVerifierPath(path: string): string {
  return `${path}.key-check`
}

/** Writes the note if that is possible, replacing an older one at once. `header`: the first bytes of the database. */
export function writeKeyVerifier(path: string, key: DatabaseKey, header: Buffer): void {
  try {
    writeKeyCheck(path, key, header)
  } catch {
    /* the database works without; only a wrong key is then told less exactly from damage */
  }
}

function writeKeyCheck(path: string, key: DatabaseKey, header: Buffer): void {
  const salt = randomBytes(16)
  const check: KeyVerifier = {
    format: 1,
    salt: salt.toString('hex'),
    hash: hashOf(key, salt).toString('hex'),
    header: header.subarray(0, 16).toString('hex'),
  }
  const next = `${toKeyVerifierPath(path)}.new`
  writeFileSync(next, `${JSON.stringify(check)}\n`, { mode: 0o600 })
  syncFile(next)
  renameSync(next, toKeyVerifierPath(path))
}

/** The note, or null when there is none that can be read. */
export function readKeyVerifier(path: string): KeyVerifier | null {
  try {
    const check: unknown = JSON.parse(readFileSync(toKeyVerifierPath(path), 'utf8'))
    return isKeyCheck(check) ? check : null
  } catch {
    return null
  }
}

/** Whether `key` is the one the note was written for. Takes about half a second for a passphrase. */
export function isMatchingKey(check: KeyVerifier, key: DatabaseKey): boolean {
  const expected = Buffer.from(check.hash, 'hex')
  return timingSafeEqual(hashOf(key, Buffer.from(check.salt, 'hex')), expected)
}

function hashOf(key: DatabaseKey, salt: Buffer): Buffer {
  // 32 random bytes can't be guessed at any speed; only what a person thought up needs slowing down.
  if (key.kind === 'raw') return createHmac('sha256', salt).update(toKeyMaterial(key)).digest()
  return scryptSync(toKeyMaterial(key), salt, HASH_BYTES, SCRYPT)
}

function isKeyCheck(value: unknown): value is KeyVerifier {
  if (!isObject(value)) return false
  const { format, salt, hash, header } = value
  const isHex = (text: unknown, bytes: number) =>
    typeof text === 'string' && new RegExp(`^[0-9a-f]{${bytes * 2}}$`).test(text)
  return format === 1 && isHex(salt, 16) && isHex(hash, HASH_BYTES) && isHex(header, 16)
}
