/** Tools in OpenAI's Chat Completions: calls are part of a message, and results are messages of the role `tool`. */

import { filterObjects, isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { insertElements, LIST_END } from '../json-edit.ts'
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

export const CHAT_TOOLS: ToolDialect = {
  needsTools: false,
  toTool: ({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }),
  getToolNames: (tool) => {
    if (!isObject(tool)) return []
    const named = tool.function ?? tool.custom
    return isObject(named) && typeof named.name === 'string' ? [named.name] : []
  },
  appendRound,
  restoreHiddenRounds,
  read: readAnswer,
  mergeRounds,
  createStreamMerger: (memoryTools) => new ChatStreamMerger(memoryTools),
}

function readAnswer(answer: JsonObject, memoryTools: ReadonlySet<string>): ToolRound | null {
  const [choice] = filterObjects(answer.choices)
  if (choice === undefined || !isObject(choice.message)) return null
  return parseChatRound(
    choice.message,
    memoryTools,
    !isTruncatedAnswer(choice.finish_reason ?? null),
  )
}

function appendRound(text: string, round: AnsweredToolRound): string {
  const messages = [...round.parts.map(toRequestMessage), ...buildToolResults(round)]
  return insertElements(text, ['messages'], LIST_END, messages)
}

/** Drops empty fields of an answer, which some providers reject in a request. */
function toRequestMessage(message: JsonObject): JsonObject {
  const fields = Object.entries(message).filter(
    ([name, value]) =>
      name === 'content' || (value !== null && !(Array.isArray(value) && value.length === 0)),
  )
  return { role: 'assistant', ...Object.fromEntries(fields) }
}

function buildToolResults({ memoryCalls, results }: AnsweredToolRound): readonly JsonObject[] {
  return memoryCalls.map(({ id }, index) => ({
    role: 'tool',
    tool_call_id: id,
    content: results[index] ?? '',
  }))
}

function restoreHiddenRounds(text: string, body: JsonObject, find: FindHiddenRounds): string {
  const messages: readonly Json[] = Array.isArray(body.messages) ? body.messages : []
  // From last to first, so that insertions do not shift the indexes of messages yet to be processed.
  return messages.reduceRight<string>((before, message, index) => {
    if (!isObject(message) || message.role !== 'assistant') return before
    const calls = filterObjects(message.tool_calls).map(parseChatToolCall)
    const rounds = calls.length === 0 ? null : find(calls.map((call) => ({ id: call.id, call })))
    return rounds === null ? before : insertHidden(before, index, rounds)
  }, text)
}

/** Inserts earlier rounds before the message, and calls that were made along with the client's calls into it. */
function insertHidden(text: string, index: number, rounds: readonly AnsweredToolRound[]): string {
  const before = rounds.slice(0, -1).flatMap((round) => [
    // The client's message already contains the text of these rounds.
    ...round.parts.map((part) => ({ ...toRequestMessage(part), content: null })),
    ...buildToolResults(round),
  ])
  const last = rounds.slice(-1)
  const ids = new Set(last.flatMap(({ memoryCalls }) => memoryCalls.map(({ id }) => id)))
  const calls = last
    .flatMap(({ parts }) => parts.flatMap((part) => filterObjects(part.tool_calls)))
    .filter(({ id }) => ids.has(toText(id)))
  const answered = insertElements(text, ['messages'], index + 1, last.flatMap(buildToolResults))
  const called = insertElements(answered, ['messages', index, 'tool_calls'], LIST_END, calls)
  return insertElements(called, ['messages'], index, before)
}

function mergeRounds(
  earlier: readonly BufferedRound[],
  { answer, round }: BufferedRound,
  memoryTools: ReadonlySet<string>,
): JsonObject | null {
  if (earlier.length === 0 && round.memoryCalls.length === 0) return null
  const usage = [...earlier.map((each) => each.answer.usage), answer.usage].reduce(sumUsage)
  const messages = [...earlier.flatMap((each) => each.round.parts), ...round.parts]
  const text = messages
    .map(({ content }) => toText(content))
    .filter((each) => each !== '')
    .join(ROUND_SEPARATOR)
  const choices = filterObjects(answer.choices).map((choice, index) =>
    index === 0 ? toChoice(choice, text, memoryTools) : choice,
  )
  return { ...answer, choices, ...(usage === undefined || usage === null ? {} : { usage }) }
}

function toChoice(choice: JsonObject, text: string, memoryTools: ReadonlySet<string>): JsonObject {
  const { tool_calls: all, ...message } = isObject(choice.message) ? choice.message : {}
  const calls = filterObjects(all).filter((call) => !memoryTools.has(parseChatToolCall(call).name))
  return {
    ...choice,
    message: {
      ...message,
      content: text === '' ? (message.content ?? null) : text,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
    finish_reason: rewriteFinishReason(choice.finish_reason ?? null, calls.length > 0),
  }
}

/** Between the texts of two rounds. */
const ROUND_SEPARATOR = '\n\n'

/** Finish reasons after which a call may be incomplete. */
const TRUNCATED_FINISH_REASONS: readonly Json[] = ['length', 'content_filter']

function isTruncatedAnswer(finishReason: Json): boolean {
  return TRUNCATED_FINISH_REASONS.includes(finishReason)
}

/** Without client calls, the finish reason must not tell the client to run tools. */
function rewriteFinishReason(reason: Json, hasClientCalls: boolean): Json {
  return reason === 'tool_calls' && !hasClientCalls ? 'stop' : reason
}

function parseChatRound(
  message: JsonObject,
  memoryTools: ReadonlySet<string>,
  isWhole: boolean,
): ToolRound {
  const calls = filterObjects(message.tool_calls).map(parseChatToolCall)
  return {
    ...splitCalls(calls, memoryTools),
    parts: [message],
    isComplete: isWhole,
  }
}

function parseChatToolCall(call: JsonObject): ToolCall {
  const called = isObject(call.function) ? call.function : isObject(call.custom) ? call.custom : {}
  return {
    id: toText(call.id),
    name: toText(called.name),
    arguments: toText(called.arguments ?? called.input),
  }
}

/** A tool call of a streamed answer, while its deltas arrive. */
type PendingToolCall = {
  /** All deltas so far, merged. */
  merged: JsonObject
  /** Null until the name of the tool has arrived. */
  isMemoryCall: boolean | null
  /** The index of the call for the client. */
  shownAt: number
}

export class PendingToolCalls {
  readonly #memoryTools: ReadonlySet<string>
  readonly #all: PendingToolCall[] = []
  readonly #byIndex = new Map<number, PendingToolCall>()
  /** How many calls the client has seen, earlier rounds included. */
  #shown: number

  constructor(memoryTools: ReadonlySet<string>, shown: number) {
    this.#memoryTools = memoryTools
    this.#shown = shown
  }

  get shown(): number {
    return this.#shown
  }

  get hasMemoryCalls(): boolean {
    return this.#all.some(({ isMemoryCall }) => isMemoryCall === true)
  }

  get hasClientCalls(): boolean {
    return this.#all.some(({ isMemoryCall }) => isMemoryCall === false)
  }

  /** The calls as in an answer that is not streamed. */
  merged(): readonly JsonObject[] {
    return this.#all.map(({ merged: { index: _, ...call } }) => call)
  }

  /** The delta for the client; null when it sees nothing of it. */
  add(delta: JsonObject): JsonObject | null {
    const call = this.#callOf(delta)
    call.merged = mergeCallDelta(call.merged, delta)
    if (call.isMemoryCall === true) return null
    if (call.isMemoryCall === false) return { ...delta, index: call.shownAt }
    const name = readCallName(call.merged)
    if (name === '') return null
    call.isMemoryCall = this.#memoryTools.has(name)
    if (call.isMemoryCall) return null
    call.shownAt = this.#shown++
    return { ...call.merged, index: call.shownAt }
  }

  /** Calls are distinguished by index or, for providers that send the same index or none for all, by id. */
  #callOf(delta: JsonObject): PendingToolCall {
    const id = toText(delta.id)
    const last = this.#all.at(-1)
    const known = typeof delta.index === 'number' ? this.#byIndex.get(delta.index) : last
    const isSame = known !== undefined && (id === '' || ['', id].includes(toText(known.merged.id)))
    if (isSame) return known
    const call: PendingToolCall = { merged: {}, isMemoryCall: null, shownAt: -1 }
    this.#all.push(call)
    if (typeof delta.index === 'number') this.#byIndex.set(delta.index, call)
    return call
  }
}

function readCallName(call: JsonObject): string {
  const called = call.function ?? call.custom
  return isObject(called) ? toText(called.name) : ''
}

/** Arguments arrive in parts; other fields arrive once or are repeated. */
function mergeCallDelta(call: JsonObject, delta: JsonObject): JsonObject {
  const joined: Record<string, Json> = { ...call }
  for (const [name, value] of Object.entries(delta)) {
    const before = joined[name]
    if (isObject(before) && isObject(value)) joined[name] = mergeCallDelta(before, value)
    else if (name === 'arguments' || name === 'input') joined[name] = toText(before) + toText(value)
    else if (value !== null && value !== '') joined[name] = value
  }
  return joined
}

/** Merges the streams of several rounds: one id, one role, one end, and continuous call indexes. */

class ChatStreamMerger implements StreamMerger {
  readonly #memoryTools: ReadonlySet<string>
  /** Id and creation time of the first chunk, which all chunks get. */
  #identity: JsonObject | null = null
  #isFirstRound = true
  #hasRole = false
  /** Whether the client has received text of an earlier round. */
  #hasText = false
  /** The usage of earlier rounds. */
  #earlierUsage: Json = null
  #round: PendingRound

  constructor(memoryTools: ReadonlySet<string>) {
    this.#memoryTools = memoryTools
    this.#round = new PendingRound(memoryTools, 0)
  }

  event(event: RawEvent): readonly string[] {
    if (event.data?.trim() === DONE_MARKER) {
      this.#round.isDone = true
      return this.#holdOrPass(event.raw)
    }
    const chunk = parseEventJson(event)
    if (chunk === null) return [event.raw]
    if (!isObject(chunk.error)) return this.#chunk(chunk, event)
    this.#round.isBroken = true
    return [event.raw]
  }

  #holdOrPass(raw: string): readonly string[] {
    if (!this.#round.calls.hasMemoryCalls) return [raw]
    this.#round.tail.push(raw)
    return []
  }

  #chunk(chunk: JsonObject, { name, raw }: RawEvent): readonly string[] {
    this.#identity ??= { id: chunk.id ?? null, created: chunk.created ?? null }
    const [choice] = filterObjects(chunk.choices)
    const shown = this.#showDelta(choice)
    this.#round.add(chunk, choice)
    const merged = this.#withIdentity(chunk)
    const finish = choice?.finish_reason ?? null
    const isEnding = finish !== null || choice === undefined || this.#round.tail.length > 0
    if (this.#round.calls.hasMemoryCalls && isEnding) {
      this.#round.tail.push({
        ...merged,
        choices: choice === undefined ? [] : [{ ...choice, delta: {} }],
      })
      if (shown.isEmpty) return []
      const { usage: _, ...rest } = merged
      const open = { ...choice, delta: shown.delta, finish_reason: null }
      return [formatEvent(name, { ...rest, choices: [open] })]
    }
    if (this.#isFirstRound && !shown.isChanged) return [raw]
    if (choice === undefined) return [formatEvent(name, merged)]
    if (shown.isEmpty && finish === null && !isObject(chunk.usage)) return []
    return [formatEvent(name, { ...merged, choices: [{ ...choice, delta: shown.delta }] })]
  }

  #withIdentity(chunk: JsonObject): JsonObject {
    if (this.#isFirstRound) return chunk
    const usage = isObject(chunk.usage) ? { usage: sumUsage(this.#earlierUsage, chunk.usage) } : {}
    return { ...chunk, ...this.#identity, ...usage }
  }

  #showDelta(choice: JsonObject | undefined): ShownDelta {
    const delta = isObject(choice?.delta) ? choice.delta : {}
    const { role, tool_calls: callDeltas, ...rest } = delta
    const received = filterObjects(callDeltas)
    const calls = received
      .map((callDelta) => this.#round.calls.add(callDelta))
      .filter((each) => each !== null)
    const showsRole = role !== undefined && (this.#isFirstRound || !this.#hasRole)
    const isNewRole = showsRole && !this.#hasRole
    this.#hasRole ||= showsRole
    const content = toText(rest.content)
    const needsSeparator =
      content !== '' && this.#hasText && toText(this.#round.message.content) === ''
    return {
      delta: {
        ...(showsRole ? { role } : {}),
        ...rest,
        ...(needsSeparator ? { content: `${ROUND_SEPARATOR}${content}` } : {}),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
      isChanged:
        calls.length < received.length ||
        calls.some((call, index) => call.index !== received[index]?.index),
      isEmpty: !isNewRole && calls.length === 0 && Object.values(rest).every(isEmptyValue),
    }
  }

  round(): ToolRound {
    return this.#round.toRound(this.#memoryTools)
  }

  next(): void {
    this.#isFirstRound = false
    this.#hasText ||= toText(this.#round.message.content) !== ''
    this.#earlierUsage = sumUsage(this.#earlierUsage, this.#round.usage)
    this.#round = new PendingRound(this.#memoryTools, this.#round.calls.shown)
  }

  finish(): readonly string[] {
    const { tail, calls } = this.#round
    return tail.map((each) => {
      if (typeof each === 'string') return each
      const choices = filterObjects(each.choices).map((choice) => ({
        ...choice,
        finish_reason: rewriteFinishReason(choice.finish_reason ?? null, calls.hasClientCalls),
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

/** What the client sees of a delta, and whether it differs from the received one. */
type ShownDelta = {
  readonly delta: JsonObject
  readonly isChanged: boolean
  readonly isEmpty: boolean
}

class PendingRound {
  readonly calls: PendingToolCalls
  /** The end of a round with memory calls, held back until it is known whether another round follows. */
  readonly tail: (JsonObject | string)[] = []
  message: JsonObject = {}
  usage: Json = null
  isDone = false
  isBroken = false
  #finish: Json = null

  constructor(memoryTools: ReadonlySet<string>, shown: number) {
    this.calls = new PendingToolCalls(memoryTools, shown)
  }

  add(chunk: JsonObject, choice: JsonObject | undefined): void {
    if (isObject(chunk.usage)) this.usage = chunk.usage
    this.#finish = choice?.finish_reason ?? this.#finish
    if (!isObject(choice?.delta)) return
    const { role: _, tool_calls: __, ...rest } = choice.delta
    this.message = mergeMessageDelta(this.message, rest)
  }

  toRound(memoryTools: ReadonlySet<string>): ToolRound {
    const calls = this.calls.merged()
    const message = {
      role: 'assistant',
      content: null,
      ...this.message,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }
    const hasEnded = this.#finish === null ? this.isDone : !isTruncatedAnswer(this.#finish)
    return parseChatRound(message, memoryTools, hasEnded && !this.isBroken)
  }
}

/** Keeps unknown fields, such as reasoning that some providers require back. Strings and lists are concatenated. */
function mergeMessageDelta(message: JsonObject, delta: JsonObject): JsonObject {
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
