/** The prompt of per-turn extraction: facts only, and only from turns that were not extracted before. */
import {
  assertExpectedAnswer,
  createUnreadableAnswerError,
  parseAnswerObject,
} from '../completions/answer-json.ts'
import { fenceTurn } from '../completions/prompt-fencing.ts'
import { type DistilledFact, parseFact, parseItems } from './distillate.ts'
import { type PromptMessage, TURNS_ARE_DATA } from './distillation-prompt.ts'
import { type SelectedTurn, selectLastTurns, type TurnText } from './turn-selection.ts'

export const TURN_EXTRACTION_VERSION = 'turns-2'
/** Turns per prompt, including context turns. */
export const EXTRACTED_TURNS_MAX = 15
const FACTS_MAX = 20
const EXPECTED_FIELDS = ['facts'] as const

const TASK = `You find facts worth remembering in a conversation.

${TURNS_ARE_DATA}

Answer with one JSON object and nothing else:
{"facts": [{"content": "…", "category": "general | preference | fact | event | relationship | decision | entity", "importance": 5, "about": null, "turns": [0]}]}

How:
- Only from the turns under "New". Those under "Before" are there to understand them.
- Each fact is one sentence in the third person that can be understood alone: names instead of "he" or "it", "the user" instead of "I" or the user's own name. Stay close to the user's words.
- In the language of the conversation. "Yesterday" and the like become dates, counted from the time of the turn.
- Only what is said: invent nothing. What the assistant says is no fact about the user, unless the user agrees. No small talk, no questions, no passwords or keys.
- "importance" is 1 to 10. "turns" are the indexes of the user's turns that say it; "about" is whom it is about, when it is not the user. Keep every "not" and every number.
- Nothing new: {"facts": []}`

export type TurnExtraction = {
  readonly messages: readonly PromptMessage[]
  /** The turns to extract facts from. */
  readonly extracted: readonly SelectedTurn[]
  /** All turns of the prompt. */
  readonly prompted: readonly SelectedTurn[]
}

/** `isSeen` selects turns that were extracted before. Null when all of the last turns were. */
export function buildTurnExtraction(
  turns: readonly TurnText[],
  isSeen: (turn: TurnText) => boolean,
): TurnExtraction | null {
  const shown = selectLastTurns(turns, EXTRACTED_TURNS_MAX)
  const extracted = shown.filter(({ turn }) => !isSeen(turn))
  if (extracted.length === 0) return null
  const before = shown.filter(({ turn }) => isSeen(turn))
  const lines = [
    ...(before.length === 0 ? [] : ['Before:', ...before.map(fenceTurn)]),
    'New:',
    ...extracted.map(fenceTurn),
  ]
  return {
    messages: [
      { role: 'system', content: TASK },
      { role: 'user', content: lines.join('\n') },
    ],
    extracted,
    prompted: shown,
  }
}

/** Drops facts whose named turns are all outside of `extracted`. */
export function parseTurnFacts(
  text: string,
  extracted: readonly number[],
): readonly DistilledFact[] {
  const fields = parseAnswerObject(text, EXPECTED_FIELDS)
  const faults: string[] = []
  const known = new Set(extracted)
  const facts: DistilledFact[] = []
  for (const item of parseItems(fields, 'facts', EXPECTED_FIELDS, faults).slice(0, FACTS_MAX)) {
    const fact = parseFact(item, known, faults)
    if (fact !== null && !isOnlyAboutSeenTurns(item, fact)) facts.push(fact)
  }
  if (facts.length === 0 && faults.length > 0) {
    throw createUnreadableAnswerError(
      `Nothing in the answer could be used: ${faults.join(' ')}`,
      'no_item',
    )
  }
  if (facts.length === 0) assertExpectedAnswer(fields, EXPECTED_FIELDS)
  return facts
}

function isOnlyAboutSeenTurns(item: unknown, { turns }: DistilledFact): boolean {
  if (turns.length > 0 || typeof item !== 'object' || item === null) return false
  const named: unknown = Object.entries(item).find(([name]) => name === 'turns')?.[1]
  return Array.isArray(named) && named.length > 0
}
