import { expect, it } from 'vitest'
import { isEnglish } from './language.ts'

const ENGLISH = [
  '',
  'Ann moved to Oslo in May.',
  'Adopted two kittens',
  'Where is El Paso?',
  'Is the café on Rue de Rivoli still open?',
  'She says “привет” to the neighbors.',
  'Neovim, tmux, zsh',
  'Who were the guests from São Paulo?',
]
const OTHERS = [
  'Ich wohne in Hamburg.',
  'Womit verdient sie ihr Geld?',
  'Me rompí el brazo esquiando.',
  'Quel est son métier ?',
  'Nasci em 1988 no Porto.',
  'Dove abita mio fratello?',
  'Waar woont mijn zus?',
  '我对花生过敏。',
  '毎週土曜日にクライミングに行きます。',
  '제 노트북에는 리눅스가 깔려 있어요.',
  'Где живёт моя сестра?',
]

it.each(ENGLISH)('[EM37] reads as English: %s', (text) => {
  expect(isEnglish(text)).toBe(true)
})

it.each(OTHERS)('[EM37] does not read as English: %s', (text) => {
  expect(isEnglish(text)).toBe(false)
})
