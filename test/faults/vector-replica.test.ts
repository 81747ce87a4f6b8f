/** A mirror that fails, hangs, falls behind, loses everything and comes back: no request fails, and nothing is lost. */
import { describe, expect, it, vi } from 'vitest'
import type { Memory } from '../../src/domain/memory.ts'
import { createReplicationListener } from '../../src/engine/instrumentation.ts'
import { ADA, BOB, instant, session } from '../fakes/memories.ts'
import { KeptTelemetry } from '../fakes/telemetry.ts'
import { unitVector } from '../fakes/vectors.ts'
import {
  ALL,
  ids,
  MANY,
  openTiered,
  openTwo,
  SPACE,
  TieredStore,
} from './vector-replica-support.ts'

describe('failures', () => {
  it.each(['unavailable', 'hangs'] as const)(
    '[VT4] one that %s fails no request: the index answers, and the state reports it',
    async (fault) => {
      const opened = await openTiered()
      opened.faulty.fail(fault)
      await opened.expectSame()
      expect(opened.outcomes).toEqual(['failed', 'inactive', 'inactive'])
      const { state, reason: because, nextRetryAt: nextTryAt, since } = opened.tiers.status()
      expect([state, typeof because]).toEqual(['down', 'string'])
      expect(nextTryAt).toBeGreaterThan(since)
      await opened.remember(7, 2)
      await opened.expectSame()
      opened.faulty.heal()
      await opened.tryAgain()
      expect(opened.states.slice(-3)).toEqual(['down', 'recovering', 'active'])
      await opened.expectWhole()
    },
  )

  it('[VT13] reports every change of state and the source of each search result', async () => {
    const opened = new TieredStore()
    const telemetry = new KeptTelemetry()
    opened.tiers.subscribe(createReplicationListener(telemetry))
    await opened.remember(MANY, 1)
    await opened.tiers.settle()
    await opened.search()
    opened.faulty.fail('unavailable')
    await opened.search()
    await opened.search()
    const reports = telemetry.logged.map(({ level, fields: { state } }) => `${level} ${state}`)
    expect(reports).toEqual(['info checking', 'info backfilling', 'info active', 'warn down'])
    const counted = (backend: string, outcome: string) =>
      telemetry.counted('recollect_vector_searches_total', { backend, outcome })
    expect(counted('qdrant', 'answered')).toBe(1)
    expect(counted('primary', 'failed')).toBe(1)
    expect(counted('primary', 'inactive')).toBe(1)
    expect(opened.tiered.vectors.report()).toMatchObject({
      replicaBackend: 'qdrant',
      replicaState: 'down',
    })
  })

  it('[VT4] is tried by itself, and more seldom each time', async () => {
    const opened = await openTiered()
    opened.faulty.fail('unavailable')
    await opened.search()
    const pauses: number[] = []
    for (let round = 0; round < 9; round++) {
      await opened.tiers.settle()
      const { nextRetryAt: nextTryAt } = opened.tiers.status()
      pauses.push((nextTryAt ?? 0) - opened.clock.now())
      opened.clock.advance(pauses.at(-1) ?? 0)
    }
    expect(pauses.slice(0, 3)).toEqual([1_000, 2_000, 4_000])
    expect(pauses.at(-1)).toBe(60_000)
    opened.faulty.heal()
    opened.timers.pass(opened.timers.nextMs ?? 0)
    await opened.tiers.settle()
    await opened.expectWhole()
  })

  it('[VT5] a write that the replica rejects fails no caller, and is repeated', async () => {
    const opened = await openTiered()
    opened.faulty.fail('unavailable', ['upsert', 'remove'])
    const rows = await opened.remember(5, 2)
    await opened.tiers.settle()
    expect(opened.states.slice(-2)).toEqual(['lagging', 'down'])
    expect(opened.tiers.status().pendingMemories).toBe(5)
    expect(ids(await nearestTo(opened, rows[0]))).toContain(rows[0]?.id)
    opened.faulty.heal()
    await opened.tryAgain()
    expect(opened.tiers.status()).toMatchObject({ state: 'active', pendingMemories: 0 })
    await opened.expectWhole()
  })

  it('[VT5] a lost answer to a write leaves nothing twice', async () => {
    const opened = await openTiered()
    opened.faulty.fail('lost', ['upsert'])
    await opened.remember(5, 2)
    await opened.tiers.settle()
    expect(opened.tiers.status().state).toBe('down')
    opened.faulty.heal()
    await opened.tryAgain()
    await opened.expectWhole()
  })

  it('[VT5] changes beyond the queue are found by comparison', async () => {
    const opened = await openTiered({ lagMax: 10 })
    opened.faulty.fail('unavailable')
    await opened.search()
    await opened.remember(40, 2)
    expect(opened.tiers.status().pendingMemories).toBeNull()
    opened.faulty.heal()
    await opened.tryAgain()
    expect(opened.tiers.status()).toMatchObject({ state: 'active', pendingMemories: 0 })
    await opened.expectWhole()
  })

  it('[VT5] too many changes at once delay an active replica but do not falsify it', async () => {
    const opened = await openTiered({ lagMax: 10 })
    await opened.remember(40, 2)
    await opened.expectSame()
    expect(new Set(opened.outcomes)).toEqual(new Set(['stale']))
    await opened.tiers.settle()
    expect(opened.states.slice(-2)).toEqual(['lagging', 'active'])
    await opened.expectWhole()
  })

  it('[VT6] fills a mirror again whose vectors were deleted underneath', async () => {
    const opened = await openTiered()
    await opened.faulty.lose(SPACE)
    await opened.expectSame()
    expect(opened.outcomes).toEqual(['too_few_hits', 'too_few_hits', 'too_few_hits'])
    await opened.tiers.settle()
    expect(opened.states.slice(-2)).toEqual(['backfilling', 'active'])
    await opened.expectWhole()
  })

  it('[VT6] does not count everything whenever a filter lets nothing through', async () => {
    const opened = await openTiered()
    const counting = vi.spyOn(opened.embedded.vectors, 'spaces')
    for (let search = 0; search < 5; search++) {
      expect(await opened.search({ types: ['procedural'] })).toEqual([])
      await opened.tiers.settle()
    }
    expect(counting).not.toHaveBeenCalled()
  })

  it('[VT6] makes what was deleted again where nothing works without', async () => {
    const opened = await openTiered()
    await opened.faulty.lose(SPACE, 'strictly')
    await opened.expectSame()
    expect(opened.outcomes).toEqual(['failed', 'inactive', 'inactive'])
    await opened.tryAgain()
    expect(opened.states.slice(-4)).toEqual(['down', 'recovering', 'backfilling', 'active'])
    await opened.expectWhole()
  })

  it('[VT6] finds out that a mirror came back empty, with changes waiting for it', async () => {
    const opened = await openTiered()
    opened.faulty.fail('unavailable')
    await opened.search()
    await opened.remember(3, 2)
    await opened.faulty.lose(SPACE)
    opened.faulty.heal()
    await opened.tryAgain()
    expect(opened.states.slice(-3)).toEqual(['recovering', 'backfilling', 'active'])
    await opened.expectWhole()
  })

  it('[VT6] looks from time to time, and finds what another process wrote or removed', async () => {
    const opened = await openTiered()
    const elsewhere = new TieredStore(
      { configuration: async () => ({ kind: 'none' }) },
      opened.embedded,
    )
    const rows = await elsewhere.remember(5, 2)
    opened.timers.pass(15_000)
    await opened.tiers.settle()
    opened.timers.pass(15_000)
    await opened.tiers.settle()
    expect(opened.states.slice(-2)).toEqual(['lagging', 'active'])
    await opened.expectWhole()
    await elsewhere.tiered.vectors.remove(SPACE, ALL, ids(rows))
    for (let round = 0; round < 2; round++) {
      opened.timers.pass(15_000)
      await opened.tiers.settle()
    }
    await opened.expectWhole()
  })

  it('[VT6] is only doubted when it refuses what it took before', async () => {
    const opened = await openTiered()
    opened.faulty.fail('refuses', ['search'])
    await opened.search()
    expect(opened.tiers.status().state).toBe('checking')
    opened.faulty.heal()
    await opened.tiers.settle()
    expect(opened.tiers.status().state).toBe('active')
    await opened.expectWhole()
  })
})

