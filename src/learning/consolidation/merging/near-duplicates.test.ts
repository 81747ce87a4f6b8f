import { expect, it } from 'vitest'
import { computeSubsetSimilarity, NearDuplicateIndex } from './near-duplicates.ts'
import { encodeWords, WORDS_MAX, WordSetIndex } from './word-sets.ts'

function setsOf(texts: readonly string[]): WordSetIndex {
  const sets = new WordSetIndex()
  for (const text of texts) sets.add(encodeWords(text))
  return sets
}

function pairsOf(texts: readonly string[], isApart = (_: number, __: number) => false) {
  const near = new NearDuplicateIndex(setsOf(texts), isApart)
  return texts.flatMap((_, index) => near.take(index).map((other) => `${other}-${index}`))
}

/** The same in every run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) / 2 ** 24
  }
}

const BASE = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen'

it('[CN4] finds what has nearly the same words, and one all of the words of the other', () => {
  expect(pairsOf([BASE, `${BASE} fifteen`, 'something else', BASE])).toEqual(['0-1', '0-3', '1-3'])
  expect(pairsOf([`${BASE} red`, `${BASE} blue`])).toEqual([])
  expect(pairsOf(['I like tea', 'I like tea very much'])).toEqual([])
})

it('[CN4] keeps distinct memories, and ignores removed ones', () => {
  expect(pairsOf([BASE, BASE], () => true)).toEqual([])
  const near = new NearDuplicateIndex(setsOf([BASE, BASE, BASE]), () => false)
  near.take(0)
  expect(near.take(1)).toEqual([0])
  near.drop(0)
  expect(near.take(2)).toEqual([1])
})

it('[CN4] finds all that comparing all with all would find', () => {
  const next = random(7)
  const word = () => `w${Math.floor(next() ** 3 * 400)}`
  const texts: string[] = []
  for (let n = 0; n < 600; n++) {
    const known = texts[Math.floor(next() * texts.length)]
    const isNew = known === undefined || next() < 0.6
    const words = isNew
      ? Array.from({ length: 5 + Math.floor(next() * 60) }, word)
      : known.split(' ')
    if (!isNew && next() < 0.5) words.splice(Math.floor(next() * words.length), 1)
    if (!isNew && next() < 0.5) words.push(word())
    texts.push(words.join(' '))
  }
  const sets = setsOf(texts)
  const expected: string[] = []
  for (let a = 0; a < texts.length; a++) {
    for (let b = 0; b < a; b++) {
      if (computeSubsetSimilarity(sets.at(a), sets.at(b)) > 0) expected.push(`${b}-${a}`)
    }
  }
  expect(expected.length).toBeGreaterThan(100)
  expect(pairsOf(texts).sort()).toEqual(expected.sort())
})

it('[CN4] counts nine tenths exactly', () => {
  const words = Array.from({ length: 70 }, (_, n) => `w${n}`)
  expect(pairsOf([words.join(' '), words.slice(7).join(' ')])).toEqual(['0-1'])
  expect(pairsOf([words.join(' '), words.slice(8).join(' ')])).toEqual([])
})

it('[CN4] many statements of the same few words end in time', () => {
  const texts = Array.from(
    { length: 30_000 },
    (_, n) => `the sensor in room ${n % 40} says ${n % 50} at ${n % 60} of ${n % 7}`,
  )
  const near = new NearDuplicateIndex(setsOf(texts), () => false)
  let found = 0
  for (let index = 0; index < texts.length; index++) found += near.take(index).length
  expect(found).toBeGreaterThan(0)
})

it('[CN4] a text of very many words is not compared', () => {
  const words = Array.from({ length: WORDS_MAX + 1 }, (_, n) => `w${n}`).join(' ')
  expect(pairsOf([words, words])).toEqual([])
})
