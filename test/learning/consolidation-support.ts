/** An owner's memories on a store, a clock that tests move, and what consolidation makes of them. */
import { onTestFinished } from 'vitest'
import type { OwnerId, SessionId } from '../../src/domain/ids.ts'
import type { Memory } from '../../src/domain/memory.ts'
import { NARRATIVE_KEY } from '../../src/domain/memory.ts'
import type { SettingValues } from '../../src/domain/settings/settings.ts'
import type { Turn } from '../../src/domain/turn.ts'
import type { EngineDependencies } from '../../src/engine/engine-dependencies.ts'
import {
  type ConsolidateOptions,
  consolidate,
} from '../../src/learning/consolidation/consolidator.ts'
import type { Instant } from '../../src/lib/time.ts'
import { undoChange } from '../../src/memory/undo.ts'
import type { Change, Store } from '../../src/storage/store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { entry, turn } from '../fakes/entries.ts'
import { memory } from '../fakes/memories.ts'

export type OpenStore = () => Promise<Store>

export const DAY = 86_400_000

export const HOUR = 3_600_000

export const ADA = { owner: 'ada' as OwnerId }

export const MEETING =
  'Ada meets her team in the blue room on the third floor of the office in Berlin'

export const LONGER = MEETING.replace('team', 'whole team')

/** By default turns and episodes are kept forever, and the steps that remove them would have nothing to do. */
const KEEP_A_YEAR: SettingValues = { 'retention.turnDays': 365, 'retention.episodeDays': 365 }

/** Only extracted memories are evicted. */
const EXTRACTED: Memory['provenance'] = {
  source: 'gateway',
  speaker: 'user',
  turns: [],
  extractor: 'patterns',
  extractorVersion: '1',
}

export async function openOwner(open: OpenStore) {
  const store = await open()
  onTestFinished(() => store.close())
  return ownerOn(store)
}

export function ownerOn(store: Store) {
  const clock = new FakeClock()
  const ids = countingIds()
  const portsOn = (on: Store, settings: SettingValues): EngineDependencies => ({
    ...{ store: on, clock, ids, settings },
  })
  const ago = (days: number) => (clock.now() - days * DAY) as Instant
  const put = async (...rows: readonly Memory[]) => {
    const changes = rows.map(
      (row): Change => ({ op: 'put', table: 'memory', row, expect: 'absent' }),
    )
    await store.commit(changes)
    return rows
  }
  return {
    store,
    clock,
    ago,
    put,
    /** An extracted fact that was last of use some days ago. */
    fact: (content: string, days: number, fields: Partial<Memory> = {}) =>
      memory({
        content,
        provenance: EXTRACTED,
        createdAt: ago(days),
        updatedAt: ago(days),
        ...fields,
      }),
    episode: (content: string, days: number, fields: Partial<Memory> = {}) =>
      memory({
        content,
        category: 'episode',
        type: 'episodic',
        createdAt: ago(days),
        updatedAt: ago(days),
        ...fields,
      }),
    said: async (days: number, session: string | null = null): Promise<Turn> => {
      const place = { owner: ADA.owner, user: null, session: session as SessionId | null }
      const row = turn({ saidAt: ago(days), place })
      await store.commit([{ op: 'put', table: 'turn', row, expect: 'absent' }])
      return row
    },
    run: (options: ConsolidateOptions & { settings?: SettingValues; on?: Store } = {}) => {
      const { settings = {}, on = store, ...rest } = options
      return consolidate(portsOn(on, { ...KEEP_A_YEAR, ...settings }), ADA, rest)
    },
    undo: (change: string | null | undefined) =>
      undoChange(portsOn(store, {}), ADA, (change ?? '') as Memory['change']),
    get: async ({ id }: Pick<Memory, 'id'>) => store.get('memory', ADA, id),
    active: async () => {
      const where = { statuses: ['active'] } as const
      const { rows } = await store.find('memory', ADA, { where, limit: 1_000, order: 'oldest' })
      return rows
    },
    /** All that a run can change, except when it was changed and by what, and the names of what it makes. */
    state: async () => {
      const query = { where: {}, limit: 1_000, order: 'oldest' } as const
      const [memories, turns, entries] = await Promise.all([
        store.find('memory', ADA, query),
        store.find('turn', ADA, query),
        store.find('entry', ADA, query),
      ])
      return {
        memories: memories.rows.map(({ change: _, version: __, ...rest }) =>
          rest.key === NARRATIVE_KEY ? { ...rest, id: 'mem_narrative' as Memory['id'] } : rest,
        ),
        turns: turns.rows,
        entries: entries.rows.filter(({ kind }) => kind !== 'consolidation-report'),
      }
    },
    portsOn,
  }
}

export type Owner = ReturnType<typeof ownerOn>

/** Something for every step to do, told for people who read a failing test. */
export async function furnish({ put, fact, episode, said, store, ago }: Owner) {
  const [short, long] = await put(fact(MEETING, 2, { sourceCount: 2 }), fact(LONGER, 1))
  const [faded] = await put(fact('Ada once borrowed a ladder', 50, { salience: 0.4 }))
  const [pinned] = await put(fact('Ada is allergic to nuts', 900, { salience: 0, pinned: true }))
  const [who] = await put(fact('Ada is a pilot', 900, { salience: 0, category: 'identity' }))
  const [climbing] = await put(fact('Ada goes climbing in the Dolomites', 3))
  for (const days of [1, 2, 3]) {
    await put(episode(`${days}: Ada planned a climbing trip to the Dolomites`, days))
  }
  const [old] = await put(episode('Ada asked about tax returns', 400))
  const [spoken, kept] = [await said(400), await said(10)]
  await store.commit([
    {
      op: 'put',
      table: 'entry',
      row: entry({
        id: 'rcp_1' as never, // made up
        place: { ...ADA, user: null, session: null },
        kind: 'receipt',
        at: ago(40),
        expiresAt: ago(10),
      }),
      expect: 'absent',
    },
  ])
  return { short, long, faded, pinned, who, climbing, old, spoken, kept } as {
    readonly [name in 'short' | 'long' | 'faded' | 'pinned' | 'who' | 'climbing' | 'old']: Memory
  } & { readonly spoken: Turn; readonly kept: Turn } // each was just put
}
