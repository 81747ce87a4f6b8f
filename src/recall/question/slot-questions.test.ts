import { expect, it } from 'vitest'
import { expandSlotQuestion } from './slot-questions.ts'

it.each([
  ['Where do I live?', 'relocated'],
  ['and where do we live now', 'moved'],
  ['where do I work?', 'joined'],
  ["what's my job", 'hired'],
  ['Wo wohne ich?', 'umgezogen'],
  ['¿Dónde trabajo?', 'trabajo'],
  ['how old am I', 'birthday'],
])('[RA37] %s is searched together with words of its answers', (question, word) => {
  expect(expandSlotQuestion(question)).toContain(word)
})

it.each([
  'Where does Ana live?',
  'tell me a joke',
  'Where is my passport?',
  `where do I live ${'x '.repeat(60)}`,
])('[RA37] leaves other messages alone: %s', (question) => {
  expect(expandSlotQuestion(question)).toBeNull()
})
