/** Ollama. */

import { parseApiKey } from '../../../domain/service-endpoint.ts'
import { buildBearerHeader } from '../../../lib/http-client.ts'
import { getField } from '../../../lib/json.ts'
import type { EmbeddingSource } from '../embedding-validation.ts'
import { createHttpEmbeddingSource, type RemoteEmbedderOptions } from './http-embedder.ts'

export function createOllamaEmbedder(options: RemoteEmbedderOptions): EmbeddingSource {
  const { model, dimensions } = options
  return createHttpEmbeddingSource(options, {
    source: 'ollama',
    // Not `localhost`, which may resolve to the other address family.
    baseUrl: 'http://127.0.0.1:11434',
    path: '/api/embed',
    headers: buildBearerHeader(parseApiKey(options.apiKey, options.source ?? 'ollama')),
    buildRequestBody: (input) => ({
      model,
      input,
      truncate: true,
      ...(dimensions === undefined ? {} : { dimensions }),
    }),
    parseVectors: (answer) => getField(answer, 'embeddings'),
  })
}
