import { describe, expect, it } from 'vitest'
import {
  asksPersonalQuestion,
  isImpersonalTask,
  isPersonal,
  isSafetyFact,
  needsSafetyFacts,
} from './message-subject.ts'

describe('the subject of a message', () => {
  it.each([
    'where do I live?',
    'my dog',
    '¿Dónde vivo?',
    'Wo wohne ich?',
    "où est-ce que j'habite ?",
  ])('[RA36.1] is the user: %s', (text) => {
    expect(isPersonal(text)).toBe(true)
  })

  it.each(['tell me a joke', 'who won the cup?', 'how do I center a div', 'Gib mir ein Synonym'])(
    '[RA36.1] is not the user: %s',
    (text) => {
      expect(isPersonal(text)).toBe(false)
    },
  )

  it.each([
    'tell me a joke about cats',
    'Schreib ein Haiku',
    'traduce mariposa al francés',
    'Raconte-moi une blague',
  ])('[PL16] is a task without the user: %s', (text) => {
    expect(isImpersonalTask(text)).toBe(true)
  })

  it.each(['write a poem about my sister', 'tell me a joke about my boss', 'what did we discuss?'])(
    '[PL16] is a task about the user: %s',
    (text) => {
      expect(isImpersonalTask(text)).toBe(false)
    },
  )

  it('[PL17] concerns safety', () => {
    expect(isSafetyFact('My son has a nut allergy')).toBe(true)
    expect(isSafetyFact('I like trains')).toBe(false)
    expect(needsSafetyFacts('any cookie recipes?')).toBe(true)
    expect(needsSafetyFacts('What did Ana cook?')).toBe(false)
    expect(needsSafetyFacts('translate cookie into French')).toBe(false)
  })

  it('[GA1] asks for something of the user', () => {
    expect(asksPersonalQuestion('Should I take the early train to see my mum?')).toBe(true)
    expect(asksPersonalQuestion('Why does my code crash?')).toBe(false)
  })
})
