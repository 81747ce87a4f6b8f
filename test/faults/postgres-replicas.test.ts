/** Searches on a real streaming replica: while it follows, while it is behind, when it is gone, and when it is none. */
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Turn } from '../../src/domain/turn.ts'
import { openPostgresStore, type PostgresStore } from '../../src/storage/postgres/postgres-store.ts'
import type { Change } from '../../src/storage/store.ts'
import { create } from '../conformance/store/store.suite.ts'
import { commitAll, SPACE } from '../conformance/vectors/vector-index.suite.ts'
import { turn } from '../fakes/entries.ts'
import { ADA, BOB, memory } from '../fakes/memories.ts'
import { entry, unitVector } from '../fakes/vectors.ts'
import { expectSound } from '../support/doctor.ts'
import {
  freshSchema,
  openFreshStore,
  type PrivateServer,
  runSql,
  startReplica,
  startServer,
} from '../support/postgres-servers.ts'

const primary = await startServer()
const replica = primary.kind === 'server' ? await startReplica(primary) : primary
if (primary.kind === 'none' || replica.kind === 'none') {
  const reason = replica.kind === 'none' ? replica.reason : ''
  describe.skip(`read replicas: ${reason}`, () => it('was not run', () => {}))
} else {
  afterAll(() => Promise.all([replica.stop(), primary.stop()]))
  describe('read replicas', () => describeReplicas(primary, replica))
}

const search = (store: PostgresStore, text: string, place = ADA) =>
  store
    .searchText(place, { text, limit: 5, where: {} })
    .then(({ hits }) => hits.map(({ id }) => id))

async function searches(store: PostgresStore) {
  const { searchesByReplica, searchesByPrimary, readReplicasUsable } = (await store.getReport())
    .facts
  return { onReplicas: searchesByReplica, onPrimary: searchesByPrimary, inUse: readReplicasUsable }
}

