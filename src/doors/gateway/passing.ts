/** What clients also ask their provider for and memory has no part in: passed on as it is. */

import { AppError } from '../../core/errors.ts'
import type { FormatName } from '../../core/formats/format.ts'
import { withModel } from '../../core/formats/json-text.ts'
import { type Registry, type Route, routeModel } from '../../core/providers.ts'
import { queryOf, reached } from './asking.ts'
import { type Body, type Exchange, readBody } from './exchange.ts'
import { forwarded, returnHeaders } from './headers.ts'
import { NOBODY, pipe } from './piping.ts'

const RESPONSE = /^\/v1\/responses\/[\w-]{1,200}(\/cancel|\/input_items)?$/
const COUNT_TOKENS = '/v1/messages/count_tokens'

export function isPassed(method: string, path: string): boolean {
  if (path === COUNT_TOKENS) return method === 'POST'
  return RESPONSE.test(path) && (path.endsWith('/cancel') ? method === 'POST' : method !== 'POST')
}

export async function passOn(exchange: Exchange, path: string): Promise<void> {
  const { options, request, response, signal } = exchange
  const body = request.method === 'POST' && path === COUNT_TOKENS ? await readBody(exchange) : null
  const format = path === COUNT_TOKENS ? 'messages' : 'responses'
  const { provider, model } = routeOf(options.registry, format, body)
  const sent =
    body === null || body.json.model === model
      ? (body?.bytes ?? null)
      : Buffer.from(withModel(body.text, model), 'utf8')
  const upstream = await reached(
    options.upstream.send({
      provider,
      method: request.method ?? 'GET',
      path: `${path.slice('/v1'.length)}${queryOf(request.url)}`,
      headers: forwarded(request, options.isOpen === true),
      body: sent,
      signal,
    }),
  )
  returnHeaders(response, upstream.headers)
  response.writeHead(upstream.status)
  await pipe(upstream.body, response, NOBODY, () => {})
}

/** What concerns an answer that is there already names no model: it goes to the provider that is asked by default. */
function routeOf(registry: Registry, format: FormatName, body: Body | null): Route {
  if (body === null) return defaultRoute(registry, format)
  const { model } = body.json
  if (typeof model === 'string') return routeModel(registry, format, model)
  throw new AppError('invalid_input', 'model: is a text.', { field: 'model' })
}

function defaultRoute({ providers, defaults }: Registry, format: FormatName): Route {
  const provider = providers.find(({ name }) => name === defaults[format])
  if (provider !== undefined) return { provider, model: '' }
  throw new AppError(
    'not_found',
    'No provider is asked by default: say which, in the file of providers.',
  )
}
