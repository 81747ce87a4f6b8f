/** What the formats have in common when an answer is read along. Nothing here trusts what comes or throws. */

import { joinTexts } from '../../../domain/message-content.ts'
import { type JsonObject, parseJsonObject } from '../../../lib/json.ts'

/** More is not kept: nobody waits for the end of an answer that has none. */
export const STREAMED_ANSWER_CHARACTERS_MAX = 1_000_000

/** The words of an answer, collected part by part. */
export class AnswerText {
  readonly #parts = new Map<string, string>()
  #characters = 0
  #isOverfull = false

  /** There was more than can be kept, so what is here is not the whole answer. */
  get isOverfull(): boolean {
    return this.#isOverfull
  }

  add(part: string, words: unknown): void {
    if (typeof words !== 'string' || this.#isOverfull) return
    const room = STREAMED_ANSWER_CHARACTERS_MAX - this.#characters
    this.#isOverfull = words.length > room
    const kept = words.slice(0, room)
    this.#characters += kept.length
    this.#parts.set(part, (this.#parts.get(part) ?? '') + kept)
  }

  clear(): void {
    this.#parts.clear()
    this.#characters = 0
    this.#isOverfull = false
  }

  /** As `read` of the format will find it when the client sends the answer back. */
  text(): string {
    return joinTexts(this.#parts.values())
  }
}

/** The data of an event; null when it is no object. */
export function parseEventData(data: string): JsonObject | null {
  return parseJsonObject(data)
}
