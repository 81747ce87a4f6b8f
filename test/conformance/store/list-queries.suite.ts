/** Lists for people: by a text that stands in them, page by page, by last update, and counted. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  MEMORY_CATEGORIES,
  MEMORY_STATUSES,
  MEMORY_TYPES,
  type Memory,
} from '../../../src/domain/memory.ts'
import type { FindQuery, MemoryFilter, Store } from '../../../src/storage/store.ts'
import { containsFolded, foldCase } from '../../../src/text/substring.ts'
import { ADA, BOB, instant, memory, user } from '../../fakes/memories.ts'
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
      const { total } = await store.countMemories(ADA, { contains })
      const expected = rows.filter((row) => containsFolded(row.content, foldCase(contains)))
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
      const { hits } = await store.searchText(ADA, { text: 'needle', limit: 10, where })
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

  it('[ST33] lists memories by their last update, importance, salience and use, ties by id', async () => {
    const store = await open()
    const rows = rankedRows()
    await store.commit([...rows, memory({ place: BOB, importance: 10 })].map(create))
    for (const [order, expected] of Object.entries(RANKED)) {
      const ids = expected.map((at) => rows[at]?.id)
      const all = await store.find('memory', ADA, { where: {}, limit: 100, order: order as Ranked })
      expect(
        all.rows.map((row) => row.id),
        order,
      ).toEqual(ids)
      expect(all.next).toBe(null)
      const query = { where: { ids: rows.slice(0, 3).map(({ id }) => id) }, limit: 2 }
      const few = await idsOf(store, { ...query, order: order as Ranked })
      expect(few, order).toEqual(
        expected
          .filter((at) => at < 3)
          .map((at) => rows[at]?.id)
          .slice(0, 2),
      )
    }
  })

  it('[ST33] leads from page to page in each of these orders, by cursor as by offset', async () => {
    const store = await open()
    await store.commit([...rankedRows(), ...rankedRows(), memory({ place: BOB })].map(create))
    for (const order of Object.keys(RANKED) as Ranked[]) {
      for (const where of [{}, { importanceMin: 4 }]) {
        const all = await idsOf(store, { where, limit: 100, order })
        for (const limit of [1, 3, 5]) {
          const byCursor: string[] = []
          const byOffset: string[] = []
          for (let after: string | null | undefined; after !== null; ) {
            const position = after === undefined ? {} : { after }
            const page = await store.find('memory', ADA, { where, limit, order, ...position })
            byCursor.push(...page.rows.map(({ id }) => id))
            after = page.next
          }
          for (let offset = 0; offset < all.length; offset += limit) {
            byOffset.push(...(await idsOf(store, { where, limit, order, offset })))
          }
          expect([byCursor, byOffset], order).toEqual([all, all])
        }
      }
    }
  })

  it('[ST33] lists unchanged rows once, whatever changes between two pages', async () => {
    const store = await open()
    const rows = rankedRows()
    await store.commit(rows.map(create))
    const [still, moves, goes] = [[0, 1, 4, 6], 3, 5]
    for (const order of Object.keys(RANKED) as Ranked[]) {
      const first = await store.find('memory', ADA, { where: {}, limit: 3, order })
      const last = first.rows.at(-1)
      // Even the row that the cursor was made from may be gone.
      await store.commit([
        { op: 'count', scope: ADA, id: idAt(rows, moves), uses: 40, usedAt: instant(40) },
        ...[idAt(rows, goes), ...(last === undefined ? [] : [last.id])].map(
          (id) => ({ op: 'remove', table: 'memory', scope: ADA, id, expect: 'any' }) as const,
        ),
      ])
      const query = { where: {}, limit: 100, order }
      const rest = await idsOf(store, { ...query, after: first.next ?? '' })
      const shown = [...first.rows.map(({ id }) => id), ...rest]
      for (const at of still) {
        expect(
          shown.filter((id) => id === rows[at]?.id),
          `${order}: ${at}`,
        ).toHaveLength(1)
      }
      await store.commit(rows.map((row) => ({ op: 'put', table: 'memory', row, expect: 'any' })))
    }
  })

  it('[ST33] takes only cursors that a page of the same kind gave', async () => {
    const store = await open()
    const rows = rankedRows()
    await store.commit(rows.map(create))
    const wrong = ['', '~', 'x~y', '1', '1~', '~mem_1', '1e999~mem_1', idAt(rows, 0)]
    for (const order of Object.keys(RANKED) as Ranked[]) {
      for (const after of wrong) {
        await expect(
          store.find('memory', ADA, { where: {}, limit: 5, order, after }),
          `${order} after ${after}`,
        ).rejects.toMatchObject({ code: 'invalid_input' })
      }
    }
    for (const order of ['updated', 'lastUsed', 'mostUsed'] as const) {
      const after = '0.5~mem_1'
      await expect(
        store.find('memory', ADA, { where: {}, limit: 5, order, after }),
      ).rejects.toMatchObject({ code: 'invalid_input' })
    }
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
        expect(await store.countMemories(scope, where)).toEqual(countedByHand(listed.rows))
      }
    }
    expect(await store.countMemories({ ...ADA, user: user('nobody') }, {})).toEqual(
      countedByHand([]),
    )
  })
}

type Ranked = keyof typeof RANKED

/** Which of `rankedRows` come in which order. */
const RANKED = {
  updated: [3, 1, 4, 6, 5, 0, 2],
  importance: [6, 2, 1, 5, 4, 3, 0],
  salience: [5, 4, 6, 2, 3, 1, 0],
  lastUsed: [5, 2, 1, 0, 6, 4, 3],
  mostUsed: [5, 2, 0, 1, 6, 4, 3],
  leastUsed: [3, 4, 6, 1, 0, 2, 5],
} as const

/** Numbers that a careless cursor would lose, and some that are equal. */
function rankedRows(): readonly Memory[] {
  const never = { useCount: 0, lastUsedAt: null }
  const used = (useCount: number, at: number) => ({ useCount, lastUsedAt: instant(at) })
  return [
    { updatedAt: instant(5), importance: 1, salience: 0, ...used(2, 3) },
    { updatedAt: instant(9), importance: 7, salience: 1e-9, ...used(1, 4) },
    { updatedAt: instant(1), importance: 10, salience: 0.1 + 0.2, ...used(2, 9) },
    { updatedAt: instant(9), importance: 3, salience: 0.3, ...never },
    { updatedAt: instant(7), importance: 3, salience: 1, ...never },
    { updatedAt: instant(5), importance: 3, salience: 1, ...used(12, 9) },
    { updatedAt: instant(5), importance: 10, salience: 1 / 3, ...never },
  ].map((fields) => memory(fields))
}

function idAt(rows: readonly Memory[], at: number) {
  const row = rows[at]
  if (row === undefined) throw new RangeError(`There is no row ${at}.`)
  return row.id
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
