/** Tools in Anthropic's messages: calls and results are blocks, and results come first in the message after the calls. */
import { filterObjects, isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { insertElement, replaceValue, sliceValue } from '../json-edit.ts'
import { insertElements, LIST_END } from './list-edit.ts'
import {
  isMemoryToolUse,
  isToolUse,
  parseMessagesRound,
  parseToolUse,
  rewriteStopReason,
} from './messages-parts.ts'
import { MessagesStreamMerger } from './messages-stream.ts'
import {
  type AnsweredToolRound,
  type BufferedRound,
  type FindHiddenRounds,
  type ToolDialect,
  toText,
} from './tool-dialect.ts'
import { sumUsage } from './usage-sum.ts'

export const MESSAGES_TOOLS: ToolDialect = {
  needsTools: true,
  toTool: ({ name, description, parameters }) => ({ name, description, input_schema: parameters }),
  getToolName: (tool) => (isObject(tool) && typeof tool.name === 'string' ? tool.name : null),
  appendRound: appendRound,
  restoreHiddenRounds: restoreHiddenRounds,
  read: (answer, own) =>
    Array.isArray(answer.content)
      ? parseMessagesRound(filterObjects(answer.content), own, answer.stop_reason ?? null)
      : null,
  mergeRounds: mergeRounds,
  createStitcher: (own) => new MessagesStreamMerger(own),
}

function appendRound(text: string, round: AnsweredToolRound): string {
  return insertElements(text, ['messages'], LIST_END, [
    { role: 'assistant', content: round.parts.filter(isResendable) },
    { role: 'user', content: buildToolResults(round) },
  ])
}

/** Models write empty texts, which are refused when they come back. */
function isResendable(block: JsonObject): boolean {
  return block.type !== 'text' || toText(block.text).trim() !== ''
}

function buildToolResults({ memoryCalls: own, results }: AnsweredToolRound): readonly JsonObject[] {
  return own.map(({ id }, index) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: results[index] ?? '',
  }))
}

function restoreHiddenRounds(text: string, body: JsonObject, find: FindHiddenRounds): string {
  const messages: readonly Json[] = Array.isArray(body.messages) ? body.messages : []
  // From the last to the first, so that the places of those to come stay the same.
  return messages.reduceRight<string>((before, message, index) => {
    const next = messages[index + 1]
    // Without a message for the results, nobody came back with any.
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
 * The client has the blocks of all rounds in one message. It is taken apart again, because thoughts must stand where
 * they were thought; a message that the client has changed stays whole, with the earlier calls before it.
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

function listCallIds({ memoryCalls: own }: AnsweredToolRound): ReadonlySet<string> {
  return new Set(own.map(({ id }) => id))
}

function mergeRounds(
  earlier: readonly BufferedRound[],
  { answer, round }: BufferedRound,
  own: ReadonlySet<string>,
): JsonObject | null {
  if (earlier.length === 0 && round.memoryCalls.length === 0) return null
  const usage = [...earlier.map((each) => each.answer.usage), answer.usage].reduce(sumUsage)
  const content = [...earlier.map((each) => each.round), round]
    .flatMap(({ parts }) => parts)
    .filter((block) => !isMemoryToolUse(block, own))
  return {
    ...answer,
    content,
    stop_reason: rewriteStopReason(answer.stop_reason ?? null, round.clientCalls.length > 0),
    ...(usage === undefined || usage === null ? {} : { usage }),
  }
}
