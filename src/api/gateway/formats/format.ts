/**
 * Wire formats: how the three APIs that models are asked through write a conversation down. A format reads what memory
 * needs to know and puts a block of memories in its place; it never writes a request anew, because whatever it did not
 * know would be lost or look different, and providers charge for prompts that look different.
 */
import type {
  ApiFormat,
  BlockPlacement,
  ModelAnswer,
  ModelRequest,
} from '../../../domain/model-call.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'

/** Reads an answer along while it passes. It believes nothing: whatever it can't read is passed over. */
export interface AnswerReader {
  readEvent(event: SseEvent): void
  /** The body of an answer that doesn't stream. */
  readBody(body: unknown): void
  /** Whether the model has said its last word, as far as events tell; further events may tell what it used. */
  isEnded(): boolean
  getAnswer(): ModelAnswer
}

export type WireFormat = {
  readonly name: ApiFormat
  /** Where the API is, as `/v1/messages`. */
  readonly path: string
  /** Refuses what the API itself would refuse and memory can't do without, naming the field. */
  parseRequest(body: JsonObject): ModelRequest
  /**
   * The same request with the block in it; everything else stays as it is, to the byte. Null where there is no place for
   * it. `text` is the request, `body` what it says.
   */
  injectBlock(
    text: string,
    body: JsonObject,
    block: string,
    placement: BlockPlacement,
  ): string | null
  createAnswerReader(): AnswerReader
}
