/** What was said: search in it, and reading it in its course. Part of the store's contract. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Place, Scope } from '../../../src/domain/scope.ts'
import { toDocumentId } from '../../../src/domain/search-document.ts'
import { TURN_ROLES, type Turn } from '../../../src/domain/turn.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import type {
  Change,
  DocumentFilter,
  Expectation,
  Store,
  TextMatch,
  TextQuery,
} from '../../../src/storage/store.ts'
import { extractQueryTerms } from '../../../src/text/search/terms.ts'
import { turn, turnId } from '../../fakes/entries.ts'
import { ADA, BOB, instant, memory, owner, session, user } from '../../fakes/memories.ts'
import { COMMITTED, create, type OpenStore } from './store.suite.ts'

const EVE = { ...ADA, user: user('eve') }
const EVE_TODAY = { ...EVE, session: session('today') }
const ADA_TODAY = { ...ADA, session: session('today') }
const ALL_OF_ADA: Scope = { owner: owner('ada') }

const say = (row: Turn, expect: Expectation = 'absent'): Change => ({
  op: 'put',
  table: 'turn',
  row,
  expect,
})
const remove = ({ id, place }: Turn): Change => {
  const scope = { owner: place.owner, user: place.user }
  return { op: 'remove', table: 'turn', scope, id, expect: 'any' }
}

/** A search among turns alone. */
function matchTurns(store: Store, scope: Scope, query: TextQuery): Promise<TextMatch> {
  return store.searchText(scope, { ...query, where: { ...query.where, types: ['turn'] } })
}

