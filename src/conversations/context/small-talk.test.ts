import { expect, it } from 'vitest'
import { isBareQuestion, isCalculation, isRecallQuestion } from './small-talk.ts'

it.each([
  'convert 3 miles to km',
  'What is 17 * 23?',
  'What is 15 percent of 240?',
  'how many minutes are 3 hours?',
  '5km in miles',
  'cuántos km son 3 millas',
  'Wie viel sind 20 Meilen in km?',
])('[CR33] knows a calculation: %s', (message) => {
  expect(isCalculation(message)).toBe(true)
})

it.each([
  'how many days until 24 april',
  'I ran 3 miles in 20 minutes',
  'Which of the 3 did you suggest?',
  'What is the mortgage rate of 4.6 percent for?',
  'How many km?',
  '',
])('[CR33] looks up what names something else: %s', (message) => {
  expect(isCalculation(message)).toBe(false)
})

it.each([
  'Which color did we pick for the kitchen?',
  'Where do I live?',
  "what's my nephew called?",
  'which music service do I use',
  'and where did we go in May?',
  'Wo wohne ich?',
  'Wie heißt mein Hund?',
  '¿Dónde vive mi hermana?',
  'Où habite ma sœur ?',
  'Qual é o nome do meu cachorro?',
])('[CR35] a question that asks a fact back says nothing itself: %s', (message) => {
  expect(isRecallQuestion(message)).toBe(true)
})

it.each([
  'We repainted the kitchen, which color did we pick?',
  'How do I get red wine out of my white sofa?',
  'what should I bake for my wife who is allergic to nuts',
  'My sister is where I was last year',
  'Can you recommend a hotel in Rome for our honeymoon?',
  'When I was ten we moved to Porto.',
])('[CR35] quotes a message that says something: %s', (message) => {
  expect(isRecallQuestion(message)).toBe(false)
})

it.each([
  ['How tall is Everest?', true],
  ['Hey Mel, how are the kids?', true],
  ['The rent is 830 euros now, may the landlord do that?', false],
  ['Die Miete beträgt jetzt 830 Euro, darf der Vermieter das?', false],
  ['If it rains, where does the party move?', true],
])('[CR35] a message that states something before it asks is quoted: %s', (message, isBare) => {
  expect(isBareQuestion(message)).toBe(isBare)
})
