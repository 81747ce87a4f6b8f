import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import { type Distillate, parseDistillate } from './distillate.ts'
import { parseTurnFacts } from './turn-prompt.ts'

const SHOWN = [0, 1, 2, 3]
const FULL = {
  episode: {
    summary: 'Ada planned a trip to Rome. She booked a hotel.',
    topics: ['travel'],
    entities: ['Ada', 'Rome'],
    decisions: ['Go in June'],
    actionItems: ['Book the train'],
    salience: 0.7,
  },
  facts: [
    {
      content: 'The user travels to Rome in June 2024',
      type: 'episodic',
      category: 'event',
      importance: 6,
      salience: 0.6,
      entities: ['Rome'],
      validFrom: '2024-06-01',
      validUntil: '2024-06-14',
      turns: [0, 2],
    },
  ],
  identity: ["The user's name is Ada"],
}
const parse = (value: unknown) =>
  parseDistillate(typeof value === 'string' ? value : JSON.stringify(value), SHOWN)
const factOf = (fields: object) =>
  parse({ facts: [{ content: 'The user likes tea', ...fields }] }).facts[0]
const day = (year: number, month: number, date: number) =>
  Date.UTC(year, month - 1, date) as Instant

describe('finding the answer', () => {
  const json = JSON.stringify(FULL)

  it('[DI3] among fences, preambles, thoughts and words after it', () => {
    const whole = parse(FULL)
    expect(whole.episode?.summary).toBe(FULL.episode.summary)
    for (const text of [
      `\`\`\`json\n${json}\n\`\`\``,
      `Sure, here you go {as asked}:\n\n${json}\n\nLet me know!`,
      `<think>{"facts": ["I should say this"]}</think>\n${json}`,
      `{}\n${json}`,
      JSON.stringify(FULL, null, 2).replaceAll(/([\]}"\d])\n(\s*[\]}])/g, '$1,\n$2'),
    ]) {
      expect(parse(text)).toEqual(whole)
    }
  })

  it('[DI3] as a bare list of facts', () => {
    const list = [{ content: 'The user likes tea', turns: [0] }, 'The user lives in Rome']
    for (const text of [JSON.stringify(list), `\`\`\`json\n${JSON.stringify(list)}\n\`\`\``]) {
      expect(parse(text).facts.map(({ content }) => content)).toEqual([
        'The user likes tea',
        'The user lives in Rome',
      ])
    }
  })

  it.each([
    ['prose', 'I am sorry, I can not do that.', 'no_object'],
    ['nothing', '', 'no_object'],
    ['a list of numbers', '[1, 2]', 'no_item'],
    ['a cut object', json.slice(0, -20), 'cut'],
    ['one that is cut in its first fact', json.slice(0, json.indexOf('"validFrom"')), 'cut'],
    ['what looks like JSON', "{'episode': None}", 'no_json'],
    ['only wrong types', '{"episode": 5, "facts": 7, "identity": [[]]}', 'no_item'],
    ['an answer to something else', '{"verdict": "duplicate"}', 'no_item'],
    ['facts without a sentence', '{"facts": [{"content": 5}, {"content": ""}]}', 'no_item'],
  ])('[DI3] refuses %s', (_, text, fault) => {
    expect(faultOf(() => parse(text))).toEqual(['invalid_input', fault])
  })

  it('[DI3] refuses ten megabytes without reading them', () => {
    expect(faultOf(() => parse(`${json}${' '.repeat(10_000_000)}`))[0]).toBe('too_large')
    expect(faultOf(() => parse('{"a":'.repeat(2_000_000)))[0]).toBe('too_large')
    expect(faultOf(() => parse('{"a":'.repeat(39_000)))).toEqual(['invalid_input', 'cut'])
  })

  it('[DI3] takes an answer that says nothing for one', () => {
    for (const nothing of [
      {},
      { episode: null, facts: [], identity: [] },
      { episode: { summary: ' ' } },
    ]) {
      expect(parse(nothing)).toMatchObject({ isEmpty: true, episode: null, facts: [] })
    }
  })
})

describe('the parsed answer', () => {
  it('[DI4] contains all of a valid answer, and nothing else', () => {
    expect(parse({ ...FULL, more: 1, episode: { ...FULL.episode, mood: 'good' } })).toEqual({
      ...FULL,
      facts: [
        {
          ...FULL.facts[0],
          ...{ about: null, validFrom: day(2024, 6, 1), validUntil: day(2024, 6, 15) },
        },
      ],
      isEmpty: false,
      problems: [],
    })
  })

  it('[DI24.2] omits the time of a fact', () => {
    for (const aside of ['(as of May 2026)', '(as of this conversation).', '(Stand: Mai)']) {
      expect(factOf({ content: `The user lives in Rome ${aside}` })?.content).toMatch(
        /^The user lives in Rome\.?$/,
      )
    }
  })

  it('[DI4] knows other spellings of the same fields', () => {
    const found = parse({
      episode: { summary: 'Hello.', action_items: 'Call Bob' },
      entities: ['Bob'],
      pinned_candidates: [{ content: 'The user knows Bob', valid_from: '2020', source_turns: '1' }],
      identity_facts: 'The user is a baker',
    })
    expect(found.episode).toMatchObject({ actionItems: ['Call Bob'], entities: ['Bob'] })
    expect(found.facts).toMatchObject([{ validFrom: day(2020, 1, 1), turns: [1] }])
    expect(found.identity).toEqual(['The user is a baker'])
  })

  it('[DI4] drops turns that were not shown', () => {
    expect(factOf({ turns: [3, 99, -1, '2', 1.5, null, 'x', 3] })?.turns).toEqual([2, 3])
    expect(factOf({ turns: 'all' })?.turns).toEqual([])
  })

  it('[DI4] coerces what can be meant in one way only, and leaves out the rest', () => {
    expect(factOf({ importance: '8', salience: '0.4' })).toMatchObject({
      importance: 8,
      salience: 0.4,
    })
    expect(factOf({ importance: 0.7, salience: 7 })).toMatchObject({ importance: 7, salience: 0.7 })
    expect(factOf({ importance: 99, salience: 'high' })).toMatchObject({
      importance: null,
      salience: null,
    })
    expect(factOf({ category: 'Decision' })).toMatchObject({
      category: 'decision',
      type: 'episodic',
    })
    expect(factOf({ category: 'identity', type: 'x' })).toMatchObject({
      category: 'general',
      type: 'factual',
    })
    expect(factOf({ entities: ['Bob', 3, ' ', 'Bob'] })?.entities).toEqual(['Bob'])
  })

  it('[DI4] omits invalid items, and keeps the others', () => {
    const found = parse({
      facts: [null, 5, { content: 'x'.repeat(1_001) }, 'The user likes tea', 'the user likes TEA.'],
    })
    expect(found.facts.map(({ content }) => content)).toEqual(['The user likes tea'])
    expect(found.problems).toHaveLength(3)
  })

  it('[DI4] bounds how many and how long', () => {
    const found = parse({
      episode: {
        summary: 'One. Two, by Dr. Who. Three! Four. Five.',
        topics: Array(100).fill(0).map(String),
      },
      facts: Array.from({ length: 200 }, (_, index) => `The user likes number ${index}`),
      identity: Array.from({ length: 50 }, (_, index) => `The user is ${index}`),
    })
    expect(found.episode?.summary).toBe('One. Two, by Dr. Who. Three!')
    expect(found.facts).toHaveLength(50)
    expect(found.identity).toHaveLength(10)
  })

  it('[DI4] strips phrases addressed to the requester from a summary', () => {
    const summary = 'Sure! Here is a short summary of it: Ada went home.'
    expect(parse({ episode: { summary } }).episode?.summary).toBe('Ada went home.')
    expect(parse({ episode: { summary: 'a\u0000b\u202e\nc' } }).episode?.summary).toBe('ab c')
  })

  it.each([
    ['2024', day(2024, 1, 1), day(2025, 1, 1)],
    ['2024-02', day(2024, 2, 1), day(2024, 3, 1)],
    ['2024-02-29', day(2024, 2, 29), day(2024, 3, 1)],
    ['2024-05-31T12:00:00+02:00', Date.UTC(2024, 4, 31, 10), Date.UTC(2024, 4, 31, 10)],
    ['2024-02-30', null, null],
    ['2024-13-01', null, null],
    ['0024-01-01', null, null],
    ['next week', null, null],
    [1_700_000_000_000, null, null],
  ])('[DI5] reads %s as a time', (date, from, until) => {
    expect(factOf({ validFrom: date })?.validFrom).toBe(from)
    expect(factOf({ validUntil: date })?.validUntil).toBe(until)
  })

  it('[DI5] keeps no end before the beginning', () => {
    const fact = factOf({ validFrom: '2024-06-01', validUntil: '2023' })
    expect(fact).toMatchObject({ validFrom: null, validUntil: null })
  })
})

describe('any answer', () => {
  const anything = fc.jsonValue()
  const answer = fc.record(
    {
      episode: fc.oneof(
        anything,
        fc.record({ summary: anything, topics: anything, salience: anything }),
      ),
      facts: fc.oneof(
        anything,
        fc.array(
          fc.record(
            {
              content: fc.oneof(fc.string(), anything),
              turns: anything,
              importance: anything,
              validFrom: anything,
              salience: anything,
              entities: anything,
            },
            { requiredKeys: [] },
          ),
        ),
      ),
      identity: fc.oneof(anything, fc.array(fc.string())),
    },
    { requiredKeys: [] },
  )

  it('[DI4] nothing is invented, and everything lies within its limits', () => {
    fc.assert(
      fc.property(answer, (given) => {
        const found = attempt(() => parse(given))
        if (found === null) return
        const texts = new Set(textsIn(given).map(bare))
        for (const text of [...found.facts.map(({ content }) => content), ...found.identity]) {
          expect(texts).toContain(bare(text))
        }
        for (const fact of found.facts) {
          expect(fact.turns.every((turn) => SHOWN.includes(turn))).toBe(true)
          expect([null, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).toContain(fact.importance)
          expect(fact.salience ?? 0).toBeGreaterThanOrEqual(0)
          expect(fact.salience ?? 0).toBeLessThanOrEqual(1)
        }
        expect(found.isEmpty).toBe(
          found.episode === null && found.facts.length + found.identity.length === 0,
        )
      }),
    )
  })

  it('[DI3] any text is read or refused, and never breaks anything else', () => {
    const broken = fc
      .tuple(
        answer.map((value) => JSON.stringify(value)),
        fc.nat(),
        fc.string(),
      )
      .map(([json, at, noise]) => json.slice(0, at % (json.length + 1)) + noise)
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          broken,
          anything.map((value) => JSON.stringify(value) ?? ''),
        ),
        (text) => {
          attempt(() => parse(text))
          attempt(() => parseTurnFacts(text, SHOWN))
        },
      ),
    )
  })
})

function attempt<Result>(work: () => Result): Result | null {
  try {
    return work()
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    return null
  }
}

function faultOf(work: () => Distillate): readonly unknown[] {
  try {
    work()
    return []
  } catch (error) {
    return error instanceof AppError ? [error.code, error.facts.fault] : [error]
  }
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Without blanks and what can't be seen. */
function bare(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu, '')
}
