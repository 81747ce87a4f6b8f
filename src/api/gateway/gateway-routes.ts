/**
 * The gateway: clients of model providers point here instead, and the model remembers. It is mounted at `/v1` behind the
 * port of the server, which has checked host, origin, key and rate before anything comes here.
 */
import { AppError } from '../../domain/errors.ts'
import type { Mount } from '../http/server-options.ts'
import { answerEmbeddings, answerRerank } from './embedding-endpoints.ts'
import { formatAt } from './formats/index.ts'
import { errorBodyFor, errorIdHeaderFor } from './gateway-errors.ts'
import type { Exchange, GatewayOptions } from './gateway-request.ts'
import { ModelList } from './model-list.ts'
import { COUNT_TOKENS, countTokens, keptRequestAt, passKept } from './proxy/passthrough.ts'
import { ask } from './proxy/proxy-handler.ts'
import { KeptResponses } from './proxy/response-ownership.ts'
import { HiddenCalls, ToollessModels } from './tools/tool-handler.ts'

export type { GatewayOptions } from './gateway-request.ts'

const PATH = '/v1'

const ANSWERS: { readonly [path: string]: ((exchange: Exchange) => Promise<void>) | undefined } = {
  '/v1/embeddings': answerEmbeddings,
  '/v1/rerank': answerRerank,
  [COUNT_TOKENS]: countTokens,
}

export function createGateway(options: GatewayOptions): Mount {
  const models = new ModelList(options)
  const kept = new KeptResponses(options.engine, options.clock)
  const memories = {
    hidden: new HiddenCalls(options.clock),
    toolless: new ToollessModels(options.clock),
    kept,
  }
  return {
    path: PATH,
    passesOn: (path) => formatAt(path) !== null,
    errorBody: errorBodyFor,
    errorIdHeader: errorIdHeaderFor,
    handle: async (request, response, caller, _charge, { requestId, signal }) => {
      const exchange: Exchange = { options, request, response, caller, requestId, signal }
      const path = (request.url ?? '').split('?')[0] ?? ''
      const { method = '' } = request
      if (path === '/v1/models' || path.startsWith('/v1/models/')) {
        only(exchange, 'GET')
        const id = decoded(path.slice('/v1/models/'.length))
        return models.answer(exchange, id === '' ? null : id)
      }
      const keptRequest = keptRequestAt(path)
      if (keptRequest !== null) {
        only(exchange, ...keptRequest.methods)
        return passKept(exchange, keptRequest, kept)
      }
      const format = formatAt(path)
      const answer = format === null ? ANSWERS[path] : () => ask(exchange, format, memories)
      if (answer === undefined)
        throw new AppError('not_found', `Unknown address: ${method} ${path}.`)
      only(exchange, 'POST')
      return answer(exchange)
    },
  }
}

function only({ request, response }: Exchange, ...methods: readonly string[]): void {
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
