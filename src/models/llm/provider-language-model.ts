/**
 * Language models of the gateway's providers, over the same connections. Unsupported features, such as JSON mode, are
 * detected on the first rejection and remembered per model.
 */
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { createAbortedError, throwIfAborted } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { parseRetryAfter, readBodyUpTo } from '../../lib/http-client.ts'
import { getField, parseJson } from '../../lib/json.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import { retry, serviceRetryDelayMs, withJitter } from '../../lib/retry.ts'
import { estimateTokens } from '../../text/tokens.ts'
import type { Completion, CompletionRequest, LanguageModel } from '../language-model.ts'
import { routeModel } from '../model-routing.ts'
import type { ModelRoute, Provider, ProviderRegistry } from '../provider.ts'
import type { HeaderPairs, Upstream, UpstreamResponse } from '../upstream.ts'
import { type ParsedCompletion, type ProviderQuirks, selectDialect } from './completion-dialects.ts'
import {
  createInterruptedError,
  createInvalidResponseError,
  findHeader,
  toProviderError,
} from './completion-errors.ts'

export type LanguageModelDependencies = {
  readonly registry: ProviderRegistry
  readonly upstream: Upstream
  readonly clock: Clock
  /** 0 … 1, for the jitter of retries. */
  readonly random?: () => number
}

const ANSWER_BYTES_MAX = 8 * 1_048_576
/** Enough of an error body to classify it. */
const ERROR_BYTES_MAX = 64 * 1_024
const PAUSES_MS = [1_000, 4_000] as const
/** Longer requested pauses fail the call; the caller decides. */
const RETRY_AFTER_MS_MAX = 30_000
const MODELS_KNOWN_MAX = 1_000
const NO_QUIRKS: ProviderQuirks = { rejectsJsonMode: false, usesLegacyTokenLimit: false }

export function createProviderLanguageModel(parts: LanguageModelDependencies): LanguageModel {
  const { registry, upstream, clock, random = Math.random } = parts
  const known = new LruCache<string, ProviderQuirks>({ entriesMax: MODELS_KNOWN_MAX })

  /** Retries without the parameters that the response rejects by name. */
  async function ask(route: ModelRoute, request: CompletionRequest): Promise<ParsedCompletion> {
    const name = `${route.provider.name}/${route.model}`
    for (;;) {
      const quirks = known.get(name) ?? NO_QUIRKS
      const answer = await send(upstream, route, request, quirks)
      if (answer.kind === 'told') return answer.told
      const learned = detectQuirks(answer, quirks)
      if (learned === null) throw answer.error
      known.set(name, learned)
    }
  }

  /** Timeouts are not retried: a second attempt would time out too. */
  const delayMs = (error: unknown, count: number) => {
    const pauseMs = PAUSES_MS[count]
    if (pauseMs === undefined) return null
    return serviceRetryDelayMs(error, withJitter(pauseMs, random()), RETRY_AFTER_MS_MAX)
  }

  return {
    complete: async (request) => {
      throwIfAborted(request.signal)
      const route = routeModel(registry, 'chat', request.model)
      if (route.provider.kind === 'demo') {
        const message = 'The demo is not a language model. Choose a model of another provider.'
        throw new AppError('not_found', message, { provider: route.provider.name })
      }
      try {
        return toCompletion(
          request,
          await retry(() => ask(route, request), { clock, delayMs, signal: request.signal }),
        )
      } catch (thrown) {
        throw request.signal.aborted ? createAbortedError() : thrown
      }
    },
    providers: async () => ({
      providers: registry.providers
        .filter(({ kind }) => kind !== 'demo')
        .map(({ name, kind, key, aws, models }) => ({
          name,
          kind,
          hasKey: key !== null || aws !== undefined || kind === 'ollama',
          models: models.map(({ id }) => id),
        })),
      aliases: Object.keys(registry.aliases),
    }),
  }
}

function toCompletion({ messages }: CompletionRequest, told: ParsedCompletion): Completion {
  const { text, isTruncated: isCut, inputTokens: input, outputTokens: output } = told
  const asked = () => messages.reduce((sum, { content }) => sum + estimateTokens(content), 0)
  return {
    text,
    isTruncated: isCut,
    tokens: { input: input ?? asked(), output: output ?? estimateTokens(text) },
  }
}

