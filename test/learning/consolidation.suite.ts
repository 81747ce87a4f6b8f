/** What consolidation promises, run over every store that can be opened here. */
import { describe, expect, it } from 'vitest'
import type { Memory } from '../../src/domain/memory.ts'
import { createPendingSignal, type Signal } from '../../src/domain/signal.ts'
import { consolidate, listReports } from '../../src/learning/consolidation/consolidator.ts'
import { erase, restore } from '../../src/memory/memory-editor.ts'
import { failingAt, interruptedBeforeCommit } from '../fakes/faulty-store.ts'
import { BOB, memory, user } from '../fakes/memories.ts'
import {
  ADA,
  DAY,
  furnish,
  HOUR,
  LONGER,
  MEETING,
  type OpenStore,
  openOwner,
  ownerOn,
} from './consolidation-support.ts'

export function describeConsolidation(name: string, open: OpenStore): void {
  describe(`${name}: steps`, () => describeSteps(open))
  describe(`${name}: undoing`, () => describeUndoing(open))
  describe(`${name}: looking first, and again`, () => describeRepeating(open))
  describe(`${name}: clocks`, () => describeClocks(open))
  describe(`${name}: faults`, () => describeFaults(open))
}

function describeSteps(open: OpenStore): void {
  it('[CN3] merges what says the same into what says more', async () => {
    const owner = await openOwner(open)
    const { short, long } = await furnish(owner)
    const report = await owner.run()
    expect(report).toMatchObject({ merged: 1 })
    expect(await owner.get(long)).toMatchObject({ content: LONGER, sourceCount: 3, version: 2 })
    expect(await owner.get(short)).toMatchObject({ status: 'superseded', supersededBy: long.id })
  })

  it('[CN2] merges nothing that contradicts, is of another user or is called by another name', async () => {
    const owner = await openOwner(open)
    const { provenance } = memory()
    await owner.put(
      owner.fact(MEETING, 1, { key: 'a', provenance }),
      owner.fact(MEETING, 1, { key: 'b', provenance }),
      owner.fact(MEETING, 1, { place: { ...ADA, user: user('eve'), session: null } }),
      owner.fact(MEETING.replace('meets', 'never meets'), 1),
      owner.fact(MEETING.replace('third', '3rd'), 1),
      owner.fact(MEETING, 1, { place: BOB }),
    )
    expect(await owner.run()).toMatchObject({ memories: 5, merged: 0 })
  })

  it('[CN3] many restatements become one, in one run', async () => {
    const owner = await openOwner(open)
    const rows = Array.from({ length: 40 }, (_, n) =>
      owner.fact(n % 2 === 0 ? MEETING : LONGER, 40 - n),
    )
    await owner.put(...rows)
    expect(await owner.run()).toMatchObject({ merged: 39 })
    expect(await owner.active()).toMatchObject([{ content: LONGER, sourceCount: 40 }])
    expect(await owner.run()).toMatchObject({ memories: 1, merged: 0 })
  })

  it('[CN5] promotes what recent conversations mention, once', async () => {
    const owner = await openOwner(open)
    const { climbing } = await furnish(owner)
    expect(await owner.run()).toMatchObject({ promoted: 1 })
    expect(await owner.get(climbing)).toMatchObject({ salience: 0.55 })
    for (let hour = 0; hour < 48; hour++) {
      owner.clock.advance(HOUR)
      expect(await owner.run()).toMatchObject({ promoted: 0 })
    }
    await owner.put(owner.episode('Ada bought a rope for climbing in the Dolomites', 0))
    expect(await owner.run()).toMatchObject({ promoted: 1 })
    expect(await owner.get(climbing)).toMatchObject({ salience: 0.6 })
  })

  it('[CN6] puts what has faded into the bin', async () => {
    const owner = await openOwner(open)
    const { faded } = await furnish(owner)
    expect(await owner.run()).toMatchObject({ evicted: 1, salienceDecayed: 2 })
    expect(await owner.get(faded)).toMatchObject({ status: 'forgotten', salience: 0.4 })
    // Nobody wished it away: it is welcome when it is said again.
    const { rows } = await owner.store.find('tombstone', ADA, { where: {}, limit: 9 })
    expect(rows).toEqual([])
  })

  it('[CN6] and, where a time is set, what was not used for so long', async () => {
    const owner = await openOwner(open)
    const [idle, used] = await owner.put(
      owner.fact('Ada likes the sea', 20, { salience: 1 }),
      owner.fact('Ada likes the hills', 20, { salience: 1, lastUsedAt: owner.ago(1) }),
    )
    expect(await owner.run()).toMatchObject({ expired: 0 })
    expect(await owner.run({ settings: { 'retention.unusedDays': 20 } })).toMatchObject({
      expired: 1,
    })
    expect((await owner.active()).map(({ id }) => id)).toEqual([used?.id])
    expect(await owner.get(idle ?? { id: '' as never })).toMatchObject({ status: 'forgotten' })
  })

  it('[CN1] fades no faster when it is looked at more often', async () => {
    const [daily, once] = [await openOwner(open), await openOwner(open)]
    for (const owner of [daily, once])
      await owner.put(owner.fact('Ada plays chess', 0, { salience: 0.8 }))
    for (let day = 1; day < 60; day++) {
      daily.clock.advance(DAY)
      expect(await daily.run()).toMatchObject({ evicted: 0 })
    }
    expect(await daily.active()).toMatchObject([{ salience: 0.8, version: 1 }])
    daily.clock.advance(1.1 * DAY)
    once.clock.advance(60.1 * DAY)
    expect(await daily.run()).toMatchObject({ evicted: 1 })
    expect(await once.run()).toMatchObject({ evicted: 1 })
  })

  it('[CN7] puts episodes past their retention into the bin', async () => {
    const owner = await openOwner(open)
    const { old } = await furnish(owner)
    const never = await owner.run({ settings: { 'retention.episodeDays': 0 } })
    expect(never).toMatchObject({ episodesDeleted: 0 })
    expect(await owner.run()).toMatchObject({ episodesDeleted: 1 })
    expect(await owner.get(old)).toMatchObject({ status: 'forgotten' })
  })

  it('[CN8] never evicts what a person or a program wrote, imported, keyed or rated important', async () => {
    const owner = await openOwner(open)
    const faded = { salience: 0, updatedAt: owner.ago(900) }
    const { provenance } = owner.fact('', 0)
    const rows = await owner.put(
      owner.fact('Ada wrote this by hand', 900, {
        ...faded,
        provenance: { ...provenance, extractor: null },
      }),
      owner.fact('Ada imported this list', 900, { ...faded, trust: 'import' }),
      owner.fact('Ada named this memory', 900, {
        ...faded,
        key: 'named',
        provenance: { ...provenance, extractor: null },
      }),
      owner.fact('Ada rated this important', 900, { ...faded, importance: 7 }),
    )
    await owner.put(owner.fact('Ada borrowed a ladder', 900, { ...faded, importance: 6 }))
    const report = await owner.run({ settings: { 'retention.unusedDays': 30 } })
    expect(report).toMatchObject({ evicted: 0, expired: 1 })
    expect((await owner.active()).map(({ id }) => id).sort()).toEqual(
      rows.map(({ id }) => id).sort(),
    )
  })

  it('[CN7] [TL1] keeps episodes and turns forever by default', async () => {
    const owner = await openOwner(open)
    const { spoken, kept } = await furnish(owner)
    const ports = owner.portsOn(owner.store, {})
    expect(await consolidate(ports, ADA)).toMatchObject({ episodesDeleted: 0, turnsDeleted: 0 })
    const { rows } = await owner.store.find('turn', ADA, { where: {}, limit: 9 })
    expect(rows.map(({ id }) => id).sort()).toEqual([spoken.id, kept.id].sort())
  })

  it('[TL2] removes turns past their retention with their documents, and no episode with them', async () => {
    const owner = await openOwner(open)
    const { old, spoken, kept } = await furnish(owner)
    const settings = { 'retention.episodeDays': 0, 'retention.turnDays': 365 }
    const report = await owner.run({ settings })
    expect(report).toMatchObject({ episodesDeleted: 0, turnsDeleted: 1 })
    expect(report.actions.find(({ kind }) => kind === 'delete-turns')).toMatchObject({
      reason: '1 turn was said more than 365 days ago.',
    })
    expect(await owner.get(old)).toMatchObject({ status: 'active' })
    const where = { types: ['turn'] } as const
    const { rows } = await owner.store.findDocuments(ADA, { where, limit: 9 })
    expect(rows.map(({ id }) => id)).toEqual([kept.id])
    const { hits } = await owner.store.searchText(ADA, { text: spoken.content, limit: 9, where })
    expect(hits.map(({ id }) => id)).not.toContain(spoken.id)
  })

  it('[TL3] what waits to be learned from stays, however old, and what was put aside does', async () => {
    const owner = await openOwner(open)
    const turns = {
      pending: await owner.said(800, 'pending'),
      dead: await owner.said(800, 'dead'),
      processed: await owner.said(800, 'processed'),
    }
    for (const [status, { id, place, saidAt }] of Object.entries(turns)) {
      const signal = createPendingSignal(place, [id], saidAt, null)
      const row = { ...signal, status: status as Signal['status'] }
      await owner.store.commit([{ op: 'put', table: 'signal', row, expect: 'absent' }])
    }
    const stays = async () => {
      const { rows } = await owner.store.find('turn', ADA, { where: {}, limit: 9 })
      return rows.map(({ place }) => place.session).sort()
    }
    expect(await owner.run({ dryRun: true })).toMatchObject({ turnsDeleted: 1 })
    expect(await owner.run()).toMatchObject({ turnsDeleted: 1 })
    expect(await stays()).toEqual(['dead', 'pending'])
  })

  it('[TL3] a turn that changes during the run stays until the next one', async () => {
    const owner = await openOwner(open)
    const said = await owner.said(800, 'old')
    const on = interruptedBeforeCommit(owner.store, async () => {
      const row = { ...said, content: 'Something else.', version: 2 }
      await owner.store.commit([{ op: 'put', table: 'turn', row, expect: { version: 1 } }])
    })
    expect(await owner.run({ on })).toMatchObject({ turnsDeleted: 0 })
    expect(await owner.store.get('turn', ADA, said.id)).toMatchObject({ version: 2 })
  })

  it('[CN7] an episode counts from its creation, and a turn from when it was said', async () => {
    const owner = await openOwner(open)
    const place = { ...ADA, user: null, session: 'imported' as never } // a name
    await owner.put(
      owner.episode('Ada talked about sailing', 5, { place, validFrom: owner.ago(800) }),
    )
    const said = await owner.said(800, 'imported')
    expect(await owner.run()).toMatchObject({ episodesDeleted: 0, turnsDeleted: 1 })
    expect(await owner.store.get('turn', ADA, said.id)).toBeNull()
  })

  it('[CN8] leaves alone what is pinned or says who somebody is', async () => {
    const owner = await openOwner(open)
    const { pinned, who } = await furnish(owner)
    await owner.put(owner.fact(pinned.content, 1), owner.fact(who.content, 1))
    await owner.run({ settings: { 'retention.unusedDays': 1 } })
    expect(await owner.get(pinned)).toEqual(pinned)
    expect(await owner.get(who)).toEqual(who)
  })

  it('[CN14] removes entries past their time, and what was in the bin for long enough', async () => {
    const owner = await openOwner(open)
    await furnish(owner)
    expect(await owner.run()).toMatchObject({
      expiredEntriesDeleted: 1,
      trashPurged: 0,
      evicted: 1,
    })
    owner.clock.advance(29 * DAY)
    expect(await owner.run()).toMatchObject({ expiredEntriesDeleted: 0, trashPurged: 0 })
    owner.clock.advance(DAY)
    const { actions } = await owner.run({ dryRun: true })
    expect(actions.find(({ kind }) => kind === 'empty-trash')?.memories).toHaveLength(2)
    expect(await owner.run()).toMatchObject({ trashPurged: 2 })
  })

  it('[CN14] keeps the last thirty reports, without any text', async () => {
    const owner = await openOwner(open)
    await furnish(owner)
    const first = await owner.run()
    const ports = owner.portsOn(owner.store, {})
    expect(await listReports(ports, ADA)).toMatchObject([first])
    expect(JSON.stringify(first)).not.toMatch(/ladder|Berlin|tax|climbing/)
    for (let n = 0; n < 34; n++) {
      owner.clock.advance(HOUR)
      await owner.run()
    }
    const reports = await listReports(ports, ADA)
    expect(reports).toHaveLength(30)
    expect(reports.map(({ id }) => id)).not.toContain(first.id)
    expect(await listReports(ports, { owner: BOB.owner })).toEqual([])
  })

  it('[CN15] lets others have their turn', async () => {
    const owner = await openOwner(open)
    const rows = Array.from({ length: 600 }, (_, n) => owner.fact(`Note ${n} of ${n * 7}`, 90))
    await owner.put(...rows)
    let turns = 0
    let isDone = false
    const others = () => {
      turns++
      if (!isDone) setImmediate(others)
    }
    setImmediate(others)
    expect(await owner.run()).toMatchObject({ evicted: 600 })
    isDone = true
    expect(turns).toBeGreaterThan(60)
  })
}

