/** What is made in Qdrant, and under which names. */
import { expect, it } from 'vitest'
import { createIdGenerator } from '../../../src/app/id-generator.ts'
import { systemClock } from '../../../src/app/system-clock.ts'
import type { MemoryId } from '../../../src/domain/ids.ts'
import { compareText } from '../../../src/lib/compare.ts'
import { toCollectionName, toPointId } from '../../../src/storage/qdrant/point-ids.ts'
import { openQdrantVectorReplica } from '../../../src/storage/qdrant/qdrant-vector-replica.ts'
import {
  closest,
  idsOf,
  plainId,
  point,
  SPACE,
} from '../../conformance/vectors/vector-replica.suite.ts'
import { ADA, instant } from '../../fakes/memories.ts'
import { unitVector } from '../../fakes/vectors.ts'
import { KEY, type OnStandIn, openOnStandIn } from '../../support/qdrant/qdrant-replicas.ts'

type Info = {
  readonly config: {
    readonly params: { readonly vectors: unknown }
    readonly hnsw_config: unknown
    readonly quantization_config: unknown
  }
  readonly payload_schema: Readonly<Record<string, { readonly params: unknown }>>
}

it('[QD1] makes a collection for a space, with one graph for each owner and an index for all that searches narrow by', async () => {
  const { qdrant, mirror } = await openOnStandIn()
  await mirror.prepare(SPACE)
  const { config, payload_schema: indexes } = await infoOf(qdrant)
  expect(config.params.vectors).toEqual({ meaning: { size: 24, distance: 'Cosine' } })
  expect(config.hnsw_config).toMatchObject({ m: 0, payload_m: 16 })
  expect(Object.keys(indexes).sort()).toEqual(['expires_at', 'owner', 'session', 'type', 'user'])
  expect(indexes.owner?.params).toEqual({ type: 'keyword', is_tenant: true })
  const others = Object.entries(indexes).filter(([name]) => name !== 'owner')
  for (const [, { params }] of others) expect(params).toMatchObject({ enable_hnsw: false })
})

it('[QD1] completes a collection whose making was interrupted', async () => {
  const { qdrant, mirror } = await openOnStandIn()
  qdrant.misbehave({ kind: 'answer', status: 400 }, /PUT .*\/index/)
  await expect(mirror.prepare(SPACE)).rejects.toMatchObject({ code: 'invalid_input' })
  await mirror.upsert(SPACE, [point(1)])
  expect(Object.keys((await infoOf(qdrant)).payload_schema)).toHaveLength(5)
  expect(await closest(mirror, SPACE, unitVector(24, 1), 5)).toHaveLength(1)
})

it('[QD1] takes a collection that another process makes at the same time', async () => {
  const { qdrant, mirror } = await openOnStandIn()
  const other = openQdrantVectorReplica({ url: qdrant.url, apiKey: KEY, clock: systemClock })
  await Promise.all([mirror.upsert(SPACE, [point(1)]), other.upsert(SPACE, [point(2)])])
  await other.close()
  expect(qdrant.collectionNames()).toHaveLength(1)
  expect(await mirror.count(SPACE)).toBe(2)
})

it('[QD1] refuses a collection that it did not create, with the reason', async () => {
  const { qdrant, mirror } = await openOnStandIn()
  await fetch(`${qdrant.url}/collections/${toCollectionName('recollect', SPACE.signature)}`, {
    method: 'PUT',
    headers: { 'api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ vectors: { other: { size: 24, distance: 'Cosine' } } }),
  })
  await expect(mirror.prepare(SPACE)).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(/was not created by Recollect/),
  })
})

it('[QD2] names collections after the prefix and the space, safely and never two alike', async () => {
  const signatures = ['a:b/c:24', 'a:b-c:24', 'A:b/c:24', '../..?#:24', `${'x'.repeat(400)}:24`]
  const names = signatures.map((signature) => toCollectionName('team-1', signature))
  for (const name of names) expect(name).toMatch(/^team-1_[A-Za-z0-9_.-]{1,80}$/)
  expect(new Set(names).size).toBe(names.length)
  const { qdrant, mirror } = await openOnStandIn({ collectionPrefix: 'team-1' })
  await mirror.prepare({ signature: signatures[0] ?? '', dimensions: 24 })
  expect(qdrant.collectionNames()).toEqual([names[0]])
  for (const collectionPrefix of ['', 'a/b', '-a', 'ä', 'a'.repeat(61)]) {
    const opening = () =>
      openQdrantVectorReplica({ url: qdrant.url, clock: systemClock, collectionPrefix })
    expect(opening).toThrow(/prefix/)
  }
})

it('[QD2] gives a memory always the same point, in the order of the ids of other times', () => {
  const ids = createIdGenerator()
  const drawn = Array.from({ length: 2_000 }, (_, n) =>
    ids.next('mem', instant(1_700_000_000_000 + n)),
  )
  const named = ['1', '10', '2', 'A', 'Z', '_', 'a', 'a_', 'aZ', 'aa', 'z'.repeat(60)].map(plainId)
  for (const group of [drawn, named]) {
    const points = group.map(toPointId)
    for (const id of points) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }
    expect(new Set(points).size).toBe(group.length)
    expect([...points].sort(compareText)).toEqual([...group].sort(compareText).map(toPointId))
  }
  const alike = Array.from({ length: 5_000 }, (_, n) => plainId(`0123456789${n}`)).map(toPointId)
  expect(new Set(alike).size).toBe(alike.length)
})

