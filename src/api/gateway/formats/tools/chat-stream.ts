/** Several streams of chat completions as one: one id, one role, one end, and calls counted as the client sees them. */
import { filterObjects, isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { PendingToolCalls } from './chat-calls.ts'
import {
  isTruncatedAnswer,
  parseChatRound,
  ROUND_SEPARATOR,
  rewriteFinishReason,
} from './chat-parts.ts'
import { DONE_MARKER, formatEvent, parseEventJson, type RawEvent } from './event-splitter.ts'
import { type ProviderError, type StreamMerger, type ToolRound, toText } from './tool-dialect.ts'
import { sumUsage } from './usage-sum.ts'

export class ChatStreamMerger implements StreamMerger {
  readonly #own: ReadonlySet<string>
  /** What every chunk says of the answer as a whole: that of the first one. */
  #identity: JsonObject | null = null
  #isFirstRound = true
  #hasRole = false
  /** Whether the client was shown text in a round before. */
  #hasText = false
  /** Of the rounds before. */
  #usageBefore: Json = null
  #round: PendingRound

  constructor(own: ReadonlySet<string>) {
    this.#own = own
    this.#round = new PendingRound(own, 0)
  }

  event(block: RawEvent): readonly string[] {
    if (block.data?.trim() === DONE_MARKER) {
      this.#round.isDone = true
      return this.#unlessHeld(block.raw)
    }
    const chunk = parseEventJson(block)
    if (chunk === null) return [block.raw]
    if (!isObject(chunk.error)) return this.#chunk(chunk, block)
    this.#round.isBroken = true
    return [block.raw]
  }

  #unlessHeld(raw: string): readonly string[] {
    if (!this.#round.calls.hasOwn) return [raw]
    this.#round.tail.push(raw)
    return []
  }

  #chunk(chunk: JsonObject, { name, raw }: RawEvent): readonly string[] {
    this.#identity ??= { id: chunk.id ?? null, created: chunk.created ?? null }
    const [choice] = filterObjects(chunk.choices)
    const shown = this.#shown(choice)
    this.#round.see(chunk, choice)
    const said = this.#asOneAnswer(chunk)
    const finish = choice?.finish_reason ?? null
    const isEnding = finish !== null || choice === undefined || this.#round.tail.length > 0
    if (this.#round.calls.hasOwn && isEnding) {
      this.#round.tail.push({
        ...said,
        choices: choice === undefined ? [] : [{ ...choice, delta: {} }],
      })
      if (shown.isEmpty) return []
      const { usage: _, ...rest } = said
      const open = { ...choice, delta: shown.delta, finish_reason: null }
      return [formatEvent(name, { ...rest, choices: [open] })]
    }
    if (this.#isFirstRound && !shown.isChanged) return [raw]
    if (choice === undefined) return [formatEvent(name, said)]
    if (shown.isEmpty && finish === null && !isObject(chunk.usage)) return []
    return [formatEvent(name, { ...said, choices: [{ ...choice, delta: shown.delta }] })]
  }

  #asOneAnswer(chunk: JsonObject): JsonObject {
    if (this.#isFirstRound) return chunk
    const usage = isObject(chunk.usage) ? { usage: sumUsage(this.#usageBefore, chunk.usage) } : {}
    return { ...chunk, ...this.#identity, ...usage }
  }

  #shown(choice: JsonObject | undefined): ShownDelta {
    const came = isObject(choice?.delta) ? choice.delta : {}
    const { role, tool_calls: pieces, ...rest } = came
    const before = filterObjects(pieces)
    const calls = before
      .map((piece) => this.#round.calls.add(piece))
      .filter((each) => each !== null)
    const showsRole = role !== undefined && (this.#isFirstRound || !this.#hasRole)
    const isNewRole = showsRole && !this.#hasRole
    this.#hasRole ||= showsRole
    const content = toText(rest.content)
    const breaks = content !== '' && this.#hasText && toText(this.#round.message.content) === ''
    return {
      delta: {
        ...(showsRole ? { role } : {}),
        ...rest,
        ...(breaks ? { content: `${ROUND_SEPARATOR}${content}` } : {}),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
      isChanged:
        calls.length < before.length || calls.some((each, at) => each.index !== before[at]?.index),
      isEmpty: !isNewRole && calls.length === 0 && Object.values(rest).every(isEmptyValue),
    }
  }

  round(): ToolRound {
    return this.#round.toRound(this.#own)
  }

  next(): void {
    this.#isFirstRound = false
    this.#hasText ||= toText(this.#round.message.content) !== ''
    this.#usageBefore = sumUsage(this.#usageBefore, this.#round.usage)
    this.#round = new PendingRound(this.#own, this.#round.calls.shown)
  }

  finish(): readonly string[] {
    const { tail, calls } = this.#round
    return tail.map((each) => {
      if (typeof each === 'string') return each
      const choices = filterObjects(each.choices).map((choice) => ({
        ...choice,
        finish_reason: rewriteFinishReason(choice.finish_reason ?? null, calls.hasOthers),
      }))
      return formatEvent('', { ...each, choices })
    })
  }

  fail({ message, type, code }: ProviderError): readonly string[] {
    return [
      formatEvent('', { error: { message, type: type ?? 'server_error', param: null, code } }),
    ]
  }
}

/** What the client is shown of a delta, and whether that is another one than came. */
type ShownDelta = {
  readonly delta: JsonObject
  readonly isChanged: boolean
  readonly isEmpty: boolean
}

class PendingRound {
  readonly calls: PendingToolCalls
  /** How it ended and what came after that: held back when calls of ours are in it. */
  readonly tail: (JsonObject | string)[] = []
  message: JsonObject = {}
  usage: Json = null
  isDone = false
  isBroken = false
  #finish: Json = null

  constructor(own: ReadonlySet<string>, shown: number) {
    this.calls = new PendingToolCalls(own, shown)
  }

  see(chunk: JsonObject, choice: JsonObject | undefined): void {
    if (isObject(chunk.usage)) this.usage = chunk.usage
    this.#finish = choice?.finish_reason ?? this.#finish
    if (!isObject(choice?.delta)) return
    const { role: _, tool_calls: __, ...rest } = choice.delta
    this.message = mergeDelta(this.message, rest)
  }

  toRound(own: ReadonlySet<string>): ToolRound {
    const calls = this.calls.whole()
    const message = {
      role: 'assistant',
      content: null,
      ...this.message,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }
    const hasEnded = this.#finish === null ? this.isDone : !isTruncatedAnswer(this.#finish)
    return parseChatRound(message, own, hasEnded && !this.isBroken)
  }
}

/** Also what we know nothing of, such as reasoning that some providers want back: text and lists come in pieces. */
function mergeDelta(message: JsonObject, delta: JsonObject): JsonObject {
  const joined: Record<string, Json> = { ...message }
  for (const [name, value] of Object.entries(delta)) {
    const before = joined[name]
    if (typeof before === 'string' && typeof value === 'string') joined[name] = before + value
    else if (Array.isArray(before) && Array.isArray(value)) joined[name] = [...before, ...value]
    else if (value !== null) joined[name] = value
  }
  return joined
}

function isEmptyValue(value: Json | undefined): boolean {
  return value === null || value === undefined || value === ''
}
