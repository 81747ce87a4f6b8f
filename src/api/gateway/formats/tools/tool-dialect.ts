/**
 * How the three APIs write tools, calls and results down. A model that calls a memory tool is answered by us and asked
 * again, as often as it likes within bounds; the client sees one answer, in which our calls never happened. Each time
 * that the model answers is a round.
 */
import type { Json, JsonObject } from '../../../../lib/json.ts'
import type { RawEvent } from './event-splitter.ts'
import type { MemoryTool } from './tool-definitions.ts'

/** A call as the model made it. */
export type ToolCall = {
  readonly id: string
  readonly name: string
  /** JSON, if the model wrote it right. */
  readonly arguments: string
}

/** What the model answered with. */
export type ToolRound = {
  /** Calls of our tools. */
  readonly memoryCalls: readonly ToolCall[]
  /** Calls of the client's tools. */
  readonly clientCalls: readonly ToolCall[]
  /** Everything it said, calls included, in the words of the API: a message, blocks or items. */
  readonly parts: readonly JsonObject[]
  /** When it did not come to its end, its calls may not have either, and none of ours is carried out. */
  readonly isComplete: boolean
}

/** A round whose calls of our tools have been carried out. */
export type AnsweredToolRound = ToolRound & {
  /** One for each own call, in their order. */
  readonly results: readonly string[]
}

/** Rounds that led to calls of the client's: what it doesn't know of, and the model must find again. */
export type FindHiddenRounds = (
  calls: readonly HiddenCallKey[],
) => readonly AnsweredToolRound[] | null

/** A call of the client's, by its id alone where that is all the client sends back. */
export type HiddenCallKey = { readonly id: string; readonly call: ToolCall | null }

/** A whole answer, and what was read from it. */
export type BufferedRound = { readonly answer: JsonObject; readonly round: ToolRound }

export type ToolDialect = {
  /** A tool of ours, as a request offers it. */
  toTool(tool: MemoryTool): JsonObject
  /** The name of one of the client's tools; null for those that providers run themselves. */
  getToolName(tool: Json): string | null
  /** Whether calls in the conversation are refused where no tools are offered, so that they must be forbidden instead. */
  readonly needsTools: boolean
  /** The request with a round and its results at the end. */
  appendRound(text: string, round: AnsweredToolRound): string
  /** The request with hidden rounds where they were, before the calls of the client's that they led to. */
  restoreHiddenRounds(text: string, body: JsonObject, find: FindHiddenRounds): string
  /** Null for what is no answer of this API. */
  read(answer: JsonObject, own: ReadonlySet<string>): ToolRound | null
  /** The one answer that the client gets; null when that is the last one as it came. */
  mergeRounds(
    earlier: readonly BufferedRound[],
    last: BufferedRound,
    own: ReadonlySet<string>,
  ): JsonObject | null
  createStitcher(own: ReadonlySet<string>): StreamMerger
}

/** Makes one stream of several. What it returns are texts of events, ready to be sent. */
export type StreamMerger = {
  /** What the client is shown of an event. */
  event(block: RawEvent): readonly string[]
  /** The round, when its stream has ended. */
  round(): ToolRound
  /** Another round follows: how this one ended is not shown. */
  next(): void
  /** No other round follows: what was held back. */
  finish(): readonly string[]
  /** In place of a further round. */
  fail(fault: ProviderError): readonly string[]
}

/** What a provider said went wrong, or what we say in its place. */
export type ProviderError = {
  readonly message: string
  readonly type: string | null
  readonly code: string | null
}

export function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
