/**
 * Keys of encrypted databases, from a file, a value or a passphrase. No error, log line or printed object ever holds key
 * material.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { AppError } from '../../../lib/errors.ts'
import { getSystemErrorCode } from '../../../lib/system-error.ts'
import type { DatabaseKey } from '../connection/sqlite-driver.ts'

const KEY_BYTES = 32
const KEY_FILE_BYTES_MAX = 1_024
/** Argon2id slows each guess down to about 25 ms, which does not protect shorter passphrases. */
export const PASSPHRASE_CHARACTERS_MIN = 12
/** Readable by everyone, or writable by the group. Containers pass secrets as files that the group may read. */
const MODE_TOO_OPEN = 0o027

/** Reads a key from a file: 64 hex digits, or 32 raw bytes. */
export function loadKeyFile(path: string): DatabaseKey {
  const content = readKeyFile(path)
  if (content.length === KEY_BYTES) return sealed({ kind: 'raw', hex: content.toString('hex') })
  const text = content.toString('latin1').trim()
  if (!isHexKey(text)) {
    throw new AppError(
      'invalid_input',
      `The key file ${path} must hold 64 hex digits or exactly 32 bytes.`,
      { path },
    )
  }
  return sealed({ kind: 'raw', hex: text.toLowerCase() })
}

/** Parses a key of 64 hex digits, such as the value of an environment variable. */
export function parseKey(text: string): DatabaseKey {
  const hex = text.trim()
  if (!isHexKey(hex)) {
    throw new AppError(
      'invalid_input',
      'A key must be 64 hex digits. A phrase to remember is given as a passphrase instead.',
    )
  }
  return sealed({ kind: 'raw', hex: hex.toLowerCase() })
}

/** Normalizes the passphrase, so that composed and decomposed characters give the same key. */
export function parsePassphrase(text: string): DatabaseKey {
  const passphrase = text.normalize('NFKC')
  if ([...passphrase].length < PASSPHRASE_CHARACTERS_MIN) {
    throw new AppError(
      'invalid_input',
      `A passphrase must have at least ${PASSPHRASE_CHARACTERS_MIN} characters.`,
      { charactersMin: PASSPHRASE_CHARACTERS_MIN },
    )
  }
  // The cipher would parse these as hex keys and skip the slow derivation; NUL would end the passphrase.
  if (/^(?:raw:|x')/i.test(passphrase) || passphrase.includes('\0')) {
    throw new AppError(
      'invalid_input',
      `A passphrase must not begin with "raw:" or "x'", and must not contain a NUL character.`,
    )
  }
  return sealed({ kind: 'passphrase', passphrase })
}

/** Writes a new random key that only the current user can read. Never overwrites a file. */
export function generateKeyFile(path: string): void {
  let file: number
  try {
    file = openSync(path, 'wx', 0o600)
  } catch (error) {
    if (getSystemErrorCode(error) !== 'EEXIST') throw fileError(path, 'be created', error)
    throw new AppError(
      'conflict',
      `A file already exists at ${path}. Keys are never overwritten.`,
      { path },
      error,
    )
  }
  try {
    writeFileSync(file, `${randomBytes(KEY_BYTES).toString('hex')}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Compares two keys. */
export function isSameKey(a: DatabaseKey | null, b: DatabaseKey | null): boolean {
  return toKeyMaterial(a) === toKeyMaterial(b)
}

/** A text that identifies a key, and is as secret. */
export function toKeyMaterial(key: DatabaseKey | null): string {
  if (key === null) return ''
  return key.kind === 'raw' ? `raw:${key.hex}` : `passphrase:${key.passphrase}`
}

function readKeyFile(path: string): Buffer {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    throw fileError(path, 'be read', error)
  }
  try {
    const { mode, size } = fstatSync(file)
    if (process.platform !== 'win32' && (mode & MODE_TOO_OPEN) !== 0) {
      throw new AppError(
        'invalid_input',
        `The key file ${path} is open to other users (mode ${(mode & 0o777).toString(8)}). Run: chmod 600 ${path}`,
        { path },
      )
    }
    if (size > KEY_FILE_BYTES_MAX) {
      throw new AppError('invalid_input', `The file ${path} is too large to be a key.`, { path })
    }
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

function fileError(path: string, what: string, cause: unknown): AppError {
  const code = getSystemErrorCode(cause) === 'ENOENT' ? 'not_found' : 'unavailable'
  const reason = getSystemErrorCode(cause) || 'unknown'
  return new AppError(code, `The key file ${path} could not ${what} (${reason}).`, { path }, cause)
}

function isHexKey(text: string): boolean {
  return /^[0-9a-f]{64}$/i.test(text)
}

/** A key that prints and serializes as its kind only, so that no log line can leak it. */
function sealed(key: DatabaseKey): DatabaseKey {
  const face = () => `[${key.kind === 'raw' ? 'key' : 'passphrase'}]`
  Object.defineProperty(key, 'toJSON', { value: face, enumerable: false })
  Object.defineProperty(key, inspect.custom, { value: face, enumerable: false })
  return Object.freeze(key)
}
