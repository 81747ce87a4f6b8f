/** The course of a session: what was learned before and after a memory. */
import { expect, it } from 'vitest'
import { ADA, memory, owner, session, user } from '../../fakes/memories.ts'
import { create, type OpenStore } from './store.suite.ts'

export function describeSurroundings(open: OpenStore): void {
  const all = { owner: ADA.owner }
  const today = { ...ADA, session: session('today') }

  it('[ST27] returns the neighbors of a memory in its session, nearest first', async () => {
    const store = await open()
    const rows = Array.from({ length: 6 }, () => memory({ place: today }))
    await store.commit(rows.map(create))
    const ids = rows.map((row) => row.id)
    const around = [...(await store.findNeighbors(all, ids, 2))].sort(([a], [b]) =>
      a < b ? -1 : 1,
    )
    expect(around.map(([id]) => id)).toEqual(ids)
    const reports = around.map(([, surroundings]) => surroundings)
    expect(reports[0]).toEqual({ session: 'today', before: [], after: [ids[1], ids[2]] })
    expect(reports[3]).toEqual({
      session: 'today',
      before: [ids[2], ids[1]],
      after: [ids[4], ids[5]],
    })
    expect(reports[5]).toEqual({ session: 'today', before: [ids[4], ids[3]], after: [] })
  })

  it('[ST27] keeps sessions, users and owners apart, and leaves out what has no session', async () => {
    const store = await open()
    const mine = memory({ place: today })
    const yesterday = memory({ place: { ...today, session: session('yesterday') } })
    const rows = [
      mine,
      memory({ place: { ...today, user: user('eve') } }),
      yesterday,
      memory({ place: { ...today, owner: owner('bob') } }),
      memory({ place: ADA }),
      memory({ place: today }),
    ]
    await store.commit(rows.map(create))
    const ids = rows.map((row) => row.id)
    const last = ids.at(-1)
    const around = await store.findNeighbors({ ...all, user: null }, ids, 5)
    expect([...around.keys()].sort()).toEqual([mine.id, yesterday.id, last])
    expect(around.get(mine.id)).toMatchObject({ before: [], after: [last] })
    expect(await store.findNeighbors({ owner: owner('nobody') }, ids, 5)).toEqual(new Map())
    expect(await store.findNeighbors(all, [], 5)).toEqual(new Map())
  })

  it('[ST44] returns the same neighbors with hits as on request', async () => {
    const store = await open()
    const places = ['today', 'yesterday', null].map((name) => ({
      ...ADA,
      session: name === null ? null : session(name),
    }))
    const { provenance: spoken } = memory({})
    const rows = Array.from({ length: 24 }, (_, number) =>
      memory({
        place: places[number % 3] ?? ADA,
        content: `Note ${'word '.repeat(1 + (number % 5))}`,
        provenance: { ...spoken, speaker: number % 2 === 0 ? 'Ada' : null },
      }),
    )
    await store.commit([...rows, memory({ place: today, status: 'disabled' })].map(create))
    const asked = { text: 'word', limit: 20, where: { statuses: ['active'] } } as const
    const plain = await store.searchText(all, asked)
    const { hits, ...rest } = await store.searchText(all, {
      ...asked,
      neighborRequest: { reach: 2, hits: 15 },
    })
    const withoutThem = hits.map(({ neighbors: _, speaker: __, ...hit }) => hit)
    expect({ ...rest, hits: withoutThem }).toEqual(plain)
    const ids = hits.map(({ id }) => id)
    const around = await store.findNeighbors(all, ids, 2)
    const speakers = new Map(rows.map(({ id, provenance }) => [id, provenance.speaker]))
    for (const { id, neighbors: surroundings, speaker } of hits) {
      if (surroundings !== undefined) expect(surroundings).toEqual(around.get(id) ?? null)
      if (speaker !== undefined) expect(speaker).toBe(speakers.get(id))
    }
    const reports = hits.map(({ neighbors: surroundings }) => surroundings !== undefined)
    expect(reports.lastIndexOf(true)).toBeLessThan(15)
  })
}
