/**
 * The contract of `Store`, run over every implementation. Rule ids refer to SPEC.md.
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { fingerprint } from '../../src/core/fingerprint.ts'
import type { Place, Scope, TombstoneId } from '../../src/core/ids.ts'
import { COMMIT_CHANGES_MAX } from '../../src/core/limits.ts'
import type { Memory } from '../../src/core/memory.ts'
import type { Change, MemoryFilter, Store } from '../../src/ports/store.ts'
import {
  ADA,
  BOB,
  changeId,
  instant,
  memory,
  memoryId,
  owner,
  revision,
  session,
  user,
} from '../fakes/memories.ts'
import { describeAnyText } from './any-text.suite.ts'
import { describeHistories } from './histories.suite.ts'
import { describeTextMatching } from './text.suite.ts'

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
export const COMMITTED = { kind: 'committed' } as const

export function describeStore(name: string, open: OpenStore): void {
  const opened = async () => {
    const store = await open()
    onTestFinished(() => store.close())
    return store
  }

  describe(`${name}: rows`, () => describeRows(opened))
  describe(`${name}: commits`, () => describeCommits(opened))
  describe(`${name}: isolation`, () => describeIsolation(opened))
  describe(`${name}: filters and pages`, () => describeFilters(opened))
  describe(`${name}: keyword search`, () => describeTextMatching(opened))
  describe(`${name}: any text`, () => describeAnyText(opened))
  describe(`${name}: histories`, () => describeHistories(opened))
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

  it('[ST1] answers null for what is not there', async () => {
    const store = await open()
    expect(await store.get('memory', ADA, memoryId('missing'))).toBeNull()
    expect(await store.find('memory', ADA, { where: {}, limit: 5 })).toEqual({
      rows: [],
      next: null,
    })
  })

  it('[ST10] counts uses without a new version, and passes over what is gone', async () => {
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

  it('[ST11] tells who has memories, and counts what it holds', async () => {
    const store = await open()
    const eve = { ...ADA, user: user('eve') }
    await store.commit([
      create(memory({ place: BOB })),
      create(memory()),
      create(memory()),
      create(memory({ place: eve })),
    ])
    expect(await store.places()).toEqual([
      { owner: 'ada', user: null, memories: 2 },
      { owner: 'ada', user: 'eve', memories: 1 },
      { owner: 'bob', user: null, memories: 1 },
    ])
    expect((await store.report()).rows).toEqual({ memory: 4, revision: 0, tombstone: 0 })
  })

  it('[ST12] has nothing to mend after ordinary work', async () => {
    const store = await open()
    const row = memory()
    await store.commit([create(row), create(memory())])
    await store.commit([replace({ ...row, version: 2, content: 'other words' })])
    await store.commit([{ op: 'remove', table: 'memory', scope: ADA, id: row.id, expect: 'any' }])
    expect(await store.inspect({ repair: false })).toEqual([])
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
    expect(outcome).toEqual({ kind: 'conflict', table: 'memory', id: second.id, because: 'exists' })
    expect(await store.get('memory', ADA, first.id)).toEqual(first)
    expect(await store.get('memory', ADA, second.id)).toBeNull()
    expect(await store.matchText(ADA, { text: second.content, limit: 5, where: {} })).toHaveLength(
      1,
    )
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
    const conflict = (because: string) => ({
      kind: 'conflict',
      table: 'memory',
      id: row.id,
      because,
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
    expect((await store.report()).rows.memory).toBe(2)
  })

  it('[ST5] lets one live memory hold a key, per owner and user', async () => {
    const store = await open()
    const holder = memory({ key: 'name' })
    await store.commit([create(holder)])
    const taken = (row: Memory) => ({
      kind: 'conflict',
      table: 'memory',
      id: row.id,
      because: 'key',
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

  it('[ST5] gives a key to exactly one of many writers at once', async () => {
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
    const any = (row: Memory): Change => ({ op: 'put', table: 'memory', row, expect: 'any' })
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        store.commit(n % 2 === 0 ? [any(left), any(right)] : [any(right), any(left)]),
      ),
    )
    expect(outcomes.every((outcome) => outcome.kind === 'committed')).toBe(true)
  })
}

function describeIsolation(open: OpenStore): void {
  const eve = { ...ADA, user: user('eve') }
  const mallory = { ...ADA, user: user('mallory') }
  const eveToday = { ...eve, session: session('today') }

  it('[ST4] shows a scope its own rows and no others, in every way of asking', async () => {
    const store = await open()
    const places: readonly Place[] = [ADA, BOB, eve, mallory, eveToday]
    const rows = places.map((place) => memory({ place, content: 'the same secret' }))
    await store.commit(rows.map(create))
    const seenBy = async (scope: Scope) => {
      const listed = await store.find('memory', scope, { where: {}, limit: 10 })
      const matched = await store.matchText(scope, { text: 'secret', limit: 10, where: {} })
      const got = await Promise.all(rows.map((row) => store.get('memory', scope, row.id)))
      const ids = listed.rows.map((row) => row.id).sort()
      expect(matched.map((hit) => hit.id).sort()).toEqual(ids)
      expect(got.flatMap((row) => (row === null ? [] : [row.id])).sort()).toEqual(ids)
      return places.filter((_, index) => ids.includes(rows[index]?.id ?? memoryId('none')))
    }
    expect(await seenBy({ owner: owner('ada') })).toEqual([ADA, eve, mallory, eveToday])
    expect(await seenBy({ owner: owner('ada'), user: null })).toEqual([ADA])
    expect(await seenBy({ owner: owner('ada'), user: user('eve') })).toEqual([eve, eveToday])
    expect(await seenBy(eveToday)).toEqual([eveToday])
    expect(await seenBy({ owner: owner('bob') })).toEqual([BOB])
    expect(await seenBy({ owner: owner('bob'), user: user('eve') })).toEqual([])
    expect(await seenBy({ owner: owner('nobody') })).toEqual([])
  })

  it("[ST4] never lets one owner or user write over another's row", async () => {
    const store = await open()
    const row = memory({ place: eve })
    await store.commit([create(row)])
    for (const place of [ADA, BOB, mallory]) {
      const stolen = { ...row, place, content: 'stolen', version: 2 }
      for (const expect_ of ['absent', 'any', { version: 1 }] as const) {
        const outcome = await store.commit([
          { op: 'put', table: 'memory', row: stolen, expect: expect_ },
        ])
        expect(outcome.kind).toBe('conflict')
      }
      const scope: Scope = { owner: place.owner, user: place.user }
      const remove = { op: 'remove', table: 'memory', scope, id: row.id } as const
      expect((await store.commit([{ ...remove, expect: { version: 1 } }])).kind).toBe('conflict')
      await store.commit([{ ...remove, expect: 'any' }])
      await store.commit([{ op: 'count', scope, id: row.id, uses: 1, usedAt: instant(1) }])
    }
    expect(await store.get('memory', eve, row.id)).toEqual(row)
  })

  it('[ST4] keeps revisions and tombstones apart as well', async () => {
    const store = await open()
    const past = revision(memory({ place: eve }))
    await store.commit([{ op: 'put', table: 'revision', row: past, expect: 'absent' }])
    expect(await store.get('revision', mallory, past.id)).toBeNull()
    expect((await store.find('revision', BOB, { where: {}, limit: 5 })).rows).toEqual([])
    expect((await store.find('revision', eve, { where: {}, limit: 5 })).rows).toEqual([past])
  })
}

function describeFilters(open: OpenStore): void {
  it('[ST8] narrows by every filter, alone and in keyword search alike', async () => {
    const store = await open()
    const base = { content: 'needle' }
    const rows = {
      plain: memory(base),
      keyed: memory({ ...base, key: 'k' }),
      disabled: memory({ ...base, status: 'disabled' }),
      episodic: memory({ ...base, type: 'episodic' }),
      preference: memory({ ...base, category: 'preference' }),
      pinned: memory({ ...base, pinned: true }),
      expired: memory({ ...base, expiresAt: instant(2_000) }),
      over: memory({ ...base, validUntil: instant(2_000) }),
      old: memory({ ...base, createdAt: instant(10) }),
      changed: memory({ ...base, change: changeId('special') }),
      other: memory({ content: 'Needle, but different' }),
    }
    await store.commit(Object.values(rows).map(create))
    const names = Object.keys(rows) as (keyof typeof rows)[]
    const found = async (where: MemoryFilter) => {
      const listed = await store.find('memory', ADA, { where, limit: 100 })
      const matched = await store.matchText(ADA, { text: 'needle', limit: 100, where })
      const ids = listed.rows.map((row) => row.id)
      expect(new Set(matched.map((hit) => hit.id))).toEqual(new Set(ids))
      return names.filter((name) => ids.includes(rows[name].id))
    }
    const but = (...left: string[]) => names.filter((name) => !left.includes(name))
    expect(await found({})).toEqual(names)
    expect(await found({ ids: [rows.old.id, rows.plain.id] })).toEqual(['plain', 'old'])
    expect(await found({ ids: [] })).toEqual([])
    expect(await found({ key: 'k' })).toEqual(['keyed'])
    expect(await found({ fingerprint: fingerprint(' NEEDLE. ') })).toEqual(but('other'))
    expect(await found({ statuses: ['active'] })).toEqual(but('disabled'))
    expect(await found({ statuses: ['disabled', 'forgotten'] })).toEqual(['disabled'])
    expect(await found({ statuses: [] })).toEqual([])
    expect(await found({ types: ['episodic'] })).toEqual(['episodic'])
    expect(await found({ categories: ['preference', 'event'] })).toEqual(['preference'])
    expect(await found({ pinned: true })).toEqual(['pinned'])
    expect(await found({ change: changeId('special') })).toEqual(['changed'])
    expect(await found({ unendedAt: instant(2_000) })).toEqual(but('expired', 'over'))
    expect(await found({ unendedAt: instant(1_999) })).toEqual(names)
    expect(await found({ expiredBy: instant(2_000) })).toEqual(['expired'])
    expect(await found({ createdFrom: instant(1_000) })).toEqual(but('old'))
    expect(await found({ createdBefore: instant(1_000) })).toEqual(['old'])
    expect(await found({ types: ['episodic'], pinned: true })).toEqual([])
  })

  it('[ST8] finds revisions by memory, by change, and by the time they were in force', async () => {
    const store = await open()
    const row = memory({ updatedAt: instant(100), change: changeId('maker') })
    const past = [
      revision(row, { replacedAt: instant(200), replacedBy: changeId('a') }),
      revision(
        { ...row, version: 2, updatedAt: instant(200), change: changeId('a') },
        { replacedAt: instant(300) },
      ),
      revision(memory({ updatedAt: instant(100) }), { replacedAt: instant(150) }),
    ] as const
    await store.commit(
      past.map((row) => ({ op: 'put', table: 'revision', row, expect: 'absent' }) as const),
    )
    const found = async (where: object) =>
      (await store.find('revision', ADA, { where, limit: 10 })).rows.map((row) => row.id).sort()
    const ids = past.map((revision) => revision.id)
    expect(await found({})).toEqual([...ids].sort())
    expect(await found({ memories: [row.id] })).toEqual([ids[0], ids[1]])
    expect(await found({ replacedBy: changeId('a') })).toEqual([ids[0]])
    expect(await found({ madeBy: changeId('maker') })).toEqual([ids[0]])
    expect(await found({ madeBy: changeId('a') })).toEqual([ids[1]])
    expect(await found({ memories: [row.id], inForceAt: instant(199) })).toEqual([ids[0]])
    expect(await found({ memories: [row.id], inForceAt: instant(200) })).toEqual([ids[1]])
    expect(await found({ inForceAt: instant(99) })).toEqual([])
    expect(await found({ inForceAt: instant(300) })).toEqual([])
  })

  it('[ST9] pages through everything once, in either order, while rows come and go', async () => {
    const store = await open()
    const rows = Array.from({ length: 23 }, () => memory())
    await store.commit(rows.map(create))
    for (const order of ['oldest', 'newest'] as const) {
      const seen: string[] = []
      let after: string | undefined
      do {
        const page = await store.find('memory', ADA, {
          where: {},
          limit: 5,
          order,
          ...(after === undefined ? {} : { after }),
        })
        expect(page.rows.length).toBeLessThanOrEqual(5)
        seen.push(...page.rows.map((row) => row.id))
        after = page.next ?? undefined
      } while (after !== undefined)
      const ids = rows.map((row) => row.id)
      expect(seen).toEqual(order === 'oldest' ? ids : ids.reverse())
    }
    const exact = await store.find('memory', ADA, { where: {}, limit: 23 })
    expect(exact.next).toBeNull()
  })
}
