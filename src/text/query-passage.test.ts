import { expect, it } from 'vitest'
import { buildQueryTerms, extractPassage } from './query-passage.ts'

const passage = (content: string, question: string, charactersMax = 240) =>
  extractPassage(content, buildQueryTerms(question, [content]), charactersMax)

it('[CR7] quotes the sentences that hold the most words of the question', () => {
  const turn =
    "I'm trying to decide on a new coffee maker, can you recommend any good ones? I'm currently using a drip coffee maker, but I'm open to exploring other options. By the way, I'm thinking of changing my morning coffee limit to two cups, do you think that's a good idea?"
  expect(passage(turn, 'What is my limit on cups of coffee in the morning?')).toBe(
    "… I'm currently using a drip coffee maker, but I'm open to exploring other options. By the way, I'm thinking of changing my morning coffee limit to two cups, do you think that's a good idea?",
  )
})

it('[CR7] begins with the first sentence that is about the question and goes on as far as there is room', () => {
  const turn = `${'This is about something else. '.repeat(20)}The boat is called Gudrun. It leaks a little. ${'Nothing more to say here. '.repeat(20)}`
  const quoted = passage(turn, 'What is the boat called?', 120)
  expect(quoted).toBe(
    '… The boat is called Gudrun. It leaks a little. Nothing more to say here. Nothing more to say here. …',
  )
})

it('[CR7] cuts a sentence that is too long between words, around the question', () => {
  const turn = `${'and then we talked on '.repeat(100)}until the boat Gudrun arrived ${'and then we talked on '.repeat(100)}`
  const quoted = passage(turn, 'When did the boat Gudrun arrive?', 120)
  expect(quoted).toContain('boat Gudrun')
  expect(quoted.length).toBeLessThanOrEqual(120)
  expect(quoted).toMatch(/^… \w+ .* \w+ …$/)
})

it.each([1, 40, 240, 5_000])('[CR7] keeps within %i characters on any text', (charactersMax) => {
  for (const unit of ['x', 'a. ', 'word ', '漢字。', '👩‍👩‍👧 ', '\n', 'İ ', 'Ｗ！']) {
    const text = unit.repeat(3_000)
    const quoted = passage(text, `${unit} word`, charactersMax)
    expect(quoted.length).toBeLessThanOrEqual(Math.max(charactersMax, 12))
    expect(/\p{Surrogate}/u.test(quoted)).toBe(false)
  }
})
