/** Turns as data in a prompt: whatever is said in one, it stays inside of its fence. */
import { inOneLine } from '../../domain/context-block.ts'
import type { ChosenTurn } from '../distillation/turn-selection.ts'

const SPEAKER_CHARACTERS_MAX = 60

/** One line a turn: its number, who said it and when, and its words, which can neither end the line nor begin a tag. */
export function fenceTurn({ index, turn, text, cut }: ChosenTurn): string {
  const speaker = attribute(turn.speaker ?? '')
  const by = speaker === '' ? '' : ` speaker="${speaker}"`
  const left = cut === 0 ? '' : ` [${cut} more characters left out]`
  const time = new Date(turn.saidAt).toISOString()
  return `<turn index="${index}" role="${turn.role}"${by} time="${time}">${inOneLine(text)}${left}</turn>`
}

/** Text that can't end a quoted attribute. */
function attribute(text: string): string {
  return inOneLine(text.slice(0, SPEAKER_CHARACTERS_MAX).replace(/["&<>﹤＜]/g, ''))
}

/** Words of our own memory, as data like everything else. */
export function fenceNote(name: string, text: string, charactersMax: number): string {
  return `<${name}>${inOneLine(text.slice(0, charactersMax))}</${name}>`
}
