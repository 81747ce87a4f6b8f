/** A loaded embedding model: tokenizer, ONNX model and pooling. */
import { AppError } from '../../../lib/errors.ts'
import { isEnglish } from '../../../text/language.ts'
import type { EmbeddingPurpose } from '../../embedder.ts'
import type { ModelConfigJson } from '../../runtime/model-files.ts'
import { type OnnxModel, openOnnxModel } from '../../runtime/onnx-runtime.ts'
import { openTokenizer } from '../../runtime/tokenizer.ts'
import type { LoadedModel, ModelLocation, ModelRequest } from './embedder-worker-protocol.ts'
import { type ModelFolder, readModelFolder, toModelOrigin } from './embedding-model-folder.ts'
import { DEFAULT_TOKENS_MAX, TOKENS_MIN } from './local-embedder-options.ts'
import { downloadModel } from './model-download.ts'
import { parsePooling, poolOutput } from './pooling.ts'

export type OnnxEmbeddingModel = {
  readonly opened: LoadedModel
  embed(text: string, purpose: EmbeddingPurpose): Promise<Float32Array>
}

const DIGEST_CHARACTERS = 12

/** A model for other languages is loaded with the first such text, so that English alone never pays for it. */
export async function openEmbeddingModel(request: ModelRequest): Promise<OnnxEmbeddingModel> {
  const { location } = request
  const base = await openSingleModel(request)
  if (location.kind !== 'shipped' || location.multilingualFolder === null) return base
  const folder = location.multilingualFolder
  let multilingual: Promise<OnnxEmbeddingModel> | null = null
  const open = () =>
    openSingleModel({ ...request, location: { ...location, folder } }).catch((error: unknown) => {
      multilingual = null
      throw error
    })
  return {
    opened: base.opened,
    embed: async (text, purpose) => {
      if (isEnglish(text)) return base.embed(text, purpose)
      multilingual ??= open()
      return (await multilingual).embed(text, purpose)
    },
  }
}

async function openSingleModel(request: ModelRequest): Promise<OnnxEmbeddingModel> {
  const { location: place } = request
  if (place.kind === 'hub') await downloadModel(place)
  const folder = await readModelFolder(place)
  const tokensMax = readTokensMax(folder, request.tokensMax)
  const tokenize = createTokenizerFunction(place, folder, tokensMax)
  const pooling = parsePooling(folder.configs.get('1_Pooling/config.json'))
  const prompts = readPrompts(folder.configs.get('config_sentence_transformers.json'))
  const runtime = await openRuntime(request, folder)

  const embed = async (text: string, purpose: EmbeddingPurpose) =>
    poolOutput(await runtime.run({ ids: tokenize(prompts[purpose] + text) }), pooling)
  return {
    embed,
    opened: {
      model: buildModelIdentity(place, folder),
      dimensions: (await embed('', 'document')).length,
      runtime: runtime.name,
      threads: runtime.threads,
      tokensMax,
      nativeRuntimeError: runtime.notNativeBecause,
    },
  }
}

/**
 * Vectors of different weights must never be mixed. Only shipped models are identified by name alone; in other folders
 * the files may be replaced under the same name, so a digest is appended.
 */
function buildModelIdentity(place: ModelLocation, folder: ModelFolder): string {
  if (place.kind === 'shipped') return place.name
  return `${place.name}@${folder.digest.slice(0, DIGEST_CHARACTERS)}`
}

function openRuntime(request: ModelRequest, folder: ModelFolder): Promise<OnnxModel> {
  const { location: place, runtime, threads } = request
  return openOnnxModel(toModelOrigin(place), folder.weights, runtime, threads, 'last_hidden_state')
}

function createTokenizerFunction(place: ModelLocation, folder: ModelFolder, tokensMax: number) {
  const config = folder.configs.get('tokenizer_config.json')
  const tokenizer = openTokenizer(toModelOrigin(place), folder.tokenizer, config)
  const frame = tokenizer.encode('').ids
  const hasEnd = frame.length > 1
  return (text: string): readonly number[] => {
    const { ids } = tokenizer.encode(text)
    if (ids.length === 0) return [0] // no special tokens, and a text without tokens
    if (ids.length <= tokensMax) return ids
    const end = hasEnd ? ids.slice(-1) : []
    return [...ids.slice(0, tokensMax - end.length), ...end]
  }
}

function readTokensMax(folder: ModelFolder, wanted: number | null): number {
  const limits = [
    folder.configs.get('config.json')?.max_position_embeddings,
    folder.configs.get('tokenizer_config.json')?.model_max_length,
  ].filter((limit): limit is number => typeof limit === 'number' && limit >= TOKENS_MIN)
  const modelMax = Math.min(...limits)
  if (wanted !== null && wanted > modelMax) {
    throw new AppError(
      'invalid_input',
      `tokensMax is ${wanted}, and the model reads at most ${modelMax} tokens.`,
      { tokensMax: wanted, modelMax },
    )
  }
  return wanted ?? Math.min(DEFAULT_TOKENS_MAX, modelMax)
}

/** Prompts that some models expect before queries or documents. */
function readPrompts(
  config: ModelConfigJson | undefined,
): Readonly<Record<EmbeddingPurpose, string>> {
  const prompts = (config?.prompts ?? {}) as ModelConfigJson // checked one by one below
  const first = (...names: readonly string[]) =>
    names.map((name) => prompts[name]).find((prompt) => typeof prompt === 'string') ?? ''
  return { query: first('query'), document: first('document', 'passage') }
}
