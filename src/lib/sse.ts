/** Server-sent events, read from bytes as they arrive, however they are cut. */

/**
 * Longer events are passed over: somebody who reads along must not collect what a sender never ends. Answers with
 * pictures in them come close to it.
 */
export const EVENT_CHARACTERS_MAX = 8 * 1_048_576

/** Takes the next bytes; null says that there are no more. Never throws, unless the listener does. */
export type SseParser = (bytes: Uint8Array | null) => void

/**
 * Tells the listener of every event that has data. The name is empty where the sender gives none. An event that the end
 * of the stream cuts short is told too: its data may be all there, and its reader can tell.
 */
export function createSseParser(
  listener: (event: SseEvent) => void,
  charactersMax = EVENT_CHARACTERS_MAX,
): SseParser {
  const decoder = new TextDecoder()
  const lines = new LineSplitter(new EventFields(listener, charactersMax), charactersMax)
  return (bytes) => {
    lines.take(bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true }))
    if (bytes === null) lines.end()
  }
}

/** A line that was too long to keep; reading it as a comment leaves the end of its event where it is. */
const DROPPED = ':'
const LINE_END = /[\r\n]/g

function findLineEnd(text: string, from: number): number | null {
  LINE_END.lastIndex = from
  return LINE_END.exec(text)?.index ?? null
}

class LineSplitter {
  readonly #fields: EventFields
  readonly #charactersMax: number
  /** What has come of the line that is not ended yet. */
  #begun = ''
  /** A line feed that comes next belongs to the line end before it. */
  #isAfterReturn = false

  constructor(fields: EventFields, charactersMax: number) {
    this.#fields = fields
    this.#charactersMax = charactersMax
  }

  take(text: string): void {
    if (text === '') return
    let from = this.#isAfterReturn && text.startsWith('\n') ? 1 : 0
    this.#isAfterReturn = text.endsWith('\r')
    for (let end = findLineEnd(text, from); end !== null; end = findLineEnd(text, from)) {
      this.#begin(text.slice(from, end))
      this.#finish()
      from = text.startsWith('\r\n', end) ? end + 2 : end + 1
    }
    this.#begin(text.slice(from))
  }

  end(): void {
    this.#finish()
    this.#fields.line('')
  }

  #begin(text: string): void {
    this.#begun += text
    if (this.#begun.length <= this.#charactersMax) return
    this.#begun = DROPPED
    this.#fields.drop()
  }

  #finish(): void {
    const line = this.#begun
    this.#begun = ''
    this.#fields.line(line)
  }
}

class EventFields {
  readonly #listener: (event: SseEvent) => void
  readonly #charactersMax: number
  #name = ''
  /** Null as long as the event has none. */
  #data: string | null = null
  #isDropped = false

  constructor(listener: (event: SseEvent) => void, charactersMax: number) {
    this.#listener = listener
    this.#charactersMax = charactersMax
  }

  /** Passes over the event that is being read. */
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
