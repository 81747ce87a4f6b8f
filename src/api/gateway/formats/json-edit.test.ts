import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  appendToString,
  insertElement,
  type JsonPath,
  prependToString,
  replaceModel,
  replaceValue,
  setMember,
  sliceValue,
  wrapValue,
} from './json-edit.ts'

/** The value as a parser finds it; undefined where the path leads nowhere. */
function parsedAt(text: string, path: JsonPath): unknown {
  let value: unknown = JSON.parse(text)
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    if ((typeof step === 'number') !== Array.isArray(value)) return undefined
    value = (value as Record<string | number, unknown>)[step] // just checked to have it
  }
  return value
}

describe('finding', () => {
  it('[FM1] finds values of all types in any context', () => {
    const text =
      ' {\n"a" : [ 1.0 ,\t-2e+5, "x\\"]}\\\\" , {"b":null } ] ,"c":true,"":{"d":[]}\r\n} '
    expect(sliceValue(text, ['a', 0])).toBe('1.0')
    expect(sliceValue(text, ['a', 1])).toBe('-2e+5')
    expect(sliceValue(text, ['a', 2])).toBe('"x\\"]}\\\\"')
    expect(sliceValue(text, ['a', 3, 'b'])).toBe('null')
    expect(sliceValue(text, ['c'])).toBe('true')
    expect(sliceValue(text, ['', 'd'])).toBe('[]')
    expect(sliceValue(text, [])).toBe(text.trim())
  })

  it('[FM1] finds nothing where a path leads nowhere', () => {
    const text = '{"a":[1,{"b":"c"}],"e":[],"o":{}}'
    for (const path of [['x'], ['a', 2], ['a', 'b'], ['a', 1, 'b', 0], ['e', 0], ['o', 'a'], [0]]) {
      expect(sliceValue(text, path)).toBeNull()
    }
  })

  it('[FM1] takes the last of keys that come twice, and reads keys with escapes', () => {
    const text = '{"model":"a","m\\u006fdel":"b","x":{"model":"c"},"mode\\u006c":"d"}'
    expect(JSON.parse(text).model).toBe('d')
    expect(sliceValue(text, ['model'])).toBe('"d"')
    expect(sliceValue('{"a":{"b":1},"a":{"c":2}}', ['a', 'b'])).toBeNull()
    expect(sliceValue('{"__proto__":[7]}', ['__proto__', 0])).toBe('7')
  })

  it('[FM1] finds what a parser finds, in any JSON and any layout', () => {
    const json = fc.jsonValue({ maxDepth: 4 })
    const step = fc.oneof(fc.nat(4), fc.string({ maxLength: 2 }))
    fc.assert(
      fc.property(json, fc.constantFrom(0, 1, '\t'), fc.array(step), (value, indent, path) => {
        const text = JSON.stringify(value, null, indent)
        const found = sliceValue(text, path)
        const wanted = parsedAt(text, path)
        if (wanted === undefined) expect(found).toBeNull()
        else expect(JSON.parse(found ?? '')).toEqual(wanted)
      }),
      { numRuns: 300 },
    )
  })

  it('[FM1] copes with nesting deeper than the stack, and with strings of megabytes', () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000)
    const image = 'A'.repeat(4_000_000)
    const quotes = '\\"'.repeat(500_000)
    const text = `{"deep":${deep},"image":"${image}","quotes":"${quotes}","model":"m"}`
    expect(sliceValue(text, ['model'])).toBe('"m"')
    expect(replaceModel(text, 'other')).toBe(`${text.slice(0, -'"m"}'.length)}"other"}`)
  })
})

describe('changing', () => {
  it('[FM1] adds to strings, with what must be escaped', () => {
    const text = '{ "a": ["\\u0041\\n"] }'
    expect(appendToString(text, ['a', 0], '"\n\u2028é')).toBe(
      '{ "a": ["\\u0041\\n\\"\\n\u2028é"] }',
    )
    expect(prependToString(text, ['a', 0], 'x\\')).toBe('{ "a": ["x\\\\\\u0041\\n"] }')
    expect(appendToString('{"a":""}', ['a'], 'x')).toBe('{"a":"x"}')
    expect(appendToString(text, ['a'], 'x')).toBeNull()
  })

  it('[FM1] adds elements to lists, also to empty ones', () => {
    const insert = (text: string, index: number) => insertElement(text, [], index, '0')
    expect(insert('[]', 0)).toBe('[0]')
    expect(insert('[ \n ]', 3)).toBe('[0 \n ]')
    expect(insert('[ 1 , [2]\n]', 0)).toBe('[ 0,1 , [2]\n]')
    expect(insert('[ 1 , [2]\n]', 1)).toBe('[ 1 , 0,[2]\n]')
    expect(insert('[ 1 , [2]\n]', 2)).toBe('[ 1 , [2],0\n]')
    expect(insert('["]"]', 1)).toBe('["]",0]')
    expect(insert('{}', 0)).toBeNull()
  })

  it('[FM1] sets keys of objects, also of empty ones', () => {
    const set = (text: string) => setMember(text, [], 'k"', '1')
    expect(set('{}')).toBe('{"k\\"":1}')
    expect(set(' { } ')).toBe(' {"k\\"":1 } ')
    expect(set('{"a":2\n}')).toBe('{"a":2,"k\\"":1\n}')
    expect(set('{"k\\"": [3] ,"k\\u0022":"old" }')).toBe('{"k\\"": [3] ,"k\\u0022":1 }')
    expect(set('[]')).toBeNull()
  })

  it('[FM1] replaces and surrounds values', () => {
    expect(replaceValue('{"a": [ 1 ]}', ['a', 0], 'null')).toBe('{"a": [ null ]}')
    expect(replaceValue('{}', ['a'], '1')).toBeNull()
    expect(wrapValue('{"a": "x" }', ['a'], '[', ']')).toBe('{"a": ["x"] }')
  })

  it('[FM1] gives a request another model, and none to one that names none', () => {
    expect(replaceModel('{"x":1.0, "model" : "a/b"}', 'b"')).toBe('{"x":1.0, "model" : "b\\""}')
    expect(replaceModel('{"prompt":{}}', 'b')).toBe('{"prompt":{}}')
  })
})
