/** Routes of Gemini's own API besides answers: token counts, embeddings and other calls of models, and everything else. */
import { AppError } from '../../lib/errors.ts'
import { filterObjects } from '../../lib/json.ts'
import { routeModel } from '../../models/model-routing.ts'
import { hasBody } from '../http/messages/request-body.ts'
import { assertAccess } from '../operations/authorization.ts'
import {
  createGeminiFormat,
  decodePathSegment,
  type GeminiTarget,
  geminiPath,
  parseGeminiTarget,
  type readField,
} from './formats/gemini-generate-content.ts'
import { replaceValue } from './formats/json-edit.ts'
import { refersToStateOf } from './formats/provider-references.ts'
import { type GatewayRequest, readRequestBody } from './gateway-request.ts'
import type { ModelList } from './model-list.ts'
import type { GatewayCaches } from './proxy/chat-turn.ts'
import { parseMemoryHeaders } from './proxy/memory-headers.ts'
import { assertOwnReferences, findDefaultProvider, forwardRequest } from './proxy/passthrough.ts'
import { handleTokenCount } from './proxy/token-count.ts'
import { usesSharedAccount } from './proxy/upstream-call.ts'

const COUNT_ACTION = 'countTokens'
const MODELS_PATH = /^\/v1(?:beta)?\/models(?:\/(.+))?$/
const PLAIN_PATH = /^\/v1(?:beta)?(?:\/(?!\.{1,2}(?:\/|$))[\w.:~-]+)+$/

/** Requests for answers of a model are handled before. */
export async function handleGeminiRequest(
  exchange: GatewayRequest,
  path: string,
  caches: GatewayCaches,
  models: ModelList,
): Promise<void> {
  const { request, caller } = exchange
  const target = parseGeminiTarget(path)
  if (target !== null && request.method === 'POST') {
    const { action } = target
    if (action !== COUNT_ACTION) return callModel(exchange, target, caches)
    const toPath = (model: string) => geminiPath({ model, action })
    return handleTokenCount(exchange, createGeminiFormat(target), caches, toPath)
  }
  const listed = request.method === 'GET' ? MODELS_PATH.exec(path) : null
  if (listed !== null)
    return models.respondGemini(exchange, decodePathSegment(listed[1] ?? '') || null)
  if (!PLAIN_PATH.test(path)) throw new AppError('not_found', 'Unknown path.')
  if (request.method !== 'GET') assertAccess(caller, 'write')
  const provider = findDefaultProvider(exchange.options.registry, 'gemini')
  // What an account holds cannot be told apart by owner here, so only an account of the client is reached.
  if (usesSharedAccount(exchange, provider)) {
    throw new AppError('not_found', `Unknown path: ${request.method} ${path}.`)
  }
  const body = hasBody(request) ? request : null
  await forwardRequest(exchange, provider, path.replace(/^\/v1(?:beta)?/, ''), body, 'gemini')
}

/** Embeddings, images and the like, for which memory has no part. */
async function callModel(
  exchange: GatewayRequest,
  target: GeminiTarget,
  { providerState }: GatewayCaches,
): Promise<void> {
  const { options, request, caller } = exchange
  const body = await readRequestBody(exchange, refersToStateOf('gemini'))
  const { provider, model } = routeModel(options.registry, 'gemini', target.model)
  const { owner } = parseMemoryHeaders(request, caller)
  await assertOwnReferences(exchange, { providerState, provider, owner, format: 'gemini', body })
  const edited = model === target.model ? null : renameModel(body.text, body.json, model)
  const bytes = edited === null ? body.bytes : body.toBytes(edited)
  await forwardRequest(exchange, provider, geminiPath({ ...target, model }), bytes, 'gemini')
}

/** Requests for embeddings repeat the model of the path in the body. */
function renameModel(
  text: string,
  json: Parameters<typeof readField>[0],
  model: string,
): string | null {
  const name = JSON.stringify(`models/${model}`)
  let edited = json.model === undefined ? text : replaceValue(text, ['model'], name)
  for (const [index, each] of filterObjects(json.requests).entries()) {
    if (each.model === undefined || edited === null) continue
    edited = replaceValue(edited, ['requests', index, 'model'], name)
  }
  return edited
}
