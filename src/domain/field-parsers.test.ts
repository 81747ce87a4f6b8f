import { expect, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import * as fields from './field-parsers.ts'

function messageOf(parse: () => unknown): string {
  try {
    parse()
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_input') return error.message
  }
  throw new Error('It was accepted.')
}

it('names the field, what it must be and what it is', () => {
  const cases: readonly (readonly [() => unknown, string])[] = [
    [
      () => fields.parseInteger('limit', 0, 1, 100),
      '`limit` must be an integer from 1 to 100; got 0.',
    ],
    [
      () => fields.parseInteger('limit', '5', 1, 9),
      '`limit` must be an integer from 1 to 9; got "5".',
    ],
    [
      () => fields.parseIntegerOption('threads', 1.5, 1, 64),
      '`threads` must be an integer from 1 to 64; got 1.5.',
    ],
    [
      () => fields.parseNumber('salience', Number.NaN, 0, 1),
      '`salience` must be a number from 0 to 1; got NaN.',
    ],
    [
      () => fields.parseInstant('at', 0.5),
      '`at` must be a time in whole milliseconds since 1970; got 0.5.',
    ],
    [() => fields.parseText('name', undefined), '`name` must be text; got nothing.'],
    [() => fields.parseText('name', 'abc', 2), '`name` must have at most 2 characters; got 3.'],
    [() => fields.parseBoundedText('key', '', 9), '`key` must be non-empty text; got "".'],
    [() => fields.parseTextList('ids', 'a', 2, 9), '`ids` must be a list of texts; got "a".'],
    [
      () => fields.parseTextList('ids', ['a', 'b', 'c'], 2, 9),
      '`ids` must be a list of at most 2 texts; got 3.',
    ],
    [() => fields.parseBoolean('pinned', null), '`pinned` must be true or false; got null.'],
    [() => fields.parseObject('body', []), '`body` must be a JSON object; got a list.'],
    [
      () => fields.parseChoice('role', {}, ['a', 'b']),
      '`role` must be one of a, b; got an object.',
    ],
  ]
  for (const [parse, message] of cases) expect(messageOf(parse)).toBe(message)
})

it('repeats no more than the beginning of a text', () => {
  expect(messageOf(() => fields.parseBoolean('pinned', 'x'.repeat(1_000))).length).toBeLessThan(100)
})

it('returns what is valid', () => {
  expect(fields.parseInteger('limit', 100, 1, 100)).toBe(100)
  expect(fields.parseText('name', '')).toBe('')
  expect(fields.parseTextList('ids', ['a'], 2, 9)).toEqual(['a'])
  expect(fields.parseChoice('role', 'b', ['a', 'b'])).toBe('b')
  expect(fields.parseNullable(undefined, () => 1)).toBeNull()
  expect(fields.parseNullable(0, String)).toBe('0')
})

it('names an option as an option', () => {
  try {
    fields.parseIntegerOption('threads', 0, 1, 64)
  } catch (error) {
    expect(error).toMatchObject({ facts: { option: 'threads' } })
  }
  expect.assertions(1)
})
