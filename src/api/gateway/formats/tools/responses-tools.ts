/** Tools in OpenAI's Responses: calls and results are items, and the provider may keep the conversation. */
import { filterObjects, isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { setMember, sliceValue, wrapValue } from '../json-edit.ts'
import { insertElements, LIST_END } from './list-edit.ts'
import {
  hasMemoryToolData,
  isFunctionCall,
  isMemoryFunctionCall,
  mergeResponses,
  parseFunctionCall,
  parseResponsesRound,
} from './responses-parts.ts'
import { ResponsesStreamMerger } from './responses-stream.ts'
import {
  type AnsweredToolRound,
  type BufferedRound,
  type FindHiddenRounds,
  type ToolDialect,
  toText,
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
  getToolName: (tool) => (isObject(tool) && typeof tool.name === 'string' ? tool.name : null),
  appendRound: appendRound,
  restoreHiddenRounds: restoreHiddenRounds,
  read: (answer, own) =>
    Array.isArray(answer.output)
      ? parseResponsesRound(filterObjects(answer.output), own, answer.status === 'completed')
      : null,
  mergeRounds: mergeRounds,
  createStitcher: (own) => new ResponsesStreamMerger(own),
}

function appendRound(text: string, round: AnsweredToolRound): string {
  // The provider adds to a conversation of its own what was asked and answered.
  if (isPresent(sliceValue(text, ['conversation']))) {
    return setMember(text, [], 'input', JSON.stringify(buildToolOutputs(round))) ?? text
  }
  const isKept = sliceValue(text, ['store']) !== 'false'
  const said = round.parts.filter((item) => isKept || isComplete(item))
  return insertElements(toInputList(text), ['input'], LIST_END, [
    ...said,
    ...buildToolOutputs(round),
  ])
}

function isPresent(value: string | null): boolean {
  return value !== null && value !== 'null'
}

/** Reasoning is looked up by its id, unless all of it is there in a sealed form. */
function isComplete(item: JsonObject): boolean {
  return item.type !== 'reasoning' || typeof item.encrypted_content === 'string'
}

/** The input may be a text of the person's, or be left out. */
function toInputList(text: string): string {
  const input = sliceValue(text, ['input'])
  if (!isPresent(input)) return setMember(text, [], 'input', '[]') ?? text
  if (!input?.startsWith('"')) return text
  return wrapValue(text, ['input'], '[{"role":"user","content":', '}]') ?? text
}

function buildToolOutputs({ memoryCalls: own, results }: AnsweredToolRound): readonly JsonObject[] {
  return own.map(({ id }, index) => ({
    type: 'function_call_output',
    call_id: id,
    output: results[index] ?? '',
  }))
}

function restoreHiddenRounds(text: string, body: JsonObject, find: FindHiddenRounds): string {
  const items: readonly Json[] = Array.isArray(body.input) ? body.input : []
  const made = new Map(
    filterObjects(items)
      .filter(isFunctionCall)
      .map((item) => [toText(item.call_id), parseFunctionCall(item)]),
  )
  const done = new Set<readonly AnsweredToolRound[]>()
  const insertions = items.flatMap((item, index) => {
    if (!isObject(item)) return []
    const id = toText(item.call_id)
    // Where the provider keeps the conversation, results come back without their calls.
    if (!isFunctionCall(item) && (!isResult(item) || made.has(id))) return []
    const rounds = find([{ id, call: made.get(id) ?? null }])
    if (rounds === null || done.has(rounds)) return []
    done.add(rounds)
    if (!isFunctionCall(item))
      return rounds.slice(-1).map((round) => ({ index, items: buildToolOutputs(round) }))
    return rounds.map((round, at) => ({
      index: findInsertIndex(rounds.slice(at), items) ?? index,
      items: [...listMemoryItems(round), ...buildToolOutputs(round)],
    }))
  })
  // From the last to the first, so that the places of those to come stay the same.
  return insertions
    .sort((one, other) => one.index - other.index)
    .reduceRight((before, { index, items: hidden }) => {
      return insertElements(before, ['input'], index, hidden)
    }, text)
}

function isResult({ type }: JsonObject): boolean {
  return type === 'function_call_output' || type === 'custom_tool_call_output'
}

/**
 * Where the calls of the first of these rounds were, if the client has what stood around them: behind what the model
 * said before, or else before what it said next. Reasoning must stay right before what it led to.
 */
function findInsertIndex(
  rounds: readonly AnsweredToolRound[],
  items: readonly Json[],
): number | null {
  const [first] = rounds
  const parts = rounds.flatMap((round) => round.parts)
  const called = parts.findIndex((item) => item.call_id === first?.memoryCalls[0]?.id)
  const isAmong = (these: readonly JsonObject[]) => {
    const ids = new Set(these.map(({ id }) => toText(id)).filter((id) => id !== ''))
    return (item: Json) => isObject(item) && ids.has(toText(item.id))
  }
  const before = items.findLastIndex(isAmong(parts.slice(0, Math.max(0, called))))
  if (before >= 0) return before + 1
  const after = items.findIndex(isAmong(parts))
  return after < 0 ? null : after
}

function listMemoryItems({ memoryCalls: own, parts }: AnsweredToolRound): readonly JsonObject[] {
  const ids = new Set(own.map(({ id }) => id))
  return parts.filter((item) => isFunctionCall(item) && ids.has(toText(item.call_id)))
}

function mergeRounds(
  earlier: readonly BufferedRound[],
  { answer, round }: BufferedRound,
  own: ReadonlySet<string>,
): JsonObject | null {
  const isOneRound = earlier.length === 0 && round.memoryCalls.length === 0
  if (isOneRound && !hasMemoryToolData(answer, own)) return null
  const usage = earlier.map((each) => each.answer.usage).reduce<Json>(sumUsage, null)
  const output = [...earlier.map((each) => each.round), round]
    .flatMap(({ parts }) => parts)
    .filter((item) => !isMemoryFunctionCall(item, own))
  return { ...mergeResponses(answer, own, usage), output }
}
