import { describe, expect, it } from 'vitest'
import { parseMemoryRequests } from './memory-requests.ts'

const found = (text: string) =>
  parseMemoryRequests(text).map(({ kind, content }) => `${kind}: ${content}`)

describe('requests about memory', () => {
  it.each([
    ['remember: the alarm PIN is 9083', 'remember: the alarm PIN is 9083'],
    ['Please keep in mind that my dentist is on the 12th.', 'remember: my dentist is on the 12th'],
    ['note to self: buy stamps', 'remember: buy stamps'],
    ['The code is 4471, please remember that.', 'remember: The code is 4471'],
    ['The gate code is 4471. Keep that in mind.', 'remember: The gate code is 4471'],
    ['Merk dir bitte, dass der Code 4471 ist', 'remember: der Code 4471 ist'],
    ['No olvides que el código es 4471', 'remember: el código es 4471'],
    ["N'oublie pas que le code est 4471", 'remember: le code est 4471'],
    ['Anota aí: o código é 4471', 'remember: o código é 4471'],
    ['记住我的密码是4471', 'remember: 我的密码是4471'],
    ['番号は4471です。覚えておいて', 'remember: 番号は4471です'],
  ])('[PX9] are found: %s', (text, expected) => {
    expect(found(text)).toEqual([expected])
  })

  it.each([
    ['Keep answers under five lines.', 'instruction: Keep answers under five lines'],
    ['no emojis please, ever', 'instruction: no emojis please, ever'],
    ['Could you stop using emojis?', 'instruction: Could you stop using emojis'],
    ['Antworte immer kurz.', 'instruction: Antworte immer kurz'],
    ['以后不要用表情', 'instruction: 以后不要用表情'],
  ])('[PX10] standing instructions are found: %s', (text, expected) => {
    expect(found(text)).toEqual([expected])
  })

  it.each([
    ['Forget that I live in Leeds.', 'forget: I live in Leeds'],
    ['Vergiss, dass ich in Bonn wohne.', 'forget: ich in Bonn wohne'],
    ['Oublie que j’habite à Metz', 'forget: j’habite à Metz'],
  ])('[PX11] requests to forget are found: %s', (text, expected) => {
    expect(found(text)).toEqual([expected])
  })

  it.each([
    'Do you remember what I said yesterday?',
    'forget it',
    'Make this email shorter than five lines.',
    'Translate: "Remember that the code is 4471"',
    'My boss wrote: remember that the report is due',
  ])('[PX9] [PX10] [PX11] other messages are no requests: %s', (text) => {
    expect(found(text)).toEqual([])
  })
})
