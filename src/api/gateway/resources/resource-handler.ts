/**
 * Everything that a provider offers besides chat requests, passed through: files, batches, audio, images, vector stores,
 * fine-tuning, conversations. Bodies stream in both directions; only JSON that must be read is buffered. Under the
 * server's account at the provider, an owner reaches only what it created; under an account of the client, the provider
 * decides.
 */
import type { ApiFormat } from '../../../domain/model-call.ts'
import { AppError } from '../../../lib/errors.ts'
import { isObject, type JsonObject, parseJsonObject } from '../../../lib/json.ts'
import { routeModel } from '../../../models/model-routing.ts'
import type { Provider } from '../../../models/provider.ts'
import { type HeaderPairs, headerValue, type UpstreamResponse } from '../../../models/upstream.ts'
import { hasBody } from '../../http/messages/request-body.ts'
import { firstHeaderValue } from '../../http/security/authentication.ts'
import { assertAccess, hasAccess } from '../../operations/authorization.ts'
import { replaceModel } from '../formats/json-edit.ts'
import { isAnthropicRequest } from '../gateway-errors.ts'
import { type GatewayRequest, type RequestBody, readRequestBody } from '../gateway-request.ts'
import {
  copyResponseHeaders,
  parseMemoryHeaders,
  selectForwardedHeaders,
} from '../proxy/memory-headers.ts'
import type { ProviderState } from '../proxy/provider-state.ts'
import { NO_LISTENER, pipeResponse } from '../proxy/response-stream.ts'
import { queryStringOf, sendToProvider, usesSharedAccount } from '../proxy/upstream-call.ts'
import { listResourceIds } from './resource-ids.ts'
import type { ResourcePath } from './resource-path.ts'

export const PROVIDER_HEADER = 'x-recollect-provider'

/** Longer answers are streamed unread: they hold contents and no ids. */
const READ_BYTES_MAX = 8 * 1_048_576
/** How many pages are read to find one entry of the owner. */
const PAGES_MAX = 10

/** A request whose provider is known. */
type ResourceRequest = {
  readonly exchange: GatewayRequest
  readonly path: string
  readonly owner: string
  readonly provider: Provider
  readonly body: RequestBody['bytes'] | GatewayRequest['request'] | null
}

/** `resource` is null for a path that the gateway does not know: only an account of the client reaches it. */
export async function handleResourceRequest(
  exchange: GatewayRequest,
  path: string,
  resource: ResourcePath | null,
  ownership: ProviderState,
): Promise<void> {
  const { request, caller } = exchange
  assertPlainPath(path)
  const format = resource?.format ?? (isAnthropicRequest(request) ? 'messages' : 'chat')
  const { owner } = parseMemoryHeaders(request, caller)
  const isRead = ['GET', 'HEAD'].includes(request.method ?? '')
  if (!isRead && resource?.kind !== 'call') assertAccess(caller, 'write')
  const json = isJson(request.headers['content-type']) ? await readRequestBody(exchange) : null
  const { provider, bytes } = selectProvider(exchange, resource, format, ownership, json)
  const body = bytes ?? (hasBody(request) ? request : null)
  const forwarded = { exchange, path, owner, provider, body }
  if (!usesSharedAccount(exchange, provider)) {
    return pipe(exchange, await send(forwarded, selectHeaders(exchange)))
  }
  if (resource === null) {
    throw new AppError('not_found', `Unknown path: ${request.method} ${path}.`)
  }
  const isUnlimited = hasAccess(caller, 'manage')
  if (!isUnlimited) await assertOwnIds(owner, resource, json?.json ?? null, ownership)
  const headers = requestIdentityEncoding(selectHeaders(exchange))
  const upstream = await send(forwarded, headers)
  if (resource.kind === 'call' || upstream.status >= 300 || !isJsonAnswer(upstream)) {
    return pipe(exchange, upstream)
  }
  const answer = await readAnswer(upstream)
  if (answer.body === null) return pipe(exchange, { ...upstream, body: answer.stream })
  const own =
    resource.kind === 'list' && !isUnlimited
      ? await selectOwnEntries(forwarded, headers, answer.body, ownership)
      : answer.body
  await ownership.bind(
    listResourceIds(own).map(({ id }) => id),
    { owner, provider },
  )
  const text = own === answer.body ? answer.bytes : Buffer.from(JSON.stringify(own), 'utf8')
  copyResponseHeaders(exchange.response, withoutLength(upstream.headers))
  exchange.response.writeHead(upstream.status, { 'content-length': text.length })
  exchange.response.end(text)
}