function describeUndoing(open: OpenStore): void {
  it('[CN7] an episode that others became part of is kept as long as the youngest of them', async () => {
    const owner = await openOwner(open)
    const placed = (session: string) => ({
      place: { ...ADA, user: null, session: session as never }, // a name
    })
    const [old, middle, young] = await owner.put(
      owner.episode(LONGER, 360, placed('old')),
      owner.episode(LONGER, 200, placed('middle')),
      owner.episode(LONGER, 20, placed('young')),
    )
    expect(await owner.run()).toMatchObject({ merged: 2 })
    owner.clock.advance(20 * DAY)
    // The first of them alone would be past its time by now, but it stands for the others.
    expect(await owner.run()).toMatchObject({ episodesDeleted: 0 })
    expect(await owner.get(old as Memory)).toMatchObject({ status: 'active' })
    expect(await owner.get(middle as Memory)).toMatchObject({ supersededBy: old?.id })
    expect(young?.id).toBeDefined()
    for (let weeks = 0; weeks < 52; weeks++) {
      owner.clock.advance(7 * DAY)
      await owner.run()
    }
    expect(await owner.get(old as Memory)).not.toMatchObject({ status: 'active' })
  })

  it('[CN7] a digest that is past its time takes no younger one along', async () => {
    const owner = await openOwner(open)
    const [old, young] = await owner.put(owner.episode(LONGER, 370), owner.episode(LONGER, 2))
    expect(await owner.run()).toMatchObject({ merged: 0, episodesDeleted: 1 })
    expect(await owner.get(old as Memory)).toMatchObject({ status: 'forgotten' })
    expect(await owner.get(young as Memory)).toMatchObject({ status: 'active' })
  })

  it('[CN3] a merge can be undone, and is not done again', async () => {
    const owner = await openOwner(open)
    const { short, long } = await furnish(owner)
    const { actions } = await owner.run()
    const merge = actions.find(({ kind }) => kind === 'merge')
    expect(merge?.memories).toEqual([long.id, short.id])
    await owner.undo(merge?.change)
    expect(await owner.get(short)).toMatchObject({ status: 'active', supersededBy: null })
    expect(await owner.get(long)).toMatchObject({ sourceCount: 1, status: 'active' })
    expect(await owner.run()).toMatchObject({ merged: 0 })
  })

  it('[CN6] so can all evictions of a run, and it takes time until they come again', async () => {
    const owner = await openOwner(open)
    const rows = Array.from({ length: 60 }, (_, n) => owner.fact(`Note ${n} of ${n * 7}`, 90))
    await owner.put(...rows)
    const { actions, evicted } = await owner.run()
    expect(evicted).toBe(60)
    const changes = new Set(actions.map(({ change }) => change))
    expect(changes.size).toBe(1)
    await owner.undo([...changes][0])
    expect(await owner.active()).toHaveLength(60)
    expect(await owner.run()).toMatchObject({ evicted: 0 })
  })

  it('[CN17] reports tell what was undone, by whatever way, and what no longer can be', async () => {
    const owner = await openOwner(open)
    const { faded } = await furnish(owner)
    const { actions } = await owner.run()
    const ports = owner.portsOn(owner.store, {})
    const undoOf = async (kind: string) => {
      const [report] = await listReports(ports, ADA)
      return report?.actions.find((action) => action.kind === kind)?.undo
    }
    expect([
      await undoOf('merge'),
      await undoOf('evict'),
      await undoOf('delete-expired-entries'),
    ]).toEqual(['possible', 'possible', 'impossible'])
    await owner.undo(actions.find(({ kind }) => kind === 'merge')?.change)
    expect([await undoOf('merge'), await undoOf('evict')]).toEqual(['done', 'possible'])
    await restore(ports, ADA, faded.id)
    expect(await undoOf('evict')).toBe('done')
    await erase(ports, ADA, faded.id)
    expect(await undoOf('evict')).toBe('impossible')
  })

  it('[CN5] so can a promotion', async () => {
    const owner = await openOwner(open)
    const { climbing } = await furnish(owner)
    const { actions } = await owner.run()
    await owner.undo(actions.find(({ kind }) => kind === 'promote')?.change)
    expect(await owner.get(climbing)).toMatchObject({ salience: 0.5, metadata: {} })
  })
}

