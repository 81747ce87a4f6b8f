/** Reads and verifies model files. The bytes that were hashed are the bytes that are loaded. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../lib/errors.ts'
import { sha256 } from '../../lib/hash.ts'
import { getSystemErrorCode } from '../../lib/system-error.ts'

export const CHECKSUM_FILE = 'SHA256SUMS'
export const TOKENIZER_FILE = 'tokenizer.json'
/** In order of preference: quantized weights retrieve as well and are several times faster. */
export const MODEL_FILES = [
  'model_int8.onnx',
  'onnx/model_quantized.onnx',
  'onnx/model_int8.onnx',
  'model_quantized.onnx',
  'onnx/model.onnx',
  'model.onnx',
] as const

/** Location of a model and its description in errors. */
export type ModelOrigin = {
  readonly folder: string
  /** As in "The file … of the embedding model is missing." */
  readonly description: string
  /** Advice for a missing or damaged file. */
  readonly remedy: string
  /** Whether checksums are required; user-made folders may lack them. */
  readonly checksumsRequired: boolean
}

export type ModelFile = {
  readonly file: string
  readonly bytes: Uint8Array
  readonly checksum: string
}

export type ModelFiles = {
  required(file: string): Promise<ModelFile>
  optional(file: string): Promise<ModelFile | null>
  /** The ONNX weights, whatever their file name. */
  weights(): Promise<ModelFile>
}

export type ModelConfigJson = { readonly [name: string]: unknown }

type Sums = ReadonlyMap<string, string>

export async function openModelFiles(origin: ModelOrigin): Promise<ModelFiles> {
  const sums = await readSums(origin)

  async function optional(file: string): Promise<ModelFile | null> {
    const bytes = await readIfThere(origin, file)
    const expected = sums?.get(file)
    if (bytes === null) {
      if (expected !== undefined) throw createMissingFileError(origin, file)
      return null
    }
    const sum = sha256(bytes)
    if (sums !== null && sum !== expected) {
      throw createDamagedFileError(origin, file, `does not match ${CHECKSUM_FILE}`)
    }
    return { file, bytes, checksum: sum }
  }

  return {
    optional,
    async required(file) {
      const found = await optional(file)
      if (found === null) throw createMissingFileError(origin, file)
      return found
    },
    async weights() {
      for (const file of MODEL_FILES) {
        const found = await optional(file)
        if (found !== null) return found
      }
      throw createMissingFileError(origin, MODEL_FILES[0])
    },
  }
}

/** Null without a checksum file. */
async function readSums(origin: ModelOrigin): Promise<Sums | null> {
  const bytes = await readIfThere(origin, CHECKSUM_FILE)
  if (bytes === null) {
    if (origin.checksumsRequired) throw createMissingFileError(origin, CHECKSUM_FILE)
    return null
  }
  const lines = Buffer.from(bytes).toString('utf8').split(/\r?\n/)
  const entries = lines.flatMap((line) => {
    const [, sum, file] = line.match(/^([0-9a-f]{64}) [ *](.+)$/) ?? []
    return sum === undefined || file === undefined ? [] : [[file, sum] as const]
  })
  if (entries.length === 0)
    throw createDamagedFileError(origin, CHECKSUM_FILE, 'contains no checksums')
  return new Map(entries)
}

async function readIfThere(origin: ModelOrigin, file: string): Promise<Uint8Array | null> {
  const path = join(origin.folder, file)
  try {
    return await readFile(path)
  } catch (cause) {
    const code = getSystemErrorCode(cause) || 'unknown'
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new AppError(
      'unavailable',
      `The file ${path} of the ${origin.description} could not be read (${code}).`,
      { path },
      cause,
    )
  }
}

export function parseJsonFile(origin: ModelOrigin, { file, bytes }: ModelFile): ModelConfigJson {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
    if (typeof value === 'object' && value !== null) return value as ModelConfigJson // an object or a list
  } catch {
    /* reported below */
  }
  throw createDamagedFileError(origin, file, 'is not valid JSON')
}

export function createDamagedFileError(
  { folder, description, remedy }: ModelOrigin,
  file: string,
  how: string,
) {
  const path = join(folder, file)
  const message = `The file ${path} of the ${description} is damaged: it ${how}. ${remedy}`
  return new AppError('damaged', message, { path })
}

export function createMissingFileError(
  { folder, description, remedy }: ModelOrigin,
  file: string,
): AppError {
  const path = join(folder, file)
  const message = `The file ${path} of the ${description} is missing. ${remedy}`
  return new AppError('missing_part', message, { path })
}
