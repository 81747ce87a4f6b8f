/**
 * The contract of `Store`, run over every implementation. Rule ids refer to spec/.
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { TombstoneId } from '../../../src/domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../../../src/domain/limits.ts'
import type { Memory } from '../../../src/domain/memory.ts'
import type { Place } from '../../../src/domain/scope.ts'
import type { Change, Store } from '../../../src/storage/store.ts'
import {
  ADA,
  BOB,
  instant,
  memory,
  memoryId,
  owner,
  revision,
  session,
  user,
} from '../../fakes/memories.ts'
import { describeEntries } from './entries.suite.ts'
import { describeFilters } from './filters.suite.ts'
import { describeIsolation } from './isolation.suite.ts'
import { describeTextMatching } from './keyword-search.suite.ts'
import { describeListing } from './list-queries.suite.ts'
import { describeHistories, HISTORIES } from './random-histories.suite.ts'
import { describeDocuments } from './search-documents.suite.ts'
import { describeSurroundings } from './session-neighbours.suite.ts'
import { describeSessions } from './sessions.suite.ts'
import { describeAnyText } from './text-roundtrip.suite.ts'
import { describeTurns } from './turns.suite.ts'

export type OpenStore = () => Promise<Store>

export const create = (row: Memory): Change => ({
  op: 'put',
  table: 'memory',
  row,
  expect: 'absent',
})
const replace = (row: Memory): Change => ({
  op: 'put',
  table: 'memory',
  row,
  expect: { version: row.version - 1 },
})
const any = (row: Memory): Change => ({ op: 'put', table: 'memory', row, expect: 'any' })

export const COMMITTED = { kind: 'committed' } as const

export function describeStore(
  name: string,
  open: OpenStore,
  { histories = HISTORIES }: { readonly histories?: number } = {},
): void {
  const opened = async () => {
    const store = await open()
    onTestFinished(() => store.close())
    return store
  }

  describe(`${name}: rows`, () => describeRows(opened))
  describe(`${name}: commits`, () => describeCommits(opened))
  describe(`${name}: isolation`, () => describeIsolation(opened))
  describe(`${name}: filters and pages`, () => describeFilters(opened))
  describe(`${name}: entries and turns`, () => describeEntries(opened))
  describe(`${name}: lists for people`, () => describeListing(opened))
  describe(`${name}: sessions`, () => describeSurroundings(opened))
  describe(`${name}: keyword search`, () => describeTextMatching(opened))
  describe(`${name}: turns`, () => describeTurns(opened, histories))
  describe(`${name}: search documents`, () => describeDocuments(opened))
  describe(`${name}: conversations`, () => describeSessions(opened))
  describe(`${name}: any text`, () => describeAnyText(opened))
  describe(`${name}: histories`, () => describeHistories(opened, histories))
}

function describeRows(open: OpenStore): void {
  it('[ST1] gives back every field of a memory exactly', async () => {
    const store = await open()
    const row = memory({
      place: { owner: owner('ada'), user: user('eve'), session: session('s1') },
      key: 'favourite:editor',
      content: 'My favourite editor is vim.',
      type: 'procedural',
      category: 'preference',
      importance: 9,
      salience: 0.123456789,
      pinned: true,
      trust: 'assistant',
      status: 'disabled',
      validFrom: instant(-5),
      validUntil: instant(2 ** 45),
      supersededBy: memoryId('x'),
      conflictsWith: memoryId('y'),
      expiresAt: instant(1_800_000_000_123),
      provenance: {
        source: 'cli',
        speaker: 'Ann',
        turns: ['turn_1' as never], // any turn id
        extractor: 'patterns',
        extractorVersion: '1',
      },
      entities: ['vim', 'Göteborg'],
      language: 'en-GB',
      metadata: { a: [1, { b: null }], ключ: 'значение', nul: '\u0000', half: '\ud800' },
      sourceCount: 3,
      useCount: 4,
      lastUsedAt: instant(7),
      version: 1,
    })
    expect(await store.commit([create(row)])).toEqual(COMMITTED)
    expect(await store.get('memory', row.place, row.id)).toEqual(row)
    expect((await store.find('memory', row.place, { where: {}, limit: 5 })).rows).toEqual([row])
  })

  it('[ST1] gives back revisions and tombstones exactly', async () => {
    const store = await open()
    const past = revision(memory({ content: 'as it was \u0000 \ud800' }))
    const grave = {
      id: 'tmb_1' as TombstoneId,
      place: ADA,
      version: 1,
      forgottenAt: instant(5),
    }
    await store.commit([
      { op: 'put', table: 'revision', row: past, expect: 'absent' },
      { op: 'put', table: 'tombstone', row: grave, expect: 'absent' },
    ])
    expect(await store.get('revision', ADA, past.id)).toEqual(past)
    expect(await store.get('tombstone', ADA, grave.id)).toEqual(grave)
    const found = await store.find('tombstone', ADA, { where: { ids: [grave.id] }, limit: 5 })
    expect(found.rows).toEqual([grave])
  })

  it('[ST1] returns null for an unknown id', async () => {
    const store = await open()
    expect(await store.get('memory', ADA, memoryId('missing'))).toBeNull()
    expect(await store.find('memory', ADA, { where: {}, limit: 5 })).toEqual({
      rows: [],
      next: null,
    })
  })

  it('[ST10] counts uses without a new version, and ignores removed memories', async () => {
    const store = await open()
    const row = memory()
    await store.commit([create(row)])
    const count = (usedAt: number, uses = 1): Change => ({
      op: 'count',
      scope: ADA,
      id: row.id,
      uses,
      usedAt: instant(usedAt),
    })
    await store.commit([count(50, 2), count(40)])
    expect(
      await store.commit([
        { ...count(60), id: memoryId('gone') } as Change,
        { ...count(60), scope: BOB } as Change,
      ]),
    ).toEqual(COMMITTED)
    expect(await store.get('memory', ADA, row.id)).toEqual({
      ...row,
      useCount: 3,
      lastUsedAt: 50,
    })
  })

  it('[ST10] an edit that was read before a use does not undo the counting', async () => {
    const store = await open()
    const row = memory()
    await store.commit([create(row)])
    await store.commit([
      { op: 'count', scope: ADA, id: row.id, uses: 3, usedAt: instant(50) },
      replace({ ...row, version: 2, content: 'edited' }),
    ])
    await store.commit([{ op: 'count', scope: ADA, id: row.id, uses: 1, usedAt: instant(60) }])
    await store.commit([replace({ ...row, version: 3 })])
    expect(await store.get('memory', ADA, row.id)).toMatchObject({ useCount: 4, lastUsedAt: 60 })
  })

  it('[ST10] a memory that is removed and added in one commit starts without uses', async () => {
    const store = await open()
    const row = memory()
    await store.commit([create(row)])
    await store.commit([{ op: 'count', scope: ADA, id: row.id, uses: 3, usedAt: instant(50) }])
    const remove: Change = { op: 'remove', table: 'memory', scope: ADA, id: row.id, expect: 'any' }
    expect(await store.commit([remove, create(row)])).toEqual(COMMITTED)
    expect(await store.get('memory', ADA, row.id)).toEqual(row)
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })

  it('[ST11] lists owners with memories, and counts rows', async () => {
    const store = await open()
    const eve = { ...ADA, user: user('eve') }
    const carol = { ...ADA, owner: owner('carol') }
    await store.commit([
      create(memory({ place: BOB })),
      create(memory()),
      create(memory()),
      create(memory({ place: eve })),
      { op: 'put', table: 'revision', row: revision(memory({ place: carol })), expect: 'absent' },
    ])
    expect(await store.listPlaces()).toEqual([
      { owner: 'ada', user: null, memories: 2, turns: 0 },
      { owner: 'ada', user: 'eve', memories: 1, turns: 0 },
      { owner: 'bob', user: null, memories: 1, turns: 0 },
      { owner: 'carol', user: null, memories: 0, turns: 0 },
    ])
    expect((await store.getReport()).rows).toEqual({
      memory: 4,
      revision: 1,
      tombstone: 0,
      entry: 0,
      turn: 0,
      job: 0,
      signal: 0,
    })
  })

  it('[ST12] has nothing to mend after ordinary work', async () => {
    const store = await open()
    const row = memory()
    await store.commit([create(row), create(memory())])
    await store.commit([replace({ ...row, version: 2, content: 'other words' })])
    await store.commit([{ op: 'remove', table: 'memory', scope: ADA, id: row.id, expect: 'any' }])
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })
}

function describeCommits(open: OpenStore): void {
  it('[ST2] applies all changes or none', async () => {
    const store = await open()
    const [first, second] = [memory(), memory()]
    await store.commit([create(first)])
    const outcome = await store.commit([
      create(second),
      { op: 'remove', table: 'memory', scope: ADA, id: first.id, expect: 'any' },
      create({ ...first, id: second.id }),
    ])
    expect(outcome).toEqual({ kind: 'conflict', table: 'memory', id: second.id, reason: 'exists' })
    expect(await store.get('memory', ADA, first.id)).toEqual(first)
    expect(await store.get('memory', ADA, second.id)).toBeNull()
    expect(
      (await store.searchText(ADA, { text: second.content, limit: 5, where: {} })).hits,
    ).toHaveLength(1)
  })

  it('[ST2] applies changes in the given order: a key freed earlier may be used later', async () => {
    const store = await open()
    const held = memory({ key: 'k' })
    await store.commit([create(held)])
    const taker = memory({ key: 'k' })
    const freed = { ...held, status: 'superseded' as const, version: 2 }
    expect((await store.commit([create(taker), replace(freed)])).kind).toBe('conflict')
    expect(await store.commit([replace(freed), create(taker)])).toEqual(COMMITTED)
  })

  it('[ST2] lets memories trade keys within a commit', async () => {
    const store = await open()
    const [a, b] = [memory({ key: 'a' }), memory({ key: 'b' })]
    await store.commit([create(a), create(b)])
    const traded = [any({ ...a, key: null }), any({ ...b, key: 'a' }), any({ ...a, key: 'b' })]
    expect(await store.commit(traded)).toEqual(COMMITTED)
    expect((await store.get('memory', ADA, a.id))?.key).toBe('b')
    expect((await store.get('memory', ADA, b.id))?.key).toBe('a')
    expect(
      (await store.searchText(ADA, { text: 'a', limit: 5, where: { ids: [a.id] } })).hits,
    ).toEqual([])
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })

  it('[ST2] lets an id move to another owner or user once it was removed', async () => {
    const store = await open()
    const row = memory({ content: 'wanderer', key: 'k' })
    await store.commit([create(row)])
    let at: Place = ADA
    for (const place of [{ ...ADA, user: user('eve') }, BOB, ADA]) {
      const scope = { owner: at.owner, user: at.user }
      const remove: Change = { op: 'remove', table: 'memory', scope, id: row.id, expect: 'any' }
      expect(await store.commit([remove, create({ ...row, place })])).toEqual(COMMITTED)
      at = place
      const { hits } = await store.searchText(at, { text: 'wanderer', limit: 5, where: {} })
      expect(hits.map((hit) => hit.id)).toEqual([row.id])
      expect(await store.checkIntegrity({ repair: false })).toEqual([])
    }
  })

  it('[ST2] follows one row through everything that happens to it in a commit', async () => {
    const store = await open()
    const row = memory({ content: 'first' })
    const count: Change = { op: 'count', scope: ADA, id: row.id, uses: 2, usedAt: instant(9) }
    const remove: Change = {
      op: 'remove',
      table: 'memory',
      scope: ADA,
      id: row.id,
      expect: { version: 1 },
    }
    const again = { ...row, content: 'second', place: { ...ADA, user: user('eve') } }
    expect(await store.commit([create(row), count, remove, count, create(again)])).toEqual(
      COMMITTED,
    )
    expect(await store.get('memory', again.place, row.id)).toEqual(again)
    const counted: Change = { ...count, scope: again.place }
    expect(await store.commit([counted, any(again), counted])).toEqual(COMMITTED)
    expect((await store.get('memory', again.place, row.id))?.useCount).toBe(4)
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })

  it('[ST2] takes an empty commit, and refuses one past the limit', async () => {
    const store = await open()
    expect(await store.commit([])).toEqual(COMMITTED)
    const many = Array.from({ length: COMMIT_CHANGES_MAX + 1 }, () => create(memory()))
    await expect(store.commit(many)).rejects.toThrow(String(COMMIT_CHANGES_MAX))
  })

  it('[ST3] holds every expectation', async () => {
    const store = await open()
    const row = memory()
    const next = { ...row, content: 'changed', version: 2 }
    const conflict = (reason: string) => ({
      kind: 'conflict',
      table: 'memory',
      id: row.id,
      reason,
    })
    expect(await store.commit([replace(next)])).toEqual(conflict('version'))
    expect(await store.commit([create(row)])).toEqual(COMMITTED)
    expect(await store.commit([create(row)])).toEqual(conflict('exists'))
    expect(await store.commit([replace(next)])).toEqual(COMMITTED)
    expect(await store.commit([replace(next)])).toEqual(conflict('version'))
    expect(await store.commit([{ op: 'put', table: 'memory', row, expect: 'any' }])).toEqual(
      COMMITTED,
    )
    const remove = (version: number): Change => ({
      op: 'remove',
      table: 'memory',
      scope: ADA,
      id: row.id,
      expect: { version },
    })
    expect(await store.commit([remove(2)])).toEqual(conflict('version'))
    expect(await store.commit([remove(1)])).toEqual(COMMITTED)
    expect(await store.commit([remove(1)])).toEqual(conflict('version'))
    expect(await store.commit([{ ...remove(1), expect: 'any' } as Change])).toEqual(COMMITTED)
  })

  it('[ST3] checks without writing', async () => {
    const store = await open()
    const row = memory()
    const id = 'tmb_x' as TombstoneId
    const absent: Change = { op: 'check', table: 'tombstone', scope: ADA, id, expect: 'absent' }
    const first: Change = {
      op: 'check',
      table: 'tombstone',
      scope: ADA,
      id,
      expect: { version: 1 },
    }
    const refused = { kind: 'conflict', table: 'tombstone', id }
    expect(await store.commit([first, create(row)])).toMatchObject(refused)
    expect(await store.commit([absent, create(row)])).toEqual(COMMITTED)
    const grave = { id, place: ADA, version: 1, forgottenAt: instant(1) }
    await store.commit([{ op: 'put', table: 'tombstone', row: grave, expect: 'absent' }])
    expect(await store.commit([absent, create(memory())])).toMatchObject(refused)
    expect(await store.commit([first, create(memory())])).toEqual(COMMITTED)
    expect((await store.getReport()).rows.memory).toBe(2)
  })

  it('[ST5] lets one live memory hold a key, per owner and user', async () => {
    const store = await open()
    const holder = memory({ key: 'name' })
    await store.commit([create(holder)])
    const taken = (row: Memory) => ({
      kind: 'conflict',
      table: 'memory',
      id: row.id,
      reason: 'key',
    })
    const rival = memory({ key: 'name', status: 'disabled' })
    expect(await store.commit([create(rival)])).toEqual(taken(rival))
    const elsewhere = [
      memory({ key: 'name', place: BOB }),
      memory({ key: 'name', place: { ...ADA, user: user('eve') } }),
      memory({ key: 'name', status: 'superseded' }),
      memory({ key: 'name', status: 'forgotten' }),
      memory({ key: null }),
      memory({ key: null }),
    ]
    expect(await store.commit(elsewhere.map(create))).toEqual(COMMITTED)
    const session2 = memory({ key: 'name', place: { ...ADA, session: session('2') } })
    expect(await store.commit([create(session2)])).toEqual(taken(session2))
    expect(
      await store.commit([
        replace({ ...holder, version: 2, status: 'forgotten' }),
        create(session2),
      ]),
    ).toEqual(COMMITTED)
    const back = { ...holder, version: 3 }
    expect(await store.commit([replace(back)])).toEqual(taken(holder))
  })

  it('[ST5] assigns a key to exactly one of many concurrent writers', async () => {
    const store = await open()
    const rivals = Array.from({ length: 30 }, () => memory({ key: 'crown' }))
    const outcomes = await Promise.all(rivals.map((row) => store.commit([create(row)])))
    expect(outcomes.filter((outcome) => outcome.kind === 'committed')).toHaveLength(1)
    const held = await store.find('memory', ADA, { where: { key: 'crown' }, limit: 50 })
    expect(held.rows).toHaveLength(1)
  })

  it('[ST6] never deadlocks when commits touch the same rows in opposite orders', async () => {
    const store = await open()
    const [left, right] = [memory(), memory()]
    await store.commit([create(left), create(right)])
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        store.commit(n % 2 === 0 ? [any(left), any(right)] : [any(right), any(left)]),
      ),
    )
    expect(outcomes.every((outcome) => outcome.kind === 'committed')).toBe(true)
  })
}