function describeRepeating(open: OpenStore): void {
  it('[CN9] a dry run changes nothing and tells what a run does, with reasons', async () => {
    const owner = await openOwner(open)
    await furnish(owner)
    const before = await owner.state()
    const dry = await owner.run({ dryRun: true })
    expect(await owner.state()).toEqual(before)
    expect(await listReports(owner.portsOn(owner.store, {}), ADA)).toEqual([])
    const real = await owner.run()
    const told = ({ actions }: typeof dry) =>
      actions.map(({ kind, memories, reason: because }) => ({ kind, memories, because }))
    expect(told(dry)).toEqual(told(real))
    expect(told(dry).map(({ kind }) => kind)).toEqual([
      ...[
        'merge',
        'promote',
        'evict',
        'delete-episode',
        'delete-turns',
        'delete-expired-entries',
        'update-narrative',
      ],
    ])
    expect(dry.actions.every(({ reason: because }) => /^[A-Z0-9].*\.$/.test(because))).toBe(true)
    const { id: _, finishedAt: __, isDryRun: ___, actions: ____, ...counts } = dry
    expect(real).toMatchObject(counts)
  })

  it('[CN10] running it again changes nothing more', async () => {
    const owner = await openOwner(open)
    await furnish(owner)
    await owner.run()
    const after = await owner.state()
    expect(await owner.run()).toMatchObject({ actionsTotal: 0 })
    expect(await owner.state()).toEqual(after)
  })
}

