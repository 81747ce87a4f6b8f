/** Qdrant fails in every way it can: nothing is lost or half done that can't be made whole, and nobody waits for long. */
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/lib/errors.ts'
import { openQdrantVectorReplica } from '../../src/storage/qdrant/qdrant-vector-replica.ts'
import type { VectorReplica } from '../../src/storage/vector-replica.ts'
import { closest, idsOf, point, SPACE } from '../conformance/vectors/vector-replica.suite.ts'
import { FakeClock } from '../fakes/clock.ts'
import { ADA, instant, memoryId } from '../fakes/memories.ts'
import { unitVector } from '../fakes/vectors.ts'
import type { Misbehaviour } from '../support/qdrant/fake-server.ts'
import { KEY, openOnStandIn } from '../support/qdrant/qdrant-replicas.ts'

const QUERY = unitVector(24, 1)
const UNAVAILABLE = { code: 'unavailable' }
const EVER = 1_000

/** Notes how long it was made to sleep. */
class NotingClock extends FakeClock {
  readonly sleeps: number[] = []

  override async sleep(ms: number): Promise<void> {
    this.sleeps.push(ms)
    await super.sleep(ms)
  }
}

describe('Qdrant that fails for a moment', () => {
  const passing: readonly (readonly [string, Misbehaviour])[] = [
    ['answers 500', { kind: 'answer', status: 500 }],
    ['answers 503', { kind: 'answer', status: 503 }],
    ['gets too many requests', { kind: 'answer', status: 429 }],
    ['has no room', { kind: 'answer', status: 507 }],
    ['is slow', { kind: 'slow', ms: 60 }],
    ['cuts the connection before the work', { kind: 'cut' }],
    ['cuts the connection after the work', { kind: 'cut', after: true }],
  ]

  it.each(passing)('[QD7] it %s, and everything is done once all the same', async (_, how) => {
    const { qdrant, mirror } = await openOnStandIn({ random: () => 0.5 })
    const once = async (line: RegExp, work: () => Promise<unknown>) => {
      qdrant.misbehave(how, line)
      await work()
    }
    await once(/PUT \/collections\/[^/]+$/, () => mirror.prepare(SPACE))
    await once(/PUT .*points/, () => mirror.upsert(SPACE, [point(1), point(2), point(3)]))
    await once(/POST .*points\/delete/, () => mirror.remove(SPACE, ADA.owner, [memoryId(2)]))
    qdrant.misbehave(how, /POST .*(?:query|count)/, 1)
    expect((await closest(mirror, SPACE, QUERY, 5)).sort()).toEqual([1, 3].map(memoryId))
    expect(await mirror.count(SPACE)).toBe(2)
  })

  it('[QD5] reports acknowledged but unapplied writes, and repeating completes them', async () => {
    const { qdrant, mirror } = await openOnStandIn()
    await mirror.prepare(SPACE)
    const writes = [
      () => mirror.upsert(SPACE, [point(1), point(2)]),
      () => mirror.remove(SPACE, ADA.owner, [memoryId(1)]),
    ]
    for (const write of writes) {
      qdrant.misbehave({ kind: 'unfinished' }, /points/)
      await expect(write()).rejects.toMatchObject(UNAVAILABLE)
      await write()
    }
    expect(await closest(mirror, SPACE, QUERY, 5)).toEqual([memoryId(2)])
  })

  it('[QD7] waits as long as `retry-after` demands', async () => {
    const clock = new NotingClock()
    const { qdrant, mirror } = await openOnStandIn({ clock, random: () => 0.5 })
    await mirror.prepare(SPACE)
    const busy: Misbehaviour = { kind: 'answer', status: 429, headers: { 'retry-after': '7' } }
    qdrant.misbehave(busy, /points/)
    await mirror.upsert(SPACE, [point(1)])
    expect(clock.sleeps).toEqual([7_000])
  })

  it('[QD7] waits for no long pause, and for none during a search, and reports its length', async () => {
    const clock = new NotingClock()
    const { qdrant, mirror } = await openOnStandIn({ clock })
    await mirror.upsert(SPACE, [point(1)])
    const busy = (seconds: string): Misbehaviour => {
      return { kind: 'answer', status: 429, headers: { 'retry-after': seconds } }
    }
    qdrant.misbehave(busy('3600'), /points/)
    await expect(mirror.upsert(SPACE, [point(2)])).rejects.toMatchObject({
      ...UNAVAILABLE,
      facts: { retryAfterMs: 3_600_000 },
    })
    qdrant.misbehave(busy('2'), /query/)
    await expect(closest(mirror, SPACE, QUERY, 5)).rejects.toMatchObject({
      ...UNAVAILABLE,
      facts: { retryAfterMs: 2_000 },
    })
    expect(clock.sleeps).toEqual([])
  })
})

