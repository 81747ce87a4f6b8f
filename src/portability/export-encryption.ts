/**
 * Exports under a passphrase: still a file of lines. The first can be read and says how the key is made; each of the
 * others is a piece of the export, encrypted and authenticated by itself, so that both directions work piece by piece.
 *
 * Every file has a key of its own, because its salt is random. A piece's nonce is its number and whether it is the last:
 * pieces that are changed, swapped, repeated or missing are noticed, at the end as well. The first line is authenticated
 * with every piece. See `docs/guides/import-export.md` for the format.
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import { isObject } from '../lib/json.ts'
import { parseJsonOrNull } from './importers/foreign-record.ts'
import { ENCRYPTED_FORMAT } from './importers/format-detection.ts'

const SEALED_VERSION = 1
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const CHECK_BYTES = 16
const SALT_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PIECE_BYTES = 64 * 1024

/** 64 MiB and a quarter of a second for each guess. */
const SCRYPT_COST = { N: 2 ** 16, r: 8, p: 1 }

/** What a file may ask of the machine that reads it. */
const SCRYPT_BYTES_MAX = 512 * 1024 * 1024
const SCRYPT_PARALLEL_MAX = 16

type ScryptCost = { readonly N: number; readonly r: number; readonly p: number }

type EncryptionHeader = ScryptCost & { readonly salt: Buffer; readonly check: Buffer }

/** The lines as a sealed file has them. `cost` is for tests. */
export async function* encryptLines(
  lines: AsyncIterable<string>,
  passphrase: string,
  cost: ScryptCost = SCRYPT_COST,
): AsyncGenerator<string> {
  if (passphrase === '') throw new AppError('invalid_input', 'The passphrase is empty.')
  const salt = randomBytes(SALT_BYTES)
  const { key, check } = await deriveKeys(passphrase, salt, cost)
  const header = JSON.stringify({
    format: ENCRYPTED_FORMAT,
    version: SEALED_VERSION,
    cipher: CIPHER,
    kdf: 'scrypt',
    ...cost,
    salt: salt.toString('base64'),
    check: check.toString('base64'),
  })
  yield header
  let number = 0
  let buffered = ''
  for await (const line of lines) {
    buffered += `${line}\n`
    if (buffered.length < PIECE_BYTES) continue
    yield encryptPiece(key, header, number++, false, buffered)
    buffered = ''
  }
  yield encryptPiece(key, header, number, true, buffered)
}

/** The lines that were sealed. `lines` begins with the first line of the file. */
export async function* decryptLines(
  lines: AsyncIterable<string>,
  passphrase: string | undefined,
): AsyncGenerator<string> {
  const source = lines[Symbol.asyncIterator]()
  try {
    const first = await source.next()
    const header = first.done === true ? '' : first.value.trim()
    const key = await verifyPassphrase(parseHeader(header), passphrase)
    yield* splitLines(encodePieces(source, key, header))
  } finally {
    await source.return?.()
  }
}

/** Whether a file begins like this one. */
export function isEncrypted(firstLine: string): boolean {
  const header = parseJsonOrNull(firstLine)
  return isObject(header) && header.format === ENCRYPTED_FORMAT
}

async function verifyPassphrase(
  header: EncryptionHeader,
  passphrase: string | undefined,
): Promise<Buffer> {
  if (passphrase === undefined || passphrase === '') {
    throw new AppError('locked', 'The export is encrypted. Give the passphrase it was made with.')
  }
  const { key, check } = await deriveKeys(passphrase, header.salt, header)
  if (timingSafeEqual(check, header.check)) return key
  throw new AppError('locked', 'The passphrase is not the one the export was made with.')
}

async function* encodePieces(
  source: AsyncIterator<string>,
  key: Buffer,
  header: string,
): AsyncGenerator<string> {
  let number = 0
  let held = await nextPiece(source)
  if (held === null) throw createTruncationError()
  // One piece is held back, because only the last may be the last.
  for (let next = await nextPiece(source); next !== null; next = await nextPiece(source)) {
    const text = decryptPiece(key, header, number, false, held)
    if (text === null) throw createDamageError(number)
    yield text
    number++
    held = next
  }
  const last = decryptPiece(key, header, number, true, held)
  if (last !== null) yield last
  else if (decryptPiece(key, header, number, false, held) === null) throw createDamageError(number)
  else throw createTruncationError()
}

