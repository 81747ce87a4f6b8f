/** Tools in Anthropic's Messages: calls and results are blocks, and results come first in the message after the calls. */

import { filterObjects, isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { insertElement, insertElements, LIST_END, replaceValue, sliceValue } from '../json-edit.ts'
import { formatEvent, parseEventJson, type RawEvent } from './event-splitter.ts'
import {
  type AnsweredToolRound,
  type BufferedRound,
  type FindHiddenRounds,
  mergeUsage,
  type ProviderError,
  type StreamMerger,
  splitCalls,
  sumUsage,
  type ToolCall,
  type ToolDialect,
  type ToolRound,
  toText,
} from './tool-dialect.ts'

export const MESSAGES_TOOLS: ToolDialect = {
  needsTools: true,
  toTool: ({ name, description, parameters }) => ({ name, description, input_schema: parameters }),
  getToolNames: (tool) => (isObject(tool) && typeof tool.name === 'string' ? [tool.name] : []),
  appendRound,
  restoreHiddenRounds,
  read: (answer, memoryTools) =>
    Array.isArray(answer.content)
      ? parseMessagesRound(filterObjects(answer.content), memoryTools, answer.stop_reason ?? null)
      : null,
  mergeRounds,
  createStreamMerger: (memoryTools) => new MessagesStreamMerger(memoryTools),
}

function appendRound(text: string, round: AnsweredToolRound): string {
  return insertElements(text, ['messages'], LIST_END, [
    { role: 'assistant', content: round.parts.filter(isResendable) },
    { role: 'user', content: buildToolResults(round) },
  ])
}

/** Models produce empty text blocks, which the API rejects in a request. */
function isResendable(block: JsonObject): boolean {
  return block.type !== 'text' || toText(block.text).trim() !== ''
}

function buildToolResults({ memoryCalls, results }: AnsweredToolRound): readonly JsonObject[] {
  return memoryCalls.map(({ id }, index) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: results[index] ?? '',
  }))
}

function restoreHiddenRounds(text: string, body: JsonObject, find: FindHiddenRounds): string {
  const messages: readonly Json[] = Array.isArray(body.messages) ? body.messages : []
  // From last to first, so that insertions do not shift the indexes of messages yet to be processed.
  return messages.reduceRight<string>((before, message, index) => {
    const next = messages[index + 1]
    // Without a following message there are no results.
    if (!isObject(message) || message.role !== 'assistant' || !isObject(next)) return before
    const calls = filterObjects(message.content).filter(isToolUse).map(parseToolUse)
    if (calls.length === 0 || !Array.isArray(next.content)) return before
    const rounds = find(calls.map((call) => ({ id: call.id, call })))
    return rounds === null
      ? before
      : insertHidden(before, index, filterObjects(message.content), rounds)
  }, text)
}

/**
 * The client has the blocks of all rounds in one message. The message is split into rounds again, because reasoning must
 * stay before the calls that it led to. A message that the client has changed stays whole, after the earlier calls.
 */
function insertHidden(
  text: string,
  index: number,
  blocks: readonly JsonObject[],
  rounds: readonly AnsweredToolRound[],
): string {
  const before = rounds.slice(0, -1)
  const last = rounds.slice(-1)
  const content = ['messages', index, 'content']
  const isAsShown = hasShownRounds(before, blocks)
  const written = blocks.map(
    (block, at) => sliceValue(text, [...content, at]) ?? JSON.stringify(block),
  )
  const messages = before.flatMap((round) => {
    const shown = written.splice(0, isAsShown ? listVisibleBlocks(round).length : 0)
    const called = listMemoryBlocks(round).map((block) => JSON.stringify(block))
    const results = JSON.stringify({ role: 'user', content: buildToolResults(round) })
    return [`{"role":"assistant","content":[${[...shown, ...called].join(',')}]}`, results]
  })
  const answered = insertElements(
    text,
    ['messages', index + 1, 'content'],
    0,
    last.flatMap(buildToolResults),
  )
  const shortened = replaceValue(answered, content, `[${written.join(',')}]`) ?? answered
  const called = insertElements(shortened, content, LIST_END, last.flatMap(listMemoryBlocks))
  if (messages.length === 0) return called
  return insertElement(called, ['messages'], index, messages.join(',')) ?? called
}

function hasShownRounds(
  rounds: readonly AnsweredToolRound[],
  blocks: readonly JsonObject[],
): boolean {
  const shown = rounds.flatMap(listVisibleBlocks)
  return (
    shown.length < blocks.length && shown.every(({ type }, index) => blocks[index]?.type === type)
  )
}

