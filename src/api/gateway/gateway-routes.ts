/**
 * Routes of the gateway: clients of model providers send their requests here, and the model gets memory. The gateway is
 * mounted at `/v1` of the server, which has checked host, origin, key and rate limits.
 */
import { AppError } from '../../lib/errors.ts'
import type { Mount } from '../http/server-options.ts'
import { EMBEDDINGS_PATH, handleEmbeddings, handleRerank } from './embedding-endpoints.ts'
import { findFormatByPath } from './formats/index.ts'
import { errorBodyFor, errorIdHeaderFor, isAnthropicRequest } from './gateway-errors.ts'
import { GATEWAY_PATHS } from './gateway-paths.ts'
import type { GatewayOptions, GatewayRequest } from './gateway-request.ts'
import { ModelList } from './model-list.ts'
import {
  COUNT_TOKENS_PATH,
  forwardCountTokens,
  forwardStoredResponseRequest,
  matchStoredResponseRequest,
} from './proxy/passthrough.ts'
import { ProviderState } from './proxy/provider-state.ts'
import { handleProxyRequest } from './proxy/proxy-handler.ts'
import { handleResourceRequest } from './resources/resource-handler.ts'
import { parseResourcePath } from './resources/resource-path.ts'
import { HiddenToolCalls } from './tools/hidden-tool-calls.ts'
import { ToolSupportCache } from './tools/tool-handler.ts'

export type { GatewayOptions } from './gateway-request.ts'

const PATH = '/v1'

const HANDLERS: {
  readonly [path: string]: ((exchange: GatewayRequest) => Promise<void>) | undefined
} = {
  [EMBEDDINGS_PATH]: handleEmbeddings,
  '/v1/rerank': handleRerank,
}

export function createGateway(options: GatewayOptions): Mount {
  const models = new ModelList(options)
  const providerState = new ProviderState(options.engine, options.clock)
  const caches = {
    hiddenToolCalls: new HiddenToolCalls(options.clock),
    toolSupport: new ToolSupportCache(options.clock),
    providerState,
  }
  return {
    path: PATH,
    paths: GATEWAY_PATHS,
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
      const resource = parseResourcePath(method, path, isAnthropicRequest(request))
      const storedResponse = resource?.kind === 'call' ? null : matchStoredResponseRequest(path)
      if (storedResponse !== null) {
        assertMethod(exchange, ...storedResponse.methods)
        return forwardStoredResponseRequest(exchange, storedResponse, providerState)
      }
      if (path === COUNT_TOKENS_PATH) {
        assertMethod(exchange, 'POST')
        return forwardCountTokens(exchange, providerState)
      }
      const format = findFormatByPath(path)
      const handle =
        format === null ? HANDLERS[path] : () => handleProxyRequest(exchange, format, caches)
      if (resource !== null || handle === undefined) {
        return handleResourceRequest(exchange, path, resource, providerState)
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
