/** The contract on LanceDB, and what is its own: names in SQL, indexes, upkeep, several writers, a folder that is gone. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../src/app/system-clock.ts'
import type {
  LanceConnection,
  LanceModule,
  LanceTable,
} from '../../../src/storage/lancedb/lancedb-driver.ts'
import {
  type LanceReplicaOptions,
  openLanceVectorReplica,
} from '../../../src/storage/lancedb/lancedb-vector-replica.ts'
import { toTableName } from '../../../src/storage/lancedb/point-rows.ts'
import type { VectorReplica } from '../../../src/storage/vector-replica.ts'
import { owner, session, user } from '../../fakes/memories.ts'
import { atSimilarity, byLikeness, space, unitVector, unitVectors } from '../../fakes/vectors.ts'
import { type InstalledLance, lancePart, tableFacts } from '../../support/lancedb.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  ADA_ALL,
  closest,
  describeVectorMirror,
  idsOf,
  plainId,
  point,
  SPACE,
  vectorsOf,
} from './vector-replica.suite.ts'

const PATIENCE = { timeout: 25_000, interval: 50 }
const part = await lancePart()

describe('lancedb: the package', () => {
  it('[LC1] says how to install the package where it is missing, or not one that is known', async () => {
    const missing = () => Promise.reject(new Error('Cannot find the package'))
    for (const load of [missing, async () => ({}), async () => null]) {
      const opening = openLanceVectorReplica({
        folder: temporaryFolder(),
        clock: systemClock,
        load,
      })
      await expect(opening).rejects.toMatchObject({
        code: 'missing_part',
        message: expect.stringContaining('npm install @lancedb/lancedb'),
      })
    }
  })
})

if (part.kind === 'none') {
  describe.skip(`lancedb: ${part.reason}`, () => it('was not run', () => {}))
} else {
  describeVectorMirror('lancedb', async () => {
    const mirror = await open(part, { folder: temporaryFolder() })
    return { mirror, close: () => mirror.close() }
  })
  describe('lancedb: tables', () => describeTables(part))
  describe('lancedb: indexes', () => describeIndexes(part))
  describe('lancedb: upkeep', () => describeUpkeep(part))
  describe('lancedb: several writers', () => describeWriters(part))
  describe('lancedb: faults', () => describeFaults(part))
}

function open(
  { load }: InstalledLance,
  options: Omit<LanceReplicaOptions, 'clock' | 'load'>,
): Promise<VectorReplica> {
  return openLanceVectorReplica({ clock: systemClock, load, ...options })
}

async function opened(
  lance: InstalledLance,
  options: Omit<LanceReplicaOptions, 'clock' | 'load'>,
): Promise<VectorReplica> {
  const mirror = await open(lance, options)
  onTestFinished(() => mirror.close())
  return mirror
}

/** A folder whose files are gone when they are to be read, as often as is said. */
function losing(connection: LanceConnection, faults: { left: number }): LanceConnection {
  const losingTable = (table: LanceTable): LanceTable =>
    new Proxy(table, {
      get: (target, name) => {
        const member = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        if (name !== 'countRows') return member.bind(target)
        return async (...given: readonly unknown[]) => {
          if (faults.left-- > 0) throw new Error('Object at location 7.lance not found')
          faults.left = 0
          return member.apply(target, given)
        }
      },
    })
  return new Proxy(connection, {
    get: (target, name) => {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'openTable' && name !== 'createEmptyTable') return member.bind(target)
      return async (...given: readonly unknown[]) => losingTable(await member.apply(target, given))
    },
  })
}

