/** Lists for people: by a text that stands in them, page by page, by last update, and counted. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { containsLowered, lowered } from '../../src/core/containing.ts'
import {
  MEMORY_CATEGORIES,
  MEMORY_STATUSES,
  MEMORY_TYPES,
  type Memory,
} from '../../src/core/memory.ts'
import type { FindQuery, MemoryFilter, Store } from '../../src/ports/store.ts'
import { ADA, BOB, instant, memory, user } from '../fakes/memories.ts'
import { create, type OpenStore } from './store.suite.ts'

const EVE = { ...ADA, user: user('eve') }

/** Texts in which a careless search would find what is not there, or miss what is. */
const TEXTS = [
  'plain words',
  '100% sure',
  '100x sure',
  'snake_case',
  'snakexcase',
  "O'Neil; DROP TABLE memory; --",
  'back\\slash and \\d+ (a|b) [x] ^y$ *',
  'star * and ? and .',
  'äPFEL und Straße, STRASSE',
  'ΛΟΓΟΣ λόγος λογος ΣΑΣΑ',
  'İstanbul ISTANBUL ısparta Iğdır',
  '\u212a is kelvin, \u212b is angstrom',
  '𐐀𐐁 deseret 𐐨𐐩',
  '😀 and \ud83d alone and \ude00 alone',
  'nul \u0000 and escape \ue000 d800 \ue000d800',
  '\ud800\udbff\udc00',
  'line\nbreak\ttab',
  'e\u0301 and é',
  '北京 東京',
  ' ',
]
const WANTED = [
  ...[
    '',
    ' ',
    'PLAIN',
    '%',
    '_',
    '0%',
    'e_c',
    "'",
    "o'neil;",
    '--',
    '\\',
    '\\d',
    '(A|B)',
    '.',
    '*',
  ],
  ...['ÄpFeL', 'straße', 'strasse', 'STRASSE', 'ß', 'ẞ', 'λογος', 'ΛΟΓΟΣ', 'σ', 'ς', 'σας', 'Σ'],
  ...['istanbul', 'İ', 'i\u0307', '\u0307', 'ı', 'I', 'iğ', 'K', 'å', '\u212a', '𐐨', '𐐀', '😀'],
  ...['\ud83d', '\ude00', '\u0000', '\ue000', 'd800', 'D8', '000', '0', '\ud800', '\udc00'],
  ...[
    'e000',
    '\ue000d800',
    'k\t',
    '\n',
    'é',
    'e\u0301',
    '\u0301',
    '京',
    'nul \u0000 AND',
    'x'.repeat(3_000),
  ],
]

