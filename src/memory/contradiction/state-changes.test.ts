import { describe, expect, it } from 'vitest'
import { concernSameState, endsState } from './state-changes.ts'

describe('endsState', () => {
  it.each([
    ['I drive a Polo.', 'I sold the Polo'],
    ['I work at Nestlé.', 'quit Nestlé, starting at Danone on Monday'],
    ['My dog is called Rex.', 'Rex died last week'],
    ['Tom and I are together.', 'Tom and I split up'],
    ['My dentist appointment is on Friday.', 'my dentist appointment was cancelled'],
    ['The project is called Falcon.', 'We renamed the project to Osprey'],
    ['Ich fahre einen Golf.', 'Ich hab den Golf verkauft'],
    ['我开大众。', '我把大众卖了'],
    ['プリウスに乗っています。', 'プリウスを売りました'],
  ])('[TR9.1] an event ends what it names: %s %s', (older, newer) => {
    expect(endsState(newer, older)).toBe(true)
  })

  it.each([
    ['The landlord is Mr. Novak.', 'The landlord is now Mrs. Blum'],
    ['My tutor is Mr Hale', 'Ms Ong is my tutor now'],
    ['My rent is 900 euros.', 'The rent is 980 euros now if you wonder'],
    ['I report to Claire.', 'I report to Dmitri now'],
    ['I earn 52k a year.', 'I got a raise, I now earn 57k a year'],
    ['My son is 4 years old.', 'my son is 5 now'],
    ['房租是三千块。', '房租现在是三千五百块'],
  ])('[TR9.2] a new value replaces the old one: %s %s', (older, newer) => {
    expect(endsState(newer, older)).toBe(true)
  })

  it.each([
    ["I'm single.", 'I got married!'],
    ["I'm pregnant.", 'Our daughter was born on Sunday'],
    ['The app is half finished.', 'We shipped the app!'],
    ["I'm a junior designer.", 'I got promoted to senior designer'],
    ["I'm vegetarian.", 'I eat meat again'],
    ["I'm based in Berlin at the moment.", 'Arrived in Hanoi, staying here for good'],
    ["Dad's in hospital", "dad's home again since yesterday"],
    ['Vivo en Sevilla.', 'me mudé a Valencia la semana pasada'],
    ["J'habite à Lyon.", "j'ai déménagé à Nantes en mai"],
  ])('[TR9.3] a state ends by consequence: %s %s', (older, newer) => {
    expect(endsState(newer, older)).toBe(true)
  })

  it.each([
    ['I live in Berlin.', "I'm thinking about moving to Hamburg"],
    ['I live in Berlin.', "I'm in Rome this week"],
    ['I live in Berlin.', 'My brother moved to York'],
    ['I live in Berlin.', 'I moved my savings to ING'],
    ['I live in Germany.', 'I moved to Berlin'],
    ['I drive a Polo.', 'I also drive a Vespa'],
    ['I drive a Polo.', 'My wife sold her Skoda'],
    ['I drink coffee.', 'I stopped drinking coffee after 4 pm'],
    ['My deadline is 12 May', 'My other deadline is 19 May'],
    ['Lena works at Ikea', "Lena's sister quit Ikea"],
    ['My wife is Clara', 'Clara changed jobs'],
    ['The flight to Rome is at 9:30', 'The flight from Rome is at 18:00'],
    ['My boss is called Miriam.', 'My boss is Scottish'],
    ['名古屋に住んでいます。', '一人で住んでいます'],
  ])('[TR9.4] ends nothing: %s %s', (older, newer) => {
    expect(endsState(newer, older)).toBe(false)
  })

  it.each([
    'Update: moved to Porto!! 🎉',
    'btw we moved to porto last week, in case you wonder',
    'finally moved to Porto lol',
    'since march I live in porto',
  ])('[TR9.5] the form of a statement makes no difference: %s', (newer) => {
    expect(endsState(newer, 'im living in leeds')).toBe(true)
    expect(endsState(newer, 'I live in Leeds.')).toBe(true)
  })
})

it('[RA9.5] statements of the same state concern the same, those of others do not', () => {
  expect(concernSameState('We are 9 people on the team', 'The team has 6 people')).toBe(true)
  expect(concernSameState('I live in Porto', 'I live in Leeds')).toBe(true)
  expect(concernSameState('My sister lives in Porto', 'I live in Leeds')).toBe(false)
})
