/** Memories and turns as documents of one index. Part of the store's contract; rule ids refer to spec/. */
import { expect, it } from 'vitest'
import type { MemoryId } from '../../../src/domain/ids.ts'
import type { Scope } from '../../../src/domain/scope.ts'
import {
  DOCUMENT_TYPES,
  toDocumentId,
  toTurnDocument,
} from '../../../src/domain/search-document.ts'
import type { Turn } from '../../../src/domain/turn.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import type { Change, DocumentFilter, Expectation, Store } from '../../../src/storage/store.ts'
import { turn, turnId } from '../../fakes/entries.ts'
import { ADA, BOB, instant, memory, owner, session, user } from '../../fakes/memories.ts'
import { create, type OpenStore } from './store.suite.ts'

const EVE = { ...ADA, user: user('eve') }
const TALK = { ...ADA, session: session('talk') }
const EVES_TALK = { ...EVE, session: session('talk') }
const ALL_OF_ADA: Scope = { owner: owner('ada') }
const BOTH: DocumentFilter = { types: DOCUMENT_TYPES }

const say = (row: Turn, expect: Expectation = 'absent'): Change => ({
  op: 'put',
  table: 'turn',
  row,
  expect,
})

export function describeDocuments(open: OpenStore): void {
  const matched = async (
    store: Store,
    text: string,
    where: DocumentFilter,
    scope: Scope = ALL_OF_ADA,
  ) => (await store.searchText(scope, { text, limit: 50, where })).hits.map((hit) => hit.id)

  it('[ST45] ranks memories and turns in one list, with the statistics of both', async () => {
    const [store, reference] = [await open(), createInMemoryStore()]
    const changes = [
      create(memory({ content: 'The kitchen is painted sage green' })),
      say(turn({ content: 'We repainted the kitchen, went for sage green', place: TALK })),
      say(turn({ content: 'A lovely colour!', role: 'assistant', place: TALK, speaker: 'Sage' })),
      create(memory({ content: 'Ada likes tea' })),
      say(turn({ content: 'kitchen kitchen', place: EVE })),
      say(turn({ content: 'green kitchen', place: BOB })),
    ]
    for (const each of [store, reference]) await each.commit(changes)
    for (const scope of [ADA, ALL_OF_ADA, TALK, EVE] satisfies Scope[]) {
      for (const where of [BOTH, {}, { types: ['turn'] }] satisfies DocumentFilter[]) {
        const query = { text: 'sage green kitchen', limit: 10, where }
        const [found, expected] = [
          await store.searchText(scope, query),
          await reference.searchText(scope, query),
        ]
        expect(found.hits.map((hit) => hit.id)).toEqual(expected.hits.map((hit) => hit.id))
        expect(found.averageLength).toBeCloseTo(expected.averageLength, 9)
        found.hits.forEach((hit, n) => {
          expect(hit.score).toBeCloseTo(expected.hits[n]?.score ?? 0, 9)
          expect(hit.session).toBe(expected.hits[n]?.session)
        })
      }
    }
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })

  it('[ST49] returns the best memories behind hits that turns crowd out, or leaves them to another search', async () => {
    const store = await open()
    const known = Array.from({ length: 6 }, (_, n) =>
      memory({ content: `green tea ${'and water '.repeat(n + 3)}` }),
    )
    const said = Array.from({ length: 12 }, () => turn({ content: 'green tea' }))
    await store.commit([...known.map((row) => create(row)), ...said.map((row) => say(row))])
    const match = { text: 'green tea' }
    for (const limit of [1, 5, 14, 30]) {
      const plain = await store.searchText(ALL_OF_ADA, { ...match, limit, where: BOTH })
      const best = await store.searchText(ALL_OF_ADA, { ...match, limit: 4, where: {} })
      const ids = plain.hits.map(({ id }) => id)
      const joined = [...plain.hits, ...best.hits.filter(({ id }) => !ids.includes(id))]
      const query = { ...match, limit, where: BOTH, memoriesMin: 4 }
      const { hits } = await store.searchText(ALL_OF_ADA, query)
      expect([plain.hits, joined]).toContainEqual(hits)
    }
  })

  it('[ST46] finds turns only on request', async () => {
    const store = await open()
    const [known, said] = [memory({ content: 'green tea' }), turn({ content: 'green tea' })]
    await store.commit([create(known), say(said)])
    expect(await matched(store, 'green', {})).toEqual([known.id])
    expect(await matched(store, 'green', { types: ['turn'] })).toEqual([said.id])
    expect((await matched(store, 'green', BOTH)).sort()).toEqual([known.id, said.id].sort())
    expect(await matched(store, 'green', { types: [] })).toEqual([])
    expect(await store.get('memory', ADA, toDocumentId(said.id))).toBeNull()
    const listed = await store.find('memory', ADA, { where: {}, limit: 10 })
    expect(listed.rows.map((row) => row.id)).toEqual([known.id])
    const byId = { where: { ids: [toDocumentId(said.id)] }, limit: 10 }
    expect((await store.find('memory', ADA, byId)).rows).toEqual([])
    expect(
      (await store.find('memory', ADA, { where: {}, limit: 9, order: 'updated' })).rows,
    ).toEqual([known])
    expect((await store.countMemories(ADA, {})).total).toBe(1)
    expect((await store.getReport()).rows).toMatchObject({ memory: 1, turn: 1 })
  })

  it('[ST46] reads documents by id and page by page', async () => {
    const store = await open()
    const memories = Array.from({ length: 5 }, () => memory())
    const turns = Array.from({ length: 7 }, (_, n) =>
      turn({ place: n % 2 === 0 ? TALK : EVES_TALK, role: n % 3 === 0 ? 'assistant' : 'user' }),
    )
    await store.commit([...memories.map(create), ...turns.map((row) => say(row))])
    const expected = [...memories, ...turns.map(toTurnDocument)].sort((a, b) =>
      a.id < b.id ? -1 : 1,
    )
    const read: unknown[] = []
    for (let after: string | undefined; ; ) {
      const page = await store.findDocuments(ALL_OF_ADA, {
        ...{ where: BOTH, limit: 4, order: 'oldest' },
        ...(after === undefined ? {} : { after }),
      })
      read.push(...page.rows)
      if (page.next === null) break
      after = page.next
    }
    expect(read).toEqual(expected)
    const ids = [turns[1], turns[2]].map((row) => toDocumentId(row?.id ?? turnId(0)))
    const find = async (where: DocumentFilter, scope: Scope = ALL_OF_ADA) =>
      (await store.findDocuments(scope, { where, limit: 100 })).rows.map((row) => row.id)
    expect((await find({ ...BOTH, ids })).sort()).toEqual([...ids].sort())
    expect(await find({ ids })).toEqual([])
    expect(await find({ types: ['turn'] }, { owner: owner('bob') })).toEqual([])
    const assistants = turns.filter(({ role }) => role === 'assistant').map(({ id }) => id)
    expect((await find({ types: ['turn'], trusts: ['assistant'] })).sort()).toEqual(
      assistants.map(toDocumentId).sort(),
    )
  })

  it('[ST47] drops the document with its turn, and follows every change of it', async () => {
    const store = await open()
    const row = turn({ content: 'alpha', place: TALK })
    await store.commit([say(row)])
    await store.commit([say({ ...row, content: 'beta', version: 2 }, { version: 1 })])
    expect(await matched(store, 'alpha', BOTH)).toEqual([])
    expect(await matched(store, 'beta', BOTH)).toEqual([row.id])
    await store.commit([say({ ...row, content: 'beta', disabled: true, version: 3 }, 'any')])
    expect(await matched(store, 'beta', { ...BOTH, statuses: ['active'] })).toEqual([])
    expect(await matched(store, 'beta', BOTH)).toEqual([row.id])
    const remove = {
      op: 'remove',
      table: 'turn',
      scope: ALL_OF_ADA,
      id: row.id,
      expect: 'any',
    } as const
    await store.commit([remove])
    expect(await matched(store, 'beta', BOTH)).toEqual([])
    expect((await store.findDocuments(ALL_OF_ADA, { where: BOTH, limit: 9 })).rows).toEqual([])
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })

  it('[ST47] leaves no document of a turn whose commit is refused', async () => {
    const store = await open()
    const row = turn({ content: 'alpha' })
    const twice = [say(row), say(row)]
    expect((await store.commit(twice)).kind).toBe('conflict')
    expect(await matched(store, 'alpha', BOTH)).toEqual([])
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })

  it('[ST48] returns the neighbors of a turn by position, and never those of another kind', async () => {
    const store = await open()
    const order = [4, 0, 3, 2, 1]
    const rows = order.map((position, n) =>
      turn({
        id: turnId(`q${n}`),
        place: TALK,
        position: position * 2,
        saidAt: instant(9 - position),
      }),
    )
    const course = [...rows]
      .sort((a, b) => a.position - b.position)
      .map(({ id }) => toDocumentId(id))
    const learned = [memory({ place: TALK }), memory({ place: TALK })]
    const eves = turn({ place: EVES_TALK, position: 3 })
    await store.commit([...[...rows, eves].map((row) => say(row)), ...learned.map(create)])
    const [first, second, third, fourth, fifth] = course as [MemoryId, MemoryId, ...MemoryId[]] // five of them
    const ids = [...course, ...learned.map(({ id }) => id)]
    const around = await store.findNeighbors(ALL_OF_ADA, ids, 2)
    expect(around.get(third ?? first)).toEqual({
      session: TALK.session,
      before: [second, first],
      after: [fourth, fifth],
    })
    expect(around.get(first)).toEqual({ session: TALK.session, before: [], after: [second, third] })
    expect(around.get(learned[0]?.id ?? first)).toEqual({
      session: TALK.session,
      before: [],
      after: [learned[1]?.id],
    })
    expect(await store.findNeighbors({ owner: owner('bob') }, ids, 2)).toEqual(new Map())
    const result = await store.searchText(ALL_OF_ADA, {
      text: 'sentence',
      limit: 9,
      where: BOTH,
      neighborRequest: { reach: 2, hits: 9 },
    })
    for (const { id, neighbors: surroundings } of result.hits) {
      if (surroundings !== undefined) {
        const response = await store.findNeighbors(ALL_OF_ADA, [id], 2)
        expect(surroundings).toEqual(response.get(id) ?? null)
      }
    }
  })
}
