/**
 * Routes of the gateway: clients of model providers send their requests here, and the model gets memory. The gateway is
 * mounted at `/v1` of the server, which has checked host, origin, key and rate limits.
 */
import { AppError } from '../../lib/errors.ts'
import type { Mount } from '../http/server-options.ts'
import { handleEmbeddings, handleRerank } from './embedding-endpoints.ts'
import { findFormatByPath } from './formats/index.ts'
import { errorBodyFor, errorIdHeaderFor } from './gateway-errors.ts'
import type { GatewayOptions, GatewayRequest } from './gateway-request.ts'
import { ModelList } from './model-list.ts'
import {
  COUNT_TOKENS_PATH,
  forwardCountTokens,
  forwardStoredResponseRequest,
  matchStoredResponseRequest,
} from './proxy/passthrough.ts'
import { handleProxyRequest } from './proxy/proxy-handler.ts'
import { ResponseOwnership } from './proxy/response-ownership.ts'
import { HiddenToolCalls } from './tools/hidden-tool-calls.ts'
import { ToolSupportCache } from './tools/tool-handler.ts'

export type { GatewayOptions } from './gateway-request.ts'

const PATH = '/v1'

const HANDLERS: {
  readonly [path: string]: ((exchange: GatewayRequest) => Promise<void>) | undefined
} = {
  '/v1/embeddings': handleEmbeddings,
  '/v1/rerank': handleRerank,
  [COUNT_TOKENS_PATH]: forwardCountTokens,
}

export function createGateway(options: GatewayOptions): Mount {
  const models = new ModelList(options)
  const responseOwnership = new ResponseOwnership(options.engine, options.clock)
  const caches = {
    hiddenToolCalls: new HiddenToolCalls(options.clock),
    toolSupport: new ToolSupportCache(options.clock),
    responseOwnership,
  }
  return {
    path: PATH,
    isProxied: (path) => findFormatByPath(path) !== null,
    errorBody: errorBodyFor,
    errorIdHeader: errorIdHeaderFor,
    handle: async (request, response, caller, _charge, { requestId, signal }) => {
      const exchange: GatewayRequest = { options, request, response, caller, requestId, signal }
      const path = (request.url ?? '').split('?')[0] ?? ''
      const { method = '' } = request
      if (path === '/v1/models' || path.startsWith('/v1/models/')) {
        assertMethod(exchange, 'GET')
        const id = decodePathSegment(path.slice('/v1/models/'.length))
        return models.respond(exchange, id === '' ? null : id)
      }
      const storedResponse = matchStoredResponseRequest(path)
      if (storedResponse !== null) {
        assertMethod(exchange, ...storedResponse.methods)
        return forwardStoredResponseRequest(exchange, storedResponse, responseOwnership)
      }
      const format = findFormatByPath(path)
      const handle =
        format === null ? HANDLERS[path] : () => handleProxyRequest(exchange, format, caches)
      if (handle === undefined) {
        throw new AppError('not_found', `Unknown path: ${method} ${path}.`)
      }
      assertMethod(exchange, 'POST')
      return handle(exchange)
    },
  }
}

function assertMethod({ request, response }: GatewayRequest, ...methods: readonly string[]): void {
  if (methods.includes(request.method ?? '')) return
  response.setHeader('allow', methods.join(', '))
  throw new AppError(
    'method_not_allowed',
    `The method ${request.method} is not allowed on this path; use ${methods.join(' or ')}.`,
  )
}

function decodePathSegment(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
