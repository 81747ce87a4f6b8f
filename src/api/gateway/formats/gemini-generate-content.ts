/**
 * Gemini's own API: `generateContent` and `streamGenerateContent`. The path names the model and whether the answer is
 * streamed. Requests may spell fields in camel case or, as in many examples of its documentation, in snake case, and
 * may hold one part where a list of parts belongs.
 */

import { readContentText } from '../../../domain/message-content.ts'
import type {
  BlockPlacement,
  ModelAnswer,
  ModelRequest,
  TokenUsage,
} from '../../../domain/model-call.ts'
import {
  filterObjects,
  isList,
  isObject,
  type Json,
  type JsonObject,
  toCount,
  type Value,
} from '../../../lib/json.ts'
import { AnswerText, parseEventData } from './answer-text.ts'
import { createRequestError } from './error-body.ts'
import type { AnswerReader, WireFormat } from './format.ts'
import { insertElement, type JsonPath, setMember, wrapValue } from './json-edit.ts'
import {
  countCharacters,
  createLazyRequest,
  groupExchanges,
  hasUserContent,
  type RequestPart,
  readRecentParts,
  toNonBlankText,
} from './request-text.ts'

export const GEMINI_PATH = '/v1beta/models'

/** What a path of the API asks for. */
export type GeminiTarget = {
  readonly model: string
  /** Such as `generateContent` or `countTokens`. */
  readonly action: string
}

const TARGET = /^\/v1(?:beta)?\/((?:models|tunedModels)\/[^?]{1,400}):([A-Za-z]{1,60})$/

/** Null when the path asks no model. A model may have a provider before it, as everywhere: `models/demo/echo`. */
export function parseGeminiTarget(path: string): GeminiTarget | null {
  const [, name, action] = TARGET.exec(path) ?? []
  if (name === undefined || action === undefined) return null
  return {
    model: decodePathSegment(name.startsWith('models/') ? name.slice('models/'.length) : name),
    action,
  }
}

