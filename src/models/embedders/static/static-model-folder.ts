/**
 * A static model: `model.json` with dimensions and languages, `vocabulary.txt` with one word piece per line, and
 * `vectors.bin` with the scale of each piece (32-bit floats, little-endian) followed by the int8 values of all pieces.
 * `SHA256SUMS` is optional in user-made folders.
 */
import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { AppError } from '../../../lib/errors.ts'
import { sha256 } from '../../../lib/hash.ts'
import { parseJsonObject } from '../../../lib/json.ts'
import { getSystemErrorCode } from '../../../lib/system-error.ts'
import { VECTOR_DIMENSIONS_MAX } from '../../../storage/vector-index.ts'
import { isUsableVocabulary } from './wordpiece-tokenizer.ts'

const FORMAT = 1
const MODEL_FILE = 'model.json'
const VOCABULARY_FILE = 'vocabulary.txt'
const VECTORS_FILE = 'vectors.bin'
const SUMS_FILE = 'SHA256SUMS'
const SCALE_BYTES = 4
const DIGEST_CHARACTERS = 8

export type StaticModel = {
  /** Folder name and digest: different vectors are a different model. */
  readonly name: string
  readonly dimensions: number
  /** Null when not declared. */
  readonly languages: readonly string[] | null
  readonly vocabulary: readonly string[]
  /** One scale per piece; a component is its int8 value times the scale. */
  readonly scales: Float32Array
  /** int8 values of all pieces, concatenated. */
  readonly bytes: Int8Array
}

export async function readStaticModel(path: string): Promise<StaticModel> {
  const folder = resolve(path)
  const sums = await readSums(folder)
  const read = async (file: string) => {
    const content = await readPart(folder, file)
    const sum = sha256(content)
    if (sums !== null && sums.get(file) !== sum) {
      throw damaged(folder, file, `does not match ${SUMS_FILE}`)
    }
    return { content, sum }
  }
  const model = await read(MODEL_FILE)
  const words = await read(VOCABULARY_FILE)
  const vectors = await read(VECTORS_FILE)

  const { dimensions, languages } = parseModel(folder, model.content)
  const vocabulary = words.content.toString('utf8').replace(/\n$/, '').split('\n')
  if (!isUsableVocabulary(vocabulary)) {
    throw damaged(folder, VOCABULARY_FILE, 'lacks [UNK] or holds a piece twice')
  }
  const digest = sha256(Buffer.from(`${words.sum} ${vectors.sum}`)).slice(0, DIGEST_CHARACTERS)
  return {
    name: `${basename(folder)}@${digest}`,
    dimensions,
    languages,
    vocabulary,
    ...parseVectors(folder, vectors.content, vocabulary.length, dimensions),
  }
}

function parseModel(
  folder: string,
  content: Buffer,
): Pick<StaticModel, 'dimensions' | 'languages'> {
  const { format, dimensions, languages = null } = parseJson(folder, content)
  if (format !== FORMAT) {
    throw damaged(folder, MODEL_FILE, `is not of format ${FORMAT}`)
  }
  if (!isDimensions(dimensions)) {
    throw damaged(folder, MODEL_FILE, `needs dimensions from 1 to ${VECTOR_DIMENSIONS_MAX}`)
  }
  if (languages !== null && !isListOfTexts(languages)) {
    throw damaged(folder, MODEL_FILE, 'needs languages as a list of tags')
  }
  return { dimensions, languages }
}

function isDimensions(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= 1 &&
    value <= VECTOR_DIMENSIONS_MAX
  )
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function parseJson(folder: string, content: Buffer): { readonly [name: string]: unknown } {
  const value = parseJsonObject(content.toString('utf8'))
  if (value !== null) return value
  throw damaged(folder, MODEL_FILE, 'is not a JSON object')
}

function parseVectors(
  folder: string,
  content: Buffer,
  pieces: number,
  dimensions: number,
): Pick<StaticModel, 'scales' | 'bytes'> {
  const expected = pieces * (SCALE_BYTES + dimensions)
  if (content.length !== expected) {
    throw damaged(folder, VECTORS_FILE, `has ${content.length} bytes instead of ${expected}`)
  }
  const scales = Float32Array.from({ length: pieces }, (_, piece) =>
    content.readFloatLE(piece * SCALE_BYTES),
  )
  if (!scales.every(Number.isFinite)) {
    throw damaged(folder, VECTORS_FILE, 'holds a number that is not finite')
  }
  const begin = content.byteOffset + pieces * SCALE_BYTES
  return { scales, bytes: new Int8Array(content.buffer, begin, pieces * dimensions) }
}

async function readSums(folder: string): Promise<ReadonlyMap<string, string> | null> {
  let content: Buffer
  try {
    content = await readPart(folder, SUMS_FILE)
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'missing_part') return null
    throw thrown
  }
  const lines = [...content.toString('utf8').matchAll(/^([0-9a-f]{64}) [ *](.+)$/gm)]
  return new Map(lines.map(([, sum = '', file = '']) => [file.trim(), sum]))
}

async function readPart(folder: string, file: string): Promise<Buffer> {
  const path = join(folder, file)
  try {
    return await readFile(path)
  } catch (cause) {
    const reason = getSystemErrorCode(cause) || 'unknown'
    const isMissing = reason === 'ENOENT' || reason === 'ENOTDIR'
    throw new AppError(
      isMissing ? 'missing_part' : 'unavailable',
      isMissing
        ? `The file ${path} of the static vectors is missing. Restore it, or choose another model.`
        : `The file ${path} of the static vectors could not be read (${reason}).`,
      { path },
      cause,
    )
  }
}

function damaged(folder: string, file: string, how: string): AppError {
  const path = join(folder, file)
  return new AppError(
    'damaged',
    `The file ${path} of the static vectors is damaged: it ${how}. Restore it.`,
    { path },
  )
}
