/** Turns as data in a prompt: whatever is said in one, it stays inside of its fence. */
import { toSingleLine } from '../../domain/context-block.ts'
import type { SelectedTurn } from '../distillation/turn-selection.ts'

const SPEAKER_CHARACTERS_MAX = 60

/** One line a turn: its number, who said it and when, and its words, which can neither end the line nor begin a tag. */
export function fenceTurn({ index, turn, text, cut }: SelectedTurn): string {
  const speaker = renderAttribute(turn.speaker ?? '')
  const by = speaker === '' ? '' : ` speaker="${speaker}"`
  const left = cut === 0 ? '' : ` [${cut} more characters left out]`
  const time = new Date(turn.saidAt).toISOString()
  return `<turn index="${index}" role="${turn.role}"${by} time="${time}">${toSingleLine(text)}${left}</turn>`
}

/** Text that can't end a quoted attribute. */
function renderAttribute(text: string): string {
  return toSingleLine(text.slice(0, SPEAKER_CHARACTERS_MAX).replace(/["&<>﹤＜]/g, ''))
}

/** Words of our own memory, as data like everything else. */
export function fenceText(name: string, text: string, charactersMax: number): string {
  return `<${name}>${toSingleLine(text.slice(0, charactersMax))}</${name}>`
}