const PLAIN_PATH = /^\/v1(?:\/(?!\.{1,2}(?:\/|$))[\w.:~-]+)+$/

/** A path that a provider could read as another one is refused. */
function assertPlainPath(path: string): void {
  if (!PLAIN_PATH.test(path)) throw new AppError('not_found', 'Unknown path.')
}

/** The named provider, that of the model, that which issued an id in the path, or the default of the format. */
function selectProvider(
  { options, request }: GatewayRequest,
  resource: ResourcePath | null,
  format: ApiFormat,
  ownership: ProviderState,
  json: RequestBody | null,
): { readonly provider: Provider; readonly bytes: RequestBody['bytes'] | null } {
  const { registry } = options
  const bytes = json?.bytes ?? null
  const named = firstHeaderValue(request.headers, PROVIDER_HEADER)?.trim().toLowerCase()
  if (named !== undefined && named !== '') {
    const provider = registry.providers.find(({ name }) => name.toLowerCase() === named)
    if (provider !== undefined) return { provider, bytes }
    const names = registry.providers.map(({ name }) => name).join(', ')
    const message = `\`${PROVIDER_HEADER}\` must name a provider (${names}); got "${named.slice(0, 100)}".`
    throw new AppError('invalid_input', message, { field: PROVIDER_HEADER })
  }
  const asked = json?.json.model
  if (json !== null && typeof asked === 'string') {
    const { provider, model } = routeModel(registry, format, asked)
    const edited =
      model === asked ? json.bytes : Buffer.from(replaceModel(json.text, model), 'utf8')
    return { provider, bytes: edited }
  }
  const issuer = resource?.ids.map((id) => ownership.providerOf(id)).find((each) => each !== null)
  const provider =
    issuer ?? registry.providers.find(({ name }) => name === registry.defaults[format])
  if (provider !== undefined) return { provider, bytes }
  throw new AppError(
    'not_found',
    `No default provider is configured for the format "${format}". Set one in the providers file, or name one in \`${PROVIDER_HEADER}\`.`,
  )
}

/** What the path and the body refer to. Ids of unknown origin may be anybody's. */
async function assertOwnIds(
  owner: string,
  { ids, kind }: ResourcePath,
  body: JsonObject | null,
  ownership: ProviderState,
): Promise<void> {
  for (const id of ids) await ownership.assertOwned(owner, id)
  for (const { id, field } of listResourceIds(kind === 'call' ? withoutItemIds(body) : body)) {
    if (await ownership.owns(owner, id)) continue
    throw new AppError('invalid_input', `\`${field}\`: '${id}' not found.`, { field })
  }
}

/** Items of a Responses request carry ids of their own, which refer to nothing when the item is complete. */
function withoutItemIds(body: JsonObject | null): JsonObject | null {
  if (body === null || !Array.isArray(body.input)) return body
  const references = body.input.filter((item) => isObject(item) && item.type === 'item_reference')
  const contents = body.input.map((item) => (isObject(item) ? (item.content ?? null) : null))
  return { ...body, input: [...references, ...contents] }
}

function send(
  { exchange, path, provider, body }: ResourceRequest,
  headers: HeaderPairs,
  query = queryStringOf(exchange.request.url),
): Promise<UpstreamResponse> {
  const { options, request, signal } = exchange
  const { 'content-length': length } = request.headers
  return sendToProvider(options.upstream, {
    provider,
    method: request.method ?? 'GET',
    path: `${path.slice('/v1'.length)}${query}`,
    headers,
    body,
    ...(length === undefined || body !== request ? {} : { declaredLength: Number(length) }),
    signal,
  })
}

