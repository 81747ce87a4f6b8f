/** Cohere, in the second version of its interface. */

import { bearer } from '../../../lib/http-client.ts'
import { field } from '../../../lib/json.ts'
import type { RawSource } from '../embedding-validation.ts'
import { type RemoteOptions, remoteSource } from './http-embedder.ts'

const INPUT_TYPES = { query: 'search_query', document: 'search_document' } as const

export function cohere(options: RemoteOptions): RawSource {
  const { model, dimensions } = options
  return remoteSource(options, {
    source: 'cohere',
    baseUrl: 'https://api.cohere.com/v2',
    path: '/embed',
    headers: bearer(options, options.source ?? 'cohere'),
    body: (texts, purpose) => ({
      model,
      texts,
      input_type: INPUT_TYPES[purpose],
      embedding_types: ['float'],
      truncate: 'END',
      ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
    }),
    vectors: (answer) => field(field(answer, 'embeddings'), 'float'),
  })
}
