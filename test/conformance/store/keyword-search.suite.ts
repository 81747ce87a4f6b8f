/** Keyword search: part of the store's contract. */
import { expect, it } from 'vitest'
import type { Memory } from '../../../src/domain/memory.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { ADA, instant, memory, owner, user } from '../../fakes/memories.ts'
import { create, type OpenStore } from './store.suite.ts'

export function describeTextMatching(open: OpenStore): void {
  const withContents = async (...contents: string[]) => {
    const store = await open()
    const rows = contents.map((content) => memory({ content }))
    await store.commit(rows.map(create))
    const search = async (text: string, limit = 10) => {
      const { hits } = await store.searchText(ADA, { text, limit, where: {} })
      return hits.map((hit) => rows.find((row) => row.id === hit.id)?.content)
    }
    return { store, rows, search }
  }

  it('[ST13] finds by any of the words, best first, and returns the covered share of the query', async () => {
    const { store, rows } = await withContents(
      'The capital of France is Paris',
      'I visited Paris in spring with Anna',
      'Anna likes spring flowers',
      'Nothing to do with it',
    )
    const { hits } = await store.searchText(ADA, {
      text: 'Anna Paris spring zebra',
      limit: 10,
      where: {},
    })
    expect(hits.map((hit) => hit.id)).toEqual([rows[1]?.id, rows[2]?.id, rows[0]?.id])
    for (const [index, hit] of hits.entries()) {
      expect(hit.score).toBeGreaterThan(0)
      expect(hit.score).toBeLessThanOrEqual(hits[index - 1]?.score ?? Number.POSITIVE_INFINITY)
      expect(hit.coverage).toBeGreaterThan(0)
      expect(hit.coverage).toBeLessThan(1)
    }
    const { hits: whole } = await store.searchText(ADA, {
      text: 'visited Paris',
      limit: 1,
      where: {},
    })
    expect(whole[0]?.coverage).toBe(1)
  })

  it('[ST13] weighs a rare word above a common one', async () => {
    const { search } = await withContents(
      ...Array.from({ length: 20 }, (_, n) => `meeting number ${n}`),
      'dentist on Monday afternoon',
    )
    expect((await search('dentist meeting'))[0]).toBe('dentist on Monday afternoon')
  })

  it('[ST13] scores are positive even when every memory holds the word', async () => {
    const { store } = await withContents('tea', 'tea', 'tea')
    const { hits } = await store.searchText(ADA, { text: 'tea', limit: 10, where: {} })
    expect(hits).toHaveLength(3)
    for (const hit of hits) expect(hit.score).toBeGreaterThan(0.01)
  })

  it('[ST13] scores and orders as the reference store does', async () => {
    const [store, reference] = [await open(), createInMemoryStore()]
    const words = ['tea', 'milk', 'sugar', 'cup', 'kettle', 'leaf']
    const rows = Array.from({ length: 200 }, (_, n) =>
      memory({
        content: words.flatMap((word, at) => Array((n * (at + 3)) % (at + 2)).fill(word)).join(' '),
        place: n % 3 === 0 ? { ...ADA, user: user('eve') } : ADA,
        key: n % 7 === 0 ? `pot ${n}` : null,
        pinned: n % 2 === 0,
      }),
    )
    for (const each of [store, reference]) await each.commit(rows.map(create))
    for (const scope of [
      { owner: owner('ada') },
      ADA,
      { owner: owner('ada'), user: user('eve') },
    ]) {
      for (const text of ['tea', 'tea milk kettle', 'leaf pot nothing', words.join(' ')]) {
        for (const where of [{}, { pinned: true }]) {
          const query = { text, limit: 50, where }
          const { hits: expected, ...known } = await reference.searchText(scope, query)
          const { hits, terms, averageLength } = await store.searchText(scope, query)
          expect(averageLength).toBeCloseTo(known.averageLength, 9)
          expect(terms.map((term) => term.text)).toEqual(known.terms.map((term) => term.text))
          terms.forEach(({ rarity }, n) => {
            expect(rarity).toBeCloseTo(known.terms[n]?.rarity ?? 0, 9)
          })
          expect(hits.map((hit) => hit.id)).toEqual(expected.map((hit) => hit.id))
          hits.forEach((hit, n) => {
            expect(hit.score).toBeCloseTo(expected[n]?.score ?? 0, 9)
            expect(hit.coverage).toBeCloseTo(expected[n]?.coverage ?? 0, 9)
            const { counts, length, session } = expected[n] ?? {}
            expect(hit).toMatchObject({ counts, length, session })
          })
        }
      }
    }
  })

  it('[ST13] the best hits do not depend on the limit', async () => {
    const { search } = await withContents(
      ...Array.from({ length: 60 }, (_, n) => `walk ${'far '.repeat(n % 7)}to the lake ${n}`),
    )
    const all = await search('walk lake far 17', 60)
    for (const limit of [1, 2, 5, 20]) {
      expect(await search('walk lake far 17', limit)).toEqual(all.slice(0, limit))
    }
  })

  it('[ST13] the best of many is found, at any age and limit', async () => {
    const { search } = await withContents(
      'tea tea tea',
      ...Array.from({ length: 400 }, (_, n) => `a cup of tea on day ${n}`),
    )
    expect(await search('tea', 1)).toEqual(['tea tea tea'])
  })

  it('[ST14] finds stems, identifiers, accents, and other scripts', async () => {
    const { search } = await withContents(
      'She was running marathons',
      'Set foo_bar in src/text/search/terms.ts',
      'He writes C++ and node.js',
      'Das Café in Göteborg',
      '我喜欢在北京喝咖啡',
      '東京タワーに行きました',
      '나는 서울에서 커피를 마신다',
      'Я люблю чай',
    )
    const top = async (text: string) => (await search(text, 1))[0]
    expect(await top('marathon runs')).toContain('running')
    expect(await top('foo_bar')).toContain('foo_bar')
    expect(await top('terms.ts')).toContain('terms.ts')
    expect(await top('c++')).toContain('C++')
    expect(await top('node.js')).toContain('node.js')
    expect(await top('cafe goteborg')).toContain('Café')
    expect(await top('北京')).toContain('北京')
    expect(await top('茶 咖啡')).toContain('咖啡')
    expect(await top('東京')).toContain('東京')
    expect(await top('서울')).toContain('서울')
    expect(await top('ЧАЙ')).toContain('чай')
  })

  it('[ST14] finds a memory by the words of its key', async () => {
    const store = await open()
    const row = memory({ key: 'favourite:editor', content: 'vim' })
    await store.commit([create(row)])
    const { hits } = await store.searchText(ADA, { text: 'editor', limit: 5, where: {} })
    expect(hits.map((hit) => hit.id)).toEqual([row.id])
  })

  it('[ST15] follows every change of content and key, and nothing else', async () => {
    const store = await open()
    const row = memory({ content: 'alpha', key: 'gamma' })
    await store.commit([create(row)])
    const found = async (text: string) =>
      (await store.searchText(ADA, { text, limit: 5, where: {} })).hits.length
    const put = (next: Memory) =>
      store.commit([{ op: 'put', table: 'memory', row: next, expect: 'any' }])
    await put({ ...row, content: 'beta', version: 2 })
    expect([await found('alpha'), await found('beta'), await found('gamma')]).toEqual([0, 1, 1])
    await put({ ...row, content: 'beta', key: 'delta', version: 3 })
    expect([await found('gamma'), await found('delta')]).toEqual([0, 1])
    await store.commit([
      { op: 'count', scope: ADA, id: row.id, uses: 1, usedAt: instant(1) },
      { op: 'count', scope: ADA, id: row.id, uses: 1, usedAt: instant(2) },
    ])
    expect([await found('beta'), await found('delta')]).toEqual([1, 1])
    await store.commit([{ op: 'remove', table: 'memory', scope: ADA, id: row.id, expect: 'any' }])
    expect([await found('beta'), await found('delta')]).toEqual([0, 0])
    await put(row)
    expect([await found('alpha'), await found('beta')]).toEqual([1, 0])
  })

  it('[ST14] finds a memory by the name of its speaker', async () => {
    const store = await open()
    const row = memory({ content: 'I moved to Oslo' })
    const spoken = { ...row, provenance: { ...row.provenance, speaker: 'Ann Lee' } }
    await store.commit([create(spoken), create(memory())])
    const { hits } = await store.searchText(ADA, { text: 'what did Ann say', limit: 5, where: {} })
    expect(hits.map((hit) => hit.id)).toEqual([row.id])
  })

  it('[ST15] follows a change of only the speaker', async () => {
    const store = await open()
    const row = memory({ content: 'alpha' })
    const found = async (text: string) =>
      (await store.searchText(ADA, { text, limit: 5, where: {} })).hits.length
    const say = (speaker: string | null, version: number) => {
      const next = { ...row, provenance: { ...row.provenance, speaker }, version }
      return store.commit([{ op: 'put', table: 'memory', row: next, expect: 'any' }])
    }
    await say('Ann', 1)
    expect([await found('Ann'), await found('Ben'), await found('alpha')]).toEqual([1, 0, 1])
    await say('Ben', 2)
    expect([await found('Ann'), await found('Ben'), await found('alpha')]).toEqual([0, 1, 1])
    await say(null, 3)
    expect([await found('Ann'), await found('Ben'), await found('alpha')]).toEqual([0, 0, 1])
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })

  it('[ST16] reads no query as syntax', async () => {
    const { search } = await withContents('plain words here', 'own words of others')
    const hostile = [
      '"',
      "'",
      '*',
      'words*',
      'NEAR(plain words)',
      'plain AND NOT words',
      'own:words',
      '{own} : words',
      '^plain',
      '-words',
      '(((',
      ') OR 1=1 --',
      "'; DROP TABLE memory; --",
      '\\',
      '%_%',
      '$1 ? :name @x',
      ':*',
      'a & b | !c <-> d',
      '\u0000words',
      '\ud800',
    ]
    for (const text of hostile) {
      for (const content of await search(text)) expect(content).toBeDefined()
    }
    expect(await search('words*')).toHaveLength(2)
    expect(await search('plain AND NOT words')).toContain('plain words here')
    expect(await search('')).toEqual([])
    expect(await search('   ')).toEqual([])
  })

  it('[ST16] no word of a query reaches the tokens that keep owners apart', async () => {
    const store = await open()
    const place = { ...ADA, user: user('eve') }
    await store.commit([create(memory({ place, content: 'hidden' })), create(memory())])
    for (const text of ['o1', 'p1', 'p2', 'own', 'ada', 'eve']) {
      expect((await store.searchText(ADA, { text, limit: 10, where: {} })).hits).toEqual([])
    }
  })
}
