import { describe, expect, it } from 'vitest'
import { compareFrames, sharesTopic } from './frames.ts'
import { compareStatements } from './statements.ts'

describe('[WR3] the same fact in other words', () => {
  it.each([
    ['My boss is called Petra', "petra's my boss"],
    ['I hate mushrooms', "can't stand mushrooms"],
    ['My rent is 850 a month', 'i pay 850 in rent every month'],
    ['We have three cats', 'there are three cats in our house'],
    ['I play tennis every Saturday', 'every saturday i play tennis'],
    ['Ich wohne in Köln', 'ich lebe in Köln'],
  ])('is one: %s | %s', (one, other) => {
    expect(compareStatements(other, one).kind).toBe('same')
    expect(compareStatements(one, other).kind).toBe('same')
  })

  it.each([
    ['i live in Leeds', 'my parents live in Leeds'],
    ['Alice manages Bob', 'Bob manages Alice'],
    ['Tom owes me 10 pounds', 'I owe Tom 10 pounds'],
    ['I prefer tea to coffee', 'I prefer coffee to tea'],
    ['i like tea', 'i like coffee'],
    ['my daughter plays the piano', 'my son plays the piano'],
    ['i want to learn Italian', "i'm learning Italian"],
    ['i worked at Tesco', 'i work at Tesco'],
    ['I live in Berlin', 'I live in Berlin during the week'],
    ['I study at a university', 'I study at a universe'],
    ['My boss is called Miriam', 'My boss Miriam is on leave'],
  ])('is not: %s | %s', (one, other) => {
    expect(compareStatements(other, one).kind).not.toBe('same')
  })

  it('has the same numbers; another one of the same kind contradicts', () => {
    expect(compareFrames('my insulin dose is 20 units', 'insulin: the dose is 20 units')).toBe(
      'same',
    )
    expect(compareFrames('the course takes six weeks', 'six weeks the course takes')).toBe('same')
    expect(compareFrames('the tax return is due in May', 'due in June, the tax return')).toBe(
      'date',
    )
  })
})

it('[AJ1] statements share a topic by words that state something', () => {
  expect(
    sharesTopic('the bakery invoices are in a box', 'bakery invoices get scanned', false),
  ).toBe(true)
  expect(sharesTopic('my car is blue', 'I sold the car', true)).toBe(true)
  expect(sharesTopic('my car is blue', 'I like blue cheese', false)).toBe(false)
  expect(sharesTopic('I live in Leeds', 'I like tea', true)).toBe(false)
})

it.each([
  ["I'm back at Bosch again", 'I work at Zeiss now'],
  ['Ich bin zurück nach Köln gezogen', 'Ich bin nach Bonn gezogen'],
  ['我搬回南京了', '我搬到了苏州'],
])('[WR4] a return replaces what held meanwhile: %s', (newer, older) => {
  expect(compareStatements(newer, older).kind).toBe('contradicts')
})

it('takes the number of a thing for its name', () => {
  expect(compareFrames('Shelf 28 holds box 28', 'Shelf 29 holds box 29')).toBe(null)
  expect(compareFrames('Room 12 has a window', 'Room 14 has a window')).toBe(null)
})
