/** Several streams of Anthropic's messages as one: one start, one end, and blocks counted as the client sees them. */
import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { formatEvent, parseEventJson, type RawEvent } from './event-splitter.ts'
import { isMemoryToolUse, parseMessagesRound, rewriteStopReason } from './messages-parts.ts'
import { type ProviderError, type StreamMerger, type ToolRound, toText } from './tool-dialect.ts'
import { mergeUsage, sumUsage } from './usage-sum.ts'

export class MessagesStreamMerger implements StreamMerger {
  readonly #own: ReadonlySet<string>
  #isFirstRound = true
  /** How many blocks the client has seen. */
  #shown = 0
  /** Of the rounds before. */
  #usageBefore: Json = null
  #round = new PendingRound()

  constructor(own: ReadonlySet<string>) {
    this.#own = own
  }

  event(block: RawEvent): readonly string[] {
    const event = parseEventJson(block)
    if (event === null) return [block.raw]
    switch (event.type) {
      case 'message_start':
        this.#round.usage = readUsage(event.message)
        return this.#isFirstRound ? [block.raw] : []
      case 'content_block_start':
        return this.#begin(event, block)
      case 'content_block_delta':
        this.#round.extend(event)
        return this.#inPlace(event, block)
      case 'content_block_stop':
        return this.#inPlace(event, block)
      case 'message_delta':
        return this.#ending(event, block)
      case 'message_stop':
        return this.#unlessHeld(event, block)
      case 'error':
        this.#round.isBroken = true
        return [block.raw]
      default:
        return [block.raw]
    }
  }

  #begin(event: JsonObject, block: RawEvent): readonly string[] {
    const part = isObject(event.content_block) ? event.content_block : {}
    const isOwn = isMemoryToolUse(part, this.#own)
    this.#round.begin(Number(event.index), part, isOwn ? null : this.#shown)
    if (!isOwn) this.#shown++
    return this.#inPlace(event, block)
  }

  /** Under the number that the block has for the client; nothing for blocks that it doesn't see. */
  #inPlace(event: JsonObject, { name, raw }: RawEvent): readonly string[] {
    const part = this.#round.parts.get(Number(event.index))
    if (part === undefined) return [raw]
    if (part.shownAt === null) return []
    if (part.shownAt === event.index) return [raw]
    return [formatEvent(name, { ...event, index: part.shownAt })]
  }

  #ending(event: JsonObject, block: RawEvent): readonly string[] {
    const stopReason = isObject(event.delta) ? (event.delta.stop_reason ?? null) : null
    this.#round.stopReason = stopReason
    const usage = isObject(event.usage) ? event.usage : {}
    this.#round.usage = mergeUsage(this.#round.usage, usage)
    if (this.#isFirstRound) return this.#unlessHeld(event, block)
    const sum = sumUsage(this.#usageBefore, this.#round.usage)
    return this.#unlessHeld({ ...event, usage: sum }, block, true)
  }

  #unlessHeld(event: JsonObject, block: RawEvent, isChanged = false): readonly string[] {
    if (this.#round.hasOwn) {
      this.#round.tail.push(event)
      return []
    }
    return [isChanged ? formatEvent(block.name, event) : block.raw]
  }

  round(): ToolRound {
    const { stopReason, isBroken } = this.#round
    return parseMessagesRound(this.#round.whole(), this.#own, isBroken ? null : stopReason)
  }

  next(): void {
    this.#isFirstRound = false
    this.#usageBefore = sumUsage(this.#usageBefore, this.#round.usage)
    this.#round = new PendingRound()
  }

  finish(): readonly string[] {
    const hasCalls = this.round().clientCalls.length > 0
    return this.#round.tail.map((event) => {
      const { delta } = event
      const said = isObject(delta)
        ? { ...delta, stop_reason: rewriteStopReason(delta.stop_reason ?? null, hasCalls) }
        : null
      return formatEvent(toText(event.type), said === null ? event : { ...event, delta: said })
    })
  }

  fail({ message, type }: ProviderError): readonly string[] {
    return [formatEvent('error', { type: 'error', error: { type: type ?? 'api_error', message } })]
  }
}

/** A block while it comes in. */
type PendingBlock = {
  said: JsonObject
  /** Its number for the client; null for calls of ours. */
  readonly shownAt: number | null
  /** The input of a call, which comes as pieces of JSON. */
  input: string
}

class PendingRound {
  /** By the number that they come with. */
  readonly parts = new Map<number, PendingBlock>()
  /** How it ended: held back when calls of ours are in it. */
  readonly tail: JsonObject[] = []
  stopReason: Json = null
  usage: JsonObject = {}
  isBroken = false

  get hasOwn(): boolean {
    return [...this.parts.values()].some(({ shownAt }) => shownAt === null)
  }

  begin(index: number, said: JsonObject, shownAt: number | null): void {
    this.parts.set(index, { said, shownAt, input: '' })
  }

  extend({ index, delta }: JsonObject): void {
    const part = this.parts.get(Number(index))
    if (part === undefined || !isObject(delta)) return
    if (delta.type === 'input_json_delta') part.input += toText(delta.partial_json)
    else part.said = { ...part.said, ...appendDelta(part.said, delta) }
  }

  whole(): readonly JsonObject[] {
    return [...this.parts.values()].map(({ said, input }) =>
      input === '' ? said : { ...said, input: parseInput(input) },
    )
  }
}

function appendDelta(said: JsonObject, delta: JsonObject): JsonObject {
  switch (delta.type) {
    case 'text_delta':
      return { text: toText(said.text) + toText(delta.text) }
    case 'thinking_delta':
      return { thinking: toText(said.thinking) + toText(delta.thinking) }
    case 'signature_delta':
      return { signature: toText(said.signature) + toText(delta.signature) }
    case 'citations_delta': {
      const before: readonly Json[] = Array.isArray(said.citations) ? said.citations : []
      return { citations: [...before, delta.citation ?? null] }
    }
    default:
      return {}
  }
}

/** What is no JSON can't be sent back as input. A call without any is refused, and the model told what it lacks. */
function parseInput(text: string): Json {
  try {
    return JSON.parse(text) as Json // what JSON.parse makes
  } catch {
    return {}
  }
}

function readUsage(message: Json | undefined): JsonObject {
  return isObject(message) && isObject(message.usage) ? message.usage : {}
}
