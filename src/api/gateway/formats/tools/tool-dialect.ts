/**
 * Tool dialects: how each API represents tools, calls and results. The gateway runs calls of memory tools and asks the
 * model again, within limits; the client sees one answer without these calls. Each answer of the model is a round.
 */

import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import type { RawEvent } from './event-splitter.ts'
import type { MemoryTool } from './tool-definitions.ts'

export type ToolCall = {
  readonly id: string
  readonly name: string
  /** JSON text, valid or not. */
  readonly arguments: string
}

export type ToolRound = {
  /** Calls of memory tools. */
  readonly memoryCalls: readonly ToolCall[]
  /** Calls of the client's tools. */
  readonly clientCalls: readonly ToolCall[]
  /** The whole answer, calls included, in the format of the API: a message, blocks or items. */
  readonly parts: readonly JsonObject[]
  /** Calls of an incomplete answer may be incomplete themselves, so no memory tool is run. */
  readonly isComplete: boolean
}

/** A round whose memory tools have run. */
export type AnsweredToolRound = ToolRound & {
  /** One for each memory call, in order. */
  readonly results: readonly string[]
}

/** Finds the rounds that led to calls of the client: hidden from it, but part of the model's conversation. */
export type FindHiddenRounds = (
  calls: readonly HiddenCallKey[],
) => readonly AnsweredToolRound[] | null

/** A call of the client; `call` is null when the client sends only its id. */
type HiddenCallKey = { readonly id: string; readonly call: ToolCall | null }

/** An answer that is not streamed, with its parsed round. */
export type BufferedRound = { readonly answer: JsonObject; readonly round: ToolRound }

export type ToolDialect = {
  /** A memory tool as part of a request. */
  toTool(tool: MemoryTool): JsonObject
  /** The names of client tools in an entry of `tools`; none for a tool that the provider runs. */
  getToolNames(tool: Json): readonly string[]
  /** Whether memory tools can be added, where the API has fields of its own for it. */
  canAddTools?(body: JsonObject): boolean
  /** Adds memory tools, where they are not entries of `tools` of their own. */
  addTools?(text: string, body: JsonObject, tools: readonly MemoryTool[]): string
  /** Whether the API rejects calls in a conversation without tools, so that tools are sent but forbidden. */
  readonly needsTools: boolean
  /** Appends a round and its results to the request. */
  appendRound(text: string, round: AnsweredToolRound): string
  /** Inserts hidden rounds before the client calls that they led to. */
  restoreHiddenRounds(text: string, body: JsonObject, find: FindHiddenRounds): string
  /** Null when the body is not an answer of this API. */
  read(answer: JsonObject, memoryTools: ReadonlySet<string>): ToolRound | null
  /** The merged answer for the client; null when the last answer can be passed through unchanged. */
  mergeRounds(
    earlier: readonly BufferedRound[],
    last: BufferedRound,
    memoryTools: ReadonlySet<string>,
  ): JsonObject | null
  createStreamMerger(memoryTools: ReadonlySet<string>): StreamMerger
}

/** Merges the streams of several rounds. Methods return the text of events, ready to be sent. */
export type StreamMerger = {
  /** The events that the client sees of an event. */
  event(event: RawEvent): readonly string[]
  /** The round, after its stream has ended. */
  round(): ToolRound
  /** Another round follows; the end of this one is dropped. */
  next(): void
  /** No round follows; returns the events that were held back. */
  finish(): readonly string[]
  /** The error event that ends the stream in place of a further round. */
  fail(error: ProviderError): readonly string[]
}

/** An error of the provider, or of the gateway in its place. */
export type ProviderError = {
  readonly message: string
  readonly type: string | null
  readonly code: string | null
}

export function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The usage of two rounds: numbers are added, of other values the later one counts. */
export function sumUsage(a: Json | undefined, b: Json | undefined): Json {
  if (typeof a === 'number' && typeof b === 'number') return a + b
  if (!isObject(a) || !isObject(b)) return b ?? a ?? null
  const sum: Record<string, Json> = { ...a }
  for (const [name, value] of Object.entries(b)) sum[name] = sumUsage(a[name], value)
  return sum
}

/** The usage of one round: later events replace earlier ones, except with null. */
export function mergeUsage(earlier: JsonObject, later: JsonObject): JsonObject {
  const known = Object.entries(later).filter(([, value]) => value !== null)
  return { ...earlier, ...Object.fromEntries(known) }
}

/** Splits the calls of a round by who runs them. */
export function splitCalls(
  calls: readonly ToolCall[],
  memoryTools: ReadonlySet<string>,
): Pick<ToolRound, 'memoryCalls' | 'clientCalls'> {
  return {
    memoryCalls: calls.filter(({ name }) => memoryTools.has(name)),
    clientCalls: calls.filter(({ name }) => !memoryTools.has(name)),
  }
}
