/** Moving in from OmniRoute: its database, then the requests of its clients. */
import { beforeAll, describe, expect, it } from 'vitest'
import { createCli } from '../e2e/cli/cli-host.ts'
import { createDatabase, type House, OMNIROUTE_SCHEMA, openHouse } from './moving-support.ts'

const OLD = '6f1e0b3c-0c57-4a53-9f0e-3d7f6a1c9b10'
const SECOND = '0d0f5d1e-6f1c-4c8e-8f5d-0b6e1c2a7f11'
const LEGACY = 'c2a7f110-0d0f-4d1e-8f1c-4c8e8f5d0b6e'
const UNKNOWN = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee'
const DATA = `${OMNIROUTE_SCHEMA}
  INSERT INTO memories (id, api_key_id, session_id, type, key, content, metadata, created_at, updated_at, expires_at) VALUES
    ('${OLD}', 'key-a', 's1', 'factual', 'preference:tea', 'prefers green tea', '{"category":"preference"}', '2026-05-01T10:00:00.000Z', '2026-05-01T10:00:00.000Z', NULL),
    ('${SECOND}', 'key-b', '', 'episodic', 'preference:tea', 'chose Postgres', '{}', '2026-05-02T10:00:00.000Z', '2026-05-02T10:00:00.000Z', NULL),
    ('11111111-2222-4333-8444-555555555555', 'key-b', NULL, 'factual', NULL, 'an expired note', '{}', '2026-05-02T10:00:00.000Z', '2026-05-02T10:00:00.000Z', '2026-05-03T10:00:00.000Z');
  INSERT INTO memory VALUES ('${LEGACY}', 'key-a', NULL, 'factual', 'k', 'uses tabs', NULL, '2025-01-01T00:00:00Z', '2025-01-01T00:00:00Z', NULL);
`

describe('an OmniRoute database', () => {
  let house: House
  beforeAll(async () => {
    const path = createDatabase('storage.sqlite', DATA)
    house = await openHouse()
    const cli = await house.cli()
    const { json } = await cli(['import', path, '--json'])
    expect(json).toMatchObject({ imported: 4, failed: 0, owners: ['key-a', 'key-b'] })
    return () => house.close()
  })

  it('[PO42] OmniRoute: each API key of the database becomes an owner', async () => {
    const places = await house.engine.admin.listPlaces()
    expect(places.map(({ owner, memories }) => [owner, memories])).toEqual([
      ['key-a', 2],
      ['key-b', 2],
    ])
  })

  it('[PO42] OmniRoute: keys of memories are unique within each owner', async () => {
    for (const [owner, content] of [
      ['key-a', 'prefers green tea'],
      ['key-b', 'chose Postgres'],
    ] as const) {
      const { rows } = await house.engine.list({ owner }, { key: 'preference:tea' })
      expect(rows.map((memory) => memory.content)).toEqual([content])
    }
  })

  it('[PO42] OmniRoute: the table `memory` of early versions is imported', async () => {
    const { status, body } = await house.client.get(`/api/memory/${LEGACY}`)
    expect([status, body.memory.content]).toEqual([200, 'uses tabs'])
  })

  it('[PO43] OmniRoute: memories are found, changed and deleted by their old ids', async () => {
    const { client } = house
    const { status, body } = await client.get(`/api/memory/${OLD}`)
    expect([status, body.memory.content]).toEqual([200, 'prefers green tea'])
    expect((await client.get(`/api/memory/${UNKNOWN}`)).status).toBe(404)
    const put = await client.call('PUT', `/api/memory/${SECOND}`, {
      body: { content: 'chose SQLite' },
    })
    expect([put.status, put.body.memory.content]).toEqual([200, 'chose SQLite'])
    expect((await client.call('DELETE', `/api/memory/${SECOND}`)).status).toBe(200)
    expect((await client.call('DELETE', `/api/memory/${UNKNOWN}`)).status).toBe(404)
  })

  it('[PO42] OmniRoute: `GET /api/memory` lists by API key, type, session and text', async () => {
    const { client } = house
    const list = async (query: string) =>
      (await client.get(`/api/memory?${query}`)).body.data.map(
        ({ content }: { readonly content: string }) => content,
      )
    expect((await list('apiKeyId=key-a&page=1&limit=50')).sort()).toEqual([
      'prefers green tea',
      'uses tabs',
    ])
    expect(await list('apiKeyId=key-a&sessionId=s1')).toEqual(['prefers green tea'])
    expect(await list('apiKeyId=key-a&q=GREEN')).toEqual(['prefers green tea'])
    expect(await list('apiKeyId=key-a&type=episodic')).toEqual([])
  })

  it('[PO54] OmniRoute: empty `apiKeyId` and `type` mean "not given"', async () => {
    const { client } = house
    const blank = { apiKeyId: '', type: '', sessionId: '', metadata: {} }
    const added = await client.post('/api/memory', { ...blank, key: 'k2', content: 'a new one' })
    expect([added.status, added.body.memory.type]).toEqual([201, 'factual'])
    expect((await client.get('/api/memory?apiKeyId=&type=&q=new')).body.data).toHaveLength(1)
  })

  it('[PO42] OmniRoute: a memory without expiry is permanent', async () => {
    const { body } = await house.client.get(`/api/memory/${OLD}`)
    expect(body.memory.expiresAt).toBeNull()
  })

  it('[PO42] OmniRoute: `POST /api/memory/retrieve-preview` finds imported memories', async () => {
    const { status, body } = await house.client.post('/api/memory/retrieve-preview', {
      ...{ query: 'green tea', strategy: 'hybrid', maxTokens: 2000, apiKeyId: 'key-a' },
    })
    expect(status).toBe(200)
    expect(body.memories[0]).toMatchObject({ content: 'prefers green tea' })
    expect(body).toMatchObject({ budgetMaxTokens: 2000 })
  })
})

it('[PO42] OmniRoute: `--into-owner` merges all API keys', async () => {
  const path = createDatabase('storage.sqlite', DATA)
  const cli = createCli()
  const { json } = await cli(['import', path, '--into-owner', 'ada', '--json'])
  expect(json).toMatchObject({ imported: 4, owners: ['ada'] })
  const { out } = await cli(['import', path, '--into-owner', 'ada'])
  expect(out).toMatch(/^Imported 0, updated 0, skipped 4/)
})