export function describeTurns(open: OpenStore, histories: number): void {
  const withTurns = async (...contents: string[]) => {
    const store = await open()
    const rows = contents.map((content) => turn({ content }))
    await store.commit(rows.map((row) => say(row)))
    const search = async (text: string, limit = 10) => {
      const { hits } = await matchTurns(store, ADA, { text, limit, where: {} })
      return hits.map((hit) => rows.find((row) => toDocumentId(row.id) === hit.id)?.content)
    }
    return { store, rows, search }
  }

  it('[ST37] finds turns by any of the words, best first, right after they were put', async () => {
    const { store, rows } = await withTurns(
      'The capital of France is Paris',
      'I visited Paris in spring with Anna',
      'Anna likes spring flowers',
      'Nothing to do with it',
      '',
    )
    const query = { text: 'Anna Paris spring zebra', limit: 10, where: {} }
    const { hits } = await matchTurns(store, ADA, query)
    expect(hits.map((hit) => hit.id)).toEqual([rows[1]?.id, rows[2]?.id, rows[0]?.id])
    for (const hit of hits) {
      expect(hit.score).toBeGreaterThan(0)
      expect(hit.coverage).toBeGreaterThan(0)
      expect(hit.coverage).toBeLessThan(1)
    }
    const whole = await matchTurns(store, ADA, { text: 'visited Paris', limit: 1, where: {} })
    expect(whole.hits[0]?.coverage).toBe(1)
    expect((await matchTurns(store, ADA, { ...query, limit: 0 })).hits).toEqual([])
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })

  it('[ST37] finds stems, identifiers, accents, other scripts and the speaker', async () => {
    const { store, search } = await withTurns(
      'She was running marathons',
      'Set foo_bar in src/text/search/terms.ts',
      'Das Café in Göteborg',
      '我喜欢在北京喝咖啡',
      '東京タワーに行きました',
      '나는 서울에서 커피를 마신다',
      'Я люблю чай',
    )
    const top = async (text: string) => (await search(text, 1))[0]
    expect(await top('marathon runs')).toContain('running')
    expect(await top('foo_bar')).toContain('foo_bar')
    expect(await top('cafe goteborg')).toContain('Café')
    expect(await top('北京')).toContain('北京')
    expect(await top('京')).toContain('京')
    expect(await top('東京')).toContain('東京')
    expect(await top('서울')).toContain('서울')
    expect(await top('ЧАЙ')).toContain('чай')
    const spoken = turn({ content: 'I moved to Oslo', speaker: 'Ann Lee' })
    await store.commit([say(spoken)])
    const { hits } = await matchTurns(store, ADA, { text: 'what did Lee say', limit: 5, where: {} })
    expect(hits.map((hit) => hit.id)).toEqual([spoken.id])
  })

  it('[ST37] finds a replaced turn by its new words only, and a removed one not at all', async () => {
    const store = await open()
    const row = turn({ content: 'alpha', speaker: 'Ann' })
    const found = async (...words: string[]) => {
      const counts = words.map(async (text) => {
        const { hits } = await matchTurns(store, ALL_OF_ADA, { text, limit: 5, where: {} })
        return hits.length
      })
      return (await Promise.all(counts)).join()
    }
    await store.commit([say(row)])
    expect(await found('alpha', 'ann')).toBe('1,1')
    await store.commit([say({ ...row, content: 'beta beta', version: 2 }, { version: 1 })])
    expect(await found('alpha', 'beta', 'ann')).toBe('0,1,1')
    await store.commit([say({ ...row, content: 'beta beta', speaker: null, version: 3 }, 'any')])
    expect(await found('beta', 'ann')).toBe('1,0')
    await store.commit([say({ ...row, content: 'beta beta', place: ADA_TODAY, version: 4 }, 'any')])
    const today = await matchTurns(store, ADA_TODAY, { text: 'beta', limit: 5, where: {} })
    expect(today.hits).toHaveLength(1)
    // Refused: nothing of it may stay.
    const refused = [say({ ...row, content: 'gamma', version: 5 }, 'any'), say(row)]
    expect((await store.commit(refused)).kind).toBe('conflict')
    expect(await found('beta', 'gamma')).toBe('1,0')
    await store.commit([remove(row)])
    expect(await found('alpha', 'beta', 'gamma')).toBe('0,0,0')
    await store.commit([say(row), remove(row), say({ ...row, content: 'delta' })])
    expect(await found('alpha', 'delta')).toBe('0,1')
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })

  it('[ST37] searches turns and memories apart', async () => {
    const store = await open()
    const [said, known] = [
      turn({ content: 'the same words' }),
      memory({ content: 'the same words' }),
    ]
    await store.commit([say(said), create(known)])
    const query = { text: 'same words', limit: 5, where: {} }
    expect((await matchTurns(store, ADA, query)).hits.map((hit) => hit.id)).toEqual([said.id])
    expect((await store.searchText(ADA, query)).hits.map((hit) => hit.id)).toEqual([known.id])
    await store.commit([remove(said)])
    expect((await matchTurns(store, ADA, query)).hits).toEqual([])
    expect((await store.searchText(ADA, query)).hits).toHaveLength(1)
  })

  it('[ST37] parses no query as syntax, and no query reaches the tokens that separate owners', async () => {
    const { store, search } = await withTurns('plain words here', 'own words of others')
    await store.commit([say(turn({ place: EVE, content: 'hidden' }))])
    const hostile = ['"', "'", 'words*', 'NEAR(plain words)', 'terms:words', '^plain', '(((', '\\']
    for (const text of [...hostile, "'; DROP TABLE turn; --", '%_%', '\u0000words', '\ud800']) {
      for (const content of await search(text)) expect(content).toBeDefined()
    }
    for (const text of ['o1', 'p1', 'p2', 'ada', 'eve', '\u0001o1', '\u0001p2']) {
      expect(await search(text)).toEqual([])
    }
    expect(await search('words*')).toHaveLength(2)
    expect(await search('   ')).toEqual([])
  })

  it('[ST37] stores and finds any text', async () => {
    const store = await open()
    const texts = fc.sample(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), 1_000)
    const rows = texts.map((content) => turn({ content, speaker: content }))
    for (let start = 0; start < rows.length; start += 500) {
      const changes = rows.slice(start, start + 500).map((row) => say(row))
      expect(await store.commit(changes)).toEqual(COMMITTED)
    }
    for (const row of rows.filter((_, index) => index % 10 === 0)) {
      if (extractQueryTerms(row.content).length === 0) continue
      const where = { ids: [toDocumentId(row.id)] }
      const { hits } = await matchTurns(store, ADA, { text: row.content, limit: 1, where })
      expect(
        hits.map((hit) => hit.id),
        JSON.stringify(row.content),
      ).toEqual([row.id])
    }
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })

  it('[ST38] shows a scope its own turns and no others, searched or read in their course', async () => {
    const store = await open()
    const places: readonly Place[] = [ADA, BOB, EVE, EVE_TODAY, ADA_TODAY]
    const rows = places.map((place) => turn({ place, content: 'the same secret' }))
    await store.commit(rows.map((row) => say(row)))
    const seenBy = async (scope: Scope) => {
      const { hits } = await matchTurns(store, scope, { text: 'secret', limit: 10, where: {} })
      const read = await store.find('turn', scope, { where: {}, limit: 10, order: 'lastSaid' })
      expect(hits.map((hit) => hit.id).sort()).toEqual(read.rows.map((row) => row.id).sort())
      return places.filter((_, index) =>
        hits.some((hit) => hit.id === toDocumentId(rows[index]?.id ?? turnId(0))),
      )
    }
    expect(await seenBy(ALL_OF_ADA)).toEqual([ADA, EVE, EVE_TODAY, ADA_TODAY])
    expect(await seenBy({ owner: owner('ada'), user: null })).toEqual([ADA, ADA_TODAY])
    expect(await seenBy({ owner: owner('ada'), user: user('eve') })).toEqual([EVE, EVE_TODAY])
    expect(await seenBy({ owner: owner('ada'), session: session('today') })).toEqual([
      EVE_TODAY,
      ADA_TODAY,
    ])
    expect(await seenBy({ owner: owner('ada'), session: null })).toEqual([ADA, EVE])
    expect(await seenBy(EVE_TODAY)).toEqual([EVE_TODAY])
    expect(await seenBy({ owner: owner('bob') })).toEqual([BOB])
    expect(await seenBy({ owner: owner('bob'), session: session('today') })).toEqual([])
    expect(await seenBy({ owner: owner('nobody') })).toEqual([])
  })

  it('[ST38] lets nothing that others say change a score', async () => {
    const { store } = await withTurns('tea with milk', 'tea')
    const query = { text: 'tea milk', limit: 5, where: {} }
    const before = await matchTurns(store, ADA, query)
    const others = Array.from({ length: 20 }, () => turn({ place: BOB, content: 'tea milk milk' }))
    await store.commit(others.map((row) => say(row)))
    expect(await matchTurns(store, ADA, query)).toEqual(before)
  })

  it('[ST38] narrows a search by id, role, time and use, inside the query', async () => {
    const store = await open()
    const rows = Array.from({ length: 40 }, (_, n) =>
      turn({
        content: `tea ${'tea '.repeat(n)}`,
        role: TURN_ROLES[n % 4] ?? 'user',
        saidAt: instant(n),
        disabled: n % 5 === 0,
      }),
    )
    await store.commit(rows.map((row) => say(row)))
    const found = async (where: DocumentFilter, limit = 100) => {
      const { hits } = await matchTurns(store, ADA, { text: 'tea', limit, where })
      return rows.flatMap((row, n) =>
        hits.some((hit) => hit.id === toDocumentId(row.id)) ? [n] : [],
      )
    }
    expect(
      await found({ ids: [rows[3]?.id ?? turnId(0), turnId('none')].map(toDocumentId) }),
    ).toEqual([3])
    expect(await found({ ids: [] })).toEqual([])
    expect(await found({ trusts: ['assistant'] }, 2)).toHaveLength(2)
    expect(await found({ trusts: [] })).toEqual([])
    expect(await found({ createdFrom: instant(38) })).toEqual([38, 39])
    expect(await found({ createdBefore: instant(2) }, 5)).toEqual([0, 1])
    expect(
      await found({ createdFrom: instant(4), createdBefore: instant(9), trusts: ['user', 'tool'] }),
    ).toEqual([4, 6, 7, 8])
    expect(await found({ statuses: ['disabled'] })).toEqual([0, 5, 10, 15, 20, 25, 30, 35])
    expect(await found({ statuses: ['active'], createdFrom: instant(35) }, 3)).toEqual([37, 38, 39])
    const used = {
      where: { disabled: false, saidFrom: instant(33) },
      order: 'said',
      limit: 3,
    } as const
    const read = (await store.find('turn', ADA, used)).rows
    expect(read).toEqual([rows[33], rows[34], rows[36]])
    const [row] = read
    if (row === undefined) expect.unreachable()
    const off = { ...row, disabled: true, version: 2 }
    await store.commit([{ op: 'put', table: 'turn', row: off, expect: { version: 1 } }])
    expect(await store.get('turn', ADA, row.id)).toEqual(off)
    expect(await found({ statuses: ['active'], createdBefore: instant(35) })).not.toContain(33)
  })

  it('[ST39] scores and orders as the reference store does, equal scores by id', async () => {
    const [store, reference] = [await open(), createInMemoryStore()]
    const words = ['tea', 'milk', 'sugar', 'cup', '北京', 'leaf']
    const rows = Array.from({ length: 200 }, (_, n) =>
      turn({
        id: turnId(`x${(n * 7_919) % 1_000}`),
        content: words.flatMap((word, at) => Array((n * (at + 3)) % (at + 2)).fill(word)).join(' '),
        place: [ADA, EVE, EVE_TODAY][n % 3] ?? ADA,
        role: n % 2 === 0 ? 'user' : 'assistant',
        saidAt: instant(n % 11),
        position: n % 4,
      }),
    )
    for (const each of [store, reference]) await each.commit(rows.map((row) => say(row)))
    for (const scope of [ALL_OF_ADA, ADA, { owner: owner('ada'), user: user('eve') }, EVE_TODAY]) {
      for (const text of ['tea', 'tea milk cup', 'leaf pot nothing', words.join(' ')]) {
        for (const where of [{}, { trusts: ['user' as const], createdFrom: instant(3) }]) {
          const query = { text, limit: 50, where }
          const expected = await matchTurns(reference, scope, query)
          expectSameHits(await matchTurns(store, scope, query), expected)
          expectSameHits(await matchTurns(store, scope, { ...query, limit: 3 }), {
            hits: expected.hits.slice(0, 3),
          })
        }
      }
    }
  })

  it('[ST40] reads a conversation in order, forwards and backwards, by cursor and by offset', async () => {
    const store = await open()
    const times = [5, 1, 3, 3, 3, 1, -7, 9, 3, 2, 2, 8_640_000_000_000]
    const rows = times.map((at, n) =>
      turn({
        id: turnId(`h${(n * 37) % 101}`),
        place: ADA_TODAY,
        saidAt: instant(at),
        position: [2, 0, 2 ** 40][n % 3] ?? 0,
      }),
    )
    await store.commit(
      [...rows, turn({ place: ADA }), turn({ place: EVE_TODAY })].map((row) => say(row)),
    )
    const course = [...rows]
      .sort((a, b) => a.saidAt - b.saidAt || a.position - b.position || (a.id < b.id ? -1 : 1))
      .map((row) => row.id)
    for (const order of ['said', 'lastSaid'] as const) {
      const [byCursor, byOffset]: [string[], string[]] = [[], []]
      for (let after: string | null | undefined; after !== null; ) {
        const position = after === undefined ? {} : { after }
        const page = await store.find('turn', ADA_TODAY, {
          where: {},
          limit: 5,
          order,
          ...position,
        })
        byCursor.push(...page.rows.map((row) => row.id))
        after = page.next
      }
      for (let offset = 0; offset < rows.length; offset += 5) {
        const page = await store.find('turn', ADA_TODAY, { where: {}, limit: 5, order, offset })
        byOffset.push(...page.rows.map((row) => row.id))
      }
      expect(byCursor).toEqual(order === 'said' ? course : [...course].reverse())
      expect(byOffset).toEqual(byCursor)
    }
    const where = { saidFrom: instant(2), saidBefore: instant(9) }
    const some = await store.find('turn', ALL_OF_ADA, { where, limit: 4, order: 'said' })
    expect(some.rows.map((row) => row.id)).toEqual(course.slice(3, 7))
  })

  it('[ST40] continues after a removed turn, and refuses an invalid cursor', async () => {
    const store = await open()
    const rows = Array.from({ length: 6 }, (_, n) => turn({ saidAt: instant(n) }))
    await store.commit(rows.map((row) => say(row)))
    const query = { where: {}, limit: 3, order: 'said' } as const
    const first = await store.find('turn', ADA, query)
    await store.commit(first.rows.map(remove))
    const next = await store.find('turn', ADA, { ...query, after: first.next ?? '' })
    expect(next.rows).toEqual(rows.slice(3))
    expect(next.next).toBeNull()
    for (const after of ['', 'turn_000001', '1~x~turn', '1~2~', '1~0.5~turn', '1~turn']) {
      await expect(store.find('turn', ADA, { ...query, after })).rejects.toMatchObject({
        code: 'invalid_input',
      })
    }
  })

  it('[ST39] any history of turns leaves what it leaves in the reference store', async () => {
    const commits = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(commits, async (history) => {
        const [store, reference] = [await open(), createInMemoryStore()]
        for (const changes of history) {
          expect(await store.commit(changes)).toEqual(await reference.commit(changes))
        }
        await expectSameTurns(store, reference)
        expect(await store.checkIntegrity({ repair: false })).toEqual([])
        await store.close()
      }),
      { numRuns: histories },
    )
  }, 120_000)
}

