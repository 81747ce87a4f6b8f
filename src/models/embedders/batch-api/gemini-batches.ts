/** Google Gemini batches. Uploads are resumable: the first request returns the upload URL. */

import { parseApiKey, parseBaseUrl } from '../../../domain/service-endpoint.ts'
import { AppError } from '../../../lib/errors.ts'
import { type HttpEndpoint, postJson, requestJson, sendRequest } from '../../../lib/http-client.ts'
import { getField } from '../../../lib/json.ts'
import { toSendableText } from '../../../text/well-formed-text.ts'
import { createGeminiRequestBuilder } from '../remote/gemini-embedder.ts'
import type { RemoteEmbedderOptions } from '../remote/http-embedder.ts'
import type { BatchItem, BatchLine, BatchState, EmbeddingBatches } from './embedding-batches.ts'
import { readJsonLines, toJsonLines } from './json-lines.ts'

const BASE_URL = 'https://generativelanguage.googleapis.com/v1beta'
const FILE_NAME = /^files\/[\w-]+$/
const BATCH_NAME = /^batches\/[\w-]+$/

export function createGeminiBatches(options: RemoteEmbedderOptions): EmbeddingBatches {
  const source = options.source ?? 'gemini'
  const { resource, request } = createGeminiRequestBuilder(options)
  const secret = parseApiKey(options.apiKey, source)
  const base = parseBaseUrl(options.baseUrl ?? BASE_URL, source)
  // `https://host/v1beta`: upload and download paths precede the version.
  const version = base.slice(base.lastIndexOf('/') + 1)
  const host = base.slice(0, -version.length - 1)
  const own = secret === undefined ? {} : { 'x-goog-api-key': secret }
  const at = (url: string, headers: Readonly<Record<string, string>> = {}): HttpEndpoint => ({
    ...{ serviceName: source, secret, url },
    headers: { ...own, ...headers },
  })

  async function upload(items: readonly BatchItem[], signal: AbortSignal | undefined) {
    const lines = items.map(({ id, text }) => ({
      key: id,
      request: request(toSendableText(text), 'document'),
    }))
    const body = toJsonLines(lines)
    const place = await uploadAddress(body.size, signal)
    const headers = { 'x-goog-upload-offset': '0', 'x-goog-upload-command': 'upload, finalize' }
    const answer = await requestJson(at(place, headers), { method: 'POST', body }, signal)
    return expectName(getField(getField(answer, 'file') ?? answer, 'name'), FILE_NAME, source)
  }

  async function uploadAddress(bytes: number, signal: AbortSignal | undefined): Promise<string> {
    const headers = {
      'content-type': 'application/json',
      'x-goog-upload-protocol': 'resumable',
      'x-goog-upload-command': 'start',
      'x-goog-upload-header-content-length': String(bytes),
      'x-goog-upload-header-content-type': 'application/jsonl',
    }
    const body = JSON.stringify({ file: { display_name: 'texts' } })
    const sender = at(`${host}/upload/${version}/files`, headers)
    return sendRequest(sender, { method: 'POST', body }, signal, async (response) => {
      await response.body?.cancel()
      const place = response.headers.get('x-goog-upload-url') ?? ''
      // The key and the texts must not go to another host.
      if (URL.canParse(place) && new URL(place).origin === new URL(host).origin) return place
      throw new AppError('unavailable', `${source} named no address of its own to upload to.`)
    })
  }

  return {
    source,
    submit: async (items, signal) => {
      const fileName = await upload(items, signal)
      const batch = { displayName: 'texts', inputConfig: { fileName } }
      const url = `${base}/${encodeURI(resource)}:asyncBatchEmbedContent`
      const answer = await postJson(at(url), { batch }, signal)
      return expectName(getField(answer, 'name'), BATCH_NAME, source)
    },
    poll: async (batch, signal) => {
      const answer = await requestJson(at(`${base}/${named(batch)}`), { method: 'GET' }, signal)
      return stateOf(source, answer, (file, take, stop) => {
        const url = `${host}/download/${version}/${file}:download?alt=media`
        return readJsonLines(at(url), (line) => take(toLine(line)), stop)
      })
    },
    cancel: async (batch, signal) => {
      await requestJson(at(`${base}/${named(batch)}:cancel`), { method: 'POST' }, signal)
    },
    discard: async (files, signal) => {
      for (const file of files) {
        await requestJson(at(`${base}/${file}`), { method: 'DELETE' }, signal)
      }
    },
  }

  function named(batch: string): string {
    return expectName(batch, BATCH_NAME, source)
  }
}

type Download = (
  file: string,
  take: (line: BatchLine) => Promise<void>,
  signal: AbortSignal | undefined,
) => Promise<void>

const END = /_(SUCCEEDED|FAILED|CANCELLED|EXPIRED)$/

/** A batch is told as an operation, of which the batch itself is the metadata. */
function stateOf(source: string, answer: unknown, download: Download): BatchState {
  const about = getField(answer, 'metadata') ?? answer
  const [, end] = END.exec(String(getField(about, 'state') ?? '')) ?? []
  const isDone = getField(answer, 'done') === true || end !== undefined
  const stats = getField(about, 'batchStats')
  if (!isDone) {
    return { kind: 'running', done: Number(getField(stats, 'successfulRequestCount') ?? 0) }
  }
  const isGood = getField(answer, 'error') == null && (end ?? 'SUCCEEDED') === 'SUCCEEDED'
  const failed = Number(getField(stats, 'failedRequestCount') ?? 0)
  const output = [
    getField(answer, 'response'),
    getField(about, 'output'),
    getField(answer, 'output'),
  ]
    .map((place) => getField(place, 'responsesFile'))
    .find((name): name is string => typeof name === 'string' && FILE_NAME.test(name))
  const input = getField(getField(about, 'inputConfig'), 'fileName')
  return {
    kind: 'ended',
    failure: !isGood
      ? `The batch at ${source} has ended as ${(end ?? 'failed').toLowerCase()}.`
      : failed > 0
        ? `${source} failed to embed ${failed} texts of a batch.`
        : null,
    results: async (take, signal) => {
      if (output !== undefined) await download(output, take, signal)
    },
    files: [input, output].filter(
      (name): name is string => typeof name === 'string' && FILE_NAME.test(name),
    ),
  }
}

function toLine(line: unknown): BatchLine {
  const vector = getField(getField(getField(line, 'response'), 'embedding'), 'values')
  return {
    id: String(getField(line, 'key')),
    vector: getField(line, 'error') == null ? vector : undefined,
  }
}

/** Names become parts of addresses. */
function expectName(name: unknown, form: RegExp, source: string): string {
  if (typeof name === 'string' && form.test(name)) return name
  throw new AppError('unavailable', `${source} answered without a name for what it took.`)
}
