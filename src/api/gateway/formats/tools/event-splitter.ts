import { type JsonObject, parseJsonObject } from '../../../../lib/json.ts'
import { EVENT_CHARACTERS_MAX } from '../../../../lib/sse.ts'

/** Server-sent events as they stand in a stream, each with its own text, so that what isn't changed stays as it was. */
export type RawEvent = {
  /** All of it, with the blank line at its end. */
  readonly raw: string
  /** Empty when it has none. */
  readonly name: string
  /** Null when there is none, as in comments that keep a connection open. */
  readonly data: string | null
}

/** Two line ends in a row end an event. A return at the end of what has come may be half a line end. */
const EVENT_END = /(?:\r\n|\n|\r(?!\n|$))(?:\r\n|\n|\r(?!\n|$))/g

/**
 * Takes a stream in pieces, cut anywhere, and gives its events as soon as each is whole. One that is longer than
 * anybody reads is passed on as it comes.
 */
export class EventSplitter {
  #rest = ''
  /** Up to here there is no end of an event. */
  #searched = 0

  push(text: string): readonly RawEvent[] {
    this.#rest += text
    const blocks: RawEvent[] = []
    let from = 0
    EVENT_END.lastIndex = this.#searched
    for (let end = EVENT_END.exec(this.#rest); end !== null; end = EVENT_END.exec(this.#rest)) {
      blocks.push(toBlock(this.#rest.slice(from, EVENT_END.lastIndex)))
      from = EVENT_END.lastIndex
    }
    this.#rest = this.#rest.slice(from)
    if (this.#rest.length > EVENT_CHARACTERS_MAX) {
      blocks.push({ raw: this.#rest, name: '', data: null })
      this.#rest = ''
    }
    this.#searched = Math.max(0, this.#rest.length - END_CHARACTERS_MAX)
    return blocks
  }

  /** What came after the last blank line. It is completed if it says something whole, as more may follow it. */
  end(): readonly RawEvent[] {
    const raw = this.#rest
    this.#rest = ''
    this.#searched = 0
    if (raw === '') return []
    const block = toBlock(raw)
    const isWhole = block.data?.trim() === DONE_MARKER || parseEventJson(block) !== null
    return [isWhole ? { ...block, raw: `${raw.replace(/[\r\n]+$/, '')}\n\n` } : block]
  }
}

/** How the streams of some APIs end. */
export const DONE_MARKER = '[DONE]'
const END_CHARACTERS_MAX = 4

function toBlock(raw: string): RawEvent {
  let name = ''
  const data: string[] = []
  for (const line of raw.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') name = value
    if (field === 'data') data.push(value)
  }
  return { raw, name, data: data.length === 0 ? null : data.join('\n') }
}

/** What an event says; null when that is no JSON object. */
export function parseEventJson({ data }: RawEvent): JsonObject | null {
  return data === null ? null : parseJsonObject(data)
}

/** The text of an event that is not one of theirs any more. */
export function formatEvent(name: string, data: object | string): string {
  const said = typeof data === 'string' ? data : JSON.stringify(data)
  return `${name === '' ? '' : `event: ${name}\n`}data: ${said}\n\n`
}