describe('Qdrant that keeps failing', () => {
  it('[QD7] is tried four times for background work and twice for a search', async () => {
    const { qdrant, mirror } = await openOnStandIn()
    await mirror.upsert(SPACE, [point(1)])
    const before = qdrant.requests.length
    qdrant.misbehave({ kind: 'answer', status: 500 }, /./, EVER)
    await expect(mirror.upsert(SPACE, [point(2)])).rejects.toMatchObject(UNAVAILABLE)
    expect(qdrant.requests.length - before).toBe(4)
    await expect(closest(mirror, SPACE, QUERY, 5)).rejects.toMatchObject(UNAVAILABLE)
    expect(qdrant.requests.length - before).toBe(6)
    expect(await mirror.health()).toMatchObject({ isReady: false })
  })

  it('[QD7] times out when it does not answer', async () => {
    const { qdrant, mirror } = await openOnStandIn({ timeoutMs: 40, searchTimeoutMs: 40 })
    qdrant.misbehave({ kind: 'silent' }, /./, EVER)
    for (const call of everyCall(mirror)) {
      await expect(call()).rejects.toMatchObject({ ...UNAVAILABLE, facts: { timeoutMs: 40 } })
    }
    expect(await mirror.health()).toMatchObject({
      isReady: false,
      detail: 'Qdrant did not answer within 40 ms.',
    })
  })

  it('[QD7] is unavailable to every call when it is not there', async () => {
    const { qdrant, mirror } = await openOnStandIn()
    await qdrant.stop()
    for (const call of everyCall(mirror)) await expect(call()).rejects.toMatchObject(UNAVAILABLE)
    const { isReady, detail } = await mirror.health()
    expect(isReady).toBe(false)
    expect(detail).toMatch(/could not be reached/)
  })

  it('[QD7] aborts running requests when the replica closes', async () => {
    const { qdrant, mirror } = await openOnStandIn()
    qdrant.misbehave({ kind: 'silent' }, /./, EVER)
    const calls = everyCall(mirror).map((call) => call())
    await mirror.close()
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({ status: 'rejected', reason: UNAVAILABLE })
    }
  })

  it('[QD7] answers without the format of Qdrant, which is an error', async () => {
    const { mirror } = await openOnStandIn({
      fetch: async () => new Response('<html>Welcome</html>', { status: 200 }),
    })
    const calls = everyCall(mirror)
    for (const call of calls) await expect(call()).rejects.toMatchObject(UNAVAILABLE)
    expect(await mirror.health()).toMatchObject({ isReady: false })
  })
})

describe('a batch of several that fails', () => {
  it('[QD5] reports what was applied, and a full repetition completes it', async () => {
    const { qdrant, mirror } = await openOnStandIn()
    const points = Array.from({ length: 1_300 }, (_, n) => point(n))
    await mirror.prepare(SPACE)
    qdrant.misbehave({ kind: 'answer', status: 500 }, /PUT .*points/, EVER, 1)
    await expect(mirror.upsert(SPACE, points)).rejects.toMatchObject({
      ...UNAVAILABLE,
      facts: { done: 500, of: 1_300 },
    })
    expect(await mirror.count(SPACE)).toBe(500)
    qdrant.heal()
    await mirror.upsert(SPACE, points)
    expect(await mirror.count(SPACE)).toBe(1_300)
  })
})

describe('a collection that was deleted underneath', () => {
  it('[QD8] is unavailable, never empty, until it is prepared and filled again', async () => {
    const { qdrant, mirror } = await openOnStandIn()
    await mirror.upsert(SPACE, [point(1), point(2)])
    qdrant.loseCollections()
    const calls = everyCall(mirror).slice(1)
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ ...UNAVAILABLE, facts: { reason: 'gone' } })
    }
    expect(qdrant.collectionNames()).toEqual([])
    await mirror.prepare(SPACE)
    expect(await mirror.list(SPACE, { limit: 5 })).toEqual([])
    await mirror.upsert(SPACE, [point(1), point(2)])
    expect(await closest(mirror, SPACE, QUERY, 5)).toHaveLength(2)
  })

  it('[QD8] is no failure once this mirror has dropped it', async () => {
    const { mirror } = await openOnStandIn()
    await mirror.upsert(SPACE, [point(1)])
    await mirror.drop(SPACE)
    expect(await closest(mirror, SPACE, QUERY, 5)).toEqual([])
  })
})

