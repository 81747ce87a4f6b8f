/**
 * `npm run bench -- store`: what the stores cost.
 *
 * First SQLite at the sizes the bars are about, then every store side by side at a size all of them can bear. The
 * peer in the keyword rows is what one would write first: an FTS5 table with the owner filtered by a join.
 */

import { createIdGenerator } from '../src/app/id-generator.ts'
import { systemClock } from '../src/app/system-clock.ts'
import type { OwnerId } from '../src/domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../src/domain/limits.ts'
import type { Memory } from '../src/domain/memory.ts'
import { createEngineWith } from '../src/engine/engine.ts'
import type { Change, Store } from '../src/storage/store.ts'
import { memory as fakeMemory } from '../test/fakes/memories.ts'
import { contenders, type Opened, openSqlite } from './contenders.ts'
import {
  atLeast,
  type Bar,
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  below,
  machine,
  round,
  timed,
} from './harness.ts'
import { openJoinedPeer } from './joined-peer.ts'
import { Texts } from './texts.ts'

const BATCH = COMMIT_CHANGES_MAX
const QUERY_WORDS = 6
const HITS = 20
const SEARCHES = 300
const ADDS = 500

export async function benchStore(options: BenchOptions): Promise<BenchReport> {
  const { progress, scale } = options
  const full = Math.round(100_000 * scale)
  const rows: BenchRow[] = []
  const bars: Bar[] = []

  progress('warming up')
  await (await filled(await openSqlite(), 10 * BATCH, 1)).opened.close()

  progress(`one owner with ${full} memories`)
  const large = await filled(await openSqlite(), full, 1)
  const search = await searching(large.opened.store, large, SEARCHES)
  const add = await adding(large.opened.store)
  const remember = await remembering(large.opened.store)
  rows.push({
    ...row(`sqlite, 1 owner × ${full}`, large.perSecond, add, search),
    rememberP50: remember.p50,
    rememberP95: remember.p95,
  })
  bars.push(
    below('sqlite: single add p95, ms', add.p95, 2),
    atLeast('sqlite: batched import, memories/s', large.perSecond, 20_000),
    below('sqlite: six-word search p95 in an owner with 100,000, ms', search.p95, 20),
  )
  await large.opened.close()

  progress('the same through an FTS5 table with a join')
  const peer = await openJoinedPeer()
  await peer.fill(full, 1)
  rows.push(peerRow(`FTS5 with a join, 1 owner × ${full}`, await peer.search(SEARCHES, HITS)))
  peer.close()

  const perOwner = 100
  const owners = Math.round(full / perOwner)
  const growth: number[] = []
  for (const count of [Math.max(1, Math.round(owners / 10)), owners]) {
    progress(`${count} owners with ${perOwner} memories each`)
    const many = await filled(await openSqlite(), count * perOwner, count)
    const timing = await searching(many.opened.store, many, SEARCHES)
    rows.push(
      row(
        `sqlite, ${count} owners × ${perOwner}`,
        many.perSecond,
        await adding(many.opened.store),
        timing,
      ),
    )
    growth.push(timing.p50)
    if (count === owners) {
      bars.push(below('sqlite: six-word search p95, one of 1,000 owners × 100, ms', timing.p95, 3))
    }
    await many.opened.close()
  }
  const [smallStore = Number.NaN, largeStore = Number.NaN] = growth
  bars.push(
    below(
      'sqlite: search in a store ten times as large, times as long',
      largeStore / smallStore,
      4,
    ),
  )

  progress('the same owners through an FTS5 table with a join')
  const manyPeer = await openJoinedPeer()
  await manyPeer.fill(full, owners)
  rows.push(
    peerRow(
      `FTS5 with a join, ${owners} owners × ${perOwner}`,
      await manyPeer.search(SEARCHES, HITS),
    ),
  )
  manyPeer.close()

  rows.push(...(await sideBySide(options)))
  return { bench: 'store', machine: machine(), rows, bars }
}

