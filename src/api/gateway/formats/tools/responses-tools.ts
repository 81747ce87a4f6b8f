/** Tools in OpenAI's Responses: calls and results are items, and the provider may store the conversation. */

import { filterObjects, isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { insertElements, LIST_END, setMember, sliceValue, wrapValue } from '../json-edit.ts'
import { DONE_MARKER, formatEvent, parseEventJson, type RawEvent } from './event-splitter.ts'
import {
  type AnsweredToolRound,
  type BufferedRound,
  type FindHiddenRounds,
  type ProviderError,
  type StreamMerger,
  splitCalls,
  sumUsage,
  type ToolCall,
  type ToolDialect,
  type ToolRound,
  toText,
} from './tool-dialect.ts'

export const RESPONSES_TOOLS: ToolDialect = {
  needsTools: false,
  toTool: ({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
    // The default is strict mode, which would require more of the schema.
    strict: false,
  }),
  getToolNames: (tool) => (isObject(tool) && typeof tool.name === 'string' ? [tool.name] : []),
  appendRound,
  restoreHiddenRounds,
  read: (answer, memoryTools) =>
    Array.isArray(answer.output)
      ? parseResponsesRound(
          filterObjects(answer.output),
          memoryTools,
          answer.status === 'completed',
        )
      : null,
  mergeRounds,
  createStreamMerger: (memoryTools) => new ResponsesStreamMerger(memoryTools),
}

function appendRound(text: string, round: AnsweredToolRound): string {
  // The provider itself adds input and output to a conversation that it stores.
  if (isPresent(sliceValue(text, ['conversation']))) {
    return setMember(text, [], 'input', JSON.stringify(buildToolOutputs(round))) ?? text
  }
  const isStored = sliceValue(text, ['store']) !== 'false'
  const items = round.parts.filter((item) => isStored || isComplete(item))
  return insertElements(toInputList(text), ['input'], LIST_END, [
    ...items,
    ...buildToolOutputs(round),
  ])
}

function isPresent(value: string | null): boolean {
  return value !== null && value !== 'null'
}

/** Reasoning is referenced by its id, unless the item contains all of it in encrypted form. */
function isComplete(item: JsonObject): boolean {
  return item.type !== 'reasoning' || typeof item.encrypted_content === 'string'
}

/** The input may be a string or missing. */
function toInputList(text: string): string {
  const input = sliceValue(text, ['input'])
  if (!isPresent(input)) return setMember(text, [], 'input', '[]') ?? text
  if (!input?.startsWith('"')) return text
  return wrapValue(text, ['input'], '[{"role":"user","content":', '}]') ?? text
}

function buildToolOutputs({ memoryCalls, results }: AnsweredToolRound): readonly JsonObject[] {
  return memoryCalls.map(({ id }, index) => ({
    type: 'function_call_output',
    call_id: id,
    output: results[index] ?? '',
  }))
}

function restoreHiddenRounds(text: string, body: JsonObject, find: FindHiddenRounds): string {
  const items: readonly Json[] = Array.isArray(body.input) ? body.input : []
  const made = new Map(
    filterObjects(items)
      .filter(isFunctionCall)
      .map((item) => [toText(item.call_id), parseFunctionCall(item)]),
  )
  const done = new Set<readonly AnsweredToolRound[]>()
  const insertions = items.flatMap((item, index) => {
    if (!isObject(item)) return []
    const id = toText(item.call_id)
    // When the provider stores the conversation, results come without their calls.
    if (!isFunctionCall(item) && (!isResult(item) || made.has(id))) return []
    const rounds = find([{ id, call: made.get(id) ?? null }])
    if (rounds === null || done.has(rounds)) return []
    done.add(rounds)
    if (!isFunctionCall(item))
      return rounds.slice(-1).map((round) => ({ index, items: buildToolOutputs(round) }))
    return rounds.map((round, at) => ({
      index: findInsertIndex(rounds.slice(at), items) ?? index,
      items: [...listMemoryItems(round), ...buildToolOutputs(round)],
    }))
  })
  // From last to first, so that insertions do not shift the indexes of messages yet to be processed.
  return insertions
    .sort((one, other) => one.index - other.index)
    .reduceRight((before, { index, items: hidden }) => {
      return insertElements(before, ['input'], index, hidden)
    }, text)
}

function isResult({ type }: JsonObject): boolean {
  return type === 'function_call_output' || type === 'custom_tool_call_output'
}

/**
 * Where the calls of the first hidden round belong: after the item before them or else before the item after them, as
 * far as the client has these items. Reasoning must stay directly before the item that it led to.
 */
function findInsertIndex(
  rounds: readonly AnsweredToolRound[],
  items: readonly Json[],
): number | null {
  const [first] = rounds
  const parts = rounds.flatMap((round) => round.parts)
  const called = parts.findIndex((item) => item.call_id === first?.memoryCalls[0]?.id)
  const isAmong = (these: readonly JsonObject[]) => {
    const ids = new Set(these.map(({ id }) => toText(id)).filter((id) => id !== ''))
    return (item: Json) => isObject(item) && ids.has(toText(item.id))
  }
  const before = items.findLastIndex(isAmong(parts.slice(0, Math.max(0, called))))
  if (before >= 0) return before + 1
  const after = items.findIndex(isAmong(parts))
  return after < 0 ? null : after
}

function listMemoryItems({ memoryCalls, parts }: AnsweredToolRound): readonly JsonObject[] {
  const ids = new Set(memoryCalls.map(({ id }) => id))
  return parts.filter((item) => isFunctionCall(item) && ids.has(toText(item.call_id)))
}

function mergeRounds(
  earlier: readonly BufferedRound[],
  { answer, round }: BufferedRound,
  memoryTools: ReadonlySet<string>,
): JsonObject | null {
  const isOneRound = earlier.length === 0 && round.memoryCalls.length === 0
  if (isOneRound && !hasMemoryToolData(answer, memoryTools)) return null
  const usage = earlier.map((each) => each.answer.usage).reduce<Json>(sumUsage, null)
  const output = [...earlier.map((each) => each.round), round]
    .flatMap(({ parts }) => parts)
    .filter((item) => !isMemoryFunctionCall(item, memoryTools))
  return { ...mergeResponses(answer, memoryTools, usage), output }
}

const CALLS: readonly Json[] = ['function_call', 'custom_tool_call']

function isFunctionCall({ type }: JsonObject): boolean {
  return CALLS.includes(type ?? null)
}

function isMemoryFunctionCall(item: JsonObject, memoryTools: ReadonlySet<string>): boolean {
  return item.type === 'function_call' && memoryTools.has(toText(item.name))
}

function parseFunctionCall({ call_id, name, arguments: json, input }: JsonObject): ToolCall {
  return { id: toText(call_id), name: toText(name), arguments: toText(json ?? input) }
}

function parseResponsesRound(
  items: readonly JsonObject[],
  memoryTools: ReadonlySet<string>,
  isWhole: boolean,
): ToolRound {
  const calls = items.filter(isFunctionCall).map(parseFunctionCall)
  return {
    ...splitCalls(calls, memoryTools),
    parts: items,
    isComplete: isWhole,
  }
}

/** The fields of a response besides its output: without memory tools, and with the usage of earlier rounds. */
function mergeResponses(
  response: JsonObject,
  memoryTools: ReadonlySet<string>,
  usageBefore: Json,
): JsonObject {
  const tools = filterObjects(response.tools)
  const clientTools = tools.filter(
    (tool) => !(tool.type === 'function' && memoryTools.has(toText(tool.name))),
  )
  return {
    ...response,
    ...(clientTools.length === tools.length ? {} : { tools: clientTools }),
    ...(isObject(response.usage) ? { usage: sumUsage(usageBefore, response.usage) } : {}),
  }
}

function hasMemoryToolData(response: JsonObject, memoryTools: ReadonlySet<string>): boolean {
  return filterObjects(response.tools).some(({ name }) => memoryTools.has(toText(name)))
}

/** Merges the streams of several rounds: one start, one end with all items, and continuous numbering. */

const START_EVENTS: readonly string[] = [
  'response.created',
  'response.in_progress',
  'response.queued',
]
const COMPLETED = 'response.completed'
const END_EVENTS: readonly string[] = [COMPLETED, 'response.incomplete', 'response.failed']

class ResponsesStreamMerger implements StreamMerger {
  readonly #memoryTools: ReadonlySet<string>
  #isFirstRound = true
  /** The sequence number of the next event, if events are numbered. */
  #sequence = 0
  /** How many items the client has received, and the items of earlier rounds. */
  #shown = 0
  #itemsBefore: readonly JsonObject[] = []
  #earlierUsage: Json = null
  #round = new PendingRound()

  constructor(memoryTools: ReadonlySet<string>) {
    this.#memoryTools = memoryTools
  }

  event(block: RawEvent): readonly string[] {
    if (block.data?.trim() === DONE_MARKER) return this.#holdOrPass(null, block)
    const event = parseEventJson(block)
    if (event === null) return [block.raw]
    const type = toText(event.type)
    if (START_EVENTS.includes(type)) return this.#startResponse(event, block)
    if (END_EVENTS.includes(type)) return this.#endResponse(event, block)
    if (type === 'error') this.#round.isBroken = true
    return this.#inPlace(event, block)
  }

  #startResponse(event: JsonObject, block: RawEvent): readonly string[] {
    if (!this.#isFirstRound) return []
    return this.#send(
      event,
      replaceResponse(event, (response) => this.#mergeResponse(response)),
      block,
    )
  }

  #mergeResponse(response: JsonObject): JsonObject {
    return mergeResponses(response, this.#memoryTools, this.#earlierUsage)
  }

  #endResponse(event: JsonObject, block: RawEvent): readonly string[] {
    const response = isObject(event.response) ? event.response : {}
    this.#round.isCompleted = event.type === COMPLETED
    this.#round.usage = response.usage ?? null
    this.#round.replaceItems(filterObjects(response.output))
    const items = [...this.#itemsBefore, ...this.#round.items()]
    const output = items.filter((item) => !isMemoryFunctionCall(item, this.#memoryTools))
    const isChanged = !this.#isFirstRound || this.#round.hasMemoryCalls
    return this.#holdOrPass(
      replaceResponse(event, (response) => ({
        ...this.#mergeResponse(response),
        ...(isChanged ? { output } : {}),
      })),
      block,
      event,
    )
  }

  /** `event` is null for an event that is passed through unchanged. */
  #holdOrPass(
    event: JsonObject | null,
    block: RawEvent,
    received: JsonObject | null = null,
  ): readonly string[] {
    if (this.#round.hasMemoryCalls) {
      this.#round.tail.push({ event, block })
      return []
    }
    return event === null ? [block.raw] : this.#send(received ?? event, event, block)
  }

  #inPlace(event: JsonObject, block: RawEvent): readonly string[] {
    if (typeof event.output_index !== 'number') return this.#send(event, event, block)
    const index = event.output_index
    if (isObject(event.item)) this.#addItem(index, event.item)
    const part = this.#round.parts.get(index)
    if (part?.shownAt === null) return []
    const shownAt = part?.shownAt ?? index
    return this.#send(event, shownAt === index ? event : { ...event, output_index: shownAt }, block)
  }

  /** Events carry an item when it starts and, complete, when it ends. */
  #addItem(index: number, item: JsonObject): void {
    const known = this.#round.parts.get(index)
    if (known !== undefined) {
      known.item = item
      return
    }
    const isMemoryCall = isMemoryFunctionCall(item, this.#memoryTools)
    this.#round.parts.set(index, { item, shownAt: isMemoryCall ? null : this.#shown })
    if (!isMemoryCall) this.#shown++
  }

  /** With the next sequence number. An unchanged event keeps its bytes. */
  #send(received: JsonObject, event: JsonObject, { name, raw }: RawEvent): readonly string[] {
    if (typeof received.sequence_number !== 'number') {
      return [event === received ? raw : formatEvent(name, event)]
    }
    if (this.#isFirstRound && this.#sequence === 0) this.#sequence = received.sequence_number
    const number = this.#sequence++
    if (event === received && number === received.sequence_number) return [raw]
    return [formatEvent(name, { ...event, sequence_number: number })]
  }

  round(): ToolRound {
    const { isCompleted, isBroken } = this.#round
    return parseResponsesRound(this.#round.items(), this.#memoryTools, isCompleted && !isBroken)
  }

  next(): void {
    this.#isFirstRound = false
    this.#itemsBefore = [...this.#itemsBefore, ...this.#round.items()]
    this.#earlierUsage = sumUsage(this.#earlierUsage, this.#round.usage)
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
  /** The index of the item for the client; null for memory calls. */
  readonly shownAt: number | null
}

class PendingRound {
  /** By the provider's index. */
  readonly parts = new Map<number, PendingItem>()
  /** The end of a round with memory calls, held back until it is known whether another round follows. */
  readonly tail: { readonly event: JsonObject | null; readonly block: RawEvent }[] = []
  usage: Json = null
  isCompleted = false
  isBroken = false

  get hasMemoryCalls(): boolean {
    return [...this.parts.values()].some(({ shownAt }) => shownAt === null)
  }

  /** The last event carries all items in their final form. */
  replaceItems(items: readonly JsonObject[]): void {
    for (const [index, item] of items.entries()) {
      const part = this.parts.get(index)
      if (part !== undefined) part.item = item
    }
  }

  items(): readonly JsonObject[] {
    return [...this.parts.entries()]
      .sort(([one], [other]) => one - other)
      .map(([, { item }]) => item)
  }
}

/** The event with a rewritten response; the same object when nothing changes. */
function replaceResponse(
  event: JsonObject,
  rewrite: (response: JsonObject) => JsonObject,
): JsonObject {
  if (!isObject(event.response)) return event
  const response = rewrite(event.response)
  const isSame = JSON.stringify(response) === JSON.stringify(event.response)
  return isSame ? event : { ...event, response }
}