it('[QD2] lists memories of one moment in their order, however many there are', async () => {
  const { mirror } = await openOnStandIn()
  const ids = Array.from({ length: 300 }, (_, n) =>
    plainId(`01k3x9q7ab${String(n).padStart(4, '0')}`),
  )
  await mirror.upsert(
    SPACE,
    ids.map((id, n) => point(n, { id })),
  )
  const listed: MemoryId[] = []
  for (let last: MemoryId | undefined; ; last = listed.at(-1)) {
    const page = await mirror.list(SPACE, {
      limit: 70,
      ...(last === undefined ? {} : { after: last }),
    })
    if (page.length === 0) break
    listed.push(...idsOf(page))
  }
  expect(listed).toEqual(ids)
})

it('[QD3] quantizes vectors as configured, and rescores the best exactly', async () => {
  const stored = {
    none: [null, undefined],
    int8: [
      { scalar: { type: 'int8', quantile: 0.99, always_ram: true } },
      { rescore: true, oversampling: 2 },
    ],
    binary: [{ binary: { always_ram: true } }, { rescore: true, oversampling: 4 }],
  } as const
  for (const quantisation of ['none', 'int8', 'binary'] as const) {
    const { qdrant, mirror } = await openOnStandIn({ quantization: quantisation })
    await mirror.upsert(SPACE, [point(1)])
    await closest(mirror, SPACE, unitVector(24, 1), 5)
    const [config, asked] = stored[quantisation]
    expect((await infoOf(qdrant)).config.quantization_config).toEqual(config)
    const search = qdrant.requests.find(({ line }) => line.endsWith('/query'))
    const { params } = (search?.body ?? {}) as { params?: { quantization: unknown } } // as it was asked
    expect(search).toBeDefined()
    expect(params?.quantization).toEqual(asked)
  }
})

it('[QD3] adjusts an existing collection when the setting changes, and only then', async () => {
  const { qdrant, mirror } = await openOnStandIn({ quantization: 'int8' })
  await mirror.upsert(SPACE, [point(1)])
  for (const quantisation of ['binary', 'none', 'int8', 'int8'] as const) {
    const other = openQdrantVectorReplica({
      url: qdrant.url,
      apiKey: KEY,
      clock: systemClock,
      quantization: quantisation,
    })
    await other.prepare(SPACE)
    await other.close()
  }
  const changes = qdrant.requests.filter(({ line }) => line.startsWith('PATCH'))
  expect(changes.map(({ body }) => body)).toEqual([
    { quantization_config: { binary: { always_ram: true } } },
    { quantization_config: 'Disabled' },
    { quantization_config: { scalar: { type: 'int8', quantile: 0.99, always_ram: true } } },
  ])
  expect(await mirror.count(SPACE)).toBe(1)
})

it('[QD5] writes and removes in batches, each of which is waited for', async () => {
  const { qdrant, mirror } = await openOnStandIn()
  await mirror.upsert(
    SPACE,
    Array.from({ length: 1_100 }, (_, n) => point(n)),
  )
  const ids = Array.from({ length: 1_100 }, (_, n) => point(n).id)
  await mirror.remove(SPACE, ADA.owner, ids)
  const writes = qdrant.requests.filter(({ line }) => /points(?:\/delete)?\?/.test(line))
  expect(writes.map(({ line }) => line.replace(/^(\w+) .*\/points/, '$1 points'))).toEqual([
    'PUT points?wait=true',
    'PUT points?wait=true',
    'PUT points?wait=true',
    'POST points/delete?wait=true',
    'POST points/delete?wait=true',
  ])
})

it('[QD5] makes batches of long vectors small', async () => {
  const { qdrant, mirror } = await openOnStandIn()
  const long = { signature: 'long:model:4096', dimensions: 4_096 }
  await mirror.upsert(
    long,
    Array.from({ length: 200 }, (_, n) => point(n, {}, 4_096)),
  )
  const writes = qdrant.requests.filter(({ line }) => /points\?/.test(line))
  expect(writes.length).toBeGreaterThan(1)
  for (const { body } of writes) expect(JSON.stringify(body).length).toBeLessThan(2 * 1024 * 1024)
})

it('[QD6] counts what has expired first, and removes nothing where nothing has', async () => {
  const { qdrant, mirror } = await openOnStandIn()
  await mirror.upsert(SPACE, [point(1), point(2, { expiresAt: instant(100) })])
  const before = qdrant.requests.length
  expect(await mirror.removeExpired(SPACE, instant(50))).toBe(0)
  expect(await mirror.removeExpired(SPACE, instant(200))).toBe(1)
  const asked = qdrant.requests.slice(before).map(({ line }) => line.replace(/.*\/points/, ''))
  expect(asked).toEqual(['/count', '/count', '/delete?wait=true'])
})

async function infoOf(qdrant: OnStandIn['qdrant']): Promise<Info> {
  const [name] = qdrant.collectionNames()
  const answer = await fetch(`${qdrant.url}/collections/${name}`, { headers: { 'api-key': KEY } })
  return ((await answer.json()) as { result: Info }).result // as described
}
