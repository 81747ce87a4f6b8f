/**
 * Routes of the gateway: clients of model providers send their requests here, and the model gets memory. The gateway is
 * mounted at `/v1` and `/v1beta` of the server, which has checked host, origin, key and rate limits.
 */
import { AppError } from '../../lib/errors.ts'
import type { Mount } from '../http/server-options.ts'
import { isWebSocketRequest } from '../http/web-socket-request.ts'
import { EMBEDDINGS_PATH, handleEmbeddings, handleRerank } from './embedding-endpoints.ts'
import { decodePathSegment } from './formats/gemini-generate-content.ts'
import { findFormatByPath, WIRE_FORMATS } from './formats/index.ts'
import {
  errorBodyFor,
  errorIdHeaderFor,
  isAnthropicRequest,
  isGeminiRequest,
} from './gateway-errors.ts'
import { GATEWAY_PATHS, GEMINI_PATHS } from './gateway-paths.ts'
import type { GatewayOptions, GatewayRequest } from './gateway-request.ts'
import { handleGeminiRequest } from './gemini-routes.ts'
import { ModelList } from './model-list.ts'
import { forwardStoredResponseRequest, matchStoredResponseRequest } from './proxy/passthrough.ts'
import { ProviderState } from './proxy/provider-state.ts'
import { handleProxyRequest } from './proxy/proxy-handler.ts'
import { handleRealtime, REALTIME_PATH } from './proxy/realtime.ts'
import { handleTokenCount } from './proxy/token-count.ts'
import { handleResourceRequest } from './resources/resource-handler.ts'
import { parseResourcePath } from './resources/resource-path.ts'
import { HiddenToolCalls } from './tools/hidden-tool-calls.ts'
import { ToolSupportCache } from './tools/tool-handler.ts'

export type { GatewayOptions } from './gateway-request.ts'

const PATH = '/v1'
/** Of Gemini's own API. */
const BETA_PATH = '/v1beta'
const COUNT_TOKENS_PATH = '/v1/messages/count_tokens'

const HANDLERS: {
  readonly [path: string]: ((exchange: GatewayRequest) => Promise<void>) | undefined
} = {
  [EMBEDDINGS_PATH]: handleEmbeddings,
  '/v1/rerank': handleRerank,
}

export function createGateway(options: GatewayOptions): readonly Mount[] {
  const models = new ModelList(options)
  const providerState = new ProviderState(options.engine, options.clock)
  const caches = {
    hiddenToolCalls: new HiddenToolCalls(options.clock),
    toolSupport: new ToolSupportCache(options.clock),
    providerState,
  }
  const mount: Omit<Mount, 'path'> = {
    isProxied: (path) => findFormatByPath(path) !== null,
    errorBody: errorBodyFor,
    errorIdHeader: errorIdHeaderFor,
    handle: async (request, response, caller, _charge, { requestId, signal }) => {
      const exchange: GatewayRequest = { options, request, response, caller, requestId, signal }
      const path = (request.url ?? '').split('?')[0] ?? ''
      const { method = '' } = request
      const format = findFormatByPath(path)
      if (format === null && isGeminiRequest(request)) {
        return handleGeminiRequest(exchange, path, caches, models)
      }
      if (format === null && (path === '/v1/models' || path.startsWith('/v1/models/'))) {
        assertMethod(exchange, 'GET')
        const id = decodePathSegment(path.slice('/v1/models/'.length))
        return models.respond(exchange, id === '' ? null : id)
      }
      if (path === REALTIME_PATH && isWebSocketRequest(request)) return handleRealtime(exchange)
      const resource = parseResourcePath(method, path, isAnthropicRequest(request))
      const storedResponse = resource?.kind === 'call' ? null : matchStoredResponseRequest(path)
      if (storedResponse !== null) {
        assertMethod(exchange, ...storedResponse.methods)
        return forwardStoredResponseRequest(exchange, storedResponse, providerState)
      }
      if (path === COUNT_TOKENS_PATH) {
        assertMethod(exchange, 'POST')
        const toPath = () => COUNT_TOKENS_PATH.slice(PATH.length)
        return handleTokenCount(exchange, WIRE_FORMATS.messages, caches, toPath)
      }
      const handle =
        format === null ? HANDLERS[path] : () => handleProxyRequest(exchange, format, caches)
      if (resource !== null || handle === undefined) {
        return handleResourceRequest(exchange, path, resource, providerState)
      }
      assertMethod(exchange, 'POST')
      return handle(exchange)
    },
  }
  return [
    { ...mount, path: PATH, paths: GATEWAY_PATHS },
    { ...mount, path: BETA_PATH, paths: GEMINI_PATHS },
  ]
}

function assertMethod({ request, response }: GatewayRequest, ...methods: readonly string[]): void {
  if (methods.includes(request.method ?? '')) return
  response.setHeader('allow', methods.join(', '))
  throw new AppError(
    'method_not_allowed',
    `The method ${request.method} is not allowed on this path; use ${methods.join(' or ')}.`,
  )
}
