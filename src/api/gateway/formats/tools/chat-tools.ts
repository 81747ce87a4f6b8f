/** Tools in OpenAI's chat completions: calls are part of a message, and results are messages of the role `tool`. */
import { filterObjects, isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import {
  isTruncatedAnswer,
  parseChatRound,
  parseChatToolCall,
  ROUND_SEPARATOR,
  rewriteFinishReason,
} from './chat-parts.ts'
import { ChatStreamMerger } from './chat-stream.ts'
import { insertElements, LIST_END } from './list-edit.ts'
import {
  type AnsweredToolRound,
  type BufferedRound,
  type FindHiddenRounds,
  type ToolDialect,
  type ToolRound,
  toText,
} from './tool-dialect.ts'
import { sumUsage } from './usage-sum.ts'

export const CHAT_TOOLS: ToolDialect = {
  needsTools: false,
  toTool: ({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }),
  getToolName: (tool) => {
    if (!isObject(tool)) return null
    const named = tool.function ?? tool.custom
    return isObject(named) && typeof named.name === 'string' ? named.name : null
  },
  appendRound: appendRound,
  restoreHiddenRounds: restoreHiddenRounds,
  read: readAnswer,
  mergeRounds: mergeRounds,
  createStitcher: (own) => new ChatStreamMerger(own),
}

function readAnswer(answer: JsonObject, own: ReadonlySet<string>): ToolRound | null {
  const [choice] = filterObjects(answer.choices)
  if (choice === undefined || !isObject(choice.message)) return null
  return parseChatRound(choice.message, own, !isTruncatedAnswer(choice.finish_reason ?? null))
}

function appendRound(text: string, round: AnsweredToolRound): string {
  const said = [...round.parts.map(toSentMessage), ...buildToolResults(round)]
  return insertElements(text, ['messages'], LIST_END, said)
}

/** Providers answer with fields that say nothing, and some refuse to be told them. */
function toSentMessage(message: JsonObject): JsonObject {
  const told = Object.entries(message).filter(
    ([name, value]) =>
      name === 'content' || (value !== null && !(Array.isArray(value) && value.length === 0)),
  )
  return { role: 'assistant', ...Object.fromEntries(told) }
}

function buildToolResults({ memoryCalls: own, results }: AnsweredToolRound): readonly JsonObject[] {
  return own.map(({ id }, index) => ({
    role: 'tool',
    tool_call_id: id,
    content: results[index] ?? '',
  }))
}

function restoreHiddenRounds(text: string, body: JsonObject, find: FindHiddenRounds): string {
  const messages: readonly Json[] = Array.isArray(body.messages) ? body.messages : []
  // From the last to the first, so that the places of those to come stay the same.
  return messages.reduceRight<string>((before, message, index) => {
    if (!isObject(message) || message.role !== 'assistant') return before
    const calls = filterObjects(message.tool_calls).map(parseChatToolCall)
    const rounds = calls.length === 0 ? null : find(calls.map((call) => ({ id: call.id, call })))
    return rounds === null ? before : insertHidden(before, index, rounds)
  }, text)
}

/** Rounds before go before the message; what was called along with the client's own calls goes into it. */
function insertHidden(text: string, index: number, rounds: readonly AnsweredToolRound[]): string {
  const before = rounds.slice(0, -1).flatMap((round) => [
    // What the model said then, the client has in its own message.
    ...round.parts.map((part) => ({ ...toSentMessage(part), content: null })),
    ...buildToolResults(round),
  ])
  const last = rounds.slice(-1)
  const ids = new Set(last.flatMap(({ memoryCalls: own }) => own.map(({ id }) => id)))
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
  own: ReadonlySet<string>,
): JsonObject | null {
  if (earlier.length === 0 && round.memoryCalls.length === 0) return null
  const usage = [...earlier.map((each) => each.answer.usage), answer.usage].reduce(sumUsage)
  const messages = [...earlier.flatMap((each) => each.round.parts), ...round.parts]
  const text = messages
    .map(({ content }) => toText(content))
    .filter((each) => each !== '')
    .join(ROUND_SEPARATOR)
  const choices = filterObjects(answer.choices).map((choice, index) =>
    index === 0 ? toChoice(choice, text, own) : choice,
  )
  return { ...answer, choices, ...(usage === undefined || usage === null ? {} : { usage }) }
}

function toChoice(choice: JsonObject, text: string, own: ReadonlySet<string>): JsonObject {
  const { tool_calls: all, ...message } = isObject(choice.message) ? choice.message : {}
  const calls = filterObjects(all).filter((call) => !own.has(parseChatToolCall(call).name))
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