export function describeListing(open: OpenStore): void {
  it('[ST31] finds a text in content or key, in capitals or not, as it is written', async () => {
    const store = await open()
    const rows = [
      ...TEXTS.map((content) => memory({ content })),
      ...TEXTS.map((key) => memory({ content: 'something else', key })),
    ]
    await store.commit([...rows.map(create), create(memory({ place: BOB, content: 'plain' }))])
    for (const contains of WANTED) {
      const page = await store.find('memory', ADA, { where: { contains }, limit: 100 })
      const found = page.rows.map(({ content, key }) => [content, key]).sort()
      const expected = rows
        .filter(({ content, key }) => holds(content, contains) || holds(key ?? 'x', contains))
        .map(({ content, key }) => [content, key])
        .sort()
      expect(found, JSON.stringify(contains)).toEqual(expected)
    }
  })

  it('[ST31] agrees with the reference on any text', async () => {
    const store = await open()
    const rows = fc.sample(anyText, 300).map((content) => memory({ content: content || '-' }))
    await store.commit(rows.map(create))
    for (const contains of fc.sample(anyText, 60).map((text) => text.slice(0, 2))) {
      const { total } = await store.tally(ADA, { contains })
      const expected = rows.filter((row) => containsLowered(row.content, lowered(contains)))
      expect(total, JSON.stringify(contains)).toBe(expected.length)
    }
  })

  it('[ST31] narrows keyword search, and goes with other filters', async () => {
    const store = await open()
    const rows = [
      memory({ content: 'Needle in the HAY%stack', pinned: true }),
      memory({ content: 'needle in the haystack' }),
      memory({ content: 'needle', key: 'hay%key' }),
      memory({ content: 'no such thing in the hay%stack' }),
    ]
    await store.commit(rows.map(create))
    const matched = async (where: MemoryFilter) => {
      const { hits } = await store.matchText(ADA, { text: 'needle', limit: 10, where })
      return rows.flatMap((row, at) => (hits.some((hit) => hit.id === row.id) ? [at] : []))
    }
    expect(await matched({ contains: 'hay%' })).toEqual([0, 2])
    expect(await matched({ contains: 'hay%', pinned: true })).toEqual([0])
    expect(await matched({ contains: 'HAY', pinned: false })).toEqual([1, 2])
    expect(await matched({ contains: 'nowhere' })).toEqual([])
  })

  it('[ST32] shows the same sequence by offset as by cursor', async () => {
    const store = await open()
    const rows = Array.from({ length: 17 }, (_, n) => memory({ pinned: n % 3 !== 0 }))
    await store.commit(rows.map(create))
    for (const order of ['oldest', 'newest'] as const) {
      for (const where of [{}, { pinned: true }, { contains: '1' }]) {
        const all = await idsOf(store, { where, limit: 100, order })
        for (const limit of [1, 4, 100]) {
          const paged: string[] = []
          for (let offset = 0; offset <= all.length; offset += limit) {
            paged.push(...(await idsOf(store, { where, limit, order, offset })))
          }
          expect(paged).toEqual(all)
        }
        const [, second] = all
        const rest = await idsOf(store, {
          where,
          limit: 3,
          order,
          after: String(second),
          offset: 1,
        })
        expect(rest).toEqual(all.slice(3, 6))
      }
    }
    const page = await store.find('memory', ADA, { where: {}, limit: 5, offset: 10 })
    expect(page.next).toBe(page.rows.at(-1)?.id)
    expect(await store.find('memory', ADA, { where: {}, limit: 5, offset: 12 })).toMatchObject({
      next: null,
    })
    expect(await idsOf(store, { where: {}, limit: 5, offset: 1_000_000 })).toEqual([])
  })

  it('[ST32] refuses an offset that is no whole number from 0 on', async () => {
    const store = await open()
    for (const offset of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      const finding = store.find('memory', ADA, { where: {}, limit: 5, offset })
      await expect(finding).rejects.toMatchObject({ code: 'invalid_input' })
    }
  })

  it('[ST33] lists memories by their last update, page by page, without a cursor', async () => {
    const store = await open()
    const times = [5, 9, 1, 9, 7, 5, 5]
    const rows = times.map((time) => memory({ updatedAt: instant(time) }))
    await store.commit([...rows, memory({ place: BOB })].map(create))
    const expected = [3, 1, 4, 6, 5, 0, 2].map((at) => rows[at]?.id)
    const order = 'updated' as const
    const all = await store.find('memory', ADA, { where: {}, limit: 100, order })
    expect(all.rows.map((row) => row.id)).toEqual(expected)
    const page = await store.find('memory', ADA, { where: {}, limit: 3, order, offset: 2 })
    expect(page.rows.map((row) => row.id)).toEqual(expected.slice(2, 5))
    expect([all.next, page.next]).toEqual([null, null])
    const ids = rows.slice(0, 3).map((row) => row.id)
    const few = await idsOf(store, { where: { ids }, limit: 2, order })
    expect(few).toEqual([rows[1]?.id, rows[0]?.id])
    const after = String(rows[0]?.id)
    await expect(
      store.find('memory', ADA, { where: {}, limit: 5, order, after }),
    ).rejects.toMatchObject({ code: 'invalid_input' })
  })

  it('[ST34] says what counting one by one says', async () => {
    const store = await open()
    const places = [ADA, EVE, BOB]
    const rows = fc
      .sample(fc.record({ ...kinds, place: fc.constantFrom(...places), content: anyText }), 120)
      .map((fields) => memory({ ...fields, content: fields.content || '-' }))
    await store.commit(rows.map(create))
    const filters: readonly MemoryFilter[] = [
      {},
      { types: ['episodic', 'factual'] },
      { categories: [] },
      { statuses: ['active'], pinned: true },
      { contains: 'A' },
      { contains: '\ue000' },
    ]
    for (const scope of [ADA, EVE, BOB, { owner: ADA.owner }]) {
      for (const where of filters) {
        const listed = await store.find('memory', scope, { where, limit: 1_000 })
        expect(await store.tally(scope, where)).toEqual(countedByHand(listed.rows))
      }
    }
    expect(await store.tally({ ...ADA, user: user('nobody') }, {})).toEqual(countedByHand([]))
  })
}

/** Told apart from the code under test by going through characters, one after the other. */
function holds(text: string, wanted: string): boolean {
  const characters = (of: string) =>
    [...of].map((one) => one.toLowerCase().replace('ς', 'σ')).flatMap((one) => [...one])
  const [all, some] = [characters(text), characters(wanted)]
  return all.some((_, at) => some.every((one, step) => all[at + step] === one)) || wanted === ''
}

export function countedByHand(rows: readonly Memory[]) {
  const count = (field: 'type' | 'category', name: string) =>
    rows.filter((row) => row[field] === name).length
  return {
    total: rows.length,
    byType: Object.fromEntries(MEMORY_TYPES.map((name) => [name, count('type', name)])),
    byCategory: Object.fromEntries(
      MEMORY_CATEGORIES.map((name) => [name, count('category', name)]),
    ),
    characters: rows.reduce((sum, { content }) => sum + [...content].length, 0),
  }
}

const kinds = {
  type: fc.constantFrom(...MEMORY_TYPES),
  category: fc.constantFrom(...MEMORY_CATEGORIES),
  status: fc.constantFrom(...MEMORY_STATUSES),
  pinned: fc.boolean(),
}

/** Letters of many alphabets with their capitals, halves of characters, and what databases give a meaning to. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc
    .array(
      fc.constantFrom(...'aAäÄßẞσςΣiİıIкК%_\\*.d80\ue000\u0000\u212a', '\ud800', '\udc00', '𐐀'),
      {
        maxLength: 20,
      },
    )
    .map((parts) => parts.join('')),
)

async function idsOf(store: Store, query: FindQuery<'memory'>): Promise<readonly string[]> {
  return (await store.find('memory', ADA, query)).rows.map((row) => row.id)
}
