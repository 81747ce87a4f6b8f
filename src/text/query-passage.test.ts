import { expect, it } from 'vitest'
import { buildQueryTerms, extractPassage } from './query-passage.ts'

const passage = (content: string, question: string, charactersMax = 240) =>
  extractPassage(content, buildQueryTerms(question, [content]), charactersMax)

it('[CR7] selects the sentences with the most terms of the query', () => {
  const turn =
    "I'm trying to decide on a new coffee maker, can you recommend any good ones? I'm currently using a drip coffee maker, but I'm open to exploring other options. By the way, I'm thinking of changing my morning coffee limit to two cups, do you think that's a good idea?"
  expect(passage(turn, 'What is my limit on cups of coffee in the morning?')).toBe(
    "… I'm currently using a drip coffee maker, but I'm open to exploring other options. By the way, I'm thinking of changing my morning coffee limit to two cups, do you think that's a good idea?",
  )
})

it('[CR7] begins with the first matching sentence and fills the room after it', () => {
  const turn = `${'This is about something else. '.repeat(20)}The boat is called Gudrun. It leaks a little. ${'Nothing more to say here. '.repeat(20)}`
  const result = passage(turn, 'What is the boat called?', 120)
  expect(result).toBe(
    '… The boat is called Gudrun. It leaks a little. Nothing more to say here. Nothing more to say here. …',
  )
})

it('[CR7] cuts an overlong sentence between words, around the match', () => {
  const turn = `${'and then we talked on '.repeat(100)}until the boat Gudrun arrived ${'and then we talked on '.repeat(100)}`
  const result = passage(turn, 'When did the boat Gudrun arrive?', 120)
  expect(result).toContain('boat Gudrun')
  expect(result.length).toBeLessThanOrEqual(120)
  expect(result).toMatch(/^… \w+ .* \w+ …$/)
})

it.each([1, 40, 240, 5_000])('[CR7] stays within %i characters on any text', (charactersMax) => {
  for (const unit of ['x', 'a. ', 'word ', '漢字。', '👩‍👩‍👧 ', '\n', 'İ ', 'Ｗ！']) {
    const text = unit.repeat(3_000)
    const result = passage(text, `${unit} word`, charactersMax)
    expect(result.length).toBeLessThanOrEqual(Math.max(charactersMax, 12))
    expect(/\p{Surrogate}/u.test(result)).toBe(false)
  }
})

const FILLER = 'so it went on and on. '.repeat(30)

it('[LD4] shows where a text matches the query, and where it was cut', () => {
  expect(passage('Short  and\nwhole.', 'whole', 300)).toBe('Short and whole.')
  const middle = passage(`${FILLER}We met Clara in Rome. ${FILLER}`, 'who is Clara?', 100)
  expect(middle).toContain('We met Clara in Rome.')
  expect(middle).toMatch(/^….*…$/u)
  expect(middle.length).toBeLessThanOrEqual(100)
  expect(passage(`Clara. ${FILLER}`, 'Clara', 100)).toMatch(/^Clara\. .*…$/u)
  expect(passage(`${FILLER}Clara`, 'Clara', 100)).toMatch(/^….*Clara$/u)
  expect(passage(`First. ${FILLER}`, 'volcano', 100)).toMatch(/^First\./u)
})

it('[LD4] splits no character', () => {
  const emoji = passage(`${'😀'.repeat(200)} İzmir ${'😀'.repeat(200)}`, 'izmir', 50)
  expect(emoji.length).toBeLessThanOrEqual(50)
  expect(emoji).not.toMatch(/\p{Surrogate}/u)
  const ideographs = passage('あ'.repeat(400), '東京', 300)
  expect(ideographs.length).toBeGreaterThan(250)
  expect(ideographs.length).toBeLessThanOrEqual(300)
})
