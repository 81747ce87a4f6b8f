/**
 * The gateway: clients of model providers point here instead, and the model remembers. It is mounted at `/v1` behind the
 * port of the server, which has checked host, origin, key and rate before anything comes here.
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
import { HiddenCalls, ToollessModels } from './tools/tool-handler.ts'

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
  const kept = new ResponseOwnership(options.engine, options.clock)
  const memories = {
    hiddenToolCalls: new HiddenCalls(options.clock),
    toolSupport: new ToollessModels(options.clock),
    responseOwnership: kept,
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
        const id = decoded(path.slice('/v1/models/'.length))
        return models.respond(exchange, id === '' ? null : id)
      }
      const keptRequest = matchStoredResponseRequest(path)
      if (keptRequest !== null) {
        assertMethod(exchange, ...keptRequest.methods)
        return forwardStoredResponseRequest(exchange, keptRequest, kept)
      }
      const format = findFormatByPath(path)
      const answer =
        format === null ? HANDLERS[path] : () => handleProxyRequest(exchange, format, memories)
      if (answer === undefined)
        throw new AppError('not_found', `Unknown address: ${method} ${path}.`)
      assertMethod(exchange, 'POST')
      return answer(exchange)
    },
  }
}

function assertMethod({ request, response }: GatewayRequest, ...methods: readonly string[]): void {
  if (methods.includes(request.method ?? '')) return
  response.setHeader('allow', methods.join(', '))
  throw new AppError('method_not_allowed', `${request.method} is not answered at this address.`)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
