/** Selects and truncates turns so that any conversation fits into a prompt. */
import type { Turn } from '../../domain/turn.ts'

export const SELECTED_TURNS_MAX = 80
export const TURN_SHOWN_CHARACTERS_MAX = 2_000
/** Shorter conversations are not worth a model call. */
export const NOVELTY_CHARACTERS_MIN = 80
/** The beginning shows the topic of a conversation, the end its result; turns in between are omitted. */
const BEGINNING_SHARE = 1 / 4

/** The fields of a turn that prompts use. */
export type TurnText = Pick<Turn, 'id' | 'role' | 'speaker' | 'content' | 'saidAt'>

export type SelectedTurn = {
  /** Its index in the conversation, by which the model refers to it. */
  readonly index: number
  readonly turn: TurnText
  readonly text: string
  /** The number of characters that were cut off at its end. */
  readonly cut: number
}

export type TurnSelection = {
  readonly turns: readonly SelectedTurn[]
  /** How many turns were omitted, and after how many of the selected ones. */
  readonly omitted: { readonly count: number; readonly after: number } | null
  /** Whether the conversation is too short for a model call. */
  readonly isTrivial: boolean
}

export function selectTurns(turns: readonly TurnText[]): TurnSelection {
  const surplus = turns.length - SELECTED_TURNS_MAX
  const beginning = Math.floor(SELECTED_TURNS_MAX * BEGINNING_SHARE)
  const selected = turns
    .map((turn, index) => toSelectedTurn(turn, index))
    .filter(({ index }) => surplus <= 0 || index < beginning || index >= beginning + surplus)
  return {
    turns: selected,
    omitted: surplus <= 0 ? null : { count: surplus, after: beginning },
    isTrivial: isTrivial(turns),
  }
}

/** The last `count` turns. */
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