async function sideBySide({ progress, scale }: BenchOptions): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = []
  const { all, close } = await contenders((reason) => progress(`left out: ${reason}`))
  try {
    for (const { name, open, isSlow } of all) {
      const count = Math.round((isSlow ? 1_000 : 10_000) * scale)
      progress(`${name}, ${count} memories`)
      const contender = await filled(await open(), count, 1)
      const search = await searching(contender.opened.store, contender, 50)
      const add = await adding(contender.opened.store, 50)
      rows.push(row(`${name}, 1 owner × ${count}`, contender.perSecond, add, search))
      await contender.opened.close()
    }
  } finally {
    await close()
  }
  return rows
}

type Filled = {
  readonly opened: Opened
  readonly perSecond: number
  readonly texts: Texts
  readonly samples: readonly { readonly owner: OwnerId; readonly content: string }[]
}

async function filled(opened: Opened, count: number, owners: number): Promise<Filled> {
  const texts = new Texts(7)
  const samples: { owner: OwnerId; content: string }[] = []
  const step = Math.max(1, Math.floor(count / 500))
  let seconds = 0
  for (let start = 0; start < count; start += BATCH) {
    const changes = Array.from({ length: Math.min(BATCH, count - start) }, (_, n): Change => {
      const row = memory(texts.next(), ownerOf((start + n) % owners))
      if ((start + n) % step === 0) samples.push({ owner: row.place.owner, content: row.content })
      return { op: 'put', table: 'memory', row, expect: 'absent' }
    })
    const started = performance.now()
    const outcome = await opened.store.commit(changes)
    seconds += (performance.now() - started) / 1_000
    if (outcome.kind !== 'committed') throw new Error('the bench store was not empty')
  }
  return { opened, perSecond: Math.round(count / seconds), texts, samples }
}

function searching(store: Store, { texts, samples }: Filled, runs: number) {
  const queries = samples.map(({ owner, content }) => ({
    owner,
    text: texts.queryFor(content, QUERY_WORDS),
  }))
  const where = { statuses: ['active'], validAt: systemClock.now() } as const
  return timed(runs, async (run) => {
    const query = queries[(run * 7) % queries.length]
    if (query === undefined) return
    const { hits } = await store.searchText(
      { owner: query.owner },
      { text: query.text, limit: HITS, where },
    )
    if (hits.length === 0) throw new Error('a memory was not found by its own words')
  })
}

function adding(store: Store, runs = ADDS) {
  const texts = new Texts(11)
  return timed(runs, () =>
    store.commit([
      { op: 'put', table: 'memory', row: memory(texts.next(), ownerOf(0)), expect: 'absent' },
    ]),
  )
}

/** The whole of `remember`: search for tombstones, restatements and contradictions, then the write. */
function remembering(store: Store) {
  const texts = new Texts(13)
  const engine = createEngineWith({
    store,
    clock: systemClock,
    ids: createIdGenerator(),
    settings: {},
  })
  return timed(ADDS / 5, () => engine.remember({ owner: ownerOf(0) }, { content: texts.next() }))
}

function row(
  store: string,
  importPerSecond: number,
  add: { p50: number; p95: number },
  search: { p50: number; p95: number },
): BenchRow {
  return {
    store,
    importPerSecond,
    addP50: add.p50,
    addP95: add.p95,
    searchP50: search.p50,
    searchP95: search.p95,
  }
}

function peerRow(store: string, search: { p50: number; p95: number }): BenchRow {
  return { store, searchP50: round(search.p50), searchP95: round(search.p95) }
}

const ids = createIdGenerator()

function ownerOf(number: number): OwnerId {
  return `owner-${number}` as OwnerId // made here, for the bench only
}

function memory(content: string, owner: OwnerId): Memory {
  const now = systemClock.now()
  const place = { owner, user: null, session: null }
  return fakeMemory({ id: ids.next('mem', now), place, content, createdAt: now, updatedAt: now })
}
