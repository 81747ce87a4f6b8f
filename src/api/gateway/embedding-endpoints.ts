/**
 * `POST /v1/embeddings`: answered by the provider of the model, or by the embedder of memory under its own name.
 * `POST /v1/rerank`: answered by the reranker of memory.
 */
import { z } from 'zod'
import { parseScope } from '../../domain/scope.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { routeModel } from '../../models/model-routing.ts'
import type { ModelRoute, ProviderKind } from '../../models/provider.ts'
import { estimateTokens } from '../../text/tokens.ts'
import { sendJson } from '../http/messages/response.ts'
import { replaceModel } from './formats/json-edit.ts'
import { type GatewayOptions, type GatewayRequest, readRequestBody } from './gateway-request.ts'
import { parseMemoryHeaders } from './proxy/memory-headers.ts'
import { forwardRequest } from './proxy/passthrough.ts'

export const EMBEDDINGS_PATH = '/v1/embeddings'
const KINDS_WITHOUT_EMBEDDINGS: readonly ProviderKind[] = ['anthropic', 'demo']
const TEXTS_MAX = 2_048
const DOCUMENTS_MAX = 1_000
const TEXT_CHARACTERS_MAX = 200_000

/** The input limit of OpenAI's embedding models. */
const TOKENS_MAX = 8_192

const text = z.string().min(1).max(TEXT_CHARACTERS_MAX)

const embeddingsInput = z.looseObject({
  model: z.string().min(1),
  input: z.union([text, z.array(text).min(1).max(TEXTS_MAX)], {
    error: `must be a non-empty string, or an array of 1 to ${TEXTS_MAX.toLocaleString('en')} of them.`,
  }),
  encoding_format: z.enum(['float', 'base64']).default('float'),
  dimensions: z.int().positive().optional(),
  /** From other services' APIs: whether the text is a query or a document. */
  input_type: z.string().optional(),
})

const rerankInput = z.looseObject({
  model: z.string().optional(),
  query: text,
  documents: z
    .array(
      z.union([z.string(), z.looseObject({ text: z.string() })], {
        error: 'must be a string, or an object with the string `text`.',
      }),
    )
    .min(1)
    .max(DOCUMENTS_MAX),
  top_n: z.int().positive().optional(),
  return_documents: z.boolean().default(false),
})

export async function handleEmbeddings(exchange: GatewayRequest): Promise<void> {
  const body = await readRequestBody(exchange)
  const { model } = parseInput(embeddingsInput.pick({ model: true }), body.json)
  const route = await routeEmbeddingModel(exchange, model)
  if (route === null) return embedLocally(exchange, body.json)
  const bytes =
    route.model === model ? body.bytes : Buffer.from(replaceModel(body.text, route.model), 'utf8')
  await forwardRequest(exchange, route.provider, EMBEDDINGS_PATH.slice('/v1'.length), bytes)
}

/**
 * Null for the embedder of memory: under its own name, and for models that no provider has where
 * `gateway.embeddingFallbackEnabled` allows it. Vectors of another model would be stored as those of the named one.
 */
async function routeEmbeddingModel(
  { options, request, caller }: GatewayRequest,
  model: string,
): Promise<ModelRoute | null> {
  const { engine, registry } = options
  const named = Object.hasOwn(registry.aliases, model) ? (registry.aliases[model] ?? model) : model
  const { embedder: own } = engine.admin.getComponents()
  if (own !== null && [own.model, `${own.source}/${own.model}`].includes(named)) return null
  try {
    const route = routeModel(registry, 'chat', model)
    if (!KINDS_WITHOUT_EMBEDDINGS.includes(route.provider.kind)) return route
  } catch (error) {
    if (toAppError(error).code !== 'not_found') throw error
  }
  const { owner } = parseMemoryHeaders(request, caller)
  const settings = await engine.admin.settings.resolve(parseScope({ owner }).owner)
  if (settings['gateway.embeddingFallbackEnabled']) return null
  const suggestion =
    own === null
      ? 'Configure a provider that has it.'
      : `Configure a provider that has it, or name the built-in model "${own.source}/${own.model}".`
  throw new AppError(
    'not_found',
    `No provider has the embedding model "${model.slice(0, 200)}". ${suggestion}`,
    { model: model.slice(0, 200) },
  )
}