function listVisibleBlocks(round: AnsweredToolRound): readonly JsonObject[] {
  const ids = listCallIds(round)
  return round.parts.filter((block) => !ids.has(toText(block.id)))
}

function listMemoryBlocks(round: AnsweredToolRound): readonly JsonObject[] {
  const ids = listCallIds(round)
  return round.parts.filter((block) => ids.has(toText(block.id)))
}

function listCallIds({ memoryCalls }: AnsweredToolRound): ReadonlySet<string> {
  return new Set(memoryCalls.map(({ id }) => id))
}

function mergeRounds(
  earlier: readonly BufferedRound[],
  { answer, round }: BufferedRound,
  memoryTools: ReadonlySet<string>,
): JsonObject | null {
  if (earlier.length === 0 && round.memoryCalls.length === 0) return null
  const usage = [...earlier.map((each) => each.answer.usage), answer.usage].reduce(sumUsage)
  const content = [...earlier.map((each) => each.round), round]
    .flatMap(({ parts }) => parts)
    .filter((block) => !isMemoryToolUse(block, memoryTools))
  return {
    ...answer,
    content,
    stop_reason: rewriteStopReason(answer.stop_reason ?? null, round.clientCalls.length > 0),
    ...(usage === undefined || usage === null ? {} : { usage }),
  }
}

/** The stop reason with which the model waits for tool results. */
const TOOL_USE_STOP_REASON = 'tool_use'

/** Without client calls, the stop reason must not tell the client to run tools. */
function rewriteStopReason(reason: Json, hasClientCalls: boolean): Json {
  return reason === TOOL_USE_STOP_REASON && !hasClientCalls ? 'end_turn' : reason
}

function isToolUse({ type }: JsonObject): boolean {
  return type === 'tool_use'
}

function isMemoryToolUse(block: JsonObject, memoryTools: ReadonlySet<string>): boolean {
  return isToolUse(block) && memoryTools.has(toText(block.name))
}

function parseToolUse({ id, name, input }: JsonObject): ToolCall {
  return { id: toText(id), name: toText(name), arguments: JSON.stringify(input ?? {}) }
}

function parseMessagesRound(
  blocks: readonly JsonObject[],
  memoryTools: ReadonlySet<string>,
  stopReason: Json,
): ToolRound {
  const calls = blocks.filter(isToolUse).map(parseToolUse)
  return {
    ...splitCalls(calls, memoryTools),
    parts: blocks,
    isComplete: stopReason === TOOL_USE_STOP_REASON,
  }
}

/** Merges the streams of several rounds: one start, one end, and continuous block indexes. */

class MessagesStreamMerger implements StreamMerger {
  readonly #memoryTools: ReadonlySet<string>
  #isFirstRound = true
  /** How many blocks the client has received. */
  #shown = 0
  /** The usage of earlier rounds. */
  #earlierUsage: Json = null
  #round = new PendingRound()

  constructor(memoryTools: ReadonlySet<string>) {
    this.#memoryTools = memoryTools
  }

  event(block: RawEvent): readonly string[] {
    const event = parseEventJson(block)
    if (event === null) return [block.raw]
    switch (event.type) {
      case 'message_start':
        this.#round.usage = readUsage(event.message)
        return this.#isFirstRound ? [block.raw] : []
      case 'content_block_start':
        return this.#startBlock(event, block)
      case 'content_block_delta':
        this.#round.extend(event)
        return this.#withShownIndex(event, block)
      case 'content_block_stop':
        return this.#withShownIndex(event, block)
      case 'message_delta':
        return this.#endMessage(event, block)
      case 'message_stop':
        return this.#holdOrPass(event, block)
      case 'error':
        this.#round.isBroken = true
        return [block.raw]
      default:
        return [block.raw]
    }
  }

  #startBlock(event: JsonObject, block: RawEvent): readonly string[] {
    const part = isObject(event.content_block) ? event.content_block : {}
    const isMemoryCall = isMemoryToolUse(part, this.#memoryTools)
    this.#round.start(Number(event.index), part, isMemoryCall ? null : this.#shown)
    if (!isMemoryCall) this.#shown++
    return this.#withShownIndex(event, block)
  }

