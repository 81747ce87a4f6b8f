/** Which turns of a conversation a model is shown: so many and so much of each that any conversation fits into a prompt. */
import type { Turn } from '../../domain/turn.ts'

export const SELECTED_TURNS_MAX = 80
export const TURN_SHOWN_CHARACTERS_MAX = 2_000
/** With less than this in all, there is nothing to learn. */
export const NOVELTY_CHARACTERS_MIN = 80
/** How a conversation began tells what it is about; how it went on tells what came of it. */
const BEGINNING_SHARE = 1 / 4

/** What is read of a turn. */
export type TurnText = Pick<Turn, 'id' | 'role' | 'speaker' | 'content' | 'saidAt'>

export type SelectedTurn = {
  /** Its place among all that were given: what a model names it by. */
  readonly index: number
  readonly turn: TurnText
  readonly text: string
  /** How many characters were left out at its end. */
  readonly cut: number
}

export type TurnSelection = {
  readonly turns: readonly SelectedTurn[]
  /** How many were left out, and after how many of the chosen ones. */
  readonly omitted: { readonly count: number; readonly after: number } | null
  /** Whether so little was said that no model needs to be asked. */
  readonly isTrivial: boolean
}

export function selectTurns(turns: readonly TurnText[]): TurnSelection {
  const surplus = turns.length - SELECTED_TURNS_MAX
  const beginning = Math.floor(SELECTED_TURNS_MAX * BEGINNING_SHARE)
  const chosen = turns
    .map((turn, index) => toSelectedTurn(turn, index))
    .filter(({ index }) => surplus <= 0 || index < beginning || index >= beginning + surplus)
  return {
    turns: chosen,
    omitted: surplus <= 0 ? null : { count: surplus, after: beginning },
    isTrivial: isTrivial(turns),
  }
}

/** The last ones, for when only a few are asked about. */
export function selectLastTurns(
  turns: readonly TurnText[],
  count: number,
): readonly SelectedTurn[] {
  return turns.map((turn, index) => toSelectedTurn(turn, index)).slice(-count)
}

function toSelectedTurn(turn: TurnText, index: number): SelectedTurn {
  const text = turn.content.slice(0, TURN_SHOWN_CHARACTERS_MAX)
  return { index, turn, text, cut: turn.content.length - text.length }
}

function isTrivial(turns: readonly TurnText[]): boolean {
  let characters = 0
  for (const { content } of turns) {
    characters += content.trim().length
    if (characters >= NOVELTY_CHARACTERS_MIN) return false
  }
  return true
}
