/** OpenAI and compatible services: LM Studio, vLLM, Mistral, OpenRouter and others. */

import { parseApiKey } from '../../../domain/service-endpoint.ts'
import { buildBearerHeader } from '../../../lib/http-client.ts'
import { getField, pluckField } from '../../../lib/json.ts'
import type { EmbeddingSource } from '../embedding-validation.ts'
import { createHttpEmbeddingSource, type RemoteEmbedderOptions } from './http-embedder.ts'

export type OpenaiCompatibleOptions = RemoteEmbedderOptions & {
  /** Name of the dimensions field: Mistral has its own. */
  readonly dimensionsField?: 'dimensions' | 'output_dimension'
}

export function createOpenaiCompatibleEmbedder(options: OpenaiCompatibleOptions): EmbeddingSource {
  const { model, dimensions, dimensionsField = 'dimensions' } = options
  return createHttpEmbeddingSource(options, {
    source: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    path: '/embeddings',
    headers: buildBearerHeader(parseApiKey(options.apiKey, options.source ?? 'openai')),
    buildRequestBody: (input) => ({
      model,
      input,
      encoding_format: 'float',
      ...(dimensions === undefined ? {} : { [dimensionsField]: dimensions }),
    }),
    parseVectors: (answer) => pluckField(sortByIndex(getField(answer, 'data')), 'embedding'),
  })
}

/** Vectors carry the index of their text; some servers respond out of order. */
export function sortByIndex(data: unknown): unknown {
  if (!Array.isArray(data)) return undefined
  const indexes = data.map((item) => getField(item, 'index'))
  const isNumbered = indexes.every((index) => typeof index === 'number')
  if (!isNumbered || new Set(indexes).size !== data.length) return data
  return [...data].sort((a, b) => Number(getField(a, 'index')) - Number(getField(b, 'index')))
}