describe('following', () => {
  it('[VT7] follows memories that move, expire, change or go', async () => {
    const opened = await openTiered()
    const rows = await opened.remember(6, 2)
    await opened.tiers.settle()
    const [moved, expiring, retyped, reworded, removed] = rows
    const evening = { ...ADA, session: session('evening') }
    await change(opened, moved, { place: evening })
    await change(opened, expiring, { expiresAt: instant(5) })
    await change(opened, retyped, { type: 'episodic' })
    await change(opened, reworded, { content: 'other words' })
    await opened.tiered.store.commit([
      { op: 'remove', table: 'memory', scope: ALL, id: id(removed), expect: 'any' },
    ])
    await opened.tiers.settle()
    const { inner } = opened.faulty
    const query = { vector: unitVector(SPACE.dimensions, 900), limit: 1_000 }
    const found = async (filter: object) =>
      ids(await inner.search(SPACE, { ...ALL, ...filter }, query))
    expect(await found({ session: session('evening') })).toEqual([moved?.id])
    expect(await found({ types: ['episodic'] })).toEqual([retyped?.id])
    expect(await found({ unexpiredAt: instant(6) })).not.toContain(expiring?.id)
    expect(await found({})).not.toContain(reworded?.id)
    expect(await found({})).not.toContain(removed?.id)
    await opened.expectWhole()
  })

  it('[VT7] finds out what moved while the mirror was away and the process ended', async () => {
    const opened = await openTiered()
    const [row] = await opened.remember(1, 2)
    await opened.tiers.settle()
    const elsewhere = new TieredStore(
      { configuration: async () => ({ kind: 'none' }) },
      opened.embedded,
    )
    await change(elsewhere, row, { place: { ...ADA, session: session('evening') } })
    expect(await opened.tiered.store.checkIntegrity({ repair: false })).toMatchObject([
      { description: 'outdated vector in qdrant', count: 1, repairable: true },
    ])
    await opened.tiered.store.checkIntegrity({ repair: true })
    await opened.expectWhole()
  })

  it('[VT7] drops a space in the replica as well, and fills it again', async () => {
    const opened = await openTiered()
    await opened.tiered.vectors.drop(SPACE)
    expect(await opened.search()).toEqual([])
    await opened.remember(4, 3)
    await opened.tiers.settle()
    expect(await opened.faulty.inner.count(SPACE)).toBe(4)
    await opened.expectWhole()
  })

  it('[VT8] returns no removed or filtered memory, whatever the replica returns', async () => {
    const opened = await openTiered()
    const elsewhere = new TieredStore(
      { configuration: async () => ({ kind: 'none' }) },
      opened.embedded,
    )
    const [gone, reworded, disabled] = ids(await opened.search())
    const rows = (await opened.embedded.store.find('memory', ALL, { where: {}, limit: 1_000 })).rows
    const rowOf = (wanted: unknown) => rows.find((each) => each.id === wanted)
    await elsewhere.tiered.store.commit([
      { op: 'remove', table: 'memory', scope: ALL, id: id(rowOf(gone)), expect: 'any' },
    ])
    await change(elsewhere, rowOf(reworded), { content: 'something else' })
    await change(elsewhere, rowOf(disabled), { status: 'disabled' })
    const hits = ids(await opened.search({ statuses: ['active'] }))
    expect(opened.outcomes.at(-1)).toBe('answered')
    for (const each of [gone, reworded, disabled]) expect(hits).not.toContain(each)
    expect(hits).toHaveLength(20)
  })

  it('[VT9] the doctor reports missing, outdated and stray vectors, and repairs them', async () => {
    const opened = await openTiered()
    const { inner } = opened.faulty
    const { rows } = await opened.embedded.store.find('memory', ALL, { where: {}, limit: 3 })
    await inner.remove(SPACE, ADA.owner, ids(rows))
    const [point] = await inner.list(SPACE, { limit: 1 })
    const vector = unitVector(SPACE.dimensions, 5)
    const stray = { place: BOB, type: 'factual', expiresAt: null, textHash: 'x', vector } as const
    await inner.upsert(SPACE, [
      { ...stray, place: ADA, id: point?.id ?? id(undefined) },
      { ...stray, id: 'mem_stray' as Memory['id'] },
      { ...stray, id: 'mem_zzzstray' as Memory['id'], place: ADA },
    ])
    expect(await opened.tiered.store.checkIntegrity({ repair: false })).toEqual([
      { description: 'vector missing from qdrant', count: 3, repairable: true },
      { description: 'outdated vector in qdrant', count: 1, repairable: true },
      { description: 'vector in qdrant without a memory', count: 2, repairable: true },
    ])
    await opened.tiered.store.checkIntegrity({ repair: true })
    await opened.expectWhole()
    opened.faulty.fail('unavailable')
    expect(await opened.tiered.store.checkIntegrity({ repair: false })).toMatchObject([
      { count: 1 },
    ])
  })

  it('[VT10] cleans what has expired out of the mirror, and finds it in the index all the same', async () => {
    const opened = await openTiered()
    const past = instant(opened.clock.now() - 1_000)
    await opened.remember(9, 2, { expiresAt: past })
    await opened.tiers.settle()
    expect(await opened.tiers.cleanUp({ dryRun: true })).toBe(9)
    expect(await opened.faulty.inner.count(SPACE)).toBe(MANY + 9)
    expect(await opened.tiers.cleanUp({ dryRun: false })).toBe(9)
    expect(await opened.faulty.inner.count(SPACE)).toBe(MANY)
    expect(await opened.tiered.store.checkIntegrity({ repair: false })).toEqual([])
    await opened.expectSame()
    await opened.search({ validAt: opened.clock.now() })
    expect(opened.outcomes).toEqual([
      'unsupported_filter',
      'unsupported_filter',
      'unsupported_filter',
      'answered',
    ])
    for (let round = 0; round < 3; round++) {
      opened.timers.pass(15_000)
      await opened.tiers.settle()
    }
    expect(opened.states).toEqual(['checking', 'backfilling', 'active'])
    expect(await opened.faulty.inner.count(SPACE)).toBe(MANY)
  })
})