async function embedLocally(
  { options, request, response, signal }: GatewayRequest,
  json: JsonObject,
): Promise<void> {
  const input = parseInput(embeddingsInput, await decodeTokenInputs(json, options.loadTokenDecoder))
  const texts = [input.input].flat()
  const purpose = input.input_type?.includes('query') === true ? 'query' : 'document'
  const { model, vectors } = await options.engine.admin.models.embed(texts, { purpose, signal })
  if (input.dimensions !== undefined && input.dimensions !== model.dimensions) {
    throw new AppError(
      'invalid_input',
      `\`dimensions\` must be ${model.dimensions}, the size of vectors of ${model.model}; got ${input.dimensions}.`,
      { field: 'dimensions' },
    )
  }
  const tokens = texts.reduce((sum, each) => sum + estimateTokens(each), 0)
  await sendJson(request, response, 200, {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: input.encoding_format === 'base64' ? toBase64(vector) : [...vector],
    })),
    model: `${model.source}/${model.model}`,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  })
}

/** Some clients send tokens of OpenAI's embedding models instead of texts. Other models have other tokens, so they are decoded. */
async function decodeTokenInputs(
  body: JsonObject,
  loadTokenDecoder: GatewayOptions['loadTokenDecoder'],
): Promise<JsonObject> {
  const { input } = body
  const lists = isTokens(input) ? [input] : input
  if (!Array.isArray(lists) || lists.length === 0 || !lists.every(isTokens)) return body
  if (lists.length > TEXTS_MAX) return body // rejected by the schema, like as many texts
  const decode = await loadTokenDecoder?.()
  const inputError = (message: string, cause?: unknown) =>
    new AppError('invalid_input', message, { field: 'input' }, cause)
  if (decode === undefined) {
    throw inputError(
      '`input` must hold texts: decoding tokens requires the package gpt-tokenizer, which is not installed.',
    )
  }
  if (lists.some(({ length }) => length > TOKENS_MAX)) {
    throw inputError(
      `\`input\` must hold at most ${TOKENS_MAX.toLocaleString('en')} tokens per text.`,
    )
  }
  try {
    return { ...body, input: lists.map((tokens) => decode(tokens)) }
  } catch (cause) {
    throw inputError('`input` must hold tokens of the vocabulary cl100k_base.', cause)
  }
}

function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'number')
}

/** Little-endian on every machine, as clients expect. */
function toBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString('base64')
}

export async function handleRerank(exchange: GatewayRequest): Promise<void> {
  const { options, request, response, signal } = exchange
  const input = parseInput(rerankInput, (await readRequestBody(exchange)).json)
  const documents = input.documents.map((each) => (typeof each === 'string' ? each : each.text))
  const { model, ranked } = await options.engine.admin.models.rerank(input.query, documents, signal)
  await sendJson(request, response, 200, {
    model,
    results: ranked.slice(0, input.top_n).map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(input.return_documents ? { document: { text: documents[index] } } : {}),
    })),
  })
}

function parseInput<Schema extends z.ZodType>(schema: Schema, body: JsonObject): z.output<Schema> {
  const parsed = schema.safeParse(body, { error: describeIssue })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = issue?.path.join('.') ?? ''
  throw new AppError('invalid_input', `\`${field}\` ${issue?.message ?? 'is invalid.'}`, { field })
}

const TYPE_NAMES: { readonly [expected: string]: string | undefined } = {
  string: 'a string',
  array: 'an array',
  boolean: 'true or false',
  number: 'a number',
  int: 'an integer',
}

/** The message after the name of the field. */
function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required.'
      return `must be ${TYPE_NAMES[issue.expected] ?? 'of another type'}.`
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}.`
    case 'too_small':
      if (issue.origin === 'string') return 'must not be empty.'
      if (issue.origin === 'array') return `must hold at least ${issue.minimum} entry.`
      return `must be above ${issue.minimum}.`
    case 'too_big':
      return `must hold at most ${issue.maximum.toLocaleString('en')} ${issue.origin === 'string' ? 'characters' : 'entries'}.`
    default:
      return 'is invalid.'
  }
}
