/** Voyage AI. The answer is OpenAI's, the question is not. */

import { bearer } from '../../../lib/http-client.ts'
import { field, fieldOfEach } from '../../../lib/json.ts'
import type { RawSource } from '../embedding-validation.ts'
import { type RemoteOptions, remoteSource } from './http-embedder.ts'
import { inOrder } from './openai-compatible-embedder.ts'

export function voyage(options: RemoteOptions): RawSource {
  const { model, dimensions } = options
  return remoteSource(options, {
    source: 'voyage',
    baseUrl: 'https://api.voyageai.com/v1',
    path: '/embeddings',
    headers: bearer(options, options.source ?? 'voyage'),
    body: (input, purpose) => ({
      model,
      input,
      input_type: purpose,
      ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
    }),
    vectors: (answer) => fieldOfEach(inOrder(field(answer, 'data')), 'embedding'),
  })
}
