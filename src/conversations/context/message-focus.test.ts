import { expect, it } from 'vitest'
import { extractFocus } from './message-focus.ts'

const FILLER =
  'Our team has been discussing the roadmap for weeks, and there were many opinions about priorities. Marketing wants a launch in spring while sales asks for discounts. '

it('[CV30] a short message is the query', () => {
  expect(extractFocus(' And my sister?\n')).toBe('And my sister?')
  expect(extractFocus('')).toBe('')
})

it('[CV30] the query of a long message is its questions, at any position', () => {
  const question = 'What is my dog called'
  expect(extractFocus(`${FILLER.repeat(4)}Also, what is my dog called?`)).toBe(
    `Also, what is my dog called`,
  )
  expect(extractFocus(`${question}? ${FILLER.repeat(4)}`)).toBe(question)
  expect(extractFocus(`${FILLER.repeat(400)}${question}? ${FILLER.repeat(400)}`)).not.toContain(
    'dog',
  )
})

it('[CV30] the query excludes code and quotations', () => {
  const code = `\`\`\`python\n${'print("why?")\n'.repeat(40)}\`\`\`\n`
  const wish = 'Please port this to the language that I use at work'
  expect(extractFocus(`${code}${wish}.`)).toBe(wish)
  expect(extractFocus(`${wish}.\n${code}`)).toBe(wish)
})

it('[CV30] without a question, the query is the beginning and the end', () => {
  const point = extractFocus(`Plan a dinner for my parents. ${FILLER.repeat(3)}Keep it cheap.`)
  expect(point).toBe('Plan a dinner for my parents\nKeep it cheap')
})

it('[CV30] the query of a text without sentences is the text, and hostile texts take linear time', () => {
  const code = `\`\`\`\n${'x = 1\n'.repeat(100)}\`\`\``
  expect(extractFocus(code)).toBe(code)
  for (const hostile of ['?'.repeat(1_000_000), 'a? '.repeat(400_000), '"'.repeat(1_000_000)]) {
    expect(extractFocus(hostile).length).toBeLessThanOrEqual(hostile.length)
  }
})
