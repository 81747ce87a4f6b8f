/** Pools token embeddings into one vector. */
import { AppError } from '../../../lib/errors.ts'
import type { ModelConfigJson } from '../../runtime/model-files.ts'
import type { OnnxOutput } from '../../runtime/onnx-runtime.ts'

export type Pooling = 'mean' | 'cls'

/** Pooling declared in the sentence-transformers files; `mean` by default. */
export function parsePooling(config: ModelConfigJson | undefined): Pooling {
  if (config === undefined) return 'mean'
  const named = config.pooling_mode
  const modes = typeof named === 'string' ? [named] : modesOf(config)
  if (modes.length === 1 && (modes[0] === 'mean' || modes[0] === 'mean_tokens')) return 'mean'
  if (modes.length === 1 && (modes[0] === 'cls' || modes[0] === 'cls_token')) return 'cls'
  throw new AppError(
    'invalid_input',
    `The model uses an unsupported pooling (${modes.join(' and ') || 'none'}). Supported: mean, cls.`,
  )
}

function modesOf(config: ModelConfigJson): readonly string[] {
  const prefix = 'pooling_mode_'
  const chosen = Object.keys(config).filter((key) => key.startsWith(prefix) && config[key] === true)
  return chosen.map((key) => key.slice(prefix.length))
}

/** Models output one row per token, or one row per text when pooling is part of the model. */
export function poolOutput({ data, dims }: OnnxOutput, pooling: Pooling): Float32Array {
  const dimensions = dims.at(-1) ?? 0
  const rows = dims.length === 3 && pooling === 'mean' ? (dims[1] ?? 1) : 1
  const sums = new Float64Array(dimensions)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < dimensions; column++) {
      sums[column] = (sums[column] ?? 0) + (data[row * dimensions + column] ?? Number.NaN)
    }
  }
  return normalize(sums)
}

function normalize(sums: Float64Array): Float32Array {
  const length = Math.sqrt(sums.reduce((total, sum) => total + sum * sum, 0))
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) {
    throw new AppError('unavailable', 'The model returned a zero or non-finite vector.')
  }
  return Float32Array.from(sums, (sum) => sum / length)
}
