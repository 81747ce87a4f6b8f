/** Escapes turns and memories as data elements of a prompt, so that their text cannot leave its element. */
import { toSingleLine } from '../../domain/context-block.ts'
import type { SelectedTurn } from '../distillation/turn-selection.ts'

const SPEAKER_CHARACTERS_MAX = 60

/** Renders a turn as one line with its index, role, speaker and time. */
export function fenceTurn({ index, turn, text, cut }: SelectedTurn): string {
  const speaker = renderAttribute(turn.speaker ?? '')
  const by = speaker === '' ? '' : ` speaker="${speaker}"`
  const omission = cut === 0 ? '' : ` [${cut} more characters left out]`
  const time = new Date(turn.saidAt).toISOString()
  return `<turn index="${index}" role="${turn.role}"${by} time="${time}">${toSingleLine(text)}${omission}</turn>`
}

/** Removes characters that could end a quoted attribute. */
function renderAttribute(text: string): string {
  return toSingleLine(text.slice(0, SPEAKER_CHARACTERS_MAX).replace(/["&<>﹤＜]/g, ''))
}

/** Renders stored text as a data element. */
export function fenceText(name: string, text: string, charactersMax: number): string {
  return `<${name}>${toSingleLine(text.slice(0, charactersMax))}</${name}>`
}