type RejectedCall = {
  readonly kind: 'refused'
  readonly status: number
  readonly text: string
  readonly error: AppError
  readonly sent: object
}
type AnsweredCall = { readonly kind: 'told'; readonly told: ParsedCompletion } | RejectedCall

async function send(
  upstream: Upstream,
  { provider, model }: ModelRoute,
  request: CompletionRequest,
  quirks: ProviderQuirks,
): Promise<AnsweredCall> {
  const dialect = selectDialect(provider)
  const sent = dialect.buildRequestBody(provider, model, request, quirks)
  const response = await upstream.send({
    provider,
    method: 'POST',
    path: dialect.path,
    headers: dialect.headers,
    body: Buffer.from(JSON.stringify(sent)),
    signal: request.signal,
  })
  const { status, headers } = response
  if (status !== 200) {
    const text = (await readText(response, ERROR_BYTES_MAX).catch(() => null)) ?? ''
    const error = toProviderError(
      provider,
      status,
      parseJson(text),
      parseRetryAfter((name) => findHeader(headers, name)),
    )
    return { kind: 'refused', status, text, error, sent }
  }
  const text = await readText(response, ANSWER_BYTES_MAX).catch((thrown: unknown) => {
    throw thrown instanceof AppError ? thrown : createInterruptedError(provider)
  })
  if (text === null)
    throw createInvalidResponseError(provider, `more than ${ANSWER_BYTES_MAX} bytes`)
  return {
    kind: 'told',
    told: parseCompletion(provider, parseJson(text), dialect.parseResponse),
  }
}

function parseCompletion(
  provider: Provider,
  body: unknown,
  read: (body: unknown) => ParsedCompletion | null,
): ParsedCompletion {
  if (body === undefined) throw createInvalidResponseError(provider, 'something that is no JSON')
  const told = read(body)
  if (told === null) {
    // Some providers send errors with a success status.
    const status = getField(getField(body, 'error'), 'code')
    const isStatus = typeof status === 'number' && status >= 400 && status < 600
    if (isStatus) throw toProviderError(provider, status, body, null)
    throw createInvalidResponseError(provider, 'something that is no answer of a model')
  }
  if (told.isRefusal) {
    const facts = { provider: provider.name, reason: 'refusal' }
    throw new AppError('invalid_input', `The model of ${provider.name} declined to answer.`, facts)
  }
  if (told.text === '' && !told.isTruncated) throw createInvalidResponseError(provider, 'no words')
  return told
}

/** What of the request the provider won't take, by name; null when that is not what it complains about. */
function detectQuirks(
  { status, text, sent }: RejectedCall,
  quirks: ProviderQuirks,
): ProviderQuirks | null {
  if (status !== 400 && status !== 422) return null
  const refusesJson = 'response_format' in sent && JSON_MODE.test(text)
  const wantsOldLimit = 'max_completion_tokens' in sent && text.includes('max_completion_tokens')
  if (!refusesJson && !wantsOldLimit) return null
  return {
    rejectsJsonMode: quirks.rejectsJsonMode || refusesJson,
    usesLegacyTokenLimit: quirks.usesLegacyTokenLimit || wantsOldLimit,
  }
}
const JSON_MODE = /response_?format|json[ _-]?(?:mode|object)/i

/** Null when there is more than that. The rest is not read. */
async function readText(
  { headers, body }: Pick<UpstreamResponse, 'headers' | 'body'>,
  bytesMax: number,
): Promise<string | null> {
  const read = await readBodyUpTo(body, bytesMax)
  const bytes = read === null ? null : await decompress(headers, read, bytesMax)
  return bytes === null ? null : bytes.toString('utf8')
}

/** Nothing was asked to be packed, and some pack it all the same. */
async function decompress(
  headers: HeaderPairs,
  bytes: Buffer,
  bytesMax: number,
): Promise<Buffer | null> {
  const packing = findHeader(headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
  const unpack = UNPACKING.get(packing)
  if (unpack === undefined) return bytes
  try {
    return await unpack(bytes, { maxOutputLength: bytesMax })
  } catch (thrown) {
    if (getField(thrown, 'code') === 'ERR_BUFFER_TOO_LARGE') return null
    return Buffer.alloc(0) // not JSON
  }
}

const UNPACKING = new Map<
  string,
  (bytes: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>
>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])