function describeTables(lance: InstalledLance): void {
  it('[LC2] keeps everything in its folder, with any name, until the next opening', async () => {
    const folder = join(temporaryFolder(), 'new folder', "it's 100% ä #1?")
    const first = await open(lance, { folder })
    const points = [1, 2, 3].map((number) => point(number))
    await first.upsert(SPACE, points)
    await first.remove(SPACE, points[0]?.place.owner ?? owner(''), [plainId('000002')])
    await first.close()
    const second = await opened(lance, { folder })
    expect(idsOf(await second.list(SPACE, { limit: 9 }))).toEqual(idsOf(points).toSpliced(1, 1))
    expect(await second.count(SPACE)).toBe(2)
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('[LC2] takes no notice of a table that was left half-made', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, `${toTableName(SPACE)}.lance`, 'data'), { recursive: true })
    const mirror = await opened(lance, { folder })
    expect(await mirror.count(SPACE)).toBe(0)
    await mirror.upsert(SPACE, [point(1)])
    expect(await closest(mirror, SPACE, unitVector(24, 1), 5)).toEqual([point(1).id])
  })

  it('[LC3] takes every text as a name, and never as a part of a statement', async () => {
    const mirror = await opened(lance, { folder: temporaryFolder() })
    const names = [
      "'",
      "''; DROP TABLE x; --",
      "a' OR owner = 'b",
      '\0',
      'a\0b',
      '\ud800',
      'x\udc00y',
      '\ue0000000',
      '`owner`',
      '$1 ? :a @b {c}',
      'line\nbreak\r\t\u2028',
      '/* */',
      ' ',
      '%_',
    ]
    const inputs = names.map((name, number) =>
      point(number, {
        place: { owner: owner(name), user: user(name), session: session(name) },
        textHash: `hash ${name}`,
      }),
    )
    await mirror.upsert(SPACE, inputs)
    for (const [number, name] of names.entries()) {
      const filter = { owner: owner(name), user: name, session: name }
      const [hit, ...more] = await mirror.search(SPACE, filter, {
        vector: unitVector(24, 1),
        limit: 9,
      })
      expect(more, JSON.stringify(name)).toEqual([])
      expect(hit).toMatchObject({ id: inputs[number]?.id, textHash: `hash ${name}` })
      const listed = await mirror.list(SPACE, { owner: owner(name), limit: 9 })
      expect(listed.map((row) => row.owner)).toEqual([name])
    }
    for (const [number, name] of names.entries()) {
      await mirror.remove(SPACE, owner(name), idsOf(inputs))
      expect(await mirror.count(SPACE)).toBe(names.length - number - 1)
    }
  })
}

const LARGE = space(32, 'large:model')
/** From here on searches by index, which a test can't wait for with ten thousand. */
const exactRowsMax = 500

