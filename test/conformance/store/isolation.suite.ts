/** Isolation: a call sees and touches only what its scope covers. */
import { expect, it } from 'vitest'
import type { Place, Scope } from '../../../src/domain/scope.ts'
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
import { create, type OpenStore } from './store.suite.ts'

export function describeIsolation(open: OpenStore): void {
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
      const { hits: matched } = await store.searchText(scope, {
        text: 'secret',
        limit: 10,
        where: {},
      })
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