function nearestTo(opened: TieredStore, row: Memory | undefined) {
  return opened.tiered.vectors.search(SPACE, ALL, {
    vector: unitVector(SPACE.dimensions, 2),
    limit: 5,
    where: { ids: row === undefined ? [] : [row.id] },
  })
}

function id(row: Memory | undefined): Memory['id'] {
  if (row === undefined) throw new Error('There is no such memory.')
  return row.id
}

async function change(
  { tiered: { store } }: TieredStore,
  row: Memory | undefined,
  fields: Partial<Memory>,
): Promise<void> {
  if (row === undefined) throw new Error('There is no such memory.')
  const next = { ...row, ...fields, version: row.version + 1 }
  const expected = { version: row.version }
  const outcome = await store.commit([{ op: 'put', table: 'memory', row: next, expect: expected }])
  expect(outcome.kind).toBe('committed')
}

describe('two processes with one mirror', () => {
  it('[VT17] what one process could not send to the replica, the other finds and sends', async () => {
    const { here, there } = await openTwo()
    here.faulty.fail('unavailable')
    const rows = await here.remember(5, 2)
    // At once, before anything was copied: the index answers for this owner.
    expect(ids(await nearestTo(there, rows[0]))).toContain(rows[0]?.id)
    expect(there.outcomes).toEqual(['stale'])
    await there.tiers.settle()
    expect(there.tiers.status()).toMatchObject({ state: 'active', pendingMemories: 0 })
    await there.expectWhole()
    expect(there.outcomes).toEqual(['stale', 'answered', 'answered', 'answered'])
    here.faulty.heal()
    await here.tryAgain()
    await here.expectWhole()
  })

  it('[VT17] one that may have missed something compares everything', async () => {
    const { here, there, tellThereOfAnything } = await openTwo()
    const compared = there.faulty.count('list')
    here.faulty.fail('unavailable')
    const [row] = await here.remember(1, 2)
    tellThereOfAnything()
    expect(there.tiers.status().pendingMemories).toBeNull()
    expect(ids(await nearestTo(there, row))).toContain(row?.id)
    await there.tiers.settle()
    expect(there.faulty.count('list')).toBeGreaterThan(compared)
    await there.expectWhole()
  })
})
