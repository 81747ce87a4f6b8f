/** `GET /v1/models`: the models of all providers, under the names by which the gateway accepts them. */
import { AppError } from '../../lib/errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { toNativeGemini } from '../../models/native-gemini.ts'
import type { Provider } from '../../models/provider.ts'
import { sendJson } from '../http/messages/response.ts'
import { isAnthropicRequest } from './gateway-errors.ts'
import type { GatewayOptions, GatewayRequest } from './gateway-request.ts'

type Model = {
  readonly id: string
  readonly owner: string
  /** Seconds. */
  readonly created: number
  /** What the provider says about it, in the form of the provider. */
  readonly metadata: JsonObject
}

const FRESH_MS = 5 * 60_000
/** After a failure, the provider is asked again sooner. */
const RETRY_MS = 15_000
const PROVIDER_TIMEOUT_MS = 3_000
const LIST_BYTES_MAX = 4 * 1_048_576
const MODELS_MAX = 5_000
/** Anthropic returns pages; this is the largest page size. */
const PAGE_MODELS = 1_000
const PAGES_MAX = 5

export class ModelList {
  readonly #options: GatewayOptions
  /** By provider. */
  readonly #cache = new Map<
    string,
    { readonly models: Promise<readonly Model[]>; freshUntil: number }
  >()

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  async respond({ request, response }: GatewayRequest, id: string | null): Promise<void> {
    const models = await this.#listAll()
    const shape = isAnthropicRequest(request) ? toAnthropic : toOpenai
    if (id === null) {
      const data = models.map(shape)
      const list = isAnthropicRequest(request)
        ? {
            data,
            has_more: false,
            first_id: models[0]?.id ?? null,
            last_id: models.at(-1)?.id ?? null,
          }
        : { object: 'list', data }
      return sendJson(request, response, 200, list)
    }
    const found = models.find((model) => model.id === id) ?? this.#findByBareName(models, id)
    if (found === undefined) {
      throw new AppError('not_found', `The model ${id} does not exist.`, { model: id })
    }
    return sendJson(request, response, 200, shape({ ...found, id }))
  }

  /** The same in the form of Gemini's own API. Its list has pages; here it is whole. */
  async respondGemini({ request, response }: GatewayRequest, id: string | null): Promise<void> {
    const models = await this.#listAll(true)
    if (id === null) {
      return sendJson(request, response, 200, { models: models.map(toGemini) })
    }
    const found = models.find((model) => model.id === id) ?? this.#findByBareName(models, id)
    if (found !== undefined) return sendJson(request, response, 200, toGemini({ ...found, id }))
    throw new AppError('not_found', `models/${id} is not found.`, { model: id })
  }

  #findByBareName(models: readonly Model[], id: string): Model | undefined {
    const { aliases } = this.#options.registry
    const name = aliases[id] ?? id
    return models.find((model) => model.id === name || model.id.endsWith(`/${name}`))
  }

  async #listAll(isGemini = false): Promise<readonly Model[]> {
    const { registry } = this.#options
    const lists = await Promise.all(
      registry.providers.map((each) =>
        this.#listOf(isGemini ? toNativeGemini(each, 'v1beta') : each, isGemini),
      ),
    )
    const listed = new Map(lists.flat().map((model) => [model.id, model]))
    const aliases = Object.entries(registry.aliases).map(([id, target]) => ({
      ...(listed.get(target) ?? { created: 0, metadata: {} }),
      ...{ id, owner: 'alias' },
    }))
    return [...lists.flat(), ...aliases]
  }

  #listOf(provider: Provider, isGemini: boolean): Promise<readonly Model[]> {
    const now = this.#options.clock.now()
    const key = `${provider.name} ${isGemini}`
    const cached = this.#cache.get(key)
    if (cached !== undefined && now < cached.freshUntil) return cached.models
    const models = this.#fetch(provider).catch(() => {
      entry.freshUntil = now + RETRY_MS
      return configuredModels(provider)
    })
    const entry = { models, freshUntil: now + FRESH_MS }
    this.#cache.set(key, entry)
    return models
  }

  /** The configured models, then those that the provider lists. */
  async #fetch(provider: Provider): Promise<readonly Model[]> {
    const listed: Model[] = []
    const signal = AbortSignal.timeout(PROVIDER_TIMEOUT_MS)
    let query = provider.kind === 'anthropic' ? `?limit=${PAGE_MODELS}` : ''
    for (let page = 1; page <= PAGES_MAX; page++) {
      const list = await this.#fetchPage(provider, query, signal)
      listed.push(...toModels(provider, list))
      const last = provider.kind === 'anthropic' ? readNextCursor(list) : null
      if (last === null || listed.length >= MODELS_MAX) break
      query = `?limit=${PAGE_MODELS}&after_id=${encodeURIComponent(last)}`
    }
    const own = configuredModels(provider)
    const ids = new Set(own.map(({ id }) => id))
    const described = new Map(listed.map((model) => [model.id, model]))
    return [
      ...own.map((model) => described.get(model.id) ?? model),
      ...listed.filter(({ id }) => !ids.has(id)),
    ]
  }

  async #fetchPage(provider: Provider, query: string, signal: AbortSignal): Promise<unknown> {
    const { status, body } = await this.#options.upstream.send({
      provider,
      method: 'GET',
      path: `/models${query}`,
      headers: [
        ['accept', 'application/json'],
        ...(provider.kind === 'anthropic' ? [['anthropic-version', '2023-06-01'] as const] : []),
      ],
      body: null,
      signal,
    })
    const chunks: Uint8Array[] = []
    let length = 0
    for await (const chunk of body) {
      length += chunk.length
      if (length > LIST_BYTES_MAX)
        throw new AppError(
          'bad_gateway',
          `The model list of ${provider.name} is longer than ${LIST_BYTES_MAX} bytes.`,
        )
      chunks.push(chunk)
    }
    if (status !== 200)
      throw new AppError(
        'bad_gateway',
        `${provider.name} answered the request for its models with status ${status}.`,
      )
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  }
}

