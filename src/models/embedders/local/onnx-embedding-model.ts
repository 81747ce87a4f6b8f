/** A model in memory: its tokenizer, its network and how its output becomes a vector. */
import { AppError } from '../../../domain/errors.ts'
import type { EmbedPurpose } from '../../embedder.ts'
import type { JsonObject } from '../../runtime/model-files.ts'
import { type Network, openNetwork } from '../../runtime/onnx-runtime.ts'
import { openTokenizer } from '../../runtime/tokenizer.ts'
import type { ModelPlace, ModelRequest, OpenedModel } from './embedder-worker-protocol.ts'
import { type ModelFolder, originOf, readModelFolder } from './embedding-model-folder.ts'
import { DEFAULT_TOKENS_MAX, TOKENS_MIN } from './local-embedder-options.ts'
import { downloadModel } from './model-download.ts'
import { pooled, poolingOf } from './pooling.ts'

export type LocalModel = {
  readonly opened: OpenedModel
  embed(text: string, purpose: EmbedPurpose): Promise<Float32Array>
}

const DIGEST_CHARACTERS = 12

export async function openModel(request: ModelRequest): Promise<LocalModel> {
  const { place } = request
  if (place.kind === 'hub') await downloadModel(place)
  const folder = await readModelFolder(place)
  const tokensMax = tokensMaxOf(folder, request.tokensMax)
  const tokenize = createTokenizing(place, folder, tokensMax)
  const pooling = poolingOf(folder.configs.get('1_Pooling/config.json'))
  const prompts = promptsOf(folder.configs.get('config_sentence_transformers.json'))
  const runtime = await openRuntime(request, folder)

  const embed = async (text: string, purpose: EmbedPurpose) =>
    pooled(await runtime.run({ ids: tokenize(prompts[purpose] + text) }), pooling)
  return {
    embed,
    opened: {
      model: identityOf(place, folder),
      dimensions: (await embed('', 'document')).length,
      runtime: runtime.name,
      threads: runtime.threads,
      tokensMax,
      notNativeBecause: runtime.notNativeBecause,
    },
  }
}

/**
 * Vectors of different weights must never meet, and only what comes with the package is known by its name: elsewhere
 * the files may be exchanged under the same one.
 */
function identityOf(place: ModelPlace, folder: ModelFolder): string {
  if (place.kind === 'shipped') return place.name
  return `${place.name}@${folder.digest.slice(0, DIGEST_CHARACTERS)}`
}

function openRuntime(request: ModelRequest, folder: ModelFolder): Promise<Network> {
  const { place, runtime, threads } = request
  return openNetwork(originOf(place), folder.weights, runtime, threads, 'last_hidden_state')
}

function createTokenizing(place: ModelPlace, folder: ModelFolder, tokensMax: number) {
  const config = folder.configs.get('tokenizer_config.json')
  const tokenizer = openTokenizer(originOf(place), folder.tokenizer, config)
  const frame = tokenizer.encode('').ids
  const hasEnd = frame.length > 1
  return (text: string): readonly number[] => {
    const { ids } = tokenizer.encode(text)
    if (ids.length === 0) return [0] // a tokenizer without markers, and a text without tokens
    if (ids.length <= tokensMax) return ids
    const end = hasEnd ? ids.slice(-1) : []
    return [...ids.slice(0, tokensMax - end.length), ...end]
  }
}

function tokensMaxOf(folder: ModelFolder, wanted: number | null): number {
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

/** Words that some models want before a text, so that they know whether it asks or answers. */
function promptsOf(config: JsonObject | undefined): Readonly<Record<EmbedPurpose, string>> {
  const prompts = (config?.prompts ?? {}) as JsonObject // checked below, one by one
  const first = (...names: readonly string[]) =>
    names.map((name) => prompts[name]).find((prompt) => typeof prompt === 'string') ?? ''
  return { query: first('query'), document: first('document', 'passage') }
}
