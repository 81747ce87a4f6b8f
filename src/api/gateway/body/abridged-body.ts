/**
 * Reads a large JSON body without ever holding the thread for long, or its text in memory as a whole.
 *
 * One pass over the bytes, in time slices, finds the members of the object and the elements of its lists. Elements are
 * parsed one by one. Long strings are cut out and stand in the text as placeholders, so that the text can be edited like
 * the text of a small body; `toBytes` puts the bytes back.
 */

import { randomBytes } from 'node:crypto'
import { AppError } from '../../../lib/errors.ts'
import { TimeSlice } from '../../../lib/event-loop.ts'
import { isObject, type Json } from '../../../lib/json.ts'
import { countCharacters } from '../formats/request-text.ts'
import { TEXT_HEAD_CHARACTERS, TEXT_TAIL_CHARACTERS } from '../formats/text-clip.ts'
import { invalidJson, type RequestBody } from './request-json.ts'
import { type LongString, StringScanner } from './string-scanner.ts'

/** Above it, memory stays out of a request: reading more would hold up the requests of everybody else. */
export const MEMORY_TEXT_CHARACTERS_MAX = 4_000_000

/** Of one element of a list, and of everything outside of lists, without long strings. */
const PARSED_BYTES_MAX = 6_000_000

/** Of the elements that are kept of each list when there is too much text. */
const KEPT_BYTES_MAX = 262_144
/** Elements that are kept because they refer to state of the provider. */
const KEPT_REFERENCES_MAX = 1_000

/** A character takes at most so many bytes in JSON: `\uXXXX`. */
const BYTES_PER_CHARACTER = 6
/** Left of a long string, so that readers of texts, which clip them, never see a placeholder. */
const HEAD_BYTES = TEXT_HEAD_CHARACTERS * BYTES_PER_CHARACTER
const TAIL_BYTES = TEXT_TAIL_CHARACTERS * BYTES_PER_CHARACTER

/** Fields of images, files and encrypted content, which nothing reads. */
const DATA_FIELDS: ReadonlySet<string> = new Set([
  ...['data', 'url', 'image_url', 'file_data', 'encrypted_content', 'signature', 'result'],
])
const DATA_HEAD_BYTES = 64

/** Of all lists. Beyond it, memory stays out of the request as well. */
const ELEMENTS_MAX = 100_000

/** Lists that are members of the body. */
const LISTS_MAX = 1_000

/** Stands for elements that were too large to be read. */
const UNREAD_ELEMENT: Json = { role: 'user', content: '' }

/** Between two looks at the clock. */
const CHECK_BYTES = 65_536

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

type Span = { readonly start: number; readonly end: number }

type Cut = Span & { readonly isInList: boolean }

type ParsedList = {
  readonly refersToState: ((element: Json) => boolean) | null
  /** From behind its opening bracket up to its closing one. */
  readonly start: number
  end: number
  elements: Json[]
  keptBytes: number
}

/** Says of elements of a list whether they refer to state of the provider; null for a list whose elements never do. */
export type RefersToState = (list: string) => ((element: Json) => boolean) | null

/** The text must be valid UTF-8. */
export async function abridgeBody(
  bytes: Buffer,
  refersToState: RefersToState,
): Promise<RequestBody> {
  const scan = new BodyScan(bytes, refersToState)
  await scan.run()
  return scan.toBody()
}

class BodyScan {
  readonly #bytes: Buffer
  readonly #refersToState: RefersToState
  readonly #slice = new TimeSlice()
  readonly #strings: StringScanner
  /** The middles of long strings. */
  readonly #cuts: Cut[] = []
  readonly #lists = new Map<string, ParsedList>()
  /** Of all lists, also of those that a later member of the same name replaces. */
  readonly #listSpans: ParsedList[] = []
  #list: ParsedList | null = null
  #characters = 0
  #elements = 0
  #references = 0
  #isTooLarge = false
  #isUnread = false

  constructor(bytes: Buffer, refersToState: RefersToState) {
    this.#bytes = bytes
    this.#refersToState = refersToState
    this.#strings = new StringScanner(bytes, this.#slice)
  }

