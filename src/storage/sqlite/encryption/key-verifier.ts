/**
 * The file `<database>.key-check` beside an encrypted database, which distinguishes a wrong key from a damaged file: the
 * cipher cannot.
 *
 * It holds a salted hash of the key, slow to compute for passphrases, so that guessing is no easier than with the database
 * itself. It also holds the first 16 bytes of the database: they tell whether the verifier belongs to it, and without them
 * a passphrase cannot decrypt anything. The verifier is optional.
 */
import { createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { syncFile } from '../../../lib/atomic-file.ts'
import { isObject } from '../../../lib/json.ts'
import type { DatabaseKey } from '../connection/sqlite-driver.ts'
import { toKeyMaterial } from './encryption-key.ts'

/** 64 MiB and about half a second per guess: no cheaper than the cipher's own Argon2id with 19 MiB. */
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

/** Writes the verifier atomically, if possible. `header`: the first bytes of the database. */
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

/** The verifier; null when it is missing or unreadable. */
export function readKeyVerifier(path: string): KeyVerifier | null {
  try {
    const check: unknown = JSON.parse(readFileSync(toKeyVerifierPath(path), 'utf8'))
    return isKeyCheck(check) ? check : null
  } catch {
    return null
  }
}

/** Whether the verifier was written for `key`. Takes about half a second for a passphrase. */
export function isMatchingKey(check: KeyVerifier, key: DatabaseKey): boolean {
  const expected = Buffer.from(check.hash, 'hex')
  return timingSafeEqual(hashOf(key, Buffer.from(check.salt, 'hex')), expected)
}

function hashOf(key: DatabaseKey, salt: Buffer): Buffer {
  // 32 random bytes cannot be guessed; only passphrases need a slow hash.
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