function describeIndexes(lance: InstalledLance): void {
  /** Points around a few hundred directions, as texts are. */
  const clustered = (count: number, seed: number, dimensions = LARGE.dimensions) => {
    const centers = unitVectors(100, dimensions, seed)
    return Array.from({ length: count }, (_, n) => {
      const center = centers[n % centers.length] ?? unitVector(dimensions, seed)
      return point(n, { vector: atSimilarity(center, 0.8, seed + n) })
    })
  }
  const untilIndexed = (folder: string, kept = LARGE) =>
    vi.waitFor(async () => {
      const indexes = (await tableFacts(lance, folder, kept)).indexes.filter((name) =>
        name.startsWith('vector'),
      )
      expect(indexes).toHaveLength(1)
      return indexes[0] ?? ''
    }, PATIENCE)

  it.each([
    ['in bits', LARGE],
    ['as they are, where bits do not fit', space(30, 'large:model')],
  ])(
    '[LC4] creates an index when a search needs one, and finds the nearest with it (%s)',
    async (_, kept) => {
      const folder = temporaryFolder()
      const mirror = await opened(lance, { folder, exactRowsMax })
      const vectors = clustered(2_000, 1, kept.dimensions)
      await mirror.upsert(kept, vectors)
      expect(await closest(mirror, kept, unitVector(kept.dimensions, 3), 20)).toHaveLength(20)
      await untilIndexed(folder, kept)
      let [found, wanted] = [0, 0]
      for (const query of unitVectors(20, kept.dimensions, 2)) {
        const best = byLikeness(vectorsOf(vectors), query).slice(0, 20)
        const hits = await mirror.search(kept, ADA_ALL, { vector: query, limit: 20 })
        const exact = new Map(byLikeness(vectorsOf(vectors), query).map((hit) => [hit.id, hit]))
        for (const hit of hits) {
          expect(hit.similarity).toBeCloseTo(exact.get(hit.id)?.similarity ?? Number.NaN, 4)
        }
        found += best.filter(({ id }) => hits.some((hit) => hit.id === id)).length
        wanted += best.length
      }
      expect(found / wanted).toBeGreaterThan(0.95)
    },
  )

  it('[LC4] finds what the index does not know yet, and no longer what was removed or replaced', async () => {
    const folder = temporaryFolder()
    const mirror = await opened(lance, { folder, exactRowsMax })
    const vectors = clustered(1_000, 3)
    await mirror.upsert(LARGE, vectors)
    const query = unitVector(LARGE.dimensions, 4)
    const [nearest = plainId('')] = await closest(mirror, LARGE, query, 1)
    await untilIndexed(folder)
    const added = point(5_000, { vector: query })
    await mirror.upsert(LARGE, [added])
    expect(await closest(mirror, LARGE, query, 2)).toEqual([added.id, nearest])
    await mirror.remove(LARGE, added.place.owner, [nearest])
    expect(await closest(mirror, LARGE, query, 2)).not.toContain(nearest)
    await mirror.upsert(LARGE, [{ ...added, vector: new Float32Array(LARGE.dimensions) }])
    expect(await closest(mirror, LARGE, query, 2)).not.toContain(added.id)
  })

  it('[LC4] finds the few of a session among many that an index holds, and lists longer than it is good for', async () => {
    const folder = temporaryFolder()
    const mirror = await opened(lance, { folder, exactRowsMax })
    const query = unitVector(LARGE.dimensions, 6)
    const near = Array.from({ length: 1_200 }, (_, n) =>
      point(n, { vector: atSimilarity(query, 0.9, 100 + n) }),
    )
    const place = { ...point(0).place, session: session('today') }
    const far = [-0.5, -0.6, -0.7].map((similarity, n) =>
      point(2_000 + n, { place, vector: atSimilarity(query, similarity, n) }),
    )
    await mirror.upsert(LARGE, [...near, ...far])
    await closest(mirror, LARGE, query, 1)
    await untilIndexed(folder)
    const filter = { ...ADA_ALL, session: 'today' }
    expect(await closest(mirror, LARGE, query, 5, filter)).toEqual(idsOf(far))
    expect(await closest(mirror, LARGE, query, 1_203)).toHaveLength(1_203)
  })

  it('[LC5] rebuilds the index when there are four times as many points, and keeps one', async () => {
    const folder = temporaryFolder()
    const mirror = await opened(lance, { folder, exactRowsMax, commitsMax: 1 })
    await mirror.upsert(LARGE, clustered(600, 5))
    const query = unitVector(LARGE.dimensions, 6)
    await closest(mirror, LARGE, query, 1)
    expect(await untilIndexed(folder)).toBe('vector_of_600')
    const more = clustered(2_400, 7)
    for (const half of [more.slice(0, 1_200), more.slice(1_200)]) await mirror.upsert(LARGE, half)
    await vi.waitFor(async () => {
      await closest(mirror, LARGE, query, 1)
      expect(await untilIndexed(folder)).toBe('vector_of_2400')
    }, PATIENCE)
    expect(await mirror.health()).toMatchObject({ isReady: true, detail: 'LanceDB with 1 table.' })
  })
}

function describeUpkeep(lance: InstalledLance): void {
  it('[LC6] puts fragments together and removes old versions, also after the last write', async () => {
    const folder = temporaryFolder()
    const mirror = await opened(lance, { folder, commitsMax: 8, keepVersionsMs: 0 })
    for (let number = 0; number < 40; number++) await mirror.upsert(SPACE, [point(number % 20)])
    await vi.waitFor(async () => {
      const { fragments, versions, indexes } = await tableFacts(lance, folder, SPACE)
      expect(fragments).toBeLessThan(8)
      expect(versions).toBeLessThan(16)
      expect(indexes).toEqual(['expires_at_idx', 'id_idx', 'owner_idx'])
    }, PATIENCE)
    expect(await mirror.count(SPACE)).toBe(20)
    expect(await closest(mirror, SPACE, point(7).vector, 1)).toEqual([point(7).id])
  })

  it('[LC6] a reader of a removed version reads the newest one', async () => {
    const faults = { left: 0 }
    const load: InstalledLance['load'] = async () => {
      const installed = (await lance.load()) as LanceModule // the package itself
      return {
        ...installed,
        connect: async (...given: Parameters<LanceModule['connect']>) =>
          losing(await installed.connect(...given), faults),
      }
    }
    const mirror = await opened({ ...lance, load }, { folder: temporaryFolder() })
    await mirror.upsert(SPACE, [point(1)])
    faults.left = 1
    expect(await mirror.count(SPACE)).toBe(1)
    expect(faults.left).toBe(0)
    faults.left = 2
    await expect(mirror.count(SPACE)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await mirror.count(SPACE)).toBe(1)
  })

  it('[LC6] compacts fragments of earlier processes when it opens', async () => {
    const folder = temporaryFolder()
    const careless = await open(lance, { folder, commitsMax: 1_000 })
    for (let number = 0; number < 12; number++) await careless.upsert(SPACE, [point(number)])
    await careless.close()
    expect((await tableFacts(lance, folder, SPACE)).fragments).toBe(12)
    const mirror = await opened(lance, { folder, commitsMax: 8, keepVersionsMs: 0 })
    expect(await mirror.count(SPACE)).toBe(12)
    await vi.waitFor(async () => {
      expect((await tableFacts(lance, folder, SPACE)).fragments).toBe(1)
    }, PATIENCE)
  })

  it('[LC7] commits waiting writes together, in the order of the calls', async () => {
    const folder = temporaryFolder()
    const mirror = await opened(lance, { folder, commitsMax: 1_000 })
    await mirror.prepare(SPACE)
    const before = (await tableFacts(lance, folder, SPACE)).versions
    const texts = ['first', 'second', 'last']
    await Promise.all([
      ...texts.map((textHash) => mirror.upsert(SPACE, [point(1, { textHash }), point(2)])),
      ...Array.from({ length: 50 }, (_, number) => mirror.upsert(SPACE, [point(10 + number)])),
      mirror.remove(SPACE, ADA_ALL.owner, [point(2).id, point(70).id]),
      mirror.upsert(SPACE, [point(70)]),
    ])
    expect((await tableFacts(lance, folder, SPACE)).versions - before).toBeLessThan(6)
    const [first] = await mirror.list(SPACE, { limit: 1 })
    expect(first).toMatchObject({ id: point(1).id, textHash: 'last' })
    expect(await mirror.count(SPACE)).toBe(52)
  })
}

