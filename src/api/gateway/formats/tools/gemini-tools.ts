/**
 * Tools in Gemini's own API: calls are parts of the model's content, and results are parts of the user content after it.
 * Only newer models give calls an id; of others, the signature of a thought identifies the call that it led to.
 */

import {
  filterObjects,
  isList,
  isObject,
  type Json,
  type JsonObject,
  type Value,
} from '../../../../lib/json.ts'
import { isFunctionCall, readField } from '../gemini-generate-content.ts'
import { insertElements, LIST_END, setMember } from '../json-edit.ts'
import { formatEvent, parseEventJson, type RawEvent } from './event-splitter.ts'
import type { MemoryTool } from './tool-definitions.ts'
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

export const GEMINI_TOOLS: ToolDialect = {
  needsTools: false,
  toTool: ({ name, description, parameters }) => ({ name, description, parameters }),
  getToolNames: (tool) =>
    isObject(tool) ? filterObjects(listDeclarations(tool)).map(({ name }) => toText(name)) : [],
  canAddTools,
  addTools,
  appendRound,
  restoreHiddenRounds,
  read: (answer, memoryTools) => {
    const candidate = firstCandidate(answer)
    return candidate === null
      ? null
      : parseGeminiRound(listParts(candidate), memoryTools, candidate.finishReason ?? null)
  },
  mergeRounds,
  createStreamMerger: (memoryTools) => new GeminiStreamMerger(memoryTools),
}

function listDeclarations(tool: JsonObject): Value {
  return readField(tool, 'functionDeclarations')
}

/**
 * Not beside tools of the provider, cached contents or a response of fixed form, with which models of the API take no
 * functions.
 */
function canAddTools(body: JsonObject): boolean {
  const { contents, tools = null } = body
  if (!isList(contents) || readField(body, 'cachedContent') !== undefined) return false
  if (tools !== null && !isList(tools)) return false
  if (!filterObjects(tools).every((tool) => Object.keys(tool).every(isDeclarations))) return false
  const config = readField(body, 'generationConfig')
  if (isObject(config)) {
    if ((readField(config, 'candidateCount') ?? 1) !== 1) return false
    if ((readField(config, 'responseMimeType') ?? 'text/plain') !== 'text/plain') return false
  }
  const toolConfig = readField(body, 'toolConfig')
  const calling = isObject(toolConfig) ? readField(toolConfig, 'functionCallingConfig') : undefined
  if (!isObject(calling)) return true
  return calling.mode !== 'NONE' && readField(calling, 'allowedFunctionNames') === undefined
}

function isDeclarations(name: string): boolean {
  return name === 'functionDeclarations' || name === 'function_declarations'
}

/** All functions are declared in one entry, because the API does not take several. */
function addTools(text: string, { tools }: JsonObject, added: readonly MemoryTool[]): string {
  const offered = added.map(GEMINI_TOOLS.toTool)
  if (!isList(tools)) {
    const json = JSON.stringify([{ functionDeclarations: offered }])
    return setMember(text, [], 'tools', json) ?? text
  }
  for (const [index, tool] of tools.entries()) {
    const name = isObject(tool) ? Object.keys(tool).find(isDeclarations) : undefined
    if (name === undefined) continue
    return insertElements(text, ['tools', index, name], LIST_END, offered)
  }
  return insertElements(text, ['tools'], LIST_END, [{ functionDeclarations: offered }])
}

function appendRound(text: string, round: AnsweredToolRound): string {
  return insertElements(text, ['contents'], LIST_END, [
    { role: 'model', parts: round.parts },
    { role: 'user', parts: buildToolResults(round) },
  ])
}

function buildToolResults({
  memoryCalls,
  results,
  parts,
}: AnsweredToolRound): readonly JsonObject[] {
  const ids = new Set(parts.map((part) => toText(readCall(part)?.id)))
  return memoryCalls.map(({ id, name }, index) => ({
    functionResponse: {
      ...(ids.has(id) ? { id } : {}),
      name,
      response: { result: results[index] ?? '' },
    },
  }))
}

