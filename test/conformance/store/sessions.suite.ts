/** Which conversations there are. Part of the store's contract. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Scope } from '../../../src/domain/scope.ts'
import type { Turn } from '../../../src/domain/turn.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import type { Change, SessionSummary, Store } from '../../../src/storage/store.ts'
import { turn } from '../../fakes/entries.ts'
import { ADA, BOB, instant, owner, session, user } from '../../fakes/memories.ts'
import type { OpenStore } from './store.suite.ts'

const ALL_OF_ADA: Scope = { owner: owner('ada') }

const say = (row: Turn): Change => ({ op: 'put', table: 'turn', row, expect: 'absent' })

const said = (name: string | null, at: number, place = ADA) =>
  turn({ place: { ...place, session: name === null ? null : session(name) }, saidAt: instant(at) })

export function describeSessions(open: OpenStore): void {
  it('[LD1] lists conversations with their number of turns and times, newest first', async () => {
    const store = await open()
    const eve = { ...ADA, user: user('eve') }
    await store.commit(
      [said('old', 5), said('new', 30), said('new', 10), said('old', 7, eve), said(null, 99)].map(
        say,
      ),
    )
    await store.commit([say(said('theirs', 50, BOB))])
    const { rows, next } = await store.listSessions(ALL_OF_ADA, { limit: 9 })
    expect(next).toBeNull()
    expect(rows).toEqual([
      { place: { ...ADA, session: 'new' }, turns: 2, firstSaidAt: 10, lastSaidAt: 30 },
      { place: { ...eve, session: 'old' }, turns: 1, firstSaidAt: 7, lastSaidAt: 7 },
      { place: { ...ADA, session: 'old' }, turns: 1, firstSaidAt: 5, lastSaidAt: 5 },
    ])
    const old = await store.listSessions({ ...ALL_OF_ADA, session: session('old') }, { limit: 9 })
    expect(old.rows.map(({ place }) => place.user)).toEqual(['eve', ADA.user])
    const ofEve = { ...ALL_OF_ADA, user: user('eve') }
    expect((await store.listSessions(ofEve, { limit: 9 })).rows).toHaveLength(1)
    expect((await store.listSessions({ ...ADA, session: null }, { limit: 9 })).rows).toEqual([])
    expect((await store.listSessions({ owner: owner('nobody') }, { limit: 9 })).rows).toEqual([])
  })

  it('[LD1] pages through conversations, and refuses an invalid cursor', async () => {
    const store = await open()
    const names = ['a', 'b', 'ü', '日本', '\u0000odd.1', 'f', 'g']
    await store.commit(names.map((name) => say(said(name, 7))))
    const whole = await store.listSessions(ALL_OF_ADA, { limit: 99 })
    expect(new Set(whole.rows.map(({ place }) => place.session))).toEqual(new Set(names))
    expect(await inPages(store, ALL_OF_ADA, 2)).toEqual(whole.rows)
    for (const after of ['nonsense', '', '7']) {
      await expect(store.listSessions(ALL_OF_ADA, { limit: 2, after })).rejects.toMatchObject({
        code: 'invalid_input',
      })
    }
  })

  it('[LD1] agrees with the reference after random writes and removals', async () => {
    const place = fc.record({
      user: fc.constantFrom(null, 'eve', 'joe'),
      name: fc.constantFrom(null, 's1', 's2', 's3'),
      at: fc.integer({ min: -3, max: 3 }),
      isRemoved: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(place, { maxLength: 20 }), async (drawn) => {
        const [store, reference] = [await open(), createInMemoryStore()]
        const rows = drawn.map(({ user: who, name, at }) =>
          said(name, at, { ...ADA, user: who === null ? null : user(who) }),
        )
        const removals = rows
          .filter((_, index) => drawn[index]?.isRemoved === true)
          .map(
            ({ id, place: scope }): Change => ({
              op: 'remove',
              table: 'turn',
              scope,
              id,
              expect: 'any',
            }),
          )
        for (const each of [store, reference]) await each.commit([...rows.map(say), ...removals])
        const nobodys = { ...ALL_OF_ADA, user: null }
        for (const scope of [ALL_OF_ADA, nobodys, { ...ALL_OF_ADA, session: session('s2') }]) {
          const expected = await inPages(reference, scope, 2)
          expect(await inPages(store, scope, 2)).toEqual(expected)
        }
      }),
      { numRuns: 15 },
    )
  })
}

async function inPages(store: Store, scope: Scope, limit: number) {
  const rows: SessionSummary[] = []
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<Store['listSessions']>> = await store.listSessions(scope, {
      limit,
      ...(after === null ? {} : { after }),
    })
    rows.push(...page.rows)
    after = page.next
  } while (after !== null)
  return rows
}
