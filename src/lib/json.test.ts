import fc from 'fast-check'
import { expect, it } from 'vitest'
import { canonicalJson, getField, isJsonEqual, parseJson, parseJsonObject } from './json.ts'

it('parses JSON, or says that it is none', () => {
  expect([parseJson('{"a":[1]}'), parseJson('null')]).toEqual([{ a: [1] }, null])
  expect(parseJson('{"a":')).toBeUndefined()
  expect([parseJsonObject('{"a":1}'), parseJsonObject('[1]'), parseJsonObject('')]).toEqual([
    { a: 1 },
    null,
    null,
  ])
})

it('reads own fields only', () => {
  expect(getField({ a: 1 }, 'a')).toBe(1)
  expect(getField({}, 'constructor')).toBeUndefined()
  expect(getField(null, 'a')).toBeUndefined()
  expect(getField(['a'], 'length')).toBeUndefined()
})

it('orders names, keeps lists, and leaves undefined fields out', () => {
  const value = { b: [{ d: 1, c: 2 }, null], a: 'x', e: undefined }
  expect(canonicalJson(value)).toBe('{"a":"x","b":[{"c":2,"d":1},null]}')
})

it('compares by content', () => {
  expect(isJsonEqual({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true)
  expect(isJsonEqual([1, 2], [2, 1])).toBe(false)
  expect(isJsonEqual(undefined, undefined)).toBe(true)
  expect(isJsonEqual(undefined, null)).toBe(false)
  fc.assert(
    fc.property(fc.jsonValue(), (value) => isJsonEqual(value, JSON.parse(JSON.stringify(value)))),
  )
})
