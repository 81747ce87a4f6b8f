import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Instant } from '../../lib/time.ts'
import { computeTimeProximity, parseTimeSpan } from './time-expressions.ts'

const DAY = 86_400_000
const at = (iso: string) => Date.parse(iso) as Instant

/** A Wednesday. */
const NOW = at('2024-05-15T10:30:00Z')

/** The span as two days, the second one not included. */
function days(question: string, now: Instant = NOW): string | null {
  const span = parseTimeSpan(question, now)
  if (span === null) return null
  const day = (ms: number) =>
    Math.abs(ms) === Number.POSITIVE_INFINITY ? '…' : new Date(ms).toISOString().slice(0, 10)
  return `${day(span.from)} ${day(span.until)}`
}

describe('time expressions in questions', () => {
  it.each([
    ['what did I eat today?', '2024-05-15 2024-05-16'],
    ['what did I do this morning', '2024-05-15 2024-05-16'],
    ['where was I yesterday', '2024-05-14 2024-05-15'],
    ['who called last night?', '2024-05-14 2024-05-15'],
    ['who called the day before yesterday?', '2024-05-13 2024-05-14'],
    ['3 days ago', '2024-05-12 2024-05-13'],
    ['a day ago', '2024-05-14 2024-05-15'],
    ['two weeks ago', '2024-04-27 2024-05-05'],
    ['a couple of weeks ago', '2024-04-27 2024-05-05'],
    ['a few days ago', '2024-05-12 2024-05-13'],
    ['a month ago', '2024-03-31 2024-05-01'],
    ['twelve months ago', '2023-05-06 2023-06-06'],
    ['a year ago', '2022-11-14 2023-11-15'],
    ['this week', '2024-05-13 2024-05-20'],
    ['last week', '2024-05-06 2024-05-13'],
    ['last weekend', '2024-05-11 2024-05-13'],
    ['last month', '2024-04-01 2024-05-01'],
    ['last year', '2023-01-01 2024-01-01'],
    ['this year', '2024-01-01 2025-01-01'],
    ['in the last two weeks', '2024-05-01 2024-05-15'],
    ['the past 3 days', '2024-05-12 2024-05-15'],
    ['in the past few weeks', '2024-04-24 2024-05-15'],
    ['the last couple of days', '2024-05-13 2024-05-15'],
    ['last Friday', '2024-05-10 2024-05-11'],
    ['on Monday', '2024-05-13 2024-05-14'],
    ['last Wednesday', '2024-05-08 2024-05-09'],
    ['on 8 May 2023', '2023-05-08 2023-05-09'],
    ['on the 8th of May, 2023', '2023-05-08 2023-05-09'],
    ['on May 8, 2023', '2023-05-08 2023-05-09'],
    ['May 8th', '2024-05-08 2024-05-09'],
    ['May 15', '2024-05-15 2024-05-16'],
    ['16 May', '2023-05-16 2023-05-17'],
    ['Dec. 24', '2023-12-24 2023-12-25'],
    ['2023-05-08', '2023-05-08 2023-05-09'],
    ['the log of 2023-05-08T10:00:00Z', '2023-05-08 2023-05-09'],
    ['in May', '2024-05-01 2024-06-01'],
    ['in June', '2023-06-01 2023-07-01'],
    ['in early sept', '2023-09-01 2023-10-01'],
    ['mid-March', '2024-03-01 2024-04-01'],
    ['May 2023', '2023-05-01 2023-06-01'],
    ['in February of 2023', '2023-02-01 2023-03-01'],
    ['in 2023', '2023-01-01 2024-01-01'],
    ['before 8 May 2023', '… 2023-05-08'],
    ['before the 8 May 2023', '… 2023-05-08'],
    ['before June', '… 2023-06-01'],
    ['until 2020', '… 2020-01-01'],
    ['after 2020', '2021-01-01 …'],
    ['after last week', '2024-05-13 …'],
    ['since 2020', '2020-01-01 …'],
    ['since May', '2024-05-01 …'],
    ['since last month', '2024-04-01 …'],
    ['before yesterday', '… 2024-05-14'],
  ])('[RA7] %s', (question, expected) => {
    expect(days(question)).toBe(expected)
    expect(days(question.toUpperCase())).toBe(expected)
  })

  it.each([
    ['May I ask what my sister is called?'],
    ['She may come. What may I cook?'],
    ['will march with the band'],
    ['what happened on 31 February?'],
    ['2023-02-31'],
    ['2023-13-05'],
    ['2023-00-10'],
    ['room 2023'],
    ['version 3.14.2024-beta'],
    ['12345-05-08'],
    ['maybe someday'],
    ['the days of the week'],
    [''],
  ])('[RA7] finds no time expression in "%s"', (question) => {
    expect(days(question)).toBeNull()
  })

  it('[RA7] a date without a year is the latest one in the past', () => {
    expect(days('29 February', at('2024-02-29T00:00:00Z'))).toBe('2024-02-29 2024-03-01')
    expect(days('February 29th', at('2024-02-28T23:59:59Z'))).toBe('2020-02-29 2020-03-01')
    expect(days('on 29 Feb', at('2027-06-01T00:00:00Z'))).toBe('2024-02-29 2024-03-01')
    expect(days('29 February', at('1903-06-01T00:00:00Z'))).toBe('1896-02-29 1896-03-01')
  })

  it('[RA7] spans run from midnight to midnight, also across months and years', () => {
    expect(days('yesterday', at('2024-03-01T00:00:00.000Z'))).toBe('2024-02-29 2024-03-01')
    expect(days('yesterday', at('2024-02-29T23:59:59.999Z'))).toBe('2024-02-28 2024-02-29')
    expect(days('last month', at('2024-01-31T12:00:00Z'))).toBe('2023-12-01 2024-01-01')
    expect(days('last month', at('2024-03-31T12:00:00Z'))).toBe('2024-02-01 2024-03-01')
    expect(days('last year', at('2024-02-29T12:00:00Z'))).toBe('2023-01-01 2024-01-01')
    expect(days('last week', at('2024-01-01T00:00:00Z'))).toBe('2023-12-25 2024-01-01')
    expect(days('this week', at('2024-05-19T23:59:59Z'))).toBe('2024-05-13 2024-05-20')
  })

  it.each(['What should I cook tonight?', 'Where can I go today?', 'Plan my day for today'])(
    '[RA7] what is yet to come is no time to look in: %s',
    (question) => {
      expect(parseTimeSpan(question, NOW)).toBeNull()
    },
  )

  it('[RA7] returns the words of the expression', () => {
    expect(parseTimeSpan('What did Ann do LAST WEEK in Oslo?', NOW)?.words).toBe('last week')
    expect(parseTimeSpan('Who came before June?', NOW)?.words).toBe('before june')
    expect(parseTimeSpan('Since 2020, who came?', NOW)?.words).toBe('since 2020')
  })

  it.each([
    ['what was said today', true],
    ['yesterday', true],
    ['the day before yesterday', true],
    ['three weeks ago', true],
    ['in the last two weeks', true],
    ['since last month', true],
    ['2023-05-08', false],
    ['in May', false],
    ['in 2023', false],
    ['on Monday', false],
  ])('[RA7] "%s" is relative: %s', (question, expected) => {
    expect(parseTimeSpan(question, NOW)?.isRelative).toBe(expected)
  })

  it('[RA7] returns an ordered span or null for any text and time', () => {
    const words = fc.constantFrom(
      ...['last', 'in', 'may', '31', 'february', '2023', 'ago', 'week', 'years', 'before', '999'],
      ...['weekend', 'friday', 'on', 'a', 'zero', 'day', 'since', 'the', 'this', 'past', 'month'],
    )
    const question = fc.oneof(
      fc.array(words, { maxLength: 8 }).map((some) => some.join(' ')),
      fc.string({ unit: 'binary' }),
    )
    const now = fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 })
    fc.assert(
      fc.property(question, now, now, (text, moment, other) => {
        const span = parseTimeSpan(text, moment as Instant)
        if (span === null) return
        expect(span.from).toBeLessThanOrEqual(span.until)
        const near = computeTimeProximity(other as Instant, span)
        expect(near >= 0 && near <= 1).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('time proximity', () => {
  const span = {
    from: at('2024-05-06'),
    until: at('2024-05-13'),
    words: 'last week',
    isRelative: true,
  }
  it.each([
    ['2024-05-06T00:00:00.000Z', 1],
    ['2024-05-12T23:59:59.999Z', 1],
    ['2024-05-13T00:00:00.000Z', 1],
    ['2024-05-14T18:00:00.000Z', 0.5],
    ['2024-05-04T06:00:00.000Z', 0.5],
    ['2024-05-20T00:00:00.000Z', 0],
    ['1999-01-01T00:00:00.000Z', 0],
  ])('[RA7] of %s to a week is %d', (moment, expected) => {
    expect(computeTimeProximity(at(moment), span)).toBeCloseTo(expected, 9)
  })

  it('[RA7] tolerates two days, and handles open-ended spans', () => {
    const day = { from: NOW, until: (NOW + DAY) as Instant, words: '', isRelative: false }
    expect(computeTimeProximity((NOW - DAY) as Instant, day)).toBe(0.5)
    expect(computeTimeProximity((NOW - 2 * DAY) as Instant, day)).toBe(0)
    const before = parseTimeSpan('before 2020', NOW)
    if (before === null) throw new Error('That is a time.')
    expect(computeTimeProximity(at('1970-01-01'), before)).toBe(1)
    expect(computeTimeProximity(at('2020-01-16'), before)).toBeCloseTo(0.5, 9)
  })
})

it.each([
  ['What did I do in the summer of 2024?', '2024-06-01', '2024-08-31'],
  ['What did I do last summer?', '2023-06-01', '2023-08-31'],
  ['What did I do between 10 and 20 March?', '2024-03-10', '2024-03-20'],
  ['Where was I from January to March?', '2024-01-01', '2024-03-31'],
  ['What did I do two weeks before Easter?', '2024-03-14', '2024-03-20'],
  ['What did we do at Christmas?', '2023-12-22', '2023-12-28'],
  ['昨天我吃了什么？', '2024-05-14', '2024-05-14'],
  ['2024年我住在哪里？', '2024-01-01', '2024-12-31'],
  ['2024年1月に何をしましたか？', '2024-01-01', '2024-01-31'],
  ['Was habe ich letzten Monat gemacht?', '2024-04-01', '2024-04-30'],
  ['¿Qué hice en enero de 2024?', '2024-01-01', '2024-01-31'],
  ['O que fiz no mês passado?', '2024-04-01', '2024-04-30'],
  ["Qu'est-ce que j'ai fait le mois dernier ?", '2024-04-01', '2024-04-30'],
])('[RA7] finds a time by name or in other languages: %s', (question, first, last) => {
  const span = parseTimeSpan(question, NOW)
  const day = (at = 0) => new Date(at).toISOString().slice(0, 10)
  expect([day(span?.from), day((span?.until ?? 0) - 1)]).toEqual([first, last])
})
