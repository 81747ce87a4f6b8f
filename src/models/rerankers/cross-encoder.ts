/** A loaded cross-encoder: scores question and text together. */
import { AppError } from '../../lib/errors.ts'
import {
  type ModelConfigJson,
  type ModelOrigin,
  openModelFiles,
  parseJsonFile,
  TOKENIZER_FILE,
} from '../runtime/model-files.ts'
import { type OnnxInput, type OnnxModel, openOnnxModel } from '../runtime/onnx-runtime.ts'
import { openTokenizer, withTokenizerErrors } from '../runtime/tokenizer.ts'
import { createPairEncoder } from './pair-encoding.ts'
import type { CrossEncoderRequest, TextPair } from './reranker-worker-protocol.ts'

export type CrossEncoder = { score(pair: TextPair): Promise<number> }

/** Default number of token types, as in BERT. */
const TYPES = 2
const SHORTEST_LIMIT = 8

export async function openCrossEncoder(request: CrossEncoderRequest): Promise<CrossEncoder> {
  const origin: ModelOrigin = {
    folder: request.folder,
    description: 'reranking model',
    remedy: 'Restore it.',
    checksumsRequired: false,
  }
  const files = await openModelFiles(origin)
  const json = async (file: string) => parseJsonFile(origin, await files.required(file))
  const config = await json('config.json')
  const tokenizerJson = await json(TOKENIZER_FILE)
  const found = await files.optional('tokenizer_config.json')
  const tokenizerConfig = found === null ? undefined : parseJsonFile(origin, found)
  const weights = await files.weights()

  const tokenizer = openTokenizer(origin, tokenizerJson, tokenizerConfig)
  const limits = {
    tokensMax: tokensMaxOf(request.tokensMax, config, tokenizerConfig),
    types: wholeOr(TYPES, config.type_vocab_size),
  }
  const pairing = withTokenizerErrors(origin, () => createPairEncoder(tokenizer, limits))
  const network = await openOnnxModel(origin, weights, request.runtime, request.threads, 'logits')
  const score = async (pair: TextPair) => scoreOf(await run(network, pairing(pair)))

  // A probe: only the output shows whether the model is a reranker.
  await score({ question: '', text: '' })
  return { score }
}

function tokensMaxOf(
  wanted: number,
  config: ModelConfigJson,
  tokenizerConfig: ModelConfigJson | undefined,
): number {
  const limits = [config.max_position_embeddings, tokenizerConfig?.model_max_length].filter(
    (limit): limit is number => typeof limit === 'number' && limit >= SHORTEST_LIMIT,
  )
  return Math.min(wanted, ...limits)
}

function wholeOr(usual: number, value: unknown): number {
  return Number.isInteger(value) && (value as number) > 0 ? (value as number) : usual // it is a number
}

async function run(network: OnnxModel, input: OnnxInput): Promise<Float32Array> {
  try {
    return (await network.run(input)).data
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw new AppError('unavailable', `The reranking model failed (${why}).`, {}, thrown)
  }
}

/** One number is the score; of two, the first speaks against and the second for the text. */
function scoreOf(logits: Float32Array): number {
  const [first, second] = logits
  if (logits.length === 1 && first !== undefined) return first
  if (logits.length === 2 && first !== undefined && second !== undefined) return second - first
  throw new AppError(
    'invalid_input',
    `The model can’t rerank: it returns ${logits.length} numbers for a pair, not one or two.`,
    { numbers: logits.length },
  )
}
