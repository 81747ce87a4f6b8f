/** What whole and streamed messages of Anthropic's have in common. */
import type { Json, JsonObject } from '../../../../lib/json.ts'
import { type Round, type ToolCall, textOf } from './tool-dialect.ts'

/** The one way to end in which the model waits for results. */
export const WAITS = 'tool_use'

/** Where all calls were ours, the client must not look for any. */
export function stopReasonFor(said: Json, hasCalls: boolean): Json {
  return said === WAITS && !hasCalls ? 'end_turn' : said
}

export function isCall({ type }: JsonObject): boolean {
  return type === 'tool_use'
}

export function isOwnCall(block: JsonObject, own: ReadonlySet<string>): boolean {
  return isCall(block) && own.has(textOf(block.name))
}

export function toCall({ id, name, input }: JsonObject): ToolCall {
  return { id: textOf(id), name: textOf(name), arguments: JSON.stringify(input ?? {}) }
}

export function toRound(
  blocks: readonly JsonObject[],
  own: ReadonlySet<string>,
  stopReason: Json,
): Round {
  const calls = blocks.filter(isCall).map(toCall)
  return {
    own: calls.filter(({ name }) => own.has(name)),
    others: calls.filter(({ name }) => !own.has(name)),
    parts: blocks,
    isWhole: stopReason === WAITS,
  }
}
