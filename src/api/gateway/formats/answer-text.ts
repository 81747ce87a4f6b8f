/** Collects the text of an answer, for all formats. Nothing here throws on malformed input. */

import { joinTexts } from '../../../domain/message-content.ts'
import { type JsonObject, parseJsonObject } from '../../../lib/json.ts'

/** Longer answers are truncated, so that an endless stream cannot exhaust memory. */
export const STREAMED_ANSWER_CHARACTERS_MAX = 1_000_000

/** The text of an answer, collected by part. */
export class AnswerText {
  readonly #parts = new Map<string, string>()
  #characters = 0
  #isTruncated = false

  get isTruncated(): boolean {
    return this.#isTruncated
  }

  add(part: string, text: unknown): void {
    if (typeof text !== 'string' || this.#isTruncated) return
    const room = STREAMED_ANSWER_CHARACTERS_MAX - this.#characters
    this.#isTruncated = text.length > room
    const added = text.slice(0, room)
    this.#characters += added.length
    this.#parts.set(part, (this.#parts.get(part) ?? '') + added)
  }

  clear(): void {
    this.#parts.clear()
    this.#characters = 0
    this.#isTruncated = false
  }

  /** The text as the format will read it when the client sends the answer back. */
  text(): string {
    return joinTexts(this.#parts.values())
  }
}

/** The data of an event; null when it is not a JSON object. */
export function parseEventData(data: string): JsonObject | null {
  return parseJsonObject(data)
}