function describeClocks(open: OpenStore): void {
  it('[CN12] a clock that is set back lets nothing go', async () => {
    const owner = await openOwner(open)
    await furnish(owner)
    await owner.run()
    const after = await owner.state()
    owner.clock.advance(-3_000 * DAY)
    expect(await owner.run()).toMatchObject({ actionsTotal: 0 })
    expect(await owner.state()).toEqual(after)
  })

  it('[CN12] one that leaps ahead removes nothing for good, and what faded can be brought back', async () => {
    const owner = await openOwner(open)
    const { kept, climbing } = await furnish(owner)
    await owner.run()
    owner.clock.advance(5_000 * DAY)
    const leapt = await owner.run()
    expect(leapt).toMatchObject({
      isPurgeSkipped: true,
      turnsDeleted: 0,
      expiredEntriesDeleted: 0,
      trashPurged: 0,
    })
    owner.clock.advance(-5_000 * DAY)
    expect(await owner.run()).toMatchObject({
      isPurgeSkipped: false,
      turnsDeleted: 0,
      trashPurged: 0,
    })
    expect(await owner.store.get('turn', ADA, kept.id)).toEqual(kept)
    await owner.undo(leapt.actions.find(({ kind }) => kind === 'evict')?.change)
    expect(await owner.get(climbing)).toMatchObject({ status: 'active' })
  })

  it('[CN12] time that has really passed is believed by the next run', async () => {
    const owner = await openOwner(open)
    const { kept } = await furnish(owner)
    await owner.run()
    owner.clock.advance(400 * DAY)
    await owner.run()
    owner.clock.advance(DAY)
    expect(await owner.run()).toMatchObject({ isPurgeSkipped: false, turnsDeleted: 1 })
    expect(await owner.store.get('turn', ADA, kept.id)).toBeNull()
  })
}

