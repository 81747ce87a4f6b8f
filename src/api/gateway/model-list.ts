/** `GET /v1/models`: what all providers have together, each model under the name by which it is asked for here. */
import { AppError } from '../../lib/errors.ts'
import type { Provider } from '../../models/provider.ts'
import { sendJson } from '../http/messages/response.ts'
import { isAnthropicRequest } from './gateway-errors.ts'
import type { GatewayOptions, GatewayRequest } from './gateway-request.ts'

type Model = { readonly id: string; readonly owner: string; readonly created: number }

const FRESH_MS = 5 * 60_000
/** Asked anew sooner when a provider did not answer. */
const RETRY_MS = 15_000
const PROVIDER_TIMEOUT_MS = 3_000
const LIST_BYTES_MAX = 4 * 1_048_576
const MODELS_MAX = 5_000
/** Anthropic lists in pages; this is the most it takes for one. */
const PAGE_MODELS = 1_000
const PAGES_MAX = 5

export class ModelList {
  readonly #options: GatewayOptions
  readonly #known = new Map<string, { readonly models: Promise<readonly Model[]>; until: number }>()

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  async respond({ request, response }: GatewayRequest, id: string | null): Promise<void> {
    const models = await this.#all()
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
    const found = models.find((model) => model.id === id) ?? this.#byBareName(models, id)
    if (found === undefined) {
      throw new AppError('not_found', `The model ${id} does not exist.`, { model: id })
    }
    return sendJson(request, response, 200, shape({ ...found, id }))
  }

  #byBareName(models: readonly Model[], id: string): Model | undefined {
    const { aliases } = this.#options.registry
    const name = aliases[id] ?? id
    return models.find((model) => model.id === name || model.id.endsWith(`/${name}`))
  }

  async #all(): Promise<readonly Model[]> {
    const { registry } = this.#options
    const lists = await Promise.all(registry.providers.map((provider) => this.#of(provider)))
    const aliases = Object.keys(registry.aliases).map((id) => ({ id, owner: 'alias', created: 0 }))
    return [...lists.flat(), ...aliases]
  }

  #of(provider: Provider): Promise<readonly Model[]> {
    const now = this.#options.clock.now()
    const known = this.#known.get(provider.name)
    if (known !== undefined && now < known.until) return known.models
    const models = this.#ask(provider).catch(() => {
      entry.until = now + RETRY_MS
      return configuredModels(provider)
    })
    const entry = { models, until: now + FRESH_MS }
    this.#known.set(provider.name, entry)
    return models
  }

  /** What is configured, and what the provider itself tells. */
  async #ask(provider: Provider): Promise<readonly Model[]> {
    const own = configuredModels(provider)
    const ids = new Set(own.map(({ id }) => id))
    const told: Model[] = []
    const signal = AbortSignal.timeout(PROVIDER_TIMEOUT_MS)
    let query = provider.kind === 'anthropic' ? `?limit=${PAGE_MODELS}` : ''
    for (let page = 1; page <= PAGES_MAX; page++) {
      const list = await this.#page(provider, query, signal)
      told.push(...toModels(provider, list))
      const last = provider.kind === 'anthropic' ? lastBeforeMore(list) : null
      if (last === null || told.length >= MODELS_MAX) break
      query = `?limit=${PAGE_MODELS}&after_id=${encodeURIComponent(last)}`
    }
    return [...own, ...told.filter(({ id }) => !ids.has(id))]
  }

  async #page(provider: Provider, query: string, signal: AbortSignal): Promise<unknown> {
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
        throw new AppError('bad_gateway', 'The list of models is too long.')
      chunks.push(chunk)
    }
    if (status !== 200)
      throw new AppError('bad_gateway', `${provider.name} does not list its models.`)
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  }
}

/** Where the next page begins; null when there is none. */
function lastBeforeMore(list: unknown): string | null {
  const last: unknown = Reflect.get(Object(list), 'last_id')
  const hasMore = Reflect.get(Object(list), 'has_more') === true
  return hasMore && typeof last === 'string' && last !== '' ? last : null
}

function configuredModels({ name, models }: Provider): readonly Model[] {
  return models.map(({ id }) => ({ id: `${name}/${id}`, owner: name, created: 0 }))
}

/** Both shapes keep them in `data`. Gemini writes `models/` before each. */
function toModels({ name }: Provider, list: unknown): readonly Model[] {
  const data: unknown = Reflect.get(Object(list), 'data')
  if (!Array.isArray(data)) return []
  return data.slice(0, MODELS_MAX).flatMap((each: unknown) => {
    const id: unknown = Reflect.get(Object(each), 'id')
    const created: unknown = Reflect.get(Object(each), 'created')
    if (typeof id !== 'string') return []
    const bare = id.replace(/^models\//, '')
    return [
      { id: `${name}/${bare}`, owner: name, created: typeof created === 'number' ? created : 0 },
    ]
  })
}

function toOpenai({ id, owner, created }: Model): object {
  return { id, object: 'model', created, owned_by: owner }
}

function toAnthropic({ id, created }: Model): object {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(created * 1_000).toISOString(),
  }
}
