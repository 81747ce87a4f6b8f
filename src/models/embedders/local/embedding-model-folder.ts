/** Reads and verifies the files of an embedding model. */
import { createHash } from 'node:crypto'
import {
  type ModelConfigJson,
  type ModelFile,
  type ModelOrigin,
  openModelFiles,
  parseJsonFile,
  TOKENIZER_FILE,
} from '../../runtime/model-files.ts'
import type { ModelLocation } from './embedder-worker-protocol.ts'

export const OPTIONAL_FILES = [
  'tokenizer_config.json',
  'config.json',
  '1_Pooling/config.json',
  'config_sentence_transformers.json',
] as const
export type OptionalFile = (typeof OPTIONAL_FILES)[number]

export type ModelFolder = {
  readonly weights: Pick<ModelFile, 'file' | 'bytes'>
  readonly tokenizer: ModelConfigJson
  readonly configs: ReadonlyMap<OptionalFile, ModelConfigJson>
  /** Hash of every file that affects vectors. */
  readonly digest: string
}

const REMEDIES: Readonly<Record<ModelLocation['kind'], string>> = {
  shipped: 'Choose a model that ships with Recollect, or reinstall Recollect.',
  folder: 'Restore it.',
  hub: 'Remove its folder to download it again.',
}

export function toModelOrigin({ kind, folder }: ModelLocation): ModelOrigin {
  return {
    folder,
    description: 'embedding model',
    remedy: REMEDIES[kind],
    checksumsRequired: kind === 'shipped',
  }
}

export async function readModelFolder(place: ModelLocation): Promise<ModelFolder> {
  const origin = toModelOrigin(place)
  const files = await openModelFiles(origin)
  const tokenizer = await files.required(TOKENIZER_FILE)
  const weights = await files.weights()
  const configs = new Map<OptionalFile, ModelConfigJson>()
  const digest = createHash('sha256').update(tokenizer.checksum).update(weights.checksum)
  for (const file of OPTIONAL_FILES) {
    const found = await files.optional(file)
    if (found === null) continue
    configs.set(file, parseJsonFile(origin, found))
    digest.update(found.checksum)
  }
  return {
    weights,
    tokenizer: parseJsonFile(origin, tokenizer),
    configs,
    digest: digest.digest('hex'),
  }
}
