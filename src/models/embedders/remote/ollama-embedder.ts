/** Ollama on one's own machine or network. */

import { bearer } from '../../../lib/http-client.ts'
import { field } from '../../../lib/json.ts'
import type { RawSource } from '../embedding-validation.ts'
import { type RemoteOptions, remoteSource } from './http-embedder.ts'

export function ollama(options: RemoteOptions): RawSource {
  const { model, dimensions } = options
  return remoteSource(options, {
    source: 'ollama',
    // Not `localhost`, which may mean an address of the other family where nothing listens.
    baseUrl: 'http://127.0.0.1:11434',
    path: '/api/embed',
    headers: bearer(options, options.source ?? 'ollama'),
    body: (input) => ({
      model,
      input,
      truncate: true,
      ...(dimensions === undefined ? {} : { dimensions }),
    }),
    vectors: (answer) => field(answer, 'embeddings'),
  })
}
