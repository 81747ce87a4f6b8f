/** Batches of OpenAI, and of Voyage, which takes the model once per batch: upload a file, run, download a file. */

import { parseApiKey, parseBaseUrl } from '../../../domain/service-endpoint.ts'
import { AppError } from '../../../lib/errors.ts'
import {
  buildBearerHeader,
  type HttpEndpoint,
  postJson,
  requestJson,
} from '../../../lib/http-client.ts'
import { getField } from '../../../lib/json.ts'
import { toSendableText } from '../../../text/well-formed-text.ts'
import type { RemoteEmbedderOptions } from '../remote/http-embedder.ts'
import type { BatchItem, BatchLine, BatchState, EmbeddingBatches } from './embedding-batches.ts'
import { readJsonLines, toJsonLines } from './json-lines.ts'

const ENDPOINT = '/v1/embeddings'

type BatchDialect = {
  readonly source: string
  readonly baseUrl: string
  line(item: BatchItem): unknown
  /** Request parameters common to all lines. */
  readonly request: Readonly<Record<string, unknown>>
}

export function createOpenaiBatches(options: RemoteEmbedderOptions): EmbeddingBatches {
  const { model, dimensions } = options
  const wished = dimensions === undefined ? {} : { dimensions }
  return createBatches(options, {
    source: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    line: ({ id, text }) => ({
      custom_id: id,
      method: 'POST',
      url: ENDPOINT,
      body: { model, input: text, encoding_format: 'float', ...wished },
    }),
    request: { completion_window: '24h' },
  })
}

export function createVoyageBatches(options: RemoteEmbedderOptions): EmbeddingBatches {
  const { model, dimensions } = options
  const wished = dimensions === undefined ? {} : { output_dimension: dimensions }
  return createBatches(options, {
    source: 'voyage',
    baseUrl: 'https://api.voyageai.com/v1',
    line: ({ id, text }) => ({ custom_id: id, body: { input: [text] } }),
    request: {
      completion_window: '12h',
      request_params: { model, input_type: 'document', ...wished },
    },
  })
}

function createBatches(options: RemoteEmbedderOptions, dialect: BatchDialect): EmbeddingBatches {
  const source = options.source ?? dialect.source
  const base = parseBaseUrl(options.baseUrl ?? dialect.baseUrl, source)
  const secret = parseApiKey(options.apiKey, source)
  const headers = buildBearerHeader(parseApiKey(options.apiKey, source))
  const at = (...parts: readonly string[]): HttpEndpoint => ({
    ...{ serviceName: source, secret, headers },
    url: [base, ...parts.map(encodeURIComponent)].join('/'),
  })

  async function upload(items: readonly BatchItem[], signal: AbortSignal | undefined) {
    const lines = items.map(({ id, text }) => dialect.line({ id, text: toSendableText(text) }))
    const form = new FormData()
    form.append('purpose', 'batch')
    form.append('file', toJsonLines(lines), 'texts.jsonl')
    const answer = await requestJson(at('files'), { method: 'POST', body: form }, signal)
    return getString(answer, source)
  }

  return {
    source,
    submit: async (items, signal) => {
      const file = await upload(items, signal)
      const request = { input_file_id: file, endpoint: ENDPOINT, ...dialect.request }
      return getString(await postJson(at('batches'), request, signal), source)
    },
    poll: async (batch, signal) => {
      const answer = await requestJson(at('batches', batch), { method: 'GET' }, signal)
      return stateOf(source, answer, (file, take, stop) =>
        readJsonLines(at('files', file, 'content'), (line) => take(toLine(line)), stop),
      )
    },
    cancel: async (batch, signal) => {
      await requestJson(at('batches', batch, 'cancel'), { method: 'POST' }, signal)
    },
    discard: async (files, signal) => {
      for (const file of files) await requestJson(at('files', file), { method: 'DELETE' }, signal)
    },
  }
}

type Download = (
  file: string,
  take: (line: BatchLine) => Promise<void>,
  signal: AbortSignal | undefined,
) => Promise<void>

const ENDS: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled'])

function stateOf(source: string, answer: unknown, download: Download): BatchState {
  const status = getField(answer, 'status')
  const counts = getField(answer, 'request_counts')
  if (!ENDS.has(status))
    return { kind: 'running', done: Number(getField(counts, 'completed') ?? 0) }
  const output = getText(answer, 'output_file_id')
  const failed = Number(getField(counts, 'failed') ?? 0)
  return {
    kind: 'ended',
    failure:
      status !== 'completed'
        ? `The batch at ${source} has ${status === 'failed' ? 'failed' : `ended as ${status}`}.`
        : failed > 0
          ? `${source} failed to embed ${failed} texts of a batch.`
          : null,
    results: async (take, signal) => {
      if (output !== null) await download(output, take, signal)
    },
    files: ['input_file_id', 'output_file_id', 'error_file_id'].flatMap(
      (name) => getText(answer, name) ?? [],
    ),
  }
}

function toLine(line: unknown): BatchLine {
  const response = getField(line, 'response')
  const data = getField(getField(response, 'body'), 'data')
  const isGood =
    getField(line, 'error') == null && (getField(response, 'status_code') ?? 200) === 200
  const [first]: readonly unknown[] = isGood && Array.isArray(data) ? data : []
  return { id: String(getField(line, 'custom_id')), vector: getField(first, 'embedding') }
}

function getString(answer: unknown, source: string): string {
  const name = getText(answer, 'id')
  if (name !== null) return name
  throw new AppError('unavailable', `${source} answered without a name for what it took.`)
}

function getText(answer: unknown, name: string): string | null {
  const value = getField(answer, name)
  return typeof value === 'string' && value !== '' ? value : null
}