function selectHeaders({ request, options }: GatewayRequest): HeaderPairs {
  return selectForwardedHeaders(request, options.isAuthDisabled === true)
}

async function pipe({ response }: GatewayRequest, upstream: UpstreamResponse): Promise<void> {
  copyResponseHeaders(response, upstream.headers)
  response.writeHead(upstream.status)
  await pipeResponse(upstream.body, response, NO_LISTENER, () => {})
}

type Answer =
  | { readonly body: JsonObject; readonly bytes: Uint8Array }
  /** Too long, or no JSON object after all: what was read, and the rest. */
  | { readonly body: null; readonly stream: AsyncIterable<Uint8Array> }

async function readAnswer({ body }: UpstreamResponse): Promise<Answer> {
  const chunks: Uint8Array[] = []
  const source = body[Symbol.asyncIterator]()
  let length = 0
  for (;;) {
    const step = await source.next()
    if (step.done === true) break
    chunks.push(step.value)
    length += step.value.length
    if (length > READ_BYTES_MAX) return { body: null, stream: concatenate(chunks, source) }
  }
  const bytes = Buffer.concat(chunks)
  const value = parseJsonObject(bytes.toString('utf8'))
  return value !== null ? { body: value, bytes } : { body: null, stream: concatenate([bytes]) }
}

async function* concatenate(
  chunks: readonly Uint8Array[],
  rest?: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* chunks
  if (rest !== undefined) yield* { [Symbol.asyncIterator]: () => rest }
}

/**
 * The entries of a list that belong to the owner. Pages that hold none are skipped, so that a client that pages through
 * the list sees the ids of nobody else, not even as a cursor.
 */
async function selectOwnEntries(
  request: ResourceRequest,
  headers: HeaderPairs,
  first: JsonObject,
  ownership: ProviderState,
): Promise<JsonObject> {
  let page = first
  for (let count = 1; ; count++) {
    const entries = Array.isArray(page.data) ? page.data.filter(isObject) : []
    const owned = await Promise.all(
      entries.map(({ id }) => typeof id === 'string' && ownership.owns(request.owner, id)),
    )
    const data = entries.filter((_, index) => owned[index])
    const cursor = entries.at(-1)?.id
    const hasMore = page.has_more === true && typeof cursor === 'string'
    if (data.length > 0 || !hasMore || count >= PAGES_MAX) {
      const [firstId, lastId] = [data.at(0)?.id ?? null, data.at(-1)?.id ?? null]
      const hasIds = 'first_id' in page || 'last_id' in page
      return {
        ...page,
        data,
        has_more: hasMore && data.length > 0,
        ...(hasIds ? { first_id: firstId, last_id: lastId } : {}),
      }
    }
    const next = await readAnswer(await send(request, headers, queryAfter(request, cursor)))
    if (next.body === null) return { ...page, data: [], has_more: false }
    page = next.body
  }
}

function queryAfter({ exchange, provider }: ResourceRequest, cursor: string): string {
  const query = new URLSearchParams(queryStringOf(exchange.request.url))
  query.set(provider.kind === 'anthropic' ? 'after_id' : 'after', cursor)
  return `?${query}`
}

function isJson(type: string | undefined): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(type ?? '')
}

function isJsonAnswer({ headers }: UpstreamResponse): boolean {
  return (
    isJson(headerValue(headers, 'content-type')) && headerValue(headers, 'content-encoding') === ''
  )
}

/** The answer is read here, so it must not be compressed. */
function requestIdentityEncoding(headers: HeaderPairs): HeaderPairs {
  const others = headers.filter(([name]) => name.toLowerCase() !== 'accept-encoding')
  return [...others, ['accept-encoding', 'identity']]
}

function withoutLength(headers: HeaderPairs): HeaderPairs {
  return headers.filter(([name]) => name.toLowerCase() !== 'content-length')
}