describe('the key and the address', () => {
  it('[QD9] a wrong key is a mistake that waiting does not heal, and is in no error', async () => {
    for (const apiKey of ['wrong-key-of-somebody', undefined]) {
      const { qdrant } = await openOnStandIn()
      const mirror = openQdrantVectorReplica({
        url: qdrant.url,
        clock: new FakeClock(),
        ...(apiKey === undefined ? {} : { apiKey }),
      })
      for (const call of everyCall(mirror)) {
        const failed = await call().catch((thrown: unknown) => thrown)
        expect(failed).toMatchObject({ code: 'invalid_input', facts: { status: 401 } })
        expect(everythingIn(failed)).not.toContain('wrong-key-of-somebody')
      }
      const { isReady, detail } = await mirror.health()
      expect(isReady).toBe(false)
      expect(detail).toMatch(/rejected the API key/)
      await mirror.close()
    }
  })

  it('[QD9] a key that may only read is found out by the first write', async () => {
    const server = { apiKey: 'another', readOnlyKey: KEY }
    const { mirror } = await openOnStandIn({}, server)
    await expect(mirror.prepare(SPACE)).rejects.toMatchObject({
      code: 'invalid_input',
      facts: { status: 403 },
    })
    expect(await mirror.count(SPACE)).toBe(0)
  })

  it('[QD9] the key goes in its header and is in no failure', async () => {
    const { qdrant, mirror } = await openOnStandIn()
    await mirror.upsert(SPACE, [point(1)])
    for (const { headers } of qdrant.requests) expect(headers['api-key']).toBe(KEY)
    for (const status of [301, 400, 401, 403, 404, 409, 413, 422, 429, 500]) {
      qdrant.misbehave({ kind: 'answer', status }, /./, 4)
      const failed = await mirror.upsert(SPACE, [point(2)]).catch((thrown: unknown) => thrown)
      expect(failed).toBeInstanceOf(AppError)
      expect(everythingIn(failed)).not.toContain(KEY)
      qdrant.heal()
    }
  })

  it('[QD9] an address may have a path, and one without Qdrant is a mistake', async () => {
    const { qdrant, mirror } = await openOnStandIn({}, { apiKey: KEY, basePath: '/vectors/qdrant' })
    await mirror.upsert(SPACE, [point(1)])
    expect(await mirror.count(SPACE)).toBe(1)
    expect(await mirror.health()).toMatchObject({ isReady: true, detail: 'Qdrant 1.18.0' })
    const elsewhere = openQdrantVectorReplica({
      url: `${new URL(qdrant.url).origin}/elsewhere/`,
      apiKey: KEY,
      clock: new FakeClock(),
    })
    await expect(elsewhere.prepare(SPACE)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/No Qdrant server/),
    })
    for (const url of ['', 'localhost:6333', 'ftp://one', 'http://user:secret@one']) {
      expect(() => openQdrantVectorReplica({ url, clock: new FakeClock() })).toThrow(
        /URL of Qdrant must begin with http/,
      )
    }
  })
})

describe('health', () => {
  it('[QD10] is that of the server, with its version, and says when shards are not ready', async () => {
    const { qdrant, mirror } = await openOnStandIn()
    expect(await mirror.health()).toMatchObject({ isReady: true, detail: 'Qdrant 1.18.0' })
    qdrant.setReady(false)
    const { isReady, detail } = await mirror.health()
    expect(isReady).toBe(false)
    expect(detail).toMatch(/503/)
    qdrant.setReady(true)
    expect(await mirror.health()).toMatchObject({ isReady: true })
  })
})

/** `prepare` first: the one that makes a collection again. */
function everyCall(mirror: VectorReplica): (() => Promise<unknown>)[] {
  return [
    () => mirror.prepare(SPACE),
    () => mirror.upsert(SPACE, [point(1)]),
    () => mirror.remove(SPACE, ADA.owner, [memoryId(1)]),
    () => closest(mirror, SPACE, QUERY, 5),
    async () => idsOf(await mirror.list(SPACE, { limit: 5 })),
    () => mirror.count(SPACE),
    () => mirror.removeExpired(SPACE, instant(1_000)),
  ]
}

function everythingIn(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const facts = thrown instanceof AppError ? JSON.stringify(thrown.facts) : ''
  return [thrown.message, thrown.stack, facts, everythingIn(thrown.cause ?? '')].join('\n')
}