function restoreHiddenRounds(text: string, body: JsonObject, find: FindHiddenRounds): string {
  const contents: readonly Json[] = isList(body.contents) ? body.contents : []
  // From last to first, so that insertions do not shift the indexes of contents yet to be processed.
  return contents.reduceRight<string>((before, content, index) => {
    const next = contents[index + 1]
    // Without a following content there are no results.
    if (!isObject(content) || content.role !== 'model' || !isObject(next)) return before
    if (!isList(content.parts) || !isList(next.parts)) return before
    const calls = filterObjects(content.parts).filter(isFunctionCall).map(parseCall)
    const rounds = calls.length === 0 ? null : find(calls.map((call) => ({ id: call.id, call })))
    return rounds === null ? before : insertHidden(before, index, content.parts, rounds)
  }, text)
}

/** Earlier rounds go before the content, whose text they are part of, and calls of the last round into it. */
function insertHidden(
  text: string,
  index: number,
  parts: readonly Json[],
  rounds: readonly AnsweredToolRound[],
): string {
  const last = rounds.slice(-1)
  const before = rounds.slice(0, -1).flatMap((round): readonly JsonObject[] => [
    { role: 'model', parts: listMemoryParts(round) },
    { role: 'user', parts: buildToolResults(round) },
  ])
  const results = last.flatMap(buildToolResults)
  const answered = insertElements(text, ['contents', index + 1, 'parts'], 0, results)
  // The first call carries the signature of the thought that led to all of them, so it stays the first.
  const calls = parts.findIndex((part) => isObject(part) && isFunctionCall(part))
  const isFirst = last.some(({ parts: all, memoryCalls }) => {
    const first = all.find(isFunctionCall)
    return first !== undefined && memoryCalls.some(({ id }) => id === parseCall(first).id)
  })
  const at = isFirst ? calls : LIST_END
  const path = ['contents', index, 'parts']
  const called = insertElements(answered, path, at, last.flatMap(listMemoryParts))
  return insertElements(called, ['contents'], index, before)
}

function listMemoryParts({ parts, memoryCalls }: AnsweredToolRound): readonly JsonObject[] {
  const names = new Set(memoryCalls.map(({ name }) => name))
  return parts.filter((part) => isMemoryCall(part, names))
}

function firstCandidate({ candidates }: JsonObject): JsonObject | null {
  return filterObjects(candidates).find(({ index = 0 }) => index === 0) ?? null
}

function listParts({ content }: JsonObject): readonly JsonObject[] {
  return isObject(content) ? filterObjects(content.parts) : []
}

function readCall(part: JsonObject): JsonObject | null {
  const call = readField(part, 'functionCall')
  return isObject(call) ? call : null
}

function isMemoryCall(part: JsonObject, memoryTools: ReadonlySet<string>): boolean {
  const call = readCall(part)
  return call !== null && memoryTools.has(toText(call.name))
}

let unidentifiedCalls = 0

/** A call that nothing identifies gets an id that no other call has, so that it is never taken for one. */
function parseCall(part: JsonObject): ToolCall {
  const { id, name, args } = readCall(part) ?? {}
  const signature = toText(readField(part, 'thoughtSignature'))
  return {
    id: toText(id) || signature || `unidentified ${++unidentifiedCalls}`,
    name: toText(name),
    arguments: JSON.stringify(args ?? {}),
  }
}

const COMPLETE_FINISH_REASON = 'STOP'

function parseGeminiRound(
  parts: readonly JsonObject[],
  memoryTools: ReadonlySet<string>,
  finishReason: Json,
): ToolRound {
  return {
    ...splitCalls(parts.filter(isFunctionCall).map(parseCall), memoryTools),
    parts,
    isComplete: finishReason === COMPLETE_FINISH_REASON,
  }
}

