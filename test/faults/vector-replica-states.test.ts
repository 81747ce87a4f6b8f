/** What states a mirror goes through, from its first trial on, and what the settings make of it. */
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/lib/errors.ts'
import {
  findNextState,
  REPLICA_EVENTS,
  REPLICA_TRANSITIONS,
} from '../../src/storage/vector-replica/replica-state-machine.ts'
import { REPLICA_STATES } from '../../src/storage/vector-replication.ts'
import { gate } from '../fakes/embedder.ts'
import { configured, FaultyMirror } from '../fakes/vector-replica.ts'
import { MANY, openTiered, SPACE, TieredStore } from './vector-replica-support.ts'

describe('states', () => {
  it('[VT2] every state can be reached, and left for what the settings say', () => {
    const reached = new Set(
      Object.values(REPLICA_TRANSITIONS).flatMap((moves) => Object.values(moves)),
    )
    expect([...reached].sort()).toEqual(Object.keys(REPLICA_STATES).sort())
    for (const moves of Object.values(REPLICA_TRANSITIONS)) {
      expect(moves).toMatchObject({ configured: 'checking', switchedOff: 'off' })
    }
    const used = new Set(Object.values(REPLICA_TRANSITIONS).flatMap((moves) => Object.keys(moves)))
    expect([...used].sort()).toEqual(Object.keys(REPLICA_EVENTS).sort())
    expect(findNextState('down', 'caughtUp')).toBeNull()
    expect(findNextState('misconfigured', 'due')).toBeNull()
  })

  it('[VT2] tries a mirror with a real write and search, fills it, and only then lets it answer', async () => {
    const opened = new TieredStore()
    await opened.remember(MANY, 1)
    expect(opened.tiers.status()).toMatchObject({ state: 'off', servedBy: 'primary' })
    const seen: unknown[] = []
    opened.tiers.subscribe({
      onState: ({ state }) => {
        if (state === 'backfilling') seen.push(opened.faulty.count('search'))
      },
    })
    await opened.tiers.settle()
    expect(opened.states).toEqual(['checking', 'backfilling', 'active'])
    expect(seen).toEqual([1])
    expect(opened.tiers.status().progress).toBeNull()
    await opened.expectWhole()
    expect(opened.outcomes).toEqual(['answered', 'answered', 'answered'])
  })

  it('[VT2] reports the progress of filling, and answers at the same time', async () => {
    const opened = new TieredStore()
    await opened.remember(1_200, 1)
    const seen: unknown[] = []
    const { upsert } = opened.faulty.mirror
    const watching = {
      ...opened.faulty.mirror,
      upsert: async (...given: Parameters<typeof upsert>) => {
        const { progress, state } = opened.tiers.status()
        if (state === 'backfilling') seen.push(progress)
        if (state === 'backfilling') await opened.expectSame()
        await upsert(...given)
      },
    }
    opened.wanted = configured(watching)
    await opened.tiers.settle()
    expect(seen).toEqual([
      { done: 0, total: 1_200 },
      { done: 500, total: 1_200 },
      { done: 1_000, total: 1_200 },
    ])
    expect(new Set(opened.outcomes)).toEqual(new Set(['inactive']))
    await opened.expectWhole()
  })

  it('[VT2] uses none that does not find what was written, and none whose key is wrong', async () => {
    const blind = new TieredStore()
    blind.wanted = configured({ ...blind.faulty.mirror, search: async () => [] })
    await blind.tiers.settle()
    expect(blind.tiers.status()).toMatchObject({
      state: 'down',
      reason: 'A test point written to qdrant could not be read back.',
    })
    const locked = new TieredStore()
    locked.faulty.fail('refuses')
    await locked.remember(5, 1)
    await locked.tiers.settle()
    const status = locked.tiers.status()
    expect(status).toMatchObject({
      state: 'misconfigured',
      reason: 'The key is wrong.',
      nextRetryAt: null,
    })
    locked.faulty.heal()
    await locked.tiers.settle()
    expect(locked.tiers.status().state).toBe('misconfigured')
    await locked.expectSame()
    locked.wanted = configured(locked.faulty.mirror, 'another key')
    await locked.tiers.settle()
    expect(locked.tiers.status().state).toBe('active')
    await locked.expectWhole()
  })

  it('[VT3] what a mirror that was switched off says late means nothing', async () => {
    const opened = await openTiered()
    const failing = gate()
    opened.wanted = configured(
      {
        ...opened.faulty.mirror,
        search: async (space, filter, query) => {
          if (space.signature !== SPACE.signature) {
            return opened.faulty.inner.search(space, filter, query)
          }
          await failing.opened
          throw new AppError('unavailable', 'It is out of reach.')
        },
      },
      'b',
    )
    await opened.tiers.settle()
    const searching = opened.search()
    opened.wanted = configured(opened.faulty.mirror, 'c')
    await opened.tiers.settle()
    failing.open()
    expect(await searching).toHaveLength(20)
    expect(opened.tiers.status().state).toBe('active')
  })

  it('[VT3] settings that say the same of the mirror interrupt nothing', async () => {
    const opened = await openTiered()
    const seen = opened.faulty.count('prepare')
    await opened.tiers.reconfigure()
    expect(opened.faulty.count('prepare')).toBe(seen)
    expect(opened.states).toEqual(['checking', 'backfilling', 'active'])
  })

  it('[VT2] reports the configuration before it connects', async () => {
    const opened = new TieredStore()
    expect(opened.tiers.status()).toMatchObject({ state: 'off', backend: null })
    expect(await opened.tiers.current()).toMatchObject({ state: 'checking', backend: 'qdrant' })
    expect(opened.faulty.calls.size).toBe(0)
  })

  it('[VT2] retries a refused replica on request', async () => {
    const opened = new TieredStore()
    opened.faulty.fail('refuses')
    await opened.tiers.settle()
    expect(opened.tiers.status().state).toBe('misconfigured')
    opened.faulty.heal()
    expect((await opened.tiers.reconfigure()).state).not.toBe('misconfigured')
    await opened.tiers.settle()
    expect(opened.tiers.status().state).toBe('active')
  })

  it('[VT2] refuses a mirror that holds vectors of other dimensions', async () => {
    const opened = new TieredStore()
    await opened.faulty.inner.prepare({ ...SPACE, dimensions: 9 })
    await opened.remember(5, 1)
    await opened.tiers.settle()
    expect(opened.tiers.status().state).toBe('misconfigured')
    expect(opened.tiers.status().reason).toContain('9')
    await opened.expectSame()
  })

  it('[VT3] switches to another mirror, and off, without a restart', async () => {
    const opened = await openTiered()
    const other = new FaultyMirror()
    opened.wanted = configured(other.mirror, 'b')
    await opened.tiers.settle()
    expect(opened.tiers.status().state).toBe('active')
    expect(await other.inner.count(SPACE)).toBe(MANY)
    await opened.remember(3, 2)
    opened.wanted = { kind: 'none' }
    await opened.tiers.settle()
    expect(opened.tiers.status()).toMatchObject({ state: 'off', backend: null, pendingMemories: 0 })
    await opened.expectSame()
    opened.wanted = { kind: 'refused', name: 'lancedb', because: 'There is no folder.' }
    await opened.tiers.settle()
    expect(opened.tiers.status()).toMatchObject({ state: 'misconfigured', backend: 'lancedb' })
    opened.wanted = configured(opened.faulty.mirror)
    await opened.tiers.settle()
    await opened.expectWhole()
  })
})
