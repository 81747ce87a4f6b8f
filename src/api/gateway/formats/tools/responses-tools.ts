/** Tools in OpenAI's Responses: calls and results are items, and the provider may keep the conversation. */
import { isObject, type Json, type JsonObject, objectsIn } from '../../../../lib/json.ts'
import { setMember, surround, valueAt } from '../json-edit.ts'
import { END, withElements } from './list-edit.ts'
import { asOneAnswer, isCall, isOwnCall, tellsOfOwn, toCall, toRound } from './responses-parts.ts'
import { ResponsesStitcher } from './responses-stream.ts'
import {
  type AnsweredRound,
  type FindHidden,
  type ToolDialect,
  textOf,
  type WholeRound,
} from './tool-dialect.ts'
import { sumUsage } from './usage-sum.ts'

export const RESPONSES_TOOLS: ToolDialect = {
  needsTools: false,
  toTool: ({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
    // Left out, it would mean yes, and the schema would have to say more.
    strict: false,
  }),
  nameOf: (tool) => (isObject(tool) && typeof tool.name === 'string' ? tool.name : null),
  continued,
  restored,
  read: (answer, own) =>
    Array.isArray(answer.output)
      ? toRound(objectsIn(answer.output), own, answer.status === 'completed')
      : null,
  joined,
  createStitcher: (own) => new ResponsesStitcher(own),
}

function continued(text: string, round: AnsweredRound): string {
  // The provider adds to a conversation of its own what was asked and answered.
  if (isNamed(valueAt(text, ['conversation']))) {
    return setMember(text, [], 'input', JSON.stringify(resultsOf(round))) ?? text
  }
  const isKept = valueAt(text, ['store']) !== 'false'
  const said = round.parts.filter((item) => isKept || isComplete(item))
  return withElements(asList(text), ['input'], END, [...said, ...resultsOf(round)])
}

function isNamed(value: string | null): boolean {
  return value !== null && value !== 'null'
}

/** Reasoning is looked up by its id, unless all of it is there in a sealed form. */
function isComplete(item: JsonObject): boolean {
  return item.type !== 'reasoning' || typeof item.encrypted_content === 'string'
}

/** The input may be a text of the person's, or be left out. */
function asList(text: string): string {
  const input = valueAt(text, ['input'])
  if (!isNamed(input)) return setMember(text, [], 'input', '[]') ?? text
  if (!input?.startsWith('"')) return text
  return surround(text, ['input'], '[{"role":"user","content":', '}]') ?? text
}

function resultsOf({ own, results }: AnsweredRound): readonly JsonObject[] {
  return own.map(({ id }, index) => ({
    type: 'function_call_output',
    call_id: id,
    output: results[index] ?? '',
  }))
}

function restored(text: string, body: JsonObject, find: FindHidden): string {
  const items: readonly Json[] = Array.isArray(body.input) ? body.input : []
  const made = new Map(
    objectsIn(items)
      .filter(isCall)
      .map((item) => [textOf(item.call_id), toCall(item)]),
  )
  const done = new Set<readonly AnsweredRound[]>()
  const insertions = items.flatMap((item, index) => {
    if (!isObject(item)) return []
    const id = textOf(item.call_id)
    // Where the provider keeps the conversation, results come back without their calls.
    if (!isCall(item) && (!isResult(item) || made.has(id))) return []
    const rounds = find([{ id, call: made.get(id) ?? null }])
    if (rounds === null || done.has(rounds)) return []
    done.add(rounds)
    if (!isCall(item)) return rounds.slice(-1).map((round) => ({ index, items: resultsOf(round) }))
    return rounds.map((round, at) => ({
      index: placeOf(rounds.slice(at), items) ?? index,
      items: [...ownItems(round), ...resultsOf(round)],
    }))
  })
  // From the last to the first, so that the places of those to come stay the same.
  return insertions
    .sort((one, other) => one.index - other.index)
    .reduceRight((before, { index, items: hidden }) => {
      return withElements(before, ['input'], index, hidden)
    }, text)
}

function isResult({ type }: JsonObject): boolean {
  return type === 'function_call_output' || type === 'custom_tool_call_output'
}

/**
 * Where the calls of the first of these rounds were, if the client has what stood around them: behind what the model
 * said before, or else before what it said next. Reasoning must stay right before what it led to.
 */
function placeOf(rounds: readonly AnsweredRound[], items: readonly Json[]): number | null {
  const [first] = rounds
  const parts = rounds.flatMap((round) => round.parts)
  const called = parts.findIndex((item) => item.call_id === first?.own[0]?.id)
  const isAmong = (these: readonly JsonObject[]) => {
    const ids = new Set(these.map(({ id }) => textOf(id)).filter((id) => id !== ''))
    return (item: Json) => isObject(item) && ids.has(textOf(item.id))
  }
  const before = items.findLastIndex(isAmong(parts.slice(0, Math.max(0, called))))
  if (before >= 0) return before + 1
  const after = items.findIndex(isAmong(parts))
  return after < 0 ? null : after
}

function ownItems({ own, parts }: AnsweredRound): readonly JsonObject[] {
  const ids = new Set(own.map(({ id }) => id))
  return parts.filter((item) => isCall(item) && ids.has(textOf(item.call_id)))
}

function joined(
  earlier: readonly WholeRound[],
  { answer, round }: WholeRound,
  own: ReadonlySet<string>,
): JsonObject | null {
  const isOneRound = earlier.length === 0 && round.own.length === 0
  if (isOneRound && !tellsOfOwn(answer, own)) return null
  const usage = earlier.map((each) => each.answer.usage).reduce<Json>(sumUsage, null)
  const output = [...earlier.map((each) => each.round), round]
    .flatMap(({ parts }) => parts)
    .filter((item) => !isOwnCall(item, own))
  return { ...asOneAnswer(answer, own, usage), output }
}
