/** The stand-in is honest: what Qdrant's description doesn't have, it neither takes nor gives. */
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  hasDescription,
  NO_DESCRIPTION,
  readDescription,
} from '../../support/qdrant/description.ts'
import { startQdrant } from '../../support/qdrant/fake-server.ts'

const COLLECTION = { vectors: { meaning: { size: 2, distance: 'Cosine' } } }
const POINT = '00000000-0000-8000-8000-000000000001'

describe('the stand-in for Qdrant', () => {
  it('[QD4] refuses missing collections, wrong dimensions, unknown vectors and filters without an index', async () => {
    const { ask } = await start()
    expect((await ask('POST', '/collections/one/points/count', {})).status).toBe(404)
    expect((await ask('PUT', '/collections/one', COLLECTION)).status).toBe(200)
    expect((await ask('PUT', '/collections/one', COLLECTION)).status).toBe(409)
    const upsert = (vector: unknown) =>
      ask('PUT', '/collections/one/points?wait=true', { points: [{ id: POINT, vector }] })
    expect((await upsert({ meaning: [1, 0, 0] })).status).toBe(400)
    expect((await upsert({ other: [1, 0] })).status).toBe(400)
    expect((await upsert({ meaning: [1, 0] })).status).toBe(200)
    const filter = { must: [{ key: 'owner', match: { value: 'ada' } }] }
    const counted = await ask('POST', '/collections/one/points/count', { filter })
    expect(counted).toMatchObject({
      status: 400,
      body: { status: { error: expect.stringMatching(/Index/) } },
    })
  })

  it('[QD4] finds later what was written without waiting', async () => {
    const { ask } = await start()
    await ask('PUT', '/collections/one', COLLECTION)
    const body = { points: [{ id: POINT, vector: { meaning: [1, 0] } }] }
    const answer = await ask('PUT', '/collections/one/points', body)
    expect(answer).toMatchObject({ body: { result: { status: 'acknowledged' } } })
    const count = () => ask('POST', '/collections/one/points/count', {})
    expect(await count()).toMatchObject({ body: { result: { count: 0 } } })
    await ask('PUT', '/collections/one/points?wait=true', { points: [] })
    expect(await count()).toMatchObject({ body: { result: { count: 1 } } })
  })

  it('[QD4] requires the key', async () => {
    const { ask } = await start({ apiKey: 'right', readOnlyKey: 'reader' })
    expect((await ask('GET', '/collections')).status).toBe(401)
    expect((await ask('GET', '/collections', undefined, 'wrong')).status).toBe(401)
    expect((await ask('GET', '/collections', undefined, 'reader')).status).toBe(200)
    expect((await ask('PUT', '/collections/one', COLLECTION, 'reader')).status).toBe(403)
    expect((await ask('PUT', '/collections/one', COLLECTION, 'right')).status).toBe(200)
  })
})

describe.skipIf(!hasDescription)(`the description (skipped when ${NO_DESCRIPTION})`, () => {
  const wrong: readonly (readonly [string, string, unknown])[] = [
    ['PUT', '/collections/one', { vectors: { meaning: { size: 2, distance: 'Near' } } }],
    ['PUT', '/collections/one', { vectors: { meaning: { size: 0, distance: 'Cosine' } } }],
    ['PUT', '/collections/one', { ...COLLECTION, hnsw: { m: 0 } }],
    ['PUT', '/collections/one/points', { points: [{ id: 'mem_1', vector: {} }] }],
    ['PUT', '/collections/one/points', { points: [{ id: POINT }] }],
    ['PUT', '/collections/one/points?waits=true', { points: [] }],
    ['PUT', '/collections/one/points?wait=soon', { points: [] }],
    ['POST', '/collections/one/points/query', { query: [1, 0], limit: 0 }],
    ['POST', '/collections/one/points/query', { query: [1, 0], top: 5 }],
    ['POST', '/collections/one/points/query', { query: [1, 0], filter: { all: [] } }],
    ['POST', '/collections/one/points/scroll', { offset: 'mem_1' }],
    ['POST', '/collections/one/points/delete', { ids: [POINT] }],
    ['POST', '/collections/one/points/count', undefined],
  ]

  it.each(wrong)(
    '[QD4] refuses %s %s with %o in the form of Qdrant',
    async (method, path, body) => {
      const { ask } = await start()
      if (path !== '/collections/one') await ask('PUT', '/collections/one', COLLECTION)
      const answer = await ask(method, path, body)
      expect(answer.status).toBe(400)
      const fault = readDescription()?.faultOfAnswer({ method, path: DESCRIBED }, 400, answer.body)
      expect(fault).toBeNull()
      expect(answer.body).toMatchObject({
        status: { error: expect.stringMatching(/Format error/) },
      })
    },
  )

  it('[QD4] sees a wrong answer', () => {
    const operation = { method: 'POST', path: `${DESCRIBED}/points/count` }
    const faultOf = (result: unknown) =>
      readDescription()?.faultOfAnswer(operation, 200, { result, status: 'ok', time: 0.1 })
    expect(faultOf({ count: 3 })).toBeNull()
    expect(faultOf({ count: -3 })).not.toBeNull()
    expect(faultOf({ number: 3 })).not.toBeNull()
  })
})

const DESCRIBED = '/collections/{collection_name}'

async function start(options: Parameters<typeof startQdrant>[0] = {}) {
  const qdrant = await startQdrant(options)
  onTestFinished(async () => {
    await qdrant.stop()
    expect(qdrant.mistakes).toEqual([])
  })
  const ask = async (method: string, path: string, body?: unknown, key?: string) => {
    const response = await fetch(`${qdrant.url}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'api-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }
  return { qdrant, ask }
}
