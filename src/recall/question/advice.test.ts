import { expect, it } from 'vitest'
import { seeksAdvice } from './advice.ts'

it.each([
  'im at a sushi bar, what should i order',
  'Can you recommend a novel?',
  'plan a trip for me',
  'Was soll ich heute kochen?',
  'Kannst du mir ein Buch empfehlen?',
  '¿Qué me recomiendas para cenar?',
  'Que devrais-je lire ?',
  'O que posso cozinhar hoje?',
  '今晚推荐我吃什么',
])('[CR32] detects a request for advice: %s', (question) => {
  expect(seeksAdvice(question)).toBe(true)
})

it.each([
  "what's my licence plate",
  'When is my dentist appointment?',
  'How can I sort an array in Rust?',
  'Wie heißt unsere Hebamme?',
])('[CR32] detects no request for advice: %s', (question) => {
  expect(seeksAdvice(question)).toBe(false)
})
