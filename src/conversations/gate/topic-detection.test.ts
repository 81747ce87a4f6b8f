import { expect, it } from 'vitest'
import { hasTopic } from './topic-detection.ts'

it.each([
  'What were my exact words?',
  'Who am I?',
  'Wo waren wir stehen geblieben?',
  'Was waren meine genauen Worte?',
  '¿Dónde nos quedamos?',
  '¿Cuáles fueron mis palabras exactas?',
  'Où en étions-nous ?',
  'Quels étaient mes mots exacts ?',
  'Onde paramos?',
  'Quais foram as minhas palavras exatas?',
  '我们上次说到哪儿了？',
  '我的原话是什么？',
  '前回はどこまで話しましたか？',
  '',
])('[PL13] names no matter: %s', (message) => {
  expect(hasTopic(message)).toBe(false)
})

it.each([
  'What did we decide about the kitchen?',
  'What were my exact words about the roof?',
  'Was haben wir zum Garten gesagt?',
  '¿Qué dijimos del viaje?',
  "Qu'avons-nous dit du jardin ?",
  'O que falamos da viagem?',
  '我们上次聊的花园怎么样了？',
  '前回の旅行の話を覚えていますか？',
  'Did we talk about Rust?',
])('[PL13] names a matter: %s', (message) => {
  expect(hasTopic(message)).toBe(true)
})
