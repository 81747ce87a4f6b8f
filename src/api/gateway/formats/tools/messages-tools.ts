/** Tools in Anthropic's messages: calls and results are blocks, and results come first in the message after the calls. */
import { isObject, type Json, type JsonObject, objectsIn } from '../../../../lib/json.ts'
import { insertElement, replaceValue, valueAt } from '../json-edit.ts'
import { END, withElements } from './list-edit.ts'
import { isCall, isOwnCall, stopReasonFor, toCall, toRound } from './messages-parts.ts'
import { MessagesStitcher } from './messages-stream.ts'
import {
  type AnsweredRound,
  type FindHidden,
  type ToolDialect,
  textOf,
  type WholeRound,
} from './tool-dialect.ts'
import { sumUsage } from './usage-sum.ts'

export const MESSAGES_TOOLS: ToolDialect = {
  needsTools: true,
  toTool: ({ name, description, parameters }) => ({ name, description, input_schema: parameters }),
  nameOf: (tool) => (isObject(tool) && typeof tool.name === 'string' ? tool.name : null),
  continued,
  restored,
  read: (answer, own) =>
    Array.isArray(answer.content)
      ? toRound(objectsIn(answer.content), own, answer.stop_reason ?? null)
      : null,
  joined,
  createStitcher: (own) => new MessagesStitcher(own),
}

function continued(text: string, round: AnsweredRound): string {
  return withElements(text, ['messages'], END, [
    { role: 'assistant', content: round.parts.filter(isSayable) },
    { role: 'user', content: resultsOf(round) },
  ])
}

/** Models write empty texts, which are refused when they come back. */
function isSayable(block: JsonObject): boolean {
  return block.type !== 'text' || textOf(block.text).trim() !== ''
}

function resultsOf({ own, results }: AnsweredRound): readonly JsonObject[] {
  return own.map(({ id }, index) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: results[index] ?? '',
  }))
}

function restored(text: string, body: JsonObject, find: FindHidden): string {
  const messages: readonly Json[] = Array.isArray(body.messages) ? body.messages : []
  // From the last to the first, so that the places of those to come stay the same.
  return messages.reduceRight<string>((before, message, index) => {
    const next = messages[index + 1]
    // Without a message for the results, nobody came back with any.
    if (!isObject(message) || message.role !== 'assistant' || !isObject(next)) return before
    const calls = objectsIn(message.content).filter(isCall).map(toCall)
    if (calls.length === 0 || !Array.isArray(next.content)) return before
    const rounds = find(calls.map((call) => ({ id: call.id, call })))
    return rounds === null ? before : withHidden(before, index, objectsIn(message.content), rounds)
  }, text)
}

/**
 * The client has the blocks of all rounds in one message. It is taken apart again, because thoughts must stand where
 * they were thought; a message that the client has changed stays whole, with the earlier calls before it.
 */
function withHidden(
  text: string,
  index: number,
  blocks: readonly JsonObject[],
  rounds: readonly AnsweredRound[],
): string {
  const before = rounds.slice(0, -1)
  const last = rounds.slice(-1)
  const content = ['messages', index, 'content']
  const isAsShown = wasShown(before, blocks)
  const written = blocks.map(
    (block, at) => valueAt(text, [...content, at]) ?? JSON.stringify(block),
  )
  const messages = before.flatMap((round) => {
    const shown = written.splice(0, isAsShown ? shownOf(round).length : 0)
    const called = ownBlocks(round).map((block) => JSON.stringify(block))
    const results = JSON.stringify({ role: 'user', content: resultsOf(round) })
    return [`{"role":"assistant","content":[${[...shown, ...called].join(',')}]}`, results]
  })
  const answered = withElements(
    text,
    ['messages', index + 1, 'content'],
    0,
    last.flatMap(resultsOf),
  )
  const shortened = replaceValue(answered, content, `[${written.join(',')}]`) ?? answered
  const called = withElements(shortened, content, END, last.flatMap(ownBlocks))
  if (messages.length === 0) return called
  return insertElement(called, ['messages'], index, messages.join(',')) ?? called
}

function wasShown(rounds: readonly AnsweredRound[], blocks: readonly JsonObject[]): boolean {
  const shown = rounds.flatMap(shownOf)
  return (
    shown.length < blocks.length && shown.every(({ type }, index) => blocks[index]?.type === type)
  )
}

function shownOf(round: AnsweredRound): readonly JsonObject[] {
  const ids = idsOf(round)
  return round.parts.filter((block) => !ids.has(textOf(block.id)))
}

function ownBlocks(round: AnsweredRound): readonly JsonObject[] {
  const ids = idsOf(round)
  return round.parts.filter((block) => ids.has(textOf(block.id)))
}

function idsOf({ own }: AnsweredRound): ReadonlySet<string> {
  return new Set(own.map(({ id }) => id))
}

function joined(
  earlier: readonly WholeRound[],
  { answer, round }: WholeRound,
  own: ReadonlySet<string>,
): JsonObject | null {
  if (earlier.length === 0 && round.own.length === 0) return null
  const usage = [...earlier.map((each) => each.answer.usage), answer.usage].reduce(sumUsage)
  const content = [...earlier.map((each) => each.round), round]
    .flatMap(({ parts }) => parts)
    .filter((block) => !isOwnCall(block, own))
  return {
    ...answer,
    content,
    stop_reason: stopReasonFor(answer.stop_reason ?? null, round.others.length > 0),
    ...(usage === undefined || usage === null ? {} : { usage }),
  }
}