async function nextPiece(source: AsyncIterator<string>): Promise<string | null> {
  for (;;) {
    const { done, value } = await source.next()
    if (done === true) return null
    if (value.trim() !== '') return value.trim()
  }
}

async function* splitLines(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) {
    // Each piece holds whole lines.
    const lines = text.split('\n')
    lines.pop()
    yield* lines
  }
}

function encryptPiece(key: Buffer, header: string, number: number, isLast: boolean, text: string) {
  const cipher = createCipheriv(CIPHER, key, buildNonce(number, isLast))
  cipher.setAAD(Buffer.from(header))
  const sealed = [cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(sealed).toString('base64')
}

/** Null when it is not what was sealed at this place. */
function decryptPiece(
  key: Buffer,
  header: string,
  number: number,
  isLast: boolean,
  piece: string,
): string | null {
  const bytes = Buffer.from(piece, 'base64')
  if (bytes.length < TAG_BYTES) return null
  const decipher = createDecipheriv(CIPHER, key, buildNonce(number, isLast), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(header))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const opened = [decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]
    return Buffer.concat(opened).toString('utf8')
  } catch {
    return null
  }
}

function buildNonce(number: number, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(NONCE_BYTES)
  bytes.writeUIntBE(number, 0, 6)
  bytes[NONCE_BYTES - 1] = isLast ? 1 : 0
  return bytes
}

function deriveKeys(
  passphrase: string,
  salt: Buffer,
  { N, r, p }: ScryptCost,
): Promise<{ readonly key: Buffer; readonly check: Buffer }> {
  return new Promise((resolve, reject) => {
    const options = { N, r, p, maxmem: SCRYPT_BYTES_MAX * 2 }
    // The same passphrase can be typed in more than one form.
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES + CHECK_BYTES, options, (error, bytes) => {
      if (error === null) {
        resolve({ key: bytes.subarray(0, KEY_BYTES), check: bytes.subarray(KEY_BYTES) })
      } else reject(error)
    })
  })
}

function parseHeader(text: string): EncryptionHeader {
  const fields = parseJsonOrNull(text)
  if (!isObject(fields)) throw createHeaderError('is not one')
  const { format, version, cipher, kdf, N, r, p, salt, check } = fields
  if (format !== ENCRYPTED_FORMAT) throw createHeaderError('is not one of an encrypted export')
  if (version !== SEALED_VERSION || cipher !== CIPHER || kdf !== 'scrypt') {
    throw new AppError(
      'invalid_input',
      `The export is encrypted in a way that this Recollect does not know: version ${String(version)}, ${String(cipher)}, ${String(kdf)}.`,
    )
  }
  const isCost =
    isIntegerInRange(N) && isIntegerInRange(r) && isIntegerInRange(p) && p <= SCRYPT_PARALLEL_MAX
  if (!isCost || N < 2 || (N & (N - 1)) !== 0 || 128 * N * r > SCRYPT_BYTES_MAX) {
    throw createHeaderError('asks for a key that cannot be made')
  }
  const parts = { salt: decodeBase64(salt), check: decodeBase64(check) }
  if (parts.salt.length < 16 || parts.check.length !== CHECK_BYTES)
    throw createHeaderError('is incomplete')
  return { N, r, p, ...parts }
}

function isIntegerInRange(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value < 2 ** 31
}

function decodeBase64(value: unknown): Buffer {
  return Buffer.from(typeof value === 'string' ? value : '', 'base64')
}

function createHeaderError(what: string): AppError {
  return new AppError('damaged', `The first line of the encrypted export ${what}.`)
}

/** The first line of the file is the header, the first piece is on the second. */
function createDamageError(number: number): AppError {
  const line = number + 2
  return new AppError(
    'damaged',
    `The encrypted export is damaged: line ${line} was changed, or is not in its place. What came before it was read.`,
    { line },
  )
}

function createTruncationError(): AppError {
  return new AppError('damaged', 'The encrypted export is cut off: its end is missing.')
}
