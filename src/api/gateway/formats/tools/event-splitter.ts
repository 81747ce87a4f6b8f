import { type JsonObject, parseJsonObject } from '../../../../lib/json.ts'
import { EVENT_CHARACTERS_MAX } from '../../../../lib/sse.ts'

/** A server-sent event with its raw text, so that unchanged events keep their bytes. */
export type RawEvent = {
  /** The text of the event, including the blank line that ends it. */
  readonly raw: string
  /** Empty when the event has none. */
  readonly name: string
  /** Null when there is none, as in keep-alive comments. */
  readonly data: string | null
}

/** Two line ends in a row end an event. A carriage return at the end of the input may be half a line end. */
const EVENT_END = /(?:\r\n|\n|\r(?!\n|$))(?:\r\n|\n|\r(?!\n|$))/g

/** Splits a stream, cut into chunks anywhere, into events. An event beyond the size limit is passed through in parts. */
export class EventSplitter {
  #rest = ''
  /** No event ends before this position. */
  #searched = 0

  push(text: string): readonly RawEvent[] {
    this.#rest += text
    const events: RawEvent[] = []
    let from = 0
    EVENT_END.lastIndex = this.#searched
    for (let end = EVENT_END.exec(this.#rest); end !== null; end = EVENT_END.exec(this.#rest)) {
      events.push(toRawEvent(this.#rest.slice(from, EVENT_END.lastIndex)))
      from = EVENT_END.lastIndex
    }
    this.#rest = this.#rest.slice(from)
    if (this.#rest.length > EVENT_CHARACTERS_MAX) {
      events.push({ raw: this.#rest, name: '', data: null })
      this.#rest = ''
    }
    this.#searched = Math.max(0, this.#rest.length - END_CHARACTERS_MAX)
    return events
  }

  /** The text after the last blank line. A complete event gets its missing blank line, because more may follow it. */
  end(): readonly RawEvent[] {
    const raw = this.#rest
    this.#rest = ''
    this.#searched = 0
    if (raw === '') return []
    const event = toRawEvent(raw)
    const isComplete = event.data?.trim() === DONE_MARKER || parseEventJson(event) !== null
    return [isComplete ? { ...event, raw: `${raw.replace(/[\r\n]+$/, '')}\n\n` } : event]
  }
}

/** Ends the streams of some APIs. */
export const DONE_MARKER = '[DONE]'
const END_CHARACTERS_MAX = 4

function toRawEvent(raw: string): RawEvent {
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

/** The data of an event; null when it is not a JSON object. */
export function parseEventJson({ data }: RawEvent): JsonObject | null {
  return data === null ? null : parseJsonObject(data)
}

/** The text of an event that the gateway changed or created. */
export function formatEvent(name: string, data: object | string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return `${name === '' ? '' : `event: ${name}\n`}data: ${text}\n\n`
}