function describeFaults(open: OpenStore): void {
  it('[CN11] killed at any call, it leaves whole changes, and the next run ends where one would', async () => {
    const whole = await openOwner(open)
    const template = await furnish(whole)
    const rows = await whole.state()
    const counted = failingAt(whole.store, { call: Number.POSITIVE_INFINITY, when: 'before' })
    await whole.run({ on: counted })
    const expected = await whole.state()
    expect(counted.calls()).toBeGreaterThan(15)
    expect(template.short.status).toBe('active')
    for (let call = 1; call <= counted.calls(); call++) {
      for (const when of ['before', 'after'] as const) {
        const owner = ownerOn(await open())
        await refill(owner, rows)
        await expect(owner.run({ on: failingAt(owner.store, { call, when }) })).rejects.toThrow()
        await owner.run()
        expect(await owner.state()).toEqual(expected)
        await owner.store.close()
      }
    }
  })

  it('[CN11] can be stopped, and goes on the next time', async () => {
    const owner = await openOwner(open)
    await furnish(owner)
    const stop = new AbortController()
    const steps: string[] = []
    const onProgress = ({ step }: { readonly step: string }) => {
      steps.push(step)
      if (step === 'promote') stop.abort()
    }
    const stopped = owner.run({ signal: stop.signal, onProgress })
    await expect(stopped).rejects.toMatchObject({ code: 'cancelled' })
    expect(steps.slice(0, 1)).toEqual(['read'])
    expect(await listReports(owner.portsOn(owner.store, {}), ADA)).toEqual([])
    expect(await owner.run()).toMatchObject({ merged: 0, promoted: 1, evicted: 1 })
  })

  it('[CN13] what is used or changed meanwhile is decided again', async () => {
    const owner = await openOwner(open)
    const [faded] = await owner.put(owner.fact('Ada once borrowed a ladder', 50, { salience: 0.4 }))
    if (faded === undefined) throw new Error('It was just put.')
    const used = interruptedBeforeCommit(owner.store, async () => {
      const row = { ...faded, pinned: true, version: 2 }
      await owner.store.commit([{ op: 'put', table: 'memory', row, expect: { version: 1 } }])
    })
    expect(await owner.run({ on: used })).toMatchObject({ evicted: 0 })
    expect(await owner.get(faded)).toMatchObject({ status: 'active', pinned: true })
  })
}

async function refill(
  owner: ReturnType<typeof ownerOn>,
  { memories, turns, entries }: Awaited<ReturnType<ReturnType<typeof ownerOn>['state']>>,
): Promise<void> {
  await owner.put(...memories.map((row) => ({ ...row, version: 1, change: 'chg_0' as never }))) // made up
  await owner.store.commit([
    ...turns.map((row) => ({ op: 'put', table: 'turn', row, expect: 'absent' }) as const),
    ...entries.map((row) => ({ op: 'put', table: 'entry', row, expect: 'absent' }) as const),
  ])
}