type Hits = Pick<TextMatch, 'hits'>

function expectSameHits({ hits }: Hits, { hits: expected }: Hits): void {
  expect(hits.map((hit) => hit.id)).toEqual(expected.map((hit) => hit.id))
  hits.forEach((hit, n) => {
    expect(hit.score).toBeCloseTo(expected[n]?.score ?? 0, 9)
    expect(hit.coverage).toBeCloseTo(expected[n]?.coverage ?? 0, 9)
  })
}

const PLACES = [ADA, BOB, EVE, ADA_TODAY] as const
const WORDS = ['alpha', 'beta', 'gamma', '北京', 'foo_bar'] as const
const place = fc.constantFrom(...PLACES)
const version = fc.integer({ min: 1, max: 3 })
const said: fc.Arbitrary<Turn> = fc
  .record({
    place,
    version,
    content: fc.array(fc.constantFrom(...WORDS), { maxLength: 5 }).map((words) => words.join(' ')),
    speaker: fc.constantFrom(null, 'alpha', 'Ann'),
    role: fc.constantFrom(...TURN_ROLES),
    position: fc.integer({ min: 0, max: 2 }),
    saidAt: fc.integer({ min: 1, max: 3 }).map(instant),
  })
  .chain((fields) =>
    fc.integer({ min: 1, max: 6 }).map((number) => turn({ ...fields, id: turnId(number) })),
  )
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(said, fc.constantFrom<Expectation>('absent', 'any', 'any', { version: 1 }))
      .map(([row, expectation]) => say(row, expectation)),
  },
  said.map(remove),
)

/** Everything that can be seen of turns. Scores of equal worth may differ in their last digits, and so in their order. */
async function expectSameTurns(store: Store, reference: Store): Promise<void> {
  for (const scope of [ALL_OF_ADA, ...PLACES] satisfies Scope[]) {
    for (const order of ['said', 'lastSaid', 'oldest'] as const) {
      const query = { where: {}, limit: 4, order }
      expect(await store.find('turn', scope, query)).toEqual(
        await reference.find('turn', scope, query),
      )
    }
    for (const text of [...WORDS, 'ann', WORDS.join(' ')]) {
      for (const where of [{}, { trusts: ['user' as const] }]) {
        const query = { text, limit: 100, where }
        const byId = ({ hits }: Hits) => ({
          hits: [...hits].sort((a, b) => (a.id < b.id ? -1 : 1)),
        })
        expectSameHits(
          byId(await matchTurns(store, scope, query)),
          byId(await matchTurns(reference, scope, query)),
        )
      }
    }
  }
}