  /** With the index that the block has for the client; nothing for hidden blocks. */
  #withShownIndex(event: JsonObject, { name, raw }: RawEvent): readonly string[] {
    const part = this.#round.parts.get(Number(event.index))
    if (part === undefined) return [raw]
    if (part.shownAt === null) return []
    if (part.shownAt === event.index) return [raw]
    return [formatEvent(name, { ...event, index: part.shownAt })]
  }

  #endMessage(event: JsonObject, block: RawEvent): readonly string[] {
    const stopReason = isObject(event.delta) ? (event.delta.stop_reason ?? null) : null
    this.#round.stopReason = stopReason
    const usage = isObject(event.usage) ? event.usage : {}
    this.#round.usage = mergeUsage(this.#round.usage, usage)
    if (this.#isFirstRound) return this.#holdOrPass(event, block)
    const sum = sumUsage(this.#earlierUsage, this.#round.usage)
    return this.#holdOrPass({ ...event, usage: sum }, block, true)
  }

  #holdOrPass(event: JsonObject, block: RawEvent, isChanged = false): readonly string[] {
    if (this.#round.hasMemoryCalls) {
      this.#round.tail.push(event)
      return []
    }
    return [isChanged ? formatEvent(block.name, event) : block.raw]
  }

  round(): ToolRound {
    const { stopReason, isBroken } = this.#round
    return parseMessagesRound(this.#round.merged(), this.#memoryTools, isBroken ? null : stopReason)
  }

  next(): void {
    this.#isFirstRound = false
    this.#earlierUsage = sumUsage(this.#earlierUsage, this.#round.usage)
    this.#round = new PendingRound()
  }

  finish(): readonly string[] {
    const hasCalls = this.round().clientCalls.length > 0
    return this.#round.tail.map((event) => {
      const { delta } = event
      const rewritten = isObject(delta)
        ? { ...delta, stop_reason: rewriteStopReason(delta.stop_reason ?? null, hasCalls) }
        : null
      return formatEvent(
        toText(event.type),
        rewritten === null ? event : { ...event, delta: rewritten },
      )
    })
  }

  fail({ message, type }: ProviderError): readonly string[] {
    return [formatEvent('error', { type: 'error', error: { type: type ?? 'api_error', message } })]
  }
}

/** A block of a streamed answer, while its deltas arrive. */
type PendingBlock = {
  merged: JsonObject
  /** The index of the block for the client; null for memory calls. */
  readonly shownAt: number | null
  /** The input of a call, which arrives as parts of JSON text. */
  input: string
}

class PendingRound {
  /** By the provider's index. */
  readonly parts = new Map<number, PendingBlock>()
  /** The end of a round with memory calls, held back until it is known whether another round follows. */
  readonly tail: JsonObject[] = []
  stopReason: Json = null
  usage: JsonObject = {}
  isBroken = false

  get hasMemoryCalls(): boolean {
    return [...this.parts.values()].some(({ shownAt }) => shownAt === null)
  }

  start(index: number, merged: JsonObject, shownAt: number | null): void {
    this.parts.set(index, { merged, shownAt, input: '' })
  }

  extend({ index, delta }: JsonObject): void {
    const part = this.parts.get(Number(index))
    if (part === undefined || !isObject(delta)) return
    if (delta.type === 'input_json_delta') part.input += toText(delta.partial_json)
    else part.merged = { ...part.merged, ...appendDelta(part.merged, delta) }
  }

  merged(): readonly JsonObject[] {
    return [...this.parts.values()].map(({ merged, input }) =>
      input === '' ? merged : { ...merged, input: parseInput(input) },
    )
  }
}

function appendDelta(block: JsonObject, delta: JsonObject): JsonObject {
  switch (delta.type) {
    case 'text_delta':
      return { text: toText(block.text) + toText(delta.text) }
    case 'thinking_delta':
      return { thinking: toText(block.thinking) + toText(delta.thinking) }
    case 'signature_delta':
      return { signature: toText(block.signature) + toText(delta.signature) }
    case 'citations_delta': {
      const before: readonly Json[] = Array.isArray(block.citations) ? block.citations : []
      return { citations: [...before, delta.citation ?? null] }
    }
    default:
      return {}
  }
}

/** Invalid JSON becomes an empty input, which the API accepts and the tool then rejects with an explanation. */
function parseInput(text: string): Json {
  try {
    return JSON.parse(text) as Json // JSON.parse returns JSON
  } catch {
    return {}
  }
}

function readUsage(message: Json | undefined): JsonObject {
  return isObject(message) && isObject(message.usage) ? message.usage : {}
}
