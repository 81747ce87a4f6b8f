import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LruCache } from './lru-cache.ts'

const keysOf = (cache: LruCache<string, string>) => [...cache.values()].join('')
const fill = (cache: LruCache<string, string>, text: string) => {
  for (const letter of text) cache.set(letter, letter)
}

it('drops the entries that were not used for longest', () => {
  const cache = new LruCache<string, string>({ entriesMax: 3 })
  fill(cache, 'abc')
  cache.get('a')
  cache.peek('b')
  cache.set('d', 'd')
  expect(keysOf(cache)).toBe('cad')
  cache.set('c', 'c')
  cache.set('e', 'e')
  expect(keysOf(cache)).toBe('dce')
})

it('evicts by weight, and does not store a single value that exceeds the limit', () => {
  const cache = new LruCache<string, string>({ weightMax: 4, weigh: (text) => text.length })
  cache.set('a', 'aa')
  cache.set('b', 'bb')
  cache.set('c', 'ccc')
  expect([keysOf(cache), cache.weight]).toEqual(['ccc', 3])
  cache.set('c', 'ccccc')
  expect([cache.size, cache.weight]).toEqual([0, 0])
})

it('evicts expired values, also when the clock was set back', () => {
  let now = 1_000
  const cache = new LruCache<string, string>({ ttlMs: 100, now: () => now })
  cache.set('a', 'a')
  now += 99
  expect(cache.get('a')).toBe('a')
  now += 1
  expect(cache.get('a')).toBeUndefined()
  cache.set('b', 'b')
  now -= 500
  expect(cache.get('b')).toBeUndefined()
  expect(cache.size).toBe(0)
})

it('creates a missing value once, and deletes by a predicate', () => {
  const cache = new LruCache<string, string>({ entriesMax: 9 })
  let created = 0
  const create = () => String(++created)
  expect([cache.getOrCreate('a', create), cache.getOrCreate('a', create)]).toEqual(['1', '1'])
  cache.set('b', 'x')
  cache.deleteWhere((key) => key === 'a')
  expect(keysOf(cache)).toBe('x')
  cache.clear()
  expect([cache.size, cache.weight]).toEqual([0, 0])
})

it('keeps its weight within its limits in random histories', () => {
  const operation = fc.tuple(fc.constantFrom('get', 'set', 'delete'), fc.nat(9), fc.nat(12))
  fc.assert(
    fc.property(fc.array(operation), (operations) => {
      const weigh = (weight: number) => weight
      const cache = new LruCache<number, number>({ entriesMax: 5, weightMax: 20, weigh })
      for (const [name, key, value] of operations) {
        if (name === 'get') cache.get(key)
        else if (name === 'set') cache.set(key, value)
        else cache.delete(key)
        const values = [...cache.values()]
        expect(cache.size).toBe(values.length)
        expect(cache.size).toBeLessThanOrEqual(5)
        expect(cache.weight).toBe(values.reduce((sum, each) => sum + each, 0))
        expect(cache.weight).toBeLessThanOrEqual(20)
      }
    }),
  )
})