  /** Positions: depth 1 is inside the object, depth 2 inside a list that is its member. */
  async run(): Promise<void> {
    const bytes = this.#bytes
    let depth = 0
    let nextCheck = CHECK_BYTES
    let string: Span = { start: 0, end: 0 }
    let field: Span | null = null
    let elementStart = -1
    let isAfterElement = false
    for (let at = 0; at < bytes.length; ) {
      if (at >= nextCheck) {
        nextCheck = at + CHECK_BYTES
        if (this.#slice.isExpired) await this.#slice.yieldThread()
      }
      const code = bytes[at] ?? 0
      const isInList = depth === 2 && this.#list !== null
      if (isInList && elementStart < 0 && !isSpace(code) && code !== CLOSE_BRACKET) {
        if (code === COMMA) {
          if (!isAfterElement) throw invalidJson()
          isAfterElement = false
          at++
          continue
        }
        if (isAfterElement || code === COLON || code === CLOSE_BRACE) throw invalidJson()
        elementStart = at
        isAfterElement = true
      }
      if (code === QUOTE) {
        const start = at
        at = this.#strings.shortEnd(start)
        if (at < 0) {
          const long = await this.#strings.scanLong(start)
          at = long.end
          nextCheck = at + CHECK_BYTES
          this.#addLongString(long, field)
        }
        string = { start, end: at }
      } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        if (code === OPEN_BRACKET && depth === 1 && field !== null) this.#openList(at, field)
        depth++
        at++
        isAfterElement = depth === 2 ? false : isAfterElement
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        if (isInList && elementStart < 0) {
          if (code !== CLOSE_BRACKET || this.#endsWithComma(at)) throw invalidJson()
          this.#closeList(at)
        }
        depth--
        at++
      } else {
        at++
        if (isInList && elementStart >= 0)
          while (at < bytes.length && !isDelimiter(bytes[at] ?? 0)) at++
      }
      field = code === COLON ? string : isSpace(code) ? field : null
      const isElementEnd = depth === 2 && elementStart >= 0 && code !== COMMA && !isSpace(code)
      if (isElementEnd && this.#list !== null) {
        this.#addElement(this.#list, { start: elementStart, end: at })
        elementStart = -1
      }
    }
    if (this.#isTooLarge) await this.#dropElements()
  }

  toBody(): RequestBody {
    const bytes = this.#bytes
    const outline = this.#decodeParsed(
      { start: 0, end: bytes.length },
      mergeCuts(this.#cuts, this.#listSpans),
      '',
    )
    const members = parse(outline)
    if (!isObject(members)) throw new AppError('invalid_input', 'The body must be a JSON object.')
    const json = Object.fromEntries(
      Object.entries(members).map(([name, value]) => [
        name,
        this.#lists.get(name)?.elements ?? value,
      ]),
    )
    const cuts = this.#isTooLarge ? mergeCuts(this.#cuts, this.#listSpans) : this.#cuts
    const marker = `@@${randomBytes(16).toString('hex')}:`
    return {
      bytes,
      text: decode(bytes, { start: 0, end: bytes.length }, cuts, marker),
      json,
      isTooLarge: this.#isTooLarge,
      isUnread: this.#isUnread,
      toBytes: (text) => restore(bytes, cuts, marker, text),
    }
  }

  #openList(at: number, field: Span): void {
    if (this.#listSpans.length >= LISTS_MAX) throw tooMuchStructure()
    const name = this.#parseString(field)
    const list: ParsedList = {
      ...{ start: at + 1, end: at + 1, elements: [], keptBytes: 0 },
      refersToState: this.#refersToState(name),
    }
    this.#list = list
    this.#lists.set(name, list)
    this.#listSpans.push(list)
  }

  #closeList(at: number): void {
    if (this.#list !== null) this.#list.end = at
    this.#list = null
  }

  #endsWithComma(at: number): boolean {
    let before = at - 1
    while (isSpace(this.#bytes[before] ?? 0)) before--
    return this.#bytes[before] === COMMA
  }

  #addLongString({ start, end, boundaries }: LongString, field: Span | null): void {
    const isData = field !== null && DATA_FIELDS.has(this.#parseString(field))
    const headBytes = isData ? DATA_HEAD_BYTES : HEAD_BYTES
    const tailBytes = isData ? DATA_HEAD_BYTES : TAIL_BYTES
    const from = boundaries.find((each) => each >= start + 1 + headBytes) ?? end
    const to = boundaries.findLast((each) => each <= end - 1 - tailBytes) ?? start
    if (from >= to) return
    this.#cuts.push({ start: from, end: to, isInList: this.#list !== null })
    if (!isData) this.#characters += to - from
  }

  #addElement(list: ParsedList, span: Span): void {
    const isKeepable = list.keptBytes <= KEPT_BYTES_MAX || list.refersToState !== null
    if (this.#isTooLarge && !isKeepable) return
    const first = this.#cuts.findLastIndex(({ end }) => end <= span.start) + 1
    const cuts = this.#cuts.slice(first)
    const cutBytes = cuts.reduce((sum, cut) => sum + cut.end - cut.start, 0)
    const length = span.end - span.start - cutBytes
    if (length > PARSED_BYTES_MAX) {
      this.#isTooLarge = true
      this.#isUnread = true
      if (list.elements.length === 0) list.elements.push(UNREAD_ELEMENT)
      return
    }
    const element = parse(this.#decodeParsed(span, cuts, ''))
    if (this.#isTooLarge) {
      this.#keepElement(list, element, length)
      return
    }
    list.elements.push(element)
    this.#characters += countCharacters({ '': element })
    this.#elements++
    this.#isTooLarge =
      this.#characters > MEMORY_TEXT_CHARACTERS_MAX || this.#elements > ELEMENTS_MAX
  }

  /** Of a body with too much text, the beginning of each list is kept, and what refers to state of the provider. */
  #keepElement(list: ParsedList, element: Json, length: number): void {
    list.keptBytes += length
    if (list.elements.length === 0 || list.keptBytes <= KEPT_BYTES_MAX) {
      list.elements.push(element)
      return
    }
    if (list.refersToState?.(element) !== true) return
    this.#references++
    if (this.#references <= KEPT_REFERENCES_MAX) list.elements.push(element)
    else this.#isUnread = true
  }

  /** Drops what was parsed before there was too much text. */
  async #dropElements(): Promise<void> {
    for (const list of this.#lists.values()) {
      const parsed = list.elements
      list.elements = []
      list.keptBytes = 0
      for (const element of parsed) {
        if (this.#slice.isExpired) await this.#slice.yieldThread()
        this.#keepElement(list, element, countCharacters({ '': element }))
      }
    }
  }

  #decodeParsed(span: Span, cuts: readonly Span[], marker: string): string {
    const kept = cuts.reduce((sum, cut) => sum - (cut.end - cut.start), span.end - span.start)
    if (kept > PARSED_BYTES_MAX) throw tooMuchStructure()
    return decode(this.#bytes, span, cuts, marker)
  }

  #parseString({ start, end }: Span): string {
    const value = parse(this.#bytes.toString('utf8', start, end))
    return typeof value === 'string' ? value : ''
  }
}

/** Cuts within a list go with the list. */
function mergeCuts(cuts: readonly Cut[], lists: readonly Span[]): readonly Span[] {
  const outside = cuts.filter(({ isInList }) => !isInList)
  const filled = lists.filter(({ start, end }) => end > start)
  return [...outside, ...filled].sort((a, b) => a.start - b.start)
}

/** The text of a span, with a placeholder for each cut; nothing in its place with an empty marker. */
function decode(bytes: Buffer, span: Span, cuts: readonly Span[], marker: string): string {
  const parts: string[] = []
  let from = span.start
  for (const [index, cut] of cuts.entries()) {
    parts.push(bytes.toString('utf8', from, cut.start))
    if (marker !== '') parts.push(`${marker}${index}@@`)
    from = cut.end
  }
  parts.push(bytes.toString('utf8', from, span.end))
  return parts.join('')
}

/** The marker is random, so a client cannot have written it. */
function restore(bytes: Buffer, cuts: readonly Span[], marker: string, text: string): Uint8Array {
  const parts: (string | Uint8Array)[] = []
  for (const [index, part] of text.split(marker).entries()) {
    if (index === 0) {
      parts.push(part)
      continue
    }
    const end = part.indexOf('@@')
    const cut = cuts[Number(part.slice(0, end))]
    if (cut !== undefined) parts.push(bytes.subarray(cut.start, cut.end))
    parts.push(part.slice(end + 2))
  }
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
  const restored = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const part of parts) {
    if (typeof part === 'string') at += restored.write(part, at)
    else {
      restored.set(part, at)
      at += part.length
    }
  }
  return restored
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json // every result of JSON.parse is one
  } catch (cause) {
    throw invalidJson(cause)
  }
}

function tooMuchStructure(): AppError {
  return new AppError('too_large', 'The body holds too much besides lists and strings.')
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

function isDelimiter(code: number): boolean {
  return isSpace(code) || code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE
}