function describeReplicas(primary: PrivateServer, replica: PrivateServer): void {
  async function open(options: { replicas?: readonly string[]; replicaLagMsMax?: number } = {}) {
    const schema = freshSchema()
    const store = await openFreshStore(primary.url, {
      ...{ schema, poolSize: 2, replicas: [replica.url] },
      ...options,
    })
    onTestFinished(() => store.close())
    onTestFinished(() => expectSound(store))
    return { store, schema }
  }
  const resume = () => runSql(replica.url, 'SELECT pg_wal_replay_resume()')
  const pause = async () => {
    await runSql(replica.url, 'SELECT pg_wal_replay_pause()')
    onTestFinished(async () => void (await resume()))
  }
  const inUse = async (store: PostgresStore) => (await searches(store)).inUse
  /** Until it has what was written, and a search went there. */
  const untilAsked = (store: PostgresStore, text: string) =>
    expect
      .poll(
        async () => {
          const before = (await searches(store)).onReplicas
          await search(store, text)
          return Number((await searches(store)).onReplicas) - Number(before)
        },
        { timeout: 20_000, interval: 200 },
      )
      .toBe(1)

  it('[PG5] answers searches by words and by meaning there, with what was written', async () => {
    const { store } = await open()
    const row = memory({ content: 'a lighthouse in the fog' })
    await store.commit([create(row)])
    // At once: the replica can't be trusted with it yet, so the database answers.
    expect(await search(store, 'lighthouse')).toEqual([row.id])
    const vector = unitVector(SPACE.dimensions, 1)
    await store.vectors?.put(SPACE, [entry(row, vector)])
    await untilAsked(store, 'lighthouse')
    expect(await search(store, 'lighthouse')).toEqual([row.id])
    const nearest = () => store.vectors?.search(SPACE, ADA, { vector, limit: 1, where: {} })
    const before = await searches(store)
    if (store.vectors !== null) {
      await expect.poll(async () => (await nearest())?.[0]?.id).toBe(row.id)
      expect(Number((await searches(store)).onReplicas)).toBeGreaterThan(Number(before.onReplicas))
    }
    expect(await store.findNeighbors(ADA, [row.id], 1)).toEqual(new Map())
    expect(await store.get('memory', ADA, row.id)).toEqual(row)
  })

  it('[PG5] never misses what this process has written, however far behind it is', async () => {
    const { store } = await open({ replicaLagMsMax: 600_000 })
    const [ours, theirs] = [
      memory({ content: 'our harbour' }),
      memory({ place: BOB, content: 'their harbour' }),
    ]
    await commitAll(store, [ours, theirs])
    await untilAsked(store, 'harbour')
    await pause()
    const row = memory({ content: 'another harbour' })
    await store.commit([create(row)])
    expect((await search(store, 'harbour')).sort()).toEqual([ours.id, row.id].sort())
    const before = await searches(store)
    // Others, for whom nothing was written, need not wait for it.
    expect(await search(store, 'harbour', BOB)).toEqual([theirs.id])
    expect(await searches(store)).toEqual({ ...before, onReplicas: Number(before.onReplicas) + 1 })
    await resume()
    await untilAsked(store, 'harbour')
    expect((await search(store, 'harbour')).sort()).toEqual([ours.id, row.id].sort())
  })

  it('[PG5] leaves out a replica that is too far behind what others write, until it has caught up', async () => {
    const { store, schema } = await open({ replicaLagMsMax: 500 })
    const other = await openPostgresStore({ connectionString: primary.url, schema, poolSize: 1 })
    onTestFinished(() => other.close())
    await expect.poll(() => inUse(store), { timeout: 20_000 }).toBe(1)
    await pause()
    const row = memory({ content: 'news from elsewhere' })
    await other.commit([create(row)])
    await expect.poll(() => search(store, 'news'), { timeout: 20_000 }).toEqual([row.id])
    expect(await inUse(store)).toBe(0)
    await resume()
    await expect.poll(() => inUse(store), { timeout: 20_000 }).toBe(1)
  })

  it('[PG5] works without a replica that is down, and uses it again when it is back', async () => {
    const { store } = await open()
    const row = memory({ content: 'a ferry' })
    await store.commit([create(row)])
    await untilAsked(store, 'ferry')
    await replica.crash()
    expect(await search(store, 'ferry')).toEqual([row.id])
    await expect.poll(() => inUse(store), { timeout: 20_000 }).toBe(0)
    expect((await store.getReport()).facts.readReplicaError).toEqual(expect.any(String))
    await replica.restart()
    await untilAsked(store, 'ferry')
  }, 60_000)

  it('[PG5] finds turns without a replica that is down, and uses it again when it is back', async () => {
    const { store } = await open()
    const said = turn({ content: 'The ferry to Oslo leaves at nine.' })
    const put = (row: Turn, expect: 'absent' | 'any'): Change => ({
      ...{ op: 'put', table: 'turn', row },
      expect,
    })
    const found = async (text: string) => {
      const where = { types: ['turn'] } as const
      const { hits } = await store.searchText(ADA, { text, limit: 5, where })
      return hits.map(({ id }) => id)
    }
    await store.commit([put(said, 'absent')])
    await untilAsked(store, 'ferry')
    expect(await found('ferry')).toEqual([said.id])
    await replica.crash()
    expect(await found('ferry')).toEqual([said.id])
    const later = turn({ content: 'The last ferry leaves at ten.' })
    await store.commit([put(later, 'absent'), put({ ...said, content: 'It is cancelled.' }, 'any')])
    expect(await found('ferry')).toEqual([later.id])
    await replica.restart()
    await untilAsked(store, 'ferry')
    expect(await found('ferry')).toEqual([later.id])
  }, 60_000)

  it('[PG5] does not query a server that is no replica of this database', async () => {
    const { store } = await open({ replicas: [primary.url] })
    await store.commit([create(memory({ content: 'a pier' }))])
    expect(await search(store, 'pier')).toHaveLength(1)
    expect(await inUse(store)).toBe(0)
    expect((await store.getReport()).facts.readReplicaError).toContain('not a replica')
  })
}
