/** What clients also ask their provider for and memory has no part in: passed on as it is. */

import { AppError } from '../../../domain/errors.ts'
import type { FormatName } from '../../../domain/model-call.ts'
import { type Provider, type Registry, routeModel } from '../../../models/provider.ts'
import { refuseUnlessMay } from '../../operations/authorization.ts'
import { withModel } from '../formats/json-edit.ts'
import { type Exchange, readBody } from '../gateway-request.ts'
import { forwarded, readWishes, returnHeaders } from './memory-headers.ts'
import type { KeptResponses } from './response-ownership.ts'
import { NOBODY, pipe } from './response-stream.ts'
import { isShared, queryOf, reached } from './upstream-call.ts'

export const COUNT_TOKENS = '/v1/messages/count_tokens'

/** What is asked about an answer that the provider keeps. */
export type KeptRequest = {
  readonly id: string
  readonly path: string
  readonly methods: readonly ['GET', 'DELETE'] | readonly ['GET'] | readonly ['POST']
}

const KEPT = /^\/v1\/responses\/([\w-]{1,200})(\/cancel|\/input_items)?$/

export function keptRequestAt(path: string): KeptRequest | null {
  const [, id, what] = KEPT.exec(path) ?? []
  if (id === undefined) return null
  if (what === undefined) return { id, path, methods: ['GET', 'DELETE'] }
  return { id, path, methods: what === '/cancel' ? ['POST'] : ['GET'] }
}

export async function countTokens(exchange: Exchange): Promise<void> {
  const { registry } = exchange.options
  const { json, text, bytes } = await readBody(exchange)
  if (typeof json.model !== 'string') {
    throw new AppError('invalid_input', 'model: is a text.', { field: 'model' })
  }
  const { provider, model } = routeModel(registry, 'messages', json.model)
  const body = json.model === model ? bytes : Buffer.from(withModel(text, model), 'utf8')
  await passOn(exchange, provider, COUNT_TOKENS, body)
}

/** It names no model: the provider that made the answer is asked, or else the one that is asked by default. */
export async function passKept(
  exchange: Exchange,
  { id, path }: KeptRequest,
  kept: KeptResponses,
): Promise<void> {
  const { options, request, caller } = exchange
  const { owner } = readWishes(request, caller)
  if (request.method !== 'GET') refuseUnlessMay(caller, 'write')
  const provider = kept.providerOf(id) ?? defaultProvider(options.registry, 'responses')
  if (isShared(exchange, provider)) await kept.refuseUnlessOwn(owner, id)
  await passOn(exchange, provider, path, null)
}

async function passOn(
  { options, request, response, signal }: Exchange,
  provider: Provider,
  path: string,
  body: Uint8Array | null,
): Promise<void> {
  const upstream = await reached(
    options.upstream.send({
      provider,
      method: request.method ?? 'GET',
      path: `${path.slice('/v1'.length)}${queryOf(request.url)}`,
      headers: forwarded(request, options.isOpen === true),
      body,
      signal,
    }),
  )
  returnHeaders(response, upstream.headers)
  response.writeHead(upstream.status)
  await pipe(upstream.body, response, NOBODY, () => {})
}

function defaultProvider({ providers, defaults }: Registry, format: FormatName): Provider {
  const provider = providers.find(({ name }) => name === defaults[format])
  if (provider !== undefined) return provider
  throw new AppError(
    'not_found',
    'No provider is asked by default: say which, in the file of providers.',
  )
}
