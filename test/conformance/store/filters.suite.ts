/** Filters and pages. */
import { expect, it } from 'vitest'
import type { MemoryFilter } from '../../../src/storage/store.ts'
import { computeFingerprint } from '../../../src/text/fingerprint.ts'
import { ADA, changeId, instant, memory, revision } from '../../fakes/memories.ts'
import { create, type OpenStore } from './store.suite.ts'

export function describeFilters(open: OpenStore): void {
  it('[ST8] applies every filter, in lists and in keyword search', async () => {
    const store = await open()
    const base = { content: 'needle' }
    const rows = {
      plain: memory(base),
      keyed: memory({ ...base, key: 'k' }),
      disabled: memory({ ...base, status: 'disabled' }),
      episodic: memory({ ...base, type: 'episodic' }),
      preference: memory({ ...base, category: 'preference' }),
      suspect: memory({ ...base, trust: 'suspect' }),
      pinned: memory({ ...base, pinned: true }),
      expired: memory({ ...base, expiresAt: instant(2_000) }),
      over: memory({ ...base, validUntil: instant(2_000) }),
      old: memory({ ...base, createdAt: instant(10) }),
      changed: memory({ ...base, change: changeId('special') }),
      important: memory({ ...base, importance: 9 }),
      other: memory({ content: 'Needle, but different' }),
    }
    await store.commit(Object.values(rows).map(create))
    const names = Object.keys(rows) as (keyof typeof rows)[]
    const found = async (where: MemoryFilter) => {
      const listed = await store.find('memory', ADA, { where, limit: 100 })
      const { hits: matched } = await store.searchText(ADA, { text: 'needle', limit: 100, where })
      const ids = listed.rows.map((row) => row.id)
      expect(new Set(matched.map((hit) => hit.id))).toEqual(new Set(ids))
      return names.filter((name) => ids.includes(rows[name].id))
    }
    const but = (...left: string[]) => names.filter((name) => !left.includes(name))
    expect(await found({})).toEqual(names)
    expect(await found({ ids: [rows.old.id, rows.plain.id] })).toEqual(['plain', 'old'])
    expect(await found({ ids: [] })).toEqual([])
    expect(await found({ key: 'k' })).toEqual(['keyed'])
    expect(await found({ fingerprint: computeFingerprint(' NEEDLE. ') })).toEqual(but('other'))
    expect(await found({ statuses: ['active'] })).toEqual(but('disabled'))
    expect(await found({ statuses: ['disabled', 'forgotten'] })).toEqual(['disabled'])
    expect(await found({ statuses: [] })).toEqual([])
    expect(await found({ types: ['episodic'] })).toEqual(['episodic'])
    expect(await found({ categories: ['preference', 'event'] })).toEqual(['preference'])
    expect(await found({ trusts: ['suspect'] })).toEqual(['suspect'])
    expect(await found({ pinned: true })).toEqual(['pinned'])
    expect(await found({ change: changeId('special') })).toEqual(['changed'])
    expect(await found({ validAt: instant(2_000) })).toEqual(but('expired', 'over'))
    expect(await found({ validAt: instant(1_999) })).toEqual(names)
    expect(await found({ expiredBy: instant(2_000) })).toEqual(['expired'])
    expect(await found({ createdFrom: instant(1_000) })).toEqual(but('old'))
    expect(await found({ createdBefore: instant(1_000) })).toEqual(['old'])
    expect(await found({ importanceMin: 9 })).toEqual(['important'])
    expect(await found({ importanceMin: 10 })).toEqual([])
    expect(await found({ types: ['episodic'], pinned: true })).toEqual([])
  })

  it('[SR1] filters by the source of a memory, with any text, and by conflicts', async () => {
    const store = await open()
    const source = (text: string, speaker: string | null = null) => ({
      ...memory().provenance,
      ...{ source: text, speaker },
    })
    // What looks like the field inside of another, and characters that databases and JSON write in other ways.
    const odd = ['a"b\\c', 'nul\0', 'half \ud800', '\ue0000000', "it's", 'back\\', 'naïve 猫']
    const written = [
      memory({ content: 'needle', provenance: source('cli', '"source":"api"') }),
      memory({ content: 'needle', provenance: source('api', 'x\\"source":"cli"') }),
      ...odd.map((text) => memory({ content: 'needle', provenance: source(text) })),
    ]
    const [first] = written
    const disputed = memory({ content: 'needle', conflictsWith: first?.id ?? null })
    await store.commit([...written, disputed].map(create))
    const found = async (where: MemoryFilter) => {
      const { rows } = await store.find('memory', ADA, { where, limit: 100, order: 'oldest' })
      const { hits } = await store.searchText(ADA, { text: 'needle', limit: 100, where })
      expect(new Set(hits.map(({ id }) => id))).toEqual(new Set(rows.map(({ id }) => id)))
      expect((await store.countMemories(ADA, where)).total).toBe(rows.length)
      return rows.map(({ id }) => id)
    }
    for (const row of written) {
      expect(await found({ sources: [row.provenance.source] })).toEqual([row.id])
    }
    expect(await found({ sources: odd })).toEqual(written.slice(2).map(({ id }) => id))
    expect(await found({ sources: ['CLI', 'a'] })).toEqual([])
    expect(await found({ sources: [] })).toEqual([])
    expect(await found({ hasConflict: true })).toEqual([disputed.id])
    expect(await found({ hasConflict: false })).toEqual(written.map(({ id }) => id))
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