function describeWriters(lance: InstalledLance): void {
  it('[LC8] loses nothing and keeps nothing twice when several write the same and other points', async () => {
    const folder = temporaryFolder()
    const mirrors = await Promise.all([1, 2, 3].map(() => opened(lance, { folder, commitsMax: 5 })))
    await Promise.all(
      mirrors.map(async (mirror, writer) => {
        for (let round = 0; round < 8; round++) {
          const own = point(1_000 * (writer + 1) + round)
          await mirror.upsert(SPACE, [point(round), own])
          if (round % 4 === 3) await mirror.remove(SPACE, ADA_ALL.owner, [own.id])
        }
      }),
    )
    const expected = [0, 1, 2, 3].flatMap((thousands) =>
      Array.from({ length: 8 }, (_, round) => point(1_000 * thousands + round).id).filter(
        (_, round) => thousands === 0 || round % 4 !== 3,
      ),
    )
    for (const mirror of mirrors) {
      expect(idsOf(await mirror.list(SPACE, { limit: 100 }))).toEqual(expected)
    }
  })
}

function describeFaults(lance: InstalledLance): void {
  it('[LC10] is unavailable, never empty, when its table is missing, until it is prepared again', async () => {
    const folder = temporaryFolder()
    const mirror = await opened(lance, { folder })
    await mirror.upsert(SPACE, [point(1)])
    rmSync(folder, { recursive: true })
    const unavailable = { code: 'unavailable' }
    await expect(closest(mirror, SPACE, unitVector(24, 1), 5)).rejects.toMatchObject(unavailable)
    await expect(mirror.count(SPACE)).rejects.toMatchObject(unavailable)
    await expect(mirror.upsert(SPACE, [point(2)])).rejects.toMatchObject(unavailable)
    expect(await mirror.health()).toMatchObject({ isReady: false })
    await mirror.prepare(SPACE)
    expect(await mirror.count(SPACE)).toBe(0)
    await mirror.upsert(SPACE, [point(2)])
    expect(await closest(mirror, SPACE, unitVector(24, 1), 5)).toEqual([point(2).id])
    expect(await mirror.health()).toMatchObject({ isReady: true })
  })

  it('[LC10] includes no names in errors', async () => {
    const folder = temporaryFolder()
    const mirror = await opened(lance, { folder })
    const place = { ...point(1).place, owner: owner('mallory') }
    await mirror.upsert(SPACE, [point(1, { place })])
    for (const table of readdirSync(folder))
      rmSync(join(folder, table, 'data'), { recursive: true })
    const failure = await mirror
      .search(SPACE, { owner: place.owner }, { vector: unitVector(24, 1), limit: 5 })
      .catch((thrown: unknown) => thrown)
    expect(failure).toMatchObject({ code: 'unavailable' })
    expect(String(failure)).not.toContain('mallory')
  })
}
