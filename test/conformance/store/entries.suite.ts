/** Entries and turns: the tables beside memories. Search in turns is in `turns.suite.ts`. */
import { describe, expect, it } from 'vitest'
import { ENTRY_KINDS } from '../../../src/domain/entries/entry.ts'
import { type Place, type Scope, SYSTEM_OWNER } from '../../../src/domain/scope.ts'
import { TURN_ROLES } from '../../../src/domain/turn.ts'
import type { Change, EntryFilter, Expectation, TurnFilter } from '../../../src/storage/store.ts'
import { entry, entryId, turn, turnId } from '../../fakes/entries.ts'
import { ADA, BOB, instant, memory, owner, session, user } from '../../fakes/memories.ts'
import { COMMITTED, create, type OpenStore } from './store.suite.ts'

type Row = ReturnType<typeof entry> | ReturnType<typeof turn>

const put = (row: Row, expect: Expectation = 'absent'): Change =>
  'body' in row
    ? { op: 'put', table: 'entry', row, expect }
    : { op: 'put', table: 'turn', row, expect }
const SYSTEM: Place = { owner: SYSTEM_OWNER, user: null, session: null }
const EVE = { ...ADA, user: user('eve') }
const EVE_TODAY = { ...EVE, session: session('today') }

export function describeEntries(open: OpenStore): void {
  it('[ST28] gives back every field exactly', async () => {
    const store = await open()
    const rows = [
      entry({
        id: entryId('Az09_.:@-'),
        place: { owner: SYSTEM_OWNER, user: user('eve \ud800'), session: session('s\u0000') },
        kind: 'key',
        about: owner('ada \ue000 \ud800'),
        at: instant(-5),
        expiresAt: instant(1_800_000_000_123),
        version: 7,
        body: { a: [1, { b: null }], ключ: 'значение', nul: '\u0000', half: '\ud800' },
      }),
      ...ENTRY_KINDS.map((kind) => entry({ place: SYSTEM, kind, body: {} })),
      turn({
        place: { owner: owner('ada'), user: user('eve'), session: session('s1') },
        version: 3,
        role: 'assistant',
        speaker: "Ann O'Neil \ud800",
        content: 'as it was said \u0000 \ue0000000 \ud800 😀',
        position: 2 ** 40,
        saidAt: instant(-1),
      }),
      ...TURN_ROLES.map((role) => turn({ role, content: '' })),
    ]
    expect(await store.commit(rows.map((row) => put(row)))).toEqual(COMMITTED)
    for (const row of rows) {
      const table = 'body' in row ? ('entry' as const) : ('turn' as const)
      expect(await store.get(table, row.place, row.id as never)).toEqual(row) // an id of this table
      const where = { ids: [row.id as never] }
      expect((await store.find(table, row.place, { where, limit: 5 })).rows).toEqual([row])
    }
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })

  it('[ST28] shows a scope its own entries and turns, and no others', async () => {
    const store = await open()
    const places: readonly Place[] = [ADA, BOB, EVE, EVE_TODAY, SYSTEM]
    const entries = places.map((place) => entry({ place }))
    const turns = places.map((place) => turn({ place }))
    await store.commit([...entries, ...turns].map((row) => put(row)))
    const seenBy = async (scope: Scope) => {
      const listed = await store.find('entry', scope, { where: {}, limit: 10, order: 'oldest' })
      const said = await store.find('turn', scope, { where: {}, limit: 10, order: 'oldest' })
      const seen = listed.rows.map((row) => row.place)
      expect(said.rows.map((row) => row.place)).toEqual(seen)
      const got = await Promise.all(entries.map((row) => store.get('entry', scope, row.id)))
      expect(got.flatMap((row) => (row === null ? [] : [row.place]))).toEqual(seen)
      return seen
    }
    expect(await seenBy({ owner: owner('ada') })).toEqual([ADA, EVE, EVE_TODAY])
    expect(await seenBy({ owner: owner('ada'), user: null })).toEqual([ADA])
    expect(await seenBy({ owner: owner('ada'), session: session('today') })).toEqual([EVE_TODAY])
    expect(await seenBy({ owner: owner('ada'), session: null })).toEqual([ADA, EVE])
    expect(await seenBy(EVE)).toEqual([EVE])
    expect(await seenBy({ owner: SYSTEM_OWNER })).toEqual([SYSTEM])
    expect(await seenBy({ owner: owner('nobody') })).toEqual([])
  })

  it('[ST28] tells the places that hold only entries or turns, and counts them', async () => {
    const store = await open()
    await store.commit([put(entry({ place: SYSTEM })), put(turn({ place: EVE })), put(turn())])
    expect(await store.listPlaces()).toEqual([
      { owner: '@system', user: null, memories: 0, turns: 0 },
      { owner: 'ada', user: null, memories: 0, turns: 1 },
      { owner: 'ada', user: 'eve', memories: 0, turns: 1 },
    ])
    expect((await store.getReport()).rows).toMatchObject({ memory: 0, entry: 1, turn: 2 })
    expect(await store.listPlaces(owner('ada'))).toEqual([
      { owner: 'ada', user: null, memories: 0, turns: 1 },
      { owner: 'ada', user: 'eve', memories: 0, turns: 1 },
    ])
    expect(await store.listPlaces(owner('nobody'))).toEqual([])
  })

  describe.each([
    ['entry', entry, entryId],
    ['turn', turn, turnId],
  ] as const)('%s', (table, make, idOf) => {
    it('[ST29] holds every expectation', async () => {
      const store = await open()
      const row = make()
      const next = { ...row, version: 2 }
      const conflict = (because: string) => ({ kind: 'conflict', table, id: row.id, because })
      const about = (op: 'remove' | 'check', scope: Scope, expect: Expectation) =>
        ({ op, table, scope, id: row.id, expect }) as Change // table and id come from one row
      expect(await store.commit([put(next, { version: 1 })])).toEqual(conflict('version'))
      expect(await store.commit([about('check', ADA, 'absent'), put(row)])).toEqual(COMMITTED)
      expect(await store.commit([put(row)])).toEqual(conflict('exists'))
      expect(await store.commit([about('check', ADA, 'absent')])).toEqual(conflict('exists'))
      expect(await store.commit([put(next, { version: 1 })])).toEqual(COMMITTED)
      expect(await store.commit([put(next, { version: 1 })])).toEqual(conflict('version'))
      expect(await store.commit([about('check', ADA, { version: 2 })])).toEqual(COMMITTED)
      expect(await store.commit([about('check', BOB, { version: 2 })])).toEqual(conflict('version'))
      expect(await store.commit([about('remove', ADA, { version: 1 })])).toEqual(
        conflict('version'),
      )
      expect(await store.get(table, ADA, row.id as never)).toEqual(next) // an id of this table
      expect(await store.commit([about('remove', ADA, { version: 2 })])).toEqual(COMMITTED)
      expect(await store.get(table, ADA, row.id as never)).toBeNull() // as above
      expect(await store.commit([about('remove', ADA, 'any')])).toEqual(COMMITTED)
      expect(await store.commit([put(row)])).toEqual(COMMITTED)
    })

    it("[ST29] never lets one owner or user write over another's row", async () => {
      const store = await open()
      const row = make({ place: EVE })
      await store.commit([put(row)])
      for (const place of [ADA, BOB]) {
        for (const expectation of ['absent', 'any', { version: 1 }] as const) {
          const outcome = await store.commit([put({ ...row, place, version: 2 }, expectation)])
          expect(outcome.kind).toBe('conflict')
        }
        const scope: Scope = { owner: place.owner, user: place.user }
        await store.commit([{ op: 'remove', table, scope, id: row.id, expect: 'any' } as Change]) // as above
      }
      expect(await store.get(table, EVE, row.id as never)).toEqual(row) // as above
    })

    it('[ST29] is written together with memories, or not at all', async () => {
      const store = await open()
      const [row, held] = [make(), memory()]
      await store.commit([create(held)])
      expect((await store.commit([put(row), create(held)])).kind).toBe('conflict')
      expect(await store.get(table, ADA, row.id as never)).toBeNull() // as above
      expect((await store.commit([put(row), put(make({ id: row.id as never }))])).kind).toBe(
        'conflict',
      )
      expect(await store.commit([put(row), create(memory())])).toEqual(COMMITTED)
      expect(await store.get(table, ADA, row.id as never)).toEqual(row) // as above
    })

    it('[ST32] shows every row once, by cursor and by offset alike', async () => {
      const store = await open()
      const rows = Array.from({ length: 11 }, (_, n) => make({ id: idOf(`page${n}`) as never }))
      await store.commit(rows.map((row) => put(row)))
      const ids = rows.map((row) => row.id as string).sort()
      for (const order of ['oldest', 'newest'] as const) {
        const [byCursor, byOffset]: [string[], string[]] = [[], []]
        for (let after: string | null | undefined; after !== null; ) {
          const position = after === undefined ? {} : { after }
          const page = await store.find(table, ADA, { where: {}, limit: 4, order, ...position })
          byCursor.push(...page.rows.map((row) => row.id))
          after = page.next
        }
        for (let offset = 0; offset < 12; offset += 4) {
          const page = await store.find(table, ADA, { where: {}, limit: 4, order, offset })
          byOffset.push(...page.rows.map((row) => row.id))
        }
        expect(byCursor).toEqual(order === 'oldest' ? ids : [...ids].reverse())
        expect(byOffset).toEqual(byCursor)
      }
    })
  })

  it('[ST30] finds entries by id, kind, whom they are about, time and expiry', async () => {
    const store = await open()
    const rows = {
      plain: entry(),
      key: entry({ kind: 'key' }),
      job: entry({ kind: 'job', at: instant(2_000) }),
      aboutBob: entry({ about: owner('bob') }),
      expired: entry({ kind: 'answer', expiresAt: instant(1_500) }),
      lasting: entry({ kind: 'answer', expiresAt: instant(1_501) }),
    }
    await store.commit(Object.values(rows).map((row) => put(row)))
    await store.commit([put(entry({ place: BOB, about: owner('bob'), expiresAt: instant(1) }))])
    const names = Object.keys(rows) as (keyof typeof rows)[]
    const found = async (where: EntryFilter) => {
      const { rows: listed } = await store.find('entry', ADA, { where, limit: 100 })
      const ids = listed.map((row) => row.id)
      expect(ids).toEqual([...ids].sort().reverse())
      return names.filter((name) => ids.includes(rows[name].id))
    }
    const but = (...left: string[]) => names.filter((name) => !left.includes(name))
    expect(await found({})).toEqual(names)
    expect(await found({ ids: [rows.key.id, rows.job.id] })).toEqual(['key', 'job'])
    expect(await found({ ids: [] })).toEqual([])
    expect(await found({ kinds: ['key'] })).toEqual(['key'])
    expect(await found({ kinds: ['key', 'job', 'setting'] })).toEqual(['key', 'job'])
    expect(await found({ kinds: [] })).toEqual([])
    expect(await found({ about: owner('bob') })).toEqual(['aboutBob'])
    expect(await found({ about: null })).toEqual(but('aboutBob'))
    expect(await found({ about: owner('eve') })).toEqual([])
    expect(await found({ atFrom: instant(2_000) })).toEqual(['job'])
    expect(await found({ atBefore: instant(2_000) })).toEqual(but('job'))
    expect(await found({ expiredBy: instant(1_500) })).toEqual(['expired'])
    expect(await found({ expiredBy: instant(1_501) })).toEqual(['expired', 'lasting'])
    expect(await found({ kinds: ['answer'], expiredBy: instant(1_500) })).toEqual(['expired'])
    expect(await found({ kinds: ['key'], about: owner('bob') })).toEqual([])
  })

  it('[ST30] finds turns by id, role and time', async () => {
    const store = await open()
    const rows = {
      asked: turn({ saidAt: instant(1_000) }),
      answered: turn({ role: 'assistant', saidAt: instant(2_000) }),
      looked: turn({ role: 'tool', saidAt: instant(3_000) }),
    }
    await store.commit(Object.values(rows).map((row) => put(row)))
    const names = Object.keys(rows) as (keyof typeof rows)[]
    const found = async (where: TurnFilter) => {
      const { rows: listed } = await store.find('turn', ADA, { where, limit: 100 })
      return names.filter((name) => listed.some((row) => row.id === rows[name].id))
    }
    expect(await found({})).toEqual(names)
    expect(await found({ ids: [rows.looked.id] })).toEqual(['looked'])
    expect(await found({ ids: [] })).toEqual([])
    expect(await found({ roles: ['user', 'tool'] })).toEqual(['asked', 'looked'])
    expect(await found({ roles: [] })).toEqual([])
    expect(await found({ saidFrom: instant(2_000) })).toEqual(['answered', 'looked'])
    expect(await found({ saidBefore: instant(2_000) })).toEqual(['asked'])
    expect(await found({ saidFrom: instant(1_001), saidBefore: instant(3_000) })).toEqual([
      'answered',
    ])
  })
}
