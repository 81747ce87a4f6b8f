/** Tools in OpenAI's chat completions: calls are part of a message, and results are messages of the role `tool`. */
import { isObject, type Json, type JsonObject, objectsIn } from '../../../../lib/json.ts'
import { BREAK, finishReasonFor, isCutOff, toCall, toRound } from './chat-parts.ts'
import { ChatStitcher } from './chat-stream.ts'
import { END, withElements } from './list-edit.ts'
import {
  type AnsweredRound,
  type FindHidden,
  type Round,
  type ToolDialect,
  textOf,
  type WholeRound,
} from './tool-dialect.ts'
import { sumUsage } from './usage-sum.ts'

export const CHAT_TOOLS: ToolDialect = {
  needsTools: false,
  toTool: ({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }),
  nameOf: (tool) => {
    if (!isObject(tool)) return null
    const named = tool.function ?? tool.custom
    return isObject(named) && typeof named.name === 'string' ? named.name : null
  },
  continued,
  restored,
  read: readAnswer,
  joined,
  createStitcher: (own) => new ChatStitcher(own),
}

function readAnswer(answer: JsonObject, own: ReadonlySet<string>): Round | null {
  const [choice] = objectsIn(answer.choices)
  if (choice === undefined || !isObject(choice.message)) return null
  return toRound(choice.message, own, !isCutOff(choice.finish_reason ?? null))
}

function continued(text: string, round: AnsweredRound): string {
  const said = [...round.parts.map(asSent), ...resultsOf(round)]
  return withElements(text, ['messages'], END, said)
}

/** Providers answer with fields that say nothing, and some refuse to be told them. */
function asSent(message: JsonObject): JsonObject {
  const told = Object.entries(message).filter(
    ([name, value]) =>
      name === 'content' || (value !== null && !(Array.isArray(value) && value.length === 0)),
  )
  return { role: 'assistant', ...Object.fromEntries(told) }
}

function resultsOf({ own, results }: AnsweredRound): readonly JsonObject[] {
  return own.map(({ id }, index) => ({
    role: 'tool',
    tool_call_id: id,
    content: results[index] ?? '',
  }))
}

function restored(text: string, body: JsonObject, find: FindHidden): string {
  const messages: readonly Json[] = Array.isArray(body.messages) ? body.messages : []
  // From the last to the first, so that the places of those to come stay the same.
  return messages.reduceRight<string>((before, message, index) => {
    if (!isObject(message) || message.role !== 'assistant') return before
    const calls = objectsIn(message.tool_calls).map(toCall)
    const rounds = calls.length === 0 ? null : find(calls.map((call) => ({ id: call.id, call })))
    return rounds === null ? before : withHidden(before, index, rounds)
  }, text)
}

/** Rounds before go before the message; what was called along with the client's own calls goes into it. */
function withHidden(text: string, index: number, rounds: readonly AnsweredRound[]): string {
  const before = rounds.slice(0, -1).flatMap((round) => [
    // What the model said then, the client has in its own message.
    ...round.parts.map((part) => ({ ...asSent(part), content: null })),
    ...resultsOf(round),
  ])
  const last = rounds.slice(-1)
  const ids = new Set(last.flatMap(({ own }) => own.map(({ id }) => id)))
  const calls = last
    .flatMap(({ parts }) => parts.flatMap((part) => objectsIn(part.tool_calls)))
    .filter(({ id }) => ids.has(textOf(id)))
  const answered = withElements(text, ['messages'], index + 1, last.flatMap(resultsOf))
  const called = withElements(answered, ['messages', index, 'tool_calls'], END, calls)
  return withElements(called, ['messages'], index, before)
}

function joined(
  earlier: readonly WholeRound[],
  { answer, round }: WholeRound,
  own: ReadonlySet<string>,
): JsonObject | null {
  if (earlier.length === 0 && round.own.length === 0) return null
  const usage = [...earlier.map((each) => each.answer.usage), answer.usage].reduce(sumUsage)
  const messages = [...earlier.flatMap((each) => each.round.parts), ...round.parts]
  const text = messages
    .map(({ content }) => textOf(content))
    .filter((each) => each !== '')
    .join(BREAK)
  const choices = objectsIn(answer.choices).map((choice, index) =>
    index === 0 ? toChoice(choice, text, own) : choice,
  )
  return { ...answer, choices, ...(usage === undefined || usage === null ? {} : { usage }) }
}

function toChoice(choice: JsonObject, text: string, own: ReadonlySet<string>): JsonObject {
  const { tool_calls: all, ...message } = isObject(choice.message) ? choice.message : {}
  const calls = objectsIn(all).filter((call) => !own.has(toCall(call).name))
  return {
    ...choice,
    message: {
      ...message,
      content: text === '' ? (message.content ?? null) : text,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
    finish_reason: finishReasonFor(choice.finish_reason ?? null, calls.length > 0),
  }
}
