/**
 * Encrypted exports: a plain header line with the key derivation parameters, then one encrypted and authenticated chunk
 * per line, so that both directions stream.
 *
 * The random salt gives every file its own key. The nonce of a chunk encodes its number and whether it is the last, so
 * changed, swapped, repeated, missing and truncated chunks are detected. The header is authenticated with every chunk.
 * `docs/guides/import-export.md` describes the format.
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import { isObject, parseJson } from '../lib/json.ts'
import { ENCRYPTED_FORMAT } from './importers/format-detection.ts'

const ENCRYPTION_VERSION = 1
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const CHECK_BYTES = 16
const SALT_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const CHUNK_BYTES = 64 * 1024

/** 64 MiB and a quarter of a second per guess. */
const SCRYPT_COST = { N: 2 ** 16, r: 8, p: 1 }

/** Upper bounds for the parameters of a file, which may be hostile. */
const SCRYPT_BYTES_MAX = 512 * 1024 * 1024
const SCRYPT_PARALLEL_MAX = 16

type ScryptCost = { readonly N: number; readonly r: number; readonly p: number }

type EncryptionHeader = ScryptCost & { readonly salt: Buffer; readonly check: Buffer }

/** Encrypts the lines of an export. `cost` is for tests. */
export async function* encryptLines(
  lines: AsyncIterable<string>,
  passphrase: string,
  cost: ScryptCost = SCRYPT_COST,
): AsyncGenerator<string> {
  if (passphrase === '') throw new AppError('invalid_input', '`passphrase` must not be empty.')
  const salt = randomBytes(SALT_BYTES)
  const { key, check } = await deriveKeys(passphrase, salt, cost)
  const header = JSON.stringify({
    format: ENCRYPTED_FORMAT,
    version: ENCRYPTION_VERSION,
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
    if (buffered.length < CHUNK_BYTES) continue
    yield encryptChunk(key, header, number++, false, buffered)
    buffered = ''
  }
  yield encryptChunk(key, header, number, true, buffered)
}

/** Decrypts `lines`, which start with the header line of the file. */
export async function* decryptLines(
  lines: AsyncIterable<string>,
  passphrase: string | undefined,
): AsyncGenerator<string> {
  const source = lines[Symbol.asyncIterator]()
  try {
    const first = await source.next()
    const header = first.done === true ? '' : first.value.trim()
    const key = await verifyPassphrase(parseHeader(header), passphrase)
    yield* splitLines(decryptChunks(source, key, header))
  } finally {
    await source.return?.()
  }
}

/** Whether the line is the header of an encrypted export. */
export function isEncrypted(firstLine: string): boolean {
  const header = parseJson(firstLine)
  return isObject(header) && header.format === ENCRYPTED_FORMAT
}

async function verifyPassphrase(
  header: EncryptionHeader,
  passphrase: string | undefined,
): Promise<Buffer> {
  if (passphrase === undefined || passphrase === '') {
    throw new AppError('locked', 'The export is encrypted. Pass the passphrase that encrypted it.')
  }
  const { key, check } = await deriveKeys(passphrase, header.salt, header)
  if (timingSafeEqual(check, header.check)) return key
  throw new AppError(
    'locked',
    'The passphrase does not match this export. Pass the passphrase that encrypted it.',
  )
}

async function* decryptChunks(
  source: AsyncIterator<string>,
  key: Buffer,
  header: string,
): AsyncGenerator<string> {
  let number = 0
  let pending = await nextChunk(source)
  if (pending === null) throw createTruncationError()
  // One chunk is held back, because the last one has another nonce.
  for (let next = await nextChunk(source); next !== null; next = await nextChunk(source)) {
    const text = decryptChunk(key, header, number, false, pending)
    if (text === null) throw createDamageError(number)
    yield text
    number++
    pending = next
  }
  const last = decryptChunk(key, header, number, true, pending)
  if (last !== null) yield last
  else if (decryptChunk(key, header, number, false, pending) === null)
    throw createDamageError(number)
  else throw createTruncationError()
}

async function nextChunk(source: AsyncIterator<string>): Promise<string | null> {
  for (;;) {
    const { done, value } = await source.next()
    if (done === true) return null
    if (value.trim() !== '') return value.trim()
  }
}

async function* splitLines(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) {
    // Each chunk holds whole lines.
    const lines = text.split('\n')
    lines.pop()
    yield* lines
  }
}

function encryptChunk(key: Buffer, header: string, number: number, isLast: boolean, text: string) {
  const cipher = createCipheriv(CIPHER, key, buildNonce(number, isLast))
  cipher.setAAD(Buffer.from(header))
  const parts = [cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(parts).toString('base64')
}

/** Null when the chunk was not encrypted at this position. */
function decryptChunk(
  key: Buffer,
  header: string,
  number: number,
  isLast: boolean,
  chunk: string,
): string | null {
  const bytes = Buffer.from(chunk, 'base64')
  if (bytes.length < TAG_BYTES) return null
  const decipher = createDecipheriv(CIPHER, key, buildNonce(number, isLast), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(header))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const parts = [decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]
    return Buffer.concat(parts).toString('utf8')
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
    // Keyboards produce the same passphrase in different Unicode forms.
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES + CHECK_BYTES, options, (error, bytes) => {
      if (error === null) {
        resolve({ key: bytes.subarray(0, KEY_BYTES), check: bytes.subarray(KEY_BYTES) })
      } else reject(error)
    })
  })
}

function parseHeader(text: string): EncryptionHeader {
  const fields = parseJson(text)
  if (!isObject(fields)) throw createHeaderError('is not a JSON object')
  const { format, version, cipher, kdf, N, r, p, salt, check } = fields
  if (format !== ENCRYPTED_FORMAT)
    throw createHeaderError('does not name the format of encrypted exports')
  if (version !== ENCRYPTION_VERSION || cipher !== CIPHER || kdf !== 'scrypt') {
    throw new AppError(
      'invalid_input',
      `This version of Recollect cannot read the encryption of the export: version ${String(version)}, ${String(cipher)}, ${String(kdf)}. Update Recollect.`,
    )
  }
  const isCost =
    isIntegerInRange(N) && isIntegerInRange(r) && isIntegerInRange(p) && p <= SCRYPT_PARALLEL_MAX
  if (!isCost || N < 2 || (N & (N - 1)) !== 0 || 128 * N * r > SCRYPT_BYTES_MAX) {
    throw createHeaderError('holds key parameters that are invalid or too expensive')
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

function createHeaderError(problem: string): AppError {
  return new AppError('damaged', `The header of the encrypted export ${problem}.`)
}

/** Chunk 0 is on line 2, after the header. */
function createDamageError(number: number): AppError {
  const line = number + 2
  return new AppError(
    'damaged',
    `The encrypted export is damaged: line ${line} was changed or moved. The lines before it were read.`,
    { line },
  )
}

function createTruncationError(): AppError {
  return new AppError('damaged', 'The encrypted export is truncated: its last chunk is missing.')
}
