/**
 * Counting tokens, which Anthropic and Gemini do for a request that is not sent yet. It is counted with the context block
 * that it would get, so that a client that fills the context window leaves room for it. Nothing is recorded.
 */
import type { WireFormat } from '../formats/format.ts'
import type { GatewayRequest } from '../gateway-request.ts'
import { type GatewayCaches, injectContext, prepareContext, readChatTurn } from './chat-turn.ts'
import { MEMORY_HEADER, renderMemoryHeader } from './memory-headers.ts'
import { forwardRequest } from './passthrough.ts'

/** `toPath` gives the path that counts, below the base URL of the provider, for a model. */
export async function handleTokenCount(
  exchange: GatewayRequest,
  format: WireFormat,
  caches: GatewayCaches,
  toPath: (model: string) => string,
): Promise<void> {
  const turn = await readChatTurn(exchange, format, caches)
  const prepared = await prepareContext(exchange, turn)
  exchange.options.engine.conversations.discard(prepared)
  const { bytes, skipped } = injectContext(exchange, turn, prepared)
  const header = renderMemoryHeader({ ...prepared, receipt: null }, skipped)
  exchange.response.setHeader(MEMORY_HEADER, header)
  const { provider, model } = turn.route
  await forwardRequest(exchange, provider, toPath(model), bytes, format.name)
}
