/** Voyage AI. The response has OpenAI's format, the request does not. */

import { parseApiKey } from '../../../domain/service-endpoint.ts'
import { buildBearerHeader } from '../../../lib/http-client.ts'
import { getField, pluckField } from '../../../lib/json.ts'
import type { EmbeddingSource } from '../embedding-validation.ts'
import { createHttpEmbeddingSource, type RemoteEmbedderOptions } from './http-embedder.ts'
import { sortByIndex } from './openai-compatible-embedder.ts'

export function createVoyageEmbedder(options: RemoteEmbedderOptions): EmbeddingSource {
  const { model, dimensions } = options
  return createHttpEmbeddingSource(options, {
    source: 'voyage',
    baseUrl: 'https://api.voyageai.com/v1',
    path: '/embeddings',
    headers: buildBearerHeader(parseApiKey(options.apiKey, options.source ?? 'voyage')),
    buildRequestBody: (input, purpose) => ({
      model,
      input,
      input_type: purpose,
      ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
    }),
    parseVectors: (answer) => pluckField(sortByIndex(getField(answer, 'data')), 'embedding'),
  })
}
