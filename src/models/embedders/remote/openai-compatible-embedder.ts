/** OpenAI's embeddings, and everyone who speaks the same protocol: LM Studio, vLLM, Mistral, OpenRouter and others. */

import { bearer } from '../../../lib/http-client.ts'
import { field, fieldOfEach } from '../../../lib/json.ts'
import type { RawSource } from '../embedding-validation.ts'
import { type RemoteOptions, remoteSource } from './http-embedder.ts'

export type OpenaiOptions = RemoteOptions & {
  /** What the wished-for dimensions are called: Mistral has a name of its own. */
  readonly dimensionsField?: 'dimensions' | 'output_dimension'
}

export function openaiCompatible(options: OpenaiOptions): RawSource {
  const { model, dimensions, dimensionsField = 'dimensions' } = options
  return remoteSource(options, {
    source: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    path: '/embeddings',
    headers: bearer(options, options.source ?? 'openai'),
    body: (input) => ({
      model,
      input,
      encoding_format: 'float',
      ...(dimensions === undefined ? {} : { [dimensionsField]: dimensions }),
    }),
    vectors: (answer) => fieldOfEach(inOrder(field(answer, 'data')), 'embedding'),
  })
}

/** Vectors carry the index of their text; some servers answer out of order. */
export function inOrder(data: unknown): unknown {
  if (!Array.isArray(data)) return undefined
  const indexes = data.map((item) => field(item, 'index'))
  const isNumbered = indexes.every((index) => typeof index === 'number')
  if (!isNumbered || new Set(indexes).size !== data.length) return data
  return [...data].sort((a, b) => Number(field(a, 'index')) - Number(field(b, 'index')))
}
