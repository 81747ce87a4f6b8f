/** Entries and turns: the tables beside memories. Search in turns is in `turns.suite.ts`. */
import { describe, expect, it } from 'vitest'
import { ENTRY_KINDS } from '../../../src/domain/entries/entry.ts'
import type { ChangeId } from '../../../src/domain/ids.ts'
import { JOB_STATUSES } from '../../../src/domain/job-row.ts'
import { type Place, type Scope, SYSTEM_OWNER } from '../../../src/domain/scope.ts'
import { SIGNAL_STATUSES } from '../../../src/domain/signal.ts'
import { TURN_ROLES } from '../../../src/domain/turn.ts'
import type {
  Change,
  EntryFilter,
  Expectation,
  JobFilter,
  SignalFilter,
  TurnFilter,
} from '../../../src/storage/store.ts'
import { entry, entryId, job, jobId, signal, signalId, turn, turnId } from '../../fakes/entries.ts'
import { ADA, BOB, instant, memory, owner, session, user } from '../../fakes/memories.ts'
import { COMMITTED, create, type OpenStore } from './store.suite.ts'

type Row = ReturnType<typeof entry | typeof turn | typeof job | typeof signal>

const tableOf = (row: Row): 'entry' | 'turn' | 'job' | 'signal' =>
  'body' in row ? 'entry' : 'role' in row ? 'turn' : 'dueAt' in row ? 'job' : 'signal'
