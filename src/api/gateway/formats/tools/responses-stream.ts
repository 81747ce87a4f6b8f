/** Several streams of Responses as one: one beginning, one end with all items in it, and everything counted through. */
import { filterObjects, isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { DONE_MARKER, formatEvent, parseEventJson, type RawEvent } from './event-splitter.ts'
import { isMemoryFunctionCall, mergeResponses, parseResponsesRound } from './responses-parts.ts'
import { type ProviderError, type StreamMerger, type ToolRound, toText } from './tool-dialect.ts'
import { sumUsage } from './usage-sum.ts'

const BEGINNINGS: readonly string[] = [
  'response.created',
  'response.in_progress',
  'response.queued',
]
const COMPLETED = 'response.completed'
const ENDINGS: readonly string[] = [COMPLETED, 'response.incomplete', 'response.failed']

export class ResponsesStreamMerger implements StreamMerger {
  readonly #own: ReadonlySet<string>
  #isFirstRound = true
  /** The number of the next event, where events are numbered. */
  #sequence = 0
  /** How many items the client has seen, and those of the rounds before. */
  #shown = 0
  #itemsBefore: readonly JsonObject[] = []
  #usageBefore: Json = null
  #round = new PendingRound()

  constructor(own: ReadonlySet<string>) {
    this.#own = own
  }

  event(block: RawEvent): readonly string[] {
    if (block.data?.trim() === DONE_MARKER) return this.#unlessHeld(null, block)
    const event = parseEventJson(block)
    if (event === null) return [block.raw]
    const type = toText(event.type)
    if (BEGINNINGS.includes(type)) return this.#beginning(event, block)
    if (ENDINGS.includes(type)) return this.#ending(event, block)
    if (type === 'error') this.#round.isBroken = true
    return this.#inPlace(event, block)
  }

  #beginning(event: JsonObject, block: RawEvent): readonly string[] {
    if (!this.#isFirstRound) return []
    return this.#send(
      event,
      replaceResponse(event, (response) => this.#told(response)),
      block,
    )
  }

  #told(response: JsonObject): JsonObject {
    return mergeResponses(response, this.#own, this.#usageBefore)
  }

  #ending(event: JsonObject, block: RawEvent): readonly string[] {
    const response = isObject(event.response) ? event.response : {}
    this.#round.isCompleted = event.type === COMPLETED
    this.#round.usage = response.usage ?? null
    this.#round.takeWhole(filterObjects(response.output))
    const items = [...this.#itemsBefore, ...this.#round.whole()]
    const output = items.filter((item) => !isMemoryFunctionCall(item, this.#own))
    const isChanged = !this.#isFirstRound || this.#round.hasOwn
    return this.#unlessHeld(
      replaceResponse(event, (said) => ({ ...this.#told(said), ...(isChanged ? { output } : {}) })),
      block,
      event,
    )
  }

  /** `event` is null for what is passed on as it is. */
  #unlessHeld(
    event: JsonObject | null,
    block: RawEvent,
    came: JsonObject | null = null,
  ): readonly string[] {
    if (this.#round.hasOwn) {
      this.#round.tail.push({ event, block })
      return []
    }
    return event === null ? [block.raw] : this.#send(came ?? event, event, block)
  }

  #inPlace(event: JsonObject, block: RawEvent): readonly string[] {
    if (typeof event.output_index !== 'number') return this.#send(event, event, block)
    const index = event.output_index
    if (isObject(event.item)) this.#see(index, event.item)
    const part = this.#round.parts.get(index)
    if (part?.shownAt === null) return []
    const shownAt = part?.shownAt ?? index
    return this.#send(event, shownAt === index ? event : { ...event, output_index: shownAt }, block)
  }

  /** An item is told of when it begins and, whole, when it ends. */
  #see(index: number, item: JsonObject): void {
    const known = this.#round.parts.get(index)
    if (known !== undefined) {
      known.item = item
      return
    }
    const isOwn = isMemoryFunctionCall(item, this.#own)
    this.#round.parts.set(index, { item, shownAt: isOwn ? null : this.#shown })
    if (!isOwn) this.#shown++
  }

  /** Under the next number. What is still as it came goes out as it came. */
  #send(came: JsonObject, event: JsonObject, { name, raw }: RawEvent): readonly string[] {
    if (typeof came.sequence_number !== 'number') {
      return [event === came ? raw : formatEvent(name, event)]
    }
    if (this.#isFirstRound && this.#sequence === 0) this.#sequence = came.sequence_number
    const number = this.#sequence++
    if (event === came && number === came.sequence_number) return [raw]
    return [formatEvent(name, { ...event, sequence_number: number })]
  }

  round(): ToolRound {
    const { isCompleted, isBroken } = this.#round
    return parseResponsesRound(this.#round.whole(), this.#own, isCompleted && !isBroken)
  }

  next(): void {
    this.#isFirstRound = false
    this.#itemsBefore = [...this.#itemsBefore, ...this.#round.whole()]
    this.#usageBefore = sumUsage(this.#usageBefore, this.#round.usage)
    this.#round = new PendingRound()
  }

  finish(): readonly string[] {
    return this.#round.tail.flatMap(({ event, block }) =>
      event === null ? [block.raw] : this.#send({ ...event }, event, block),
    )
  }

  fail({ message, code, type }: ProviderError): readonly string[] {
    const error = { type: 'error', code: code ?? type, message, param: null }
    return [formatEvent('error', { ...error, sequence_number: this.#sequence++ })]
  }
}

type PendingItem = {
  item: JsonObject
  /** Its place for the client; null for calls of ours. */
  readonly shownAt: number | null
}

class PendingRound {
  /** By the place that they come with. */
  readonly parts = new Map<number, PendingItem>()
  /** How it ended: held back when calls of ours are in it. */
  readonly tail: { readonly event: JsonObject | null; readonly block: RawEvent }[] = []
  usage: Json = null
  isCompleted = false
  isBroken = false

  get hasOwn(): boolean {
    return [...this.parts.values()].some(({ shownAt }) => shownAt === null)
  }

  /** The end tells all items once more, as they are in the end. */
  takeWhole(items: readonly JsonObject[]): void {
    for (const [index, item] of items.entries()) {
      const part = this.parts.get(index)
      if (part !== undefined) part.item = item
    }
  }

  whole(): readonly JsonObject[] {
    return [...this.parts.entries()]
      .sort(([one], [other]) => one - other)
      .map(([, { item }]) => item)
  }
}

/** The event with its response told differently; the same event when there is nothing to tell differently. */
function replaceResponse(
  event: JsonObject,
  tell: (response: JsonObject) => JsonObject,
): JsonObject {
  if (!isObject(event.response)) return event
  const told = tell(event.response)
  const isSame = JSON.stringify(told) === JSON.stringify(event.response)
  return isSame ? event : { ...event, response: told }
}