function mergeRounds(
  earlier: readonly BufferedRound[],
  { answer, round }: BufferedRound,
  memoryTools: ReadonlySet<string>,
): JsonObject | null {
  if (earlier.length === 0 && round.memoryCalls.length === 0) return null
  const answers = [...earlier.map((each) => each.answer), answer]
  const usage = answers.map(({ usageMetadata }) => usageMetadata).reduce(sumUsage)
  const parts = [...earlier.map((each) => each.round), round]
    .flatMap((each) => each.parts)
    .filter((part) => !isMemoryCall(part, memoryTools))
  const [first, ...others] = filterObjects(answer.candidates)
  const content = isObject(first?.content) ? first.content : {}
  return {
    ...answer,
    candidates: [{ ...first, content: { ...content, parts } }, ...others],
    ...(usage === undefined || usage === null ? {} : { usageMetadata: usage }),
  }
}

/** Merges the streams of several rounds: one id, one end, and the usage of all. */
class GeminiStreamMerger implements StreamMerger {
  readonly #memoryTools: ReadonlySet<string>
  #parts: JsonObject[] = []
  #finishReason: Json = null
  /** The end of a round with memory calls, held back until it is known whether another round follows. */
  #tail: JsonObject[] = []
  #usage: Json = null
  #earlierUsage: Json = null
  #id: Json = null
  #isFirstRound = true

  constructor(memoryTools: ReadonlySet<string>) {
    this.#memoryTools = memoryTools
  }

  event(block: RawEvent): readonly string[] {
    const chunk = parseEventJson(block)
    if (chunk === null) return [block.raw]
    if (this.#isFirstRound) this.#id ??= chunk.responseId ?? null
    this.#usage = chunk.usageMetadata ?? this.#usage
    const candidate = firstCandidate(chunk)
    const parts = candidate === null ? [] : listParts(candidate)
    const shown = parts.filter((part) => !isMemoryCall(part, this.#memoryTools))
    this.#parts.push(...parts)
    this.#finishReason = candidate?.finishReason ?? this.#finishReason
    const isChanged = shown.length < parts.length || !this.#isFirstRound
    const visible = isChanged ? this.#toVisible(chunk, shown) : chunk
    if (this.#hasMemoryCalls() && this.#finishReason !== null) {
      this.#tail.push(visible)
      return []
    }
    if (!isChanged) return [block.raw]
    return shown.length === 0 && this.#finishReason === null ? [] : [formatEvent('', visible)]
  }

  #hasMemoryCalls(): boolean {
    return this.#parts.some((part) => isMemoryCall(part, this.#memoryTools))
  }

  #toVisible(chunk: JsonObject, shown: readonly JsonObject[]): JsonObject {
    const [first, ...others] = filterObjects(chunk.candidates)
    const content = isObject(first?.content) ? { content: { ...first.content, parts: shown } } : {}
    return {
      ...chunk,
      ...(first === undefined ? {} : { candidates: [{ ...first, ...content }, ...others] }),
      ...(this.#id === null ? {} : { responseId: this.#id }),
      ...(chunk.usageMetadata === undefined
        ? {}
        : { usageMetadata: sumUsage(this.#earlierUsage, chunk.usageMetadata) }),
    }
  }

  round(): ToolRound {
    return parseGeminiRound(this.#parts, this.#memoryTools, this.#finishReason)
  }

  next(): void {
    this.#isFirstRound = false
    this.#earlierUsage = sumUsage(this.#earlierUsage, this.#usage)
    this.#parts = []
    this.#tail = []
    this.#finishReason = null
    this.#usage = null
  }

  finish(): readonly string[] {
    return this.#tail.map((chunk) => formatEvent('', chunk))
  }

  fail({ message, code }: ProviderError): readonly string[] {
    const error = { code: Number(code) || 500, message, status: 'INTERNAL' }
    return [formatEvent('', { error })]
  }
}
