/** Cohere, API version 2. */

import { parseApiKey } from '../../../domain/service-endpoint.ts'
import { buildBearerHeader } from '../../../lib/http-client.ts'
import { getField } from '../../../lib/json.ts'
import type { EmbeddingSource } from '../embedding-validation.ts'
import { createHttpEmbeddingSource, type RemoteEmbedderOptions } from './http-embedder.ts'

const INPUT_TYPES = { query: 'search_query', document: 'search_document' } as const

export function createCohereEmbedder(options: RemoteEmbedderOptions): EmbeddingSource {
  const { model, dimensions } = options
  return createHttpEmbeddingSource(options, {
    source: 'cohere',
    baseUrl: 'https://api.cohere.com/v2',
    path: '/embed',
    headers: buildBearerHeader(parseApiKey(options.apiKey, options.source ?? 'cohere')),
    buildRequestBody: (texts, purpose) => ({
      model,
      texts,
      input_type: INPUT_TYPES[purpose],
      embedding_types: ['float'],
      truncate: 'END',
      ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
    }),
    parseVectors: (answer) => getField(getField(answer, 'embeddings'), 'float'),
  })
}
