/**
 * An incremental parser of server-sent events. It takes bytes, keeps no more than one event, and drops events that are too
 * long, which parsers of text packages do not do.
 */

/** Longer events are dropped, so that a sender that never ends one cannot fill the memory. Responses with images come close. */
export const EVENT_CHARACTERS_MAX = 8 * 1_048_576

/** Takes the next bytes, and null at the end. Throws only what the listener throws. */
export type SseParser = (bytes: Uint8Array | null) => void

/**
 * Calls the listener for every event that has data. The name is empty where the sender gives none. An event that the end
 * of the stream cuts off is reported as well, because its data may be complete.
 */
export function createSseParser(
  listener: (event: SseEvent) => void,
  charactersMax = EVENT_CHARACTERS_MAX,
): SseParser {
  const decoder = new TextDecoder()
  const lines = new LineSplitter(new EventFields(listener, charactersMax), charactersMax)
  return (bytes) => {
    lines.write(bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true }))
    if (bytes === null) lines.end()
  }
}

/** Replaces a line that is too long: a comment, so that the end of its event is still found. */
const DROPPED = ':'
const LINE_END = /[\r\n]/g

function findLineEnd(text: string, from: number): number | null {
  LINE_END.lastIndex = from
  return LINE_END.exec(text)?.index ?? null
}

class LineSplitter {
  readonly #fields: EventFields
  readonly #charactersMax: number
  /** The incomplete line at the end of the bytes so far. */
  #partial = ''
  /** A line feed that comes next belongs to the preceding carriage return. */
  #isAfterReturn = false

  constructor(fields: EventFields, charactersMax: number) {
    this.#fields = fields
    this.#charactersMax = charactersMax
  }

  write(text: string): void {
    if (text === '') return
    let from = this.#isAfterReturn && text.startsWith('\n') ? 1 : 0
    this.#isAfterReturn = text.endsWith('\r')
    for (let end = findLineEnd(text, from); end !== null; end = findLineEnd(text, from)) {
      this.#append(text.slice(from, end))
      this.#endLine()
      from = text.startsWith('\r\n', end) ? end + 2 : end + 1
    }
    this.#append(text.slice(from))
  }

  end(): void {
    this.#endLine()
    this.#fields.line('')
  }

  #append(text: string): void {
    this.#partial += text
    if (this.#partial.length <= this.#charactersMax) return
    this.#partial = DROPPED
    this.#fields.drop()
  }

  #endLine(): void {
    const line = this.#partial
    this.#partial = ''
    this.#fields.line(line)
  }
}

class EventFields {
  readonly #listener: (event: SseEvent) => void
  readonly #charactersMax: number
  #name = ''
  /** Null while the event has no data. */
  #data: string | null = null
  #isDropped = false

  constructor(listener: (event: SseEvent) => void, charactersMax: number) {
    this.#listener = listener
    this.#charactersMax = charactersMax
  }

  /** Drops the event that is being read. */
  drop(): void {
    this.#isDropped = true
    this.#data = null
  }

  line(line: string): void {
    if (line === '') this.#dispatch()
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'event') this.#name = value
    if (field === 'data' && !this.#isDropped) this.#add(value)
  }

  #add(value: string): void {
    const data = this.#data === null ? value : `${this.#data}\n${value}`
    if (data.length > this.#charactersMax) this.drop()
    else this.#data = data
  }

  #dispatch(): void {
    const [name, data] = [this.#name, this.#data]
    this.#name = ''
    this.#data = null
    this.#isDropped = false
    if (data !== null) this.#listener({ name, data })
  }
}

/** One event of a stream: `event:` and `data:` of server-sent events. */
export type SseEvent = { readonly name: string; readonly data: string }
