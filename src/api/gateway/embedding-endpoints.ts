/** `POST /v1/embeddings` and `POST /v1/rerank`, answered by the models that memory itself works with. */
import { z } from 'zod'
import { AppError } from '../../lib/errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { estimateTokens } from '../../text/tokens.ts'
import { sendJson } from '../http/messages/response.ts'
import { type GatewayOptions, type GatewayRequest, readRequestBody } from './gateway-request.ts'

const TEXTS_MAX = 2_048
const DOCUMENTS_MAX = 1_000
const TEXT_CHARACTERS_MAX = 200_000

/** As much as OpenAI's embedding models take. */
const TOKENS_MAX = 8_192

const text = z.string().min(1).max(TEXT_CHARACTERS_MAX)

const embeddingsInput = z.looseObject({
  model: z.string().min(1),
  input: z.union([text, z.array(text).min(1).max(TEXTS_MAX)], {
    error: `must be a text, or a list of 1 to ${TEXTS_MAX.toLocaleString('en')} texts that are not empty.`,
  }),
  encoding_format: z.enum(['float', 'base64']).default('float'),
  dimensions: z.int().positive().optional(),
  /** As other services call it, where a question is embedded differently from what answers it. */
  input_type: z.string().optional(),
})

const rerankInput = z.looseObject({
  model: z.string().optional(),
  query: text,
  documents: z
    .array(
      z.union([z.string(), z.looseObject({ text: z.string() })], {
        error: 'must be a text, or an object with a text.',
      }),
    )
    .min(1)
    .max(DOCUMENTS_MAX),
  top_n: z.int().positive().optional(),
  return_documents: z.boolean().default(false),
})

export async function handleEmbeddings(exchange: GatewayRequest): Promise<void> {
  const { options, request, response, signal } = exchange
  const { json } = await readRequestBody(exchange)
  const given = assertValid(
    embeddingsInput,
    await decodeTokenInputs(json, options.loadTokenDecoder),
  )
  const texts = [given.input].flat()
  const purpose = given.input_type?.includes('query') === true ? 'query' : 'document'
  const { model, vectors } = await options.engine.admin.models.embed(texts, { purpose, signal })
  if (given.dimensions !== undefined && given.dimensions !== model.dimensions) {
    throw new AppError(
      'invalid_input',
      `The model ${model.model} makes vectors of ${model.dimensions} dimensions, and no others.`,
      { field: 'dimensions' },
    )
  }
  const tokens = texts.reduce((sum, each) => sum + estimateTokens(each), 0)
  await sendJson(request, response, 200, {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: given.encoding_format === 'base64' ? toBase64(vector) : [...vector],
    })),
    model: `${model.source}/${model.model}`,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  })
}

/** Some clients send the tokens of OpenAI's embedding models instead of the texts; our models have others. */
async function decodeTokenInputs(
  body: JsonObject,
  readTokens: GatewayOptions['loadTokenDecoder'],
): Promise<JsonObject> {
  const { input } = body
  const lists = isTokens(input) ? [input] : input
  if (!Array.isArray(lists) || lists.length === 0 || !lists.every(isTokens)) return body
  if (lists.length > TEXTS_MAX) return body // refused like so many texts
  const read = await readTokens?.()
  const refusal = (message: string) => new AppError('invalid_input', message, { field: 'input' })
  if (read === undefined) {
    throw refusal(
      'input: tokens can be read where the package gpt-tokenizer is installed. Send texts.',
    )
  }
  if (lists.some(({ length }) => length > TOKENS_MAX)) {
    throw refusal(`input has more than ${TOKENS_MAX.toLocaleString('en')} tokens for one text.`)
  }
  try {
    return { ...body, input: lists.map((tokens) => read(tokens)) }
  } catch {
    throw refusal('input holds a token that is not in the vocabulary cl100k_base.')
  }
}

function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'number')
}

/** Little-endian, as clients read it on any machine. */
function toBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString('base64')
}

export async function handleRerank(exchange: GatewayRequest): Promise<void> {
  const { options, request, response, signal } = exchange
  const given = assertValid(rerankInput, (await readRequestBody(exchange)).json)
  const documents = given.documents.map((each) => (typeof each === 'string' ? each : each.text))
  const { model, ranked } = await options.engine.admin.models.rerank(given.query, documents, signal)
  await sendJson(request, response, 200, {
    model,
    results: ranked.slice(0, given.top_n).map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(given.return_documents ? { document: { text: documents[index] } } : {}),
    })),
  })
}

function assertValid<Schema extends z.ZodType>(schema: Schema, body: JsonObject): z.output<Schema> {
  const parsed = schema.safeParse(body, { error: describeIssue })
  if (parsed.success) return parsed.data
  const [fault] = parsed.error.issues
  const field = fault?.path.join('.') ?? ''
  throw new AppError('invalid_input', `${field} ${fault?.message ?? 'breaks a rule.'}`, { field })
}

const KINDS: { readonly [expected: string]: string | undefined } = {
  string: 'a text',
  array: 'a list',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
}

/** What follows the name of the field. */
function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing.'
      return `must be ${KINDS[issue.expected] ?? 'something else'}.`
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}.`
    case 'too_small':
      if (issue.origin === 'string') return 'must not be empty.'
      if (issue.origin === 'array') return `needs at least ${issue.minimum} entry.`
      return `must be above ${issue.minimum}.`
    case 'too_big':
      return `has more than ${issue.maximum.toLocaleString('en')} ${issue.origin === 'string' ? 'characters' : 'entries'}.`
    default:
      return 'breaks a rule.'
  }
}
