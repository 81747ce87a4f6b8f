/** How SQLite looks things up: a lookup that walks through all of an owner's rows is found out here, not in use. */
import { expect, it, onTestFinished } from 'vitest'
import type { Scope } from '../../../src/domain/scope.ts'
import { openConnection } from '../../../src/storage/sqlite/connection/sqlite-driver.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts'
import type {
  EntryFilter,
  JobFilter,
  MemoryFilter,
  RevisionFilter,
  SignalFilter,
  TurnFilter,
} from '../../../src/storage/store.ts'
import { turn, turnId } from '../../fakes/entries.ts'
import { ADA, changeId, instant, memoryId, owner, session } from '../../fakes/memories.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'

async function openObserved() {
  const plans: string[] = []
  const store = await openSqliteStore({
    path: temporaryFile('plans.db'),
    now: Date.now,
    openConnection: async (path, key) => {
      const connection = await openConnection(path, key)
      return {
        ...connection,
        prepare: (sql) => {
          if (/^SELECT (?:json_group_array|revision|entry|turn|job|signal)/.test(sql)) {
            const explained = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`)
            const blanks = Array(sql.split('?').length - 1).fill(null)
            plans.push(...explained.all(...blanks).map((row) => String(row.detail)))
          }
          return connection.prepare(sql)
        },
      }
    },
  })
  onTestFinished(() => store.close())
  return { store, plans }
}

const MEMORY_LOOKUPS: readonly (readonly [MemoryFilter, string])[] = [
  [{ key: 'k' }, 'memory_named (owner_number=? AND key=?)'],
  [{ fingerprint: 'f' }, 'INTEGER PRIMARY KEY (rowid=?)'],
  [{ change: changeId('c') }, 'memory_change (change=?)'],
  [{ ids: [memoryId(1)] }, 'memory_owner (owner_number=? AND id=?)'],
]
const REVISION_LOOKUPS: readonly (readonly [RevisionFilter, string])[] = [
  [{ memories: [memoryId(1)] }, 'revision_memory (memory=?)'],
  [{ madeBy: changeId('c') }, 'revision_made_by (made_by=?)'],
  [{ replacedBy: changeId('c') }, 'revision_replaced_by (replaced_by=?)'],
]

it.each(MEMORY_LOOKUPS)('[ST26] finds memories by %j through an index', async (where, index) => {
  const { store, plans } = await openObserved()
  await store.find('memory', ADA, { where, limit: 5 })
  expect(plans.filter((plan) => plan.startsWith('SEARCH memory')).join()).toContain(index)
})

it.each(REVISION_LOOKUPS)('[ST26] finds revisions by %j through an index', async (where, index) => {
  const { store, plans } = await openObserved()
  await store.find('revision', ADA, { where, limit: 5 })
  expect(plans.filter((plan) => plan.startsWith('SEARCH revision')).join()).toContain(index)
})

const ENTRY_LOOKUPS: readonly (readonly [EntryFilter, string])[] = [
  [{ kinds: ['audit'] }, 'entry_kind (owner_number=? AND kind=?)'],
  [{ kinds: ['audit'], atFrom: instant(5) }, 'entry_kind (owner_number=? AND kind=?)'],
  [{ about: owner('bob') }, 'entry_about (owner_number=? AND about=?)'],
  [{ kinds: ['idempotency'], expiredBy: instant(5) }, 'entry_expiry (expires_at<?)'],
]

it.each(ENTRY_LOOKUPS)('[ST26] finds entries by %j through an index', async (where, index) => {
  const { store, plans } = await openObserved()
  await store.find('entry', { owner: ADA.owner }, { where, limit: 5 })
  expect(plans.filter((plan) => plan.startsWith('SEARCH entry')).join()).toContain(index)
})

const JOB_LOOKUPS: readonly (readonly [JobFilter, string])[] = [
  [{ ids: ['job_1' as never] }, 'job_place (owner_number=? AND id=?)'],
  [{ dueBefore: instant(5) }, 'job_due (owner_number=? AND due_at<?)'],
  [{ dueFrom: instant(5) }, 'job_due (owner_number=? AND due_at>?)'],
  [{ owner: owner('bob') }, 'job_for_owner (owner_number=? AND for_owner=?)'],
  [{ owner: null }, 'job_for_owner (owner_number=? AND for_owner=?)'],
  [{ expiredBy: instant(5) }, 'job_expiry (expires_at<?)'],
]

it.each(JOB_LOOKUPS)('[ST26] finds jobs by %j through an index', async (where, index) => {
  const { store, plans } = await openObserved()
  await store.find('job', { owner: ADA.owner }, { where, limit: 5 })
  expect(plans.filter((plan) => plan.startsWith('SEARCH job')).join()).toContain(index)
})

const SIGNAL_LOOKUPS: readonly (readonly [Scope, SignalFilter, string])[] = [
  [{ owner: ADA.owner }, {}, 'signal_owner (owner_number=?'],
  [{ ...ADA, session: session('s') }, {}, 'signal_session (owner_number=? AND session=?)'],
  [{ owner: ADA.owner }, { statuses: ['pending'] }, 'signal_status (owner_number=? AND status=?)'],
  [{ owner: ADA.owner }, { ids: ['sig_1' as never] }, 'signal_owner (owner_number=? AND id=?)'],
  [{ owner: ADA.owner }, { expiredBy: instant(5) }, 'signal_expiry (expires_at<?)'],
]

it.each(SIGNAL_LOOKUPS)(
  '[ST26] finds signals of %j by %j through an index',
  async (scope, where, index) => {
    const { store, plans } = await openObserved()
    await store.find('signal', scope, { where, limit: 5 })
    expect(plans.filter((plan) => plan.startsWith('SEARCH signal')).join()).toContain(index)
  },
)

it('[ST26] finds the turns of a session in their order through an index', async () => {
  const { store, plans } = await openObserved()
  await store.find('turn', { ...ADA, session: session('s') }, { where: {}, limit: 5 })
  expect(plans.join()).toContain('turn_session (owner_number=? AND session=?)')
  expect(plans.join()).not.toContain('TEMP B-TREE')
})

const IN_SESSION = { ...ADA, session: session('s') }
const OF_OWNER = { owner: ADA.owner }
const TURN_LISTS: readonly (readonly [string, Scope, TurnFilter, string])[] = [
  ['session', IN_SESSION, {}, 'turn_said (owner_number=? AND session=?)'],
  ['session', IN_SESSION, { roles: ['user'] }, 'turn_said (owner_number=? AND session=?)'],
  ['owner', OF_OWNER, {}, 'turn_time (owner_number=?)'],
  ['owner', OF_OWNER, { saidFrom: instant(5) }, 'turn_time (owner_number=? AND said_at>?)'],
  ['owner', OF_OWNER, { saidBefore: instant(5) }, 'turn_time (owner_number=? AND said_at<?)'],
]

it.each(TURN_LISTS)(
  '[ST40] reads the turns of a %s in order through an index',
  async (_, scope, where, index) => {
    for (const order of ['said', 'lastSaid'] as const) {
      const { store, plans } = await openObserved()
      await store.find('turn', scope, { where, limit: 5, order })
      expect(plans.join()).toContain(index)
      expect(plans.join()).not.toContain('TEMP B-TREE')
    }
  },
)

it('[ST40] continues from a cursor through an index', async () => {
  const { store, plans } = await openObserved()
  const rows = [turn({ place: IN_SESSION }), turn({ place: IN_SESSION })]
  await store.commit(rows.map((row) => ({ op: 'put', table: 'turn', row, expect: 'absent' })))
  const query = { where: {}, limit: 1, order: 'said' } as const
  const { next } = await store.find('turn', IN_SESSION, query)
  plans.length = 0
  await store.find('turn', IN_SESSION, { ...query, after: next ?? '' })
  expect(plans.join()).toContain(
    'turn_said (owner_number=? AND session=? AND (said_at,position,id)>(?,?,?))',
  )
  expect(plans.join()).not.toContain('TEMP B-TREE')
})

const TURN_LOOKUPS: readonly (readonly [Scope, TurnFilter, string])[] = [
  [OF_OWNER, { ids: [turnId(1)] }, 'turn_owner (owner_number=? AND id=?)'],
  [OF_OWNER, { saidFrom: instant(5) }, 'turn_time (owner_number=? AND said_at>?)'],
]

it.each(TURN_LOOKUPS)(
  '[ST26] finds turns of %j by %j through an index',
  async (scope, where, index) => {
    const { store, plans } = await openObserved()
    await store.find('turn', scope, { where, limit: 5 })
    expect(plans.filter((plan) => plan.startsWith('SEARCH turn')).join()).toContain(index)
  },
)