const put = (row: Row, expect: Expectation = 'absent'): Change =>
  ({ op: 'put', table: tableOf(row), row, expect }) as Change // its own table
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
      job({
        place: SYSTEM,
        version: 4,
        kind: 'consolidate',
        key: 'as it was \u0000 \ud800',
        owner: owner('ada \ue000 \ud800'),
        input: { ключ: ['значение', null, '\u0000 \ud800'] },
        status: 'running',
        dueAt: instant(-3),
        statusChangedAt: instant(1_800_000_000_123),
        attempts: 2,
        lostLeases: 1,
        everyMs: 86_400_000,
        lastError: 'lease_lost',
        outcome: { half: '\ud800' },
        claim: 'job_2',
        cancelledRun: 'job_1',
        expiresAt: instant(5),
      }),
      ...JOB_STATUSES.map((status) => job({ status, dueAt: null })),
      signal({
        place: EVE_TODAY,
        version: 5,
        turns: [turnId(1), turnId(2)],
        position: 2 ** 40,
        isHistory: true,
        isPatternScanned: true,
        attempts: 3,
        error: 'bad_answer',
        change: 'chg_1' as ChangeId,
        createdAt: instant(-1),
        expiresAt: instant(7),
      }),
      ...SIGNAL_STATUSES.map((status) => signal({ status })),
    ]
    expect(await store.commit(rows.map((row) => put(row)))).toEqual(COMMITTED)
    for (const row of rows) {
      const table = tableOf(row)
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

  it('[ST28] lists places that hold only entries or turns, and counts them', async () => {
    const store = await open()
    await store.commit([put(entry({ place: SYSTEM })), put(turn({ place: EVE })), put(turn())])
    expect(await store.listPlaces()).toEqual([
      { owner: '@system', user: null, memories: 0, turns: 0 },
      { owner: 'ada', user: null, memories: 0, turns: 1 },
      { owner: 'ada', user: 'eve', memories: 0, turns: 1 },
    ])
    await store.commit([put(job({ place: SYSTEM })), put(signal({ place: EVE_TODAY }))])
    const { rows } = await store.getReport()
    expect(rows).toMatchObject({ memory: 0, entry: 1, turn: 2, job: 1, signal: 1 })
    expect(await store.listPlaces(owner('ada'))).toEqual([
      { owner: 'ada', user: null, memories: 0, turns: 1 },
      { owner: 'ada', user: 'eve', memories: 0, turns: 1 },
    ])
    expect(await store.listPlaces(owner('nobody'))).toEqual([])
  })

  describe.each([
    ['entry', entry, entryId],
    ['turn', turn, turnId],
    ['job', job, jobId],
    ['signal', signal, signalId],
  ] as const)('%s', (table, make, idOf) => {
    it('[ST29] holds every expectation', async () => {
      const store = await open()
      const row = make()
      const next = { ...row, version: 2 }
      const conflict = (reason: string) => ({ kind: 'conflict', table, id: row.id, reason })
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
      later: entry({ kind: 'receipt', at: instant(2_000) }),
      aboutBob: entry({ about: owner('bob') }),
      expired: entry({ kind: 'idempotency', expiresAt: instant(1_500) }),
      lasting: entry({ kind: 'idempotency', expiresAt: instant(1_501) }),
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
    expect(await found({ ids: [rows.key.id, rows.later.id] })).toEqual(['key', 'later'])
    expect(await found({ ids: [] })).toEqual([])
    expect(await found({ kinds: ['key'] })).toEqual(['key'])
    expect(await found({ kinds: ['key', 'receipt', 'setting'] })).toEqual(['key', 'later'])
    expect(await found({ kinds: [] })).toEqual([])
    expect(await found({ about: owner('bob') })).toEqual(['aboutBob'])
    expect(await found({ about: null })).toEqual(but('aboutBob'))
    expect(await found({ about: owner('eve') })).toEqual([])
    expect(await found({ atFrom: instant(2_000) })).toEqual(['later'])
    expect(await found({ atBefore: instant(2_000) })).toEqual(but('later'))
    expect(await found({ expiredBy: instant(1_500) })).toEqual(['expired'])
    expect(await found({ expiredBy: instant(1_501) })).toEqual(['expired', 'lasting'])
    expect(await found({ kinds: ['idempotency'], expiredBy: instant(1_500) })).toEqual(['expired'])
    expect(await found({ kinds: ['key'], about: owner('bob') })).toEqual([])
  })

  it('[ST30] finds jobs by id, kind, owner, status, due time and expiry', async () => {
    const store = await open()
    const rows = {
      due: job({ dueAt: instant(1_000) }),
      later: job({ dueAt: instant(2_000), kind: 'consolidate' }),
      bobs: job({ owner: owner('bob'), status: 'running', dueAt: instant(1_500) }),
      dead: job({ owner: owner('bob'), status: 'dead', dueAt: null }),
      done: job({ status: 'done', dueAt: null, expiresAt: instant(1_500) }),
    }
    await store.commit(Object.values(rows).map((row) => put(row)))
    await store.commit([put(job({ place: BOB, owner: owner('bob') }))])
    const names = Object.keys(rows) as (keyof typeof rows)[]
    const found = async (where: JobFilter) => {
      const { rows: listed } = await store.find('job', ADA, { where, limit: 100 })
      const ids = listed.map((row) => row.id)
      expect(ids).toEqual([...ids].sort().reverse())
      return names.filter((name) => ids.includes(rows[name].id))
    }
    expect(await found({})).toEqual(names)
    expect(await found({ ids: [rows.due.id, rows.dead.id] })).toEqual(['due', 'dead'])
    expect(await found({ ids: [] })).toEqual([])
    expect(await found({ kinds: ['consolidate'] })).toEqual(['later'])
    expect(await found({ kinds: ['consolidate', 'distill'] })).toEqual(names)
    expect(await found({ owner: owner('bob') })).toEqual(['bobs', 'dead'])
    expect(await found({ owner: null })).toEqual(['due', 'later', 'done'])
    expect(await found({ owner: owner('eve') })).toEqual([])
    expect(await found({ statuses: ['running', 'dead'] })).toEqual(['bobs', 'dead'])
    expect(await found({ statuses: [] })).toEqual([])
    expect(await found({ dueBefore: instant(2_000) })).toEqual(['due', 'bobs'])
    expect(await found({ dueFrom: instant(1_500) })).toEqual(['later', 'bobs'])
    expect(await found({ expiredBy: instant(1_499) })).toEqual([])
    expect(await found({ expiredBy: instant(1_500) })).toEqual(['done'])
    const both = { owner: owner('bob'), kinds: ['distill'], statuses: ['dead' as const] }
    expect(await found(both)).toEqual(['dead'])
  })

  it('[ST30] finds signals by id, status and expiry', async () => {
    const store = await open()
    const rows = {
      pending: signal(),
      dead: signal({ status: 'dead' }),
      processed: signal({ status: 'processed', expiresAt: instant(1_500) }),
    }
    await store.commit(Object.values(rows).map((row) => put(row)))
    const names = Object.keys(rows) as (keyof typeof rows)[]
    const found = async (where: SignalFilter) => {
      const { rows: listed } = await store.find('signal', ADA, { where, limit: 100 })
      return names.filter((name) => listed.some((row) => row.id === rows[name].id))
    }
    expect(await found({})).toEqual(names)
    expect(await found({ ids: [rows.dead.id] })).toEqual(['dead'])
    expect(await found({ ids: [] })).toEqual([])
    expect(await found({ statuses: ['pending'] })).toEqual(['pending'])
    expect(await found({ statuses: ['pending', 'dead'] })).toEqual(['pending', 'dead'])
    expect(await found({ statuses: [] })).toEqual([])
    expect(await found({ expiredBy: instant(1_499) })).toEqual([])
    expect(await found({ expiredBy: instant(1_500) })).toEqual(['processed'])
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