/** The cursor of the next page; null for the last page. */
function readNextCursor(list: unknown): string | null {
  const last: unknown = Reflect.get(Object(list), 'last_id')
  const hasMore = Reflect.get(Object(list), 'has_more') === true
  return hasMore && typeof last === 'string' && last !== '' ? last : null
}

function configuredModels({ name, models }: Provider): readonly Model[] {
  return models.map(({ id }) => ({ id: `${name}/${id}`, owner: name, created: 0, metadata: {} }))
}

/** OpenAI and Anthropic list models in `data`, Gemini in `models`. Gemini prefixes ids with `models/`. */
function toModels({ name }: Provider, list: unknown): readonly Model[] {
  const data: unknown = Reflect.get(Object(list), 'data') ?? Reflect.get(Object(list), 'models')
  if (!Array.isArray(data)) return []
  return data.slice(0, MODELS_MAX).flatMap((each: unknown) => {
    const listed = isObject(each) ? (each.id ?? each.name) : undefined
    if (!isObject(each) || typeof listed !== 'string') return []
    const bare = listed.replace(/^models\//, '')
    return [{ id: `${name}/${bare}`, owner: name, created: createdAt(each), metadata: each }]
  })
}

/** OpenAI counts seconds, Anthropic writes ISO text. */
function createdAt({ created, created_at: text }: JsonObject): number {
  if (typeof created === 'number') return created
  const ms = typeof text === 'string' ? Date.parse(text) : Number.NaN
  return Number.isFinite(ms) ? Math.floor(ms / 1_000) : 0
}

/** Fields of one format that say the same in other words in the other. */
const OPENAI_FIELDS = ['object', 'created', 'owned_by']
const ANTHROPIC_FIELDS = ['type', 'created_at']

function toOpenai({ id, owner, created, metadata }: Model): object {
  const { owned_by: owned } = metadata
  return {
    ...withoutFields(metadata, ANTHROPIC_FIELDS),
    ...{ id, object: 'model', created },
    owned_by: typeof owned === 'string' ? owned : owner,
  }
}

function toAnthropic({ id, created, metadata }: Model): object {
  const { display_name: title, created_at: at } = metadata
  return {
    ...withoutFields(metadata, OPENAI_FIELDS),
    ...{ type: 'model', id },
    display_name: typeof title === 'string' ? title : id,
    created_at: typeof at === 'string' ? at : new Date(created * 1_000).toISOString(),
  }
}

function toGemini({ id, metadata }: Model): object {
  const { display_name: title, displayName = title ?? id } = metadata
  const foreign = [...OPENAI_FIELDS, ...ANTHROPIC_FIELDS, 'id', 'display_name']
  return { ...withoutFields(metadata, foreign), name: `models/${id}`, displayName }
}

function withoutFields(fields: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}