/** Text with broken escapes is taken as it is. */
export function decodePathSegment(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The path for a model below the base URL of its provider. */
export function geminiPath({ model, action }: GeminiTarget): string {
  const name = /^(?:models|tunedModels)\//.test(model) ? model : `models/${model}`
  return `/${name.split('/').map(encodeURIComponent).join('/')}:${action}`
}

const STREAMING_ACTION = 'streamGenerateContent'
const CHAT_ACTIONS: readonly string[] = ['generateContent', STREAMING_ACTION]

/** The format of a path that asks a model for an answer; null for other paths. */
export function findGeminiFormat(path: string): WireFormat | null {
  const target = parseGeminiTarget(path)
  return target !== null && CHAT_ACTIONS.includes(target.action) ? createGeminiFormat(target) : null
}

export function createGeminiFormat(target: GeminiTarget): WireFormat {
  return {
    name: 'gemini',
    path: `${GEMINI_PATH}/${target.model}:${target.action}`,
    toUpstreamPath: (model) => geminiPath({ model, action: target.action }),
    parseRequest: (body) => parseRequest(body, target),
    injectBlock,
    createAnswerReader: () => new GeminiAnswerReader(),
  }
}

/** Streams are lists of JSON objects unless the client asks for events, as client libraries do. */
export function hasEventStream(url = ''): boolean {
  return new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('alt') === 'sse'
}

/** A field by its name in camel case, or in snake case. */
export function readField(object: JsonObject, name: string): Value {
  return object[name] ?? object[toSnakeCase(name)]
}

/** The spelling of a field that the object uses. */
function fieldName(object: JsonObject, name: string): string {
  const other = toSnakeCase(name)
  return object[name] === undefined && object[other] !== undefined ? other : name
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function parseRequest(body: JsonObject, { model, action }: GeminiTarget): ModelRequest {
  const contents = readContents(body)
  const config = readField(body, 'generationConfig')
  return createLazyRequest(
    {
      model,
      isStreaming: action === STREAMING_ACTION,
      endUser: null,
      previousResponseId: null,
      conversationId: null,
      outputTokensMax: isObject(config) ? toCount(readField(config, 'maxOutputTokens')) : null,
    },
    () => ({
      instructions: readText(readField(body, 'systemInstruction')),
      ...groupExchanges(readRecentParts(contents, toRequestParts)),
      characters: countCharacters(body),
    }),
  )
}

function readContents({ contents }: JsonObject): readonly JsonObject[] {
  const list = isObject(contents) ? [contents] : contents
  if (!isList(list) || list.length === 0) {
    throw createRequestError(
      'contents',
      '* GenerateContentRequest.contents: contents is not specified',
    )
  }
  return list.map((content, index) => {
    if (isObject(content)) return content
    throw createRequestError(
      `contents[${index}]`,
      `Invalid value at 'contents[${index}]' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content)`,
    )
  })
}

/** The parts of a content as a list, which readers of all formats take. */
function readParts(content: JsonObject): readonly Json[] {
  const { parts } = content
  if (isObject(parts)) return [parts]
  return isList(parts) ? parts : []
}

/** Instructions may be a content or, in requests of some clients, a text. */
function readText(content: Value): string {
  if (typeof content === 'string') return content
  return isObject(content) ? readContentText(readParts(content), getPartText) : ''
}

/** Thoughts of the model are not text. */
function getPartText({ text, thought }: JsonObject): Json | undefined {
  return thought === true ? undefined : text
}

function isFunctionResponse(part: JsonObject): boolean {
  return isObject(readField(part, 'functionResponse'))
}

export function isFunctionCall(part: JsonObject): boolean {
  return isObject(readField(part, 'functionCall'))
}

function toRequestParts(content: JsonObject): readonly RequestPart[] {
  const parts = readParts(content)
  const text = readContentText(parts, getPartText)
  if (content.role === 'model') return [{ kind: 'answer', text }]
  const isTurn = isUserContent(content)
  const results = filterObjects(parts)
    .filter(isFunctionResponse)
    .map((part): RequestPart => {
      const result = readField(part, 'functionResponse')
      const response = isObject(result) ? result.response : undefined
      return { kind: 'result', text: JSON.stringify(response ?? {}), joinsTurn: isTurn }
    })
  return isTurn ? [{ kind: 'turn', text }, ...results] : results
}

/** A content without a role is the user's. */
function isUserContent(content: JsonObject): boolean {
  const { role = 'user' } = content
  return role === 'user' && hasUserContent(readParts(content), getPartText, isFunctionResponse)
}

function injectBlock(
  text: string,
  body: JsonObject,
  block: string,
  placement: BlockPlacement,
): string | null {
  const isSystem = placement === 'system' || placement === 'system-merged'
  // Cached contents hold the instructions, and the API refuses a request that adds some.
  if (isSystem && readField(body, 'cachedContent') === undefined) {
    return injectIntoSystem(text, body, block)
  }
  const { contents } = body
  const list = isObject(contents) ? [contents] : contents
  if (!isList(list)) return null
  const index = list.findLastIndex((content) => isObject(content) && isUserContent(content))
  const turn = list[index]
  if (!isObject(turn)) return null
  const path = isObject(contents) ? ['contents'] : ['contents', index]
  if (placement === 'message' && isList(contents)) {
    return insertElement(text, ['contents'], index, contentJson(block))
  }
  const at = placement === 'turn-end' || isSystem ? 'end' : 'start'
  return addPart(text, path, turn, block, at)
}

function injectIntoSystem(text: string, body: JsonObject, block: string): string | null {
  const name = fieldName(body, 'systemInstruction')
  const system = body[name]
  if (system === undefined || system === null) {
    return setMember(text, [], name, `{"parts":[${partJson(block)}]}`)
  }
  return isObject(system) ? addPart(text, [name], system, block, 'end') : null
}

/** Adds a part after all others, or after results of functions, which come first. */
function addPart(
  text: string,
  path: JsonPath,
  content: JsonObject,
  block: string,
  at: 'start' | 'end',
): string | null {
  const parts = [...path, 'parts']
  const json = partJson(block)
  if (isObject(content.parts)) {
    const isFirst = at === 'start' && !isFunctionResponse(content.parts)
    return isFirst
      ? wrapValue(text, parts, `[${json},`, ']')
      : wrapValue(text, parts, '[', `,${json}]`)
  }
  if (!isList(content.parts)) return null
  const own = content.parts.findIndex((part) => !(isObject(part) && isFunctionResponse(part)))
  const index = at === 'end' || own < 0 ? content.parts.length : own
  return insertElement(text, parts, index, json)
}

function contentJson(text: string): string {
  return `{"role":"user","parts":[${partJson(text)}]}`
}

function partJson(text: string): string {
  return JSON.stringify({ text })
}

const LENGTH_FINISH_REASON = 'MAX_TOKENS'

class GeminiAnswerReader implements AnswerReader {
  readonly #text = new AnswerText()
  #id: string | null = null
  #usage: TokenUsage | null = null
  #finishReason: string | null = null
  #hasFailed = false
  #hasToolCalls = false

  readEvent({ data }: { readonly name: string; readonly data: string }): void {
    this.#read(parseEventData(data))
  }

  /** A stream without events is one list. */
  readBody(body: unknown): void {
    for (const chunk of Array.isArray(body) ? body : [body]) {
      this.#read(isObject(chunk) ? chunk : null)
    }
  }

  isEnded(): boolean {
    return this.#finishReason !== null || this.#hasFailed
  }

  getAnswer(): ModelAnswer {
    const isEnded = this.#finishReason !== null && !this.#hasFailed
    return {
      id: this.#id,
      text: this.#text.text(),
      isComplete: isEnded && this.#finishReason === 'STOP' && !this.#text.isTruncated,
      isTruncated: isEnded && this.#finishReason === LENGTH_FINISH_REASON,
      hasToolCalls: this.#hasToolCalls,
      usage: this.#usage,
    }
  }

  #read(chunk: JsonObject | null): void {
    if (chunk === null) return
    const { promptFeedback } = chunk
    const isBlocked = isObject(promptFeedback) && promptFeedback.blockReason !== undefined
    if (isObject(chunk.error) || isBlocked) this.#hasFailed = true
    this.#id ??= toNonBlankText(chunk.responseId)
    this.#usage = readUsage(chunk.usageMetadata) ?? this.#usage
    const candidate = filterObjects(chunk.candidates).find(({ index = 0 }) => index === 0)
    if (candidate === undefined) return
    this.#finishReason = toNonBlankText(candidate.finishReason) ?? this.#finishReason
    if (!isObject(candidate.content)) return
    for (const part of filterObjects(readParts(candidate.content))) {
      this.#hasToolCalls ||= isFunctionCall(part)
      this.#text.add('content', getPartText(part))
    }
  }
}

/** Thoughts are billed as output, and not part of the candidates. */
function readUsage(usage: Value): TokenUsage | null {
  if (!isObject(usage)) return null
  const count = (name: string) => toCount(usage[name]) ?? 0
  return {
    input: count('promptTokenCount') + count('toolUsePromptTokenCount'),
    output: count('candidatesTokenCount') + count('thoughtsTokenCount'),
    cached: toCount(usage.cachedContentTokenCount),
  }
}
