/** Google Gemini. The key goes into a header, because URLs end up in logs. */

import { parseApiKey } from '../../../domain/service-endpoint.ts'
import { getField, pluckField } from '../../../lib/json.ts'
import type { EmbeddingPurpose } from '../../embedder.ts'
import type { EmbeddingSource } from '../embedding-validation.ts'
import { createHttpEmbeddingSource, type RemoteEmbedderOptions } from './http-embedder.ts'

const TASK_TYPES = { query: 'RETRIEVAL_QUERY', document: 'RETRIEVAL_DOCUMENT' } as const
/** Since the second generation, models take the purpose in the text and silently ignore the task type. */
const TASK_PREFIXES = { query: 'task: search result | query: ', document: 'title: none | text: ' }
const FIRST_GENERATION =
  /^(?:gemini-embedding-001|gemini-embedding-exp.*|text-embedding-.*|embedding-.*)$/

/** Request body of one text, alone or in a batch. */
export function createGeminiRequestBuilder({ model, dimensions }: RemoteEmbedderOptions) {
  const resource = model.startsWith('models/') ? model : `models/${model}`
  const takesTaskType = FIRST_GENERATION.test(resource.slice('models/'.length))
  return {
    resource,
    request: (text: string, purpose: EmbeddingPurpose) => ({
      model: resource,
      content: { parts: [{ text: takesTaskType ? text : TASK_PREFIXES[purpose] + text }] },
      ...(takesTaskType ? { taskType: TASK_TYPES[purpose] } : {}),
      ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
    }),
  }
}

export function createGeminiEmbedder(options: RemoteEmbedderOptions): EmbeddingSource {
  const { resource, request } = createGeminiRequestBuilder(options)
  const key = parseApiKey(options.apiKey, options.source ?? 'gemini')
  return createHttpEmbeddingSource(options, {
    source: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    path: `/${encodeURI(resource)}:batchEmbedContents`,
    headers: key === undefined ? {} : { 'x-goog-api-key': key },
    buildRequestBody: (texts, purpose) => ({
      requests: texts.map((text) => request(text, purpose)),
    }),
    parseVectors: (answer) => pluckField(getField(answer, 'embeddings'), 'values'),
  })
}
