/**
 * Wire formats of the supported APIs. A format reads a conversation from a request and injects the context block
 * by editing the text of the request. It never serializes a request again: unknown fields would be lost, and changed
 * bytes would invalidate the provider's prompt cache.
 */
import type {
  ApiFormat,
  BlockPlacement,
  ModelAnswer,
  ModelRequest,
} from '../../../domain/model-call.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'

/** Collects the answer of a response that is passed through. Whatever it cannot parse is skipped. */
export interface AnswerReader {
  readEvent(event: SseEvent): void
  /** The body of a response that is not streamed. */
  readBody(body: unknown): void
  /** Whether the model has finished its answer. Events with the usage may follow. */
  isEnded(): boolean
  getAnswer(): ModelAnswer
}

export type WireFormat = {
  readonly name: ApiFormat
  /** The path of the API, for example `/v1/messages`. */
  readonly path: string
  /**
   * Where the path names the model: the path for a model below the base URL of its provider. Otherwise the body names it,
   * and the path is always the same.
   */
  toUpstreamPath?(model: string): string
  /** Fails, naming the field, when a field that memory needs is invalid for the API as well. */
  parseRequest(body: JsonObject): ModelRequest
  /**
   * The request with the block in it; every other byte is unchanged. Null when the request has no position for a block.
   * `text` is the request, `body` the parsed request.
   */
  injectBlock(
    text: string,
    body: JsonObject,
    block: string,
    placement: BlockPlacement,
  ): string | null
  createAnswerReader(): AnswerReader
}
