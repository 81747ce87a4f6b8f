/**
 * Remote reranker with the API that Cohere, Jina, Voyage AI, vLLM and LiteLLM share.
 *
 * One attempt with a short timeout: recall prefers its own order to a longer wait.
 */

import { parseIntegerOption } from '../../domain/field-parsers.ts'
import { parseApiKey, parseBaseUrl } from '../../domain/service-endpoint.ts'
import { throwIfAborted } from '../../lib/abort.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { buildBearerHeader, type HttpEndpoint, postJson } from '../../lib/http-client.ts'
import { getField } from '../../lib/json.ts'
import { runWithTimeout } from '../../lib/timeout.ts'
import { toSendableText, truncateText } from '../../text/well-formed-text.ts'
import type { Reranker } from '../reranker.ts'

export type RemoteRerankerOptions = {
  /** With or without a trailing `/v1`; include other versions. */
  readonly url: string
  readonly model: string
  /** Sent only to the service; appears in no error. */
  readonly apiKey?: string
  readonly timeoutMs?: number
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch
}

type Scores = Awaited<ReturnType<Reranker['rerank']>>

const SOURCE = 'The reranker'
const TIMEOUT_MS = 5_000
const TIMEOUT_MS_MAX = 2 ** 31 - 1

/** Some services echo the texts. */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024

/** More than most rerankers read, yet small enough for the timeout. */
const TEXT_UNITS_MAX = 8_000

/** Voyage AI names the limit differently and rejects unknown fields. */
const HOSTS_OF_VOYAGE: readonly string[] = ['api.voyageai.com', 'ai.mongodb.com']

export function openRemoteReranker(options: RemoteRerankerOptions): Reranker {
  const model = parseModel(options.model)
  const timeoutMs = parseIntegerOption(
    'timeoutMs',
    options.timeoutMs ?? TIMEOUT_MS,
    1,
    TIMEOUT_MS_MAX,
  )
  const sender = senderOf(options)
  const limitField = HOSTS_OF_VOYAGE.includes(new URL(sender.url).host) ? 'top_k' : 'top_n'
  const closing = new AbortController()

  return {
    name: model,

    async rerank(question, texts, signal) {
      throwIfAborted(signal)
      if (closing.signal.aborted) throw new AppError('unavailable', 'The reranker is closed.')
      if (texts.length === 0) return []
      const body = {
        model,
        query: toBoundedText(question),
        documents: texts.map(toBoundedText),
        [limitField]: texts.length,
      }
      const post = (stop: AbortSignal) => postJson(sender, body, stop)
      const options = { onTimeout: () => tooSlow(timeoutMs), signals: [signal, closing.signal] }
      const answer = await runWithTimeout(timeoutMs, post, options).catch((thrown: unknown) => {
        throw toRerankError(toAppError(thrown))
      })
      return parseScores(answer, texts.length)
    },

    close: async () => closing.abort(),
  }
}

function senderOf(options: RemoteRerankerOptions): HttpEndpoint {
  const key = parseApiKey(options.apiKey, 'the reranker')
  return {
    serviceName: SOURCE,
    url: addressOf(parseBaseUrl(options.url, 'the reranker')),
    headers: buildBearerHeader(key),
    secret: key,
    responseBytesMax: RESPONSE_BYTES_MAX,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  }
}

function addressOf(base: string): string {
  return /\/v\d+$/.test(base) ? `${base}/rerank` : `${base}/v1/rerank`
}

function parseModel(model: string): string {
  if (model.trim() !== '') return model
  throw new AppError('invalid_input', 'The reranker requires a model name.')
}

function toBoundedText(text: string): string {
  return toSendableText(truncateText(text, TEXT_UNITS_MAX))
}

function tooSlow(timeoutMs: number): AppError {
  const message = `The reranker did not answer within ${timeoutMs} ms.`
  return new AppError('unavailable', message, { timeoutMs })
}

/** A rejection by the service is not the caller's fault. */
function toRerankError(error: AppError): AppError {
  return error.code === 'cancelled'
    ? error
    : new AppError('unavailable', error.message, error.facts)
}

/** Invalid scores are left out. */
function parseScores(answer: unknown, texts: number): Scores {
  const results = getField(answer, 'results') ?? getField(answer, 'data')
  if (!Array.isArray(results)) {
    throw new AppError('unavailable', 'The reranker sent an unexpected response.')
  }
  const scores = new Map<number, number>()
  for (const result of results) {
    const index = getField(result, 'index')
    const score = getField(result, 'relevance_score')
    if (!isPosition(index, texts) || !Number.isFinite(score) || scores.has(index)) continue
    scores.set(index, score as number) // it is finite
  }
  return [...scores].map(([index, score]) => ({ index, score }))
}

function isPosition(value: unknown, count: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < count // it is a number
}
