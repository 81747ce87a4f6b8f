/** How it answers: errors, versions, repeated requests, compression, health, metrics, mounts and reports. */
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { negotiateEncoding } from '../../../src/api/http/messages/response.ts'
import { describeApi } from '../../../src/api/http/openapi.ts'
import { Router } from '../../../src/api/http/router.ts'
import type { RequestReport } from '../../../src/api/http/server-options.ts'
import { keyFor, start } from './http-support.ts'

describe('addresses', () => {
  it('[HT11] fixed segments go before fields, which are decoded strictly', () => {
    const router = new Router<string>()
    router.add('GET', '/a/{id}', 'one')
    router.add('GET', '/a/list', 'list')
    router.add('GET', '/a/{id}/x', 'x of one')
    router.add('DELETE', '/{any}/list/x', 'any')
    expect(router.find('GET', '/a/list')).toMatchObject({ target: 'list' })
    expect(router.find('HEAD', '/a/b%2Fc')).toMatchObject({ target: 'one', fields: { id: 'b/c' } })
    expect(router.find('GET', '/a/list/x')).toMatchObject({ target: 'x of one' })
    expect(router.find('POST', '/a/list')).toEqual({
      kind: 'other-method',
      template: '/a/list',
      allowed: ['GET', 'HEAD'],
    })
    for (const path of ['/a', '/a/', '/a/b/', '//', '/a/b/x/y', '']) {
      expect([path, router.find('GET', path).kind]).toEqual([path, 'nothing'])
    }
    expect(() => router.find('GET', '/a/%FF')).toThrow('percent-encoded')
    expect(() => router.add('GET', '/a/list', 'again')).toThrow('twice')
  })

  it('[HT11] a wrong method gets the allowed ones, and HEAD is GET without a body', async () => {
    const { client } = await start()
    const answer = await client.call('PUT', '/api/memory', { body: {} })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, DELETE'])
    const head = await client.call('HEAD', '/api/memory')
    expect([head.status, head.body, Number(head.headers.get('content-length')) > 100]).toEqual([
      200,
      '',
      true,
    ])
    expect((await client.call('HEAD', '/api/memory/export')).body).toBe('')
    expect((await client.get('/api/nothing')).body.error.code).toBe('not_found')
  })
})

describe('errors', () => {
  it('[HT12] an internal error contains its request id and nothing else', async () => {
    const reports: RequestReport[] = []
    const { engine } = await start()
    const broken = {
      ...engine,
      list: () => Promise.reject(new TypeError('secret of /etc/passwd')),
      close: async () => {},
    }
    const { url } = await start({ engine: broken, auth: 'off', onRequest: (r) => reports.push(r) })
    const answer = await fetch(`${url}/api/memory`, { headers: { 'x-request-id': 'abc-1' } })
    expect([answer.status, await answer.json(), answer.headers.get('x-request-id')]).toEqual([
      500,
      {
        error: {
          code: 'internal',
          message: expect.stringContaining('abc-1'),
          details: [],
          retryable: false,
          requestId: 'abc-1',
        },
      },
      'abc-1',
    ])
    expect(reports[0]).toMatchObject({ status: 500, error: { message: 'secret of /etc/passwd' } })
  })

  it('[HT12] a request id is taken when it is sane, and made otherwise', async () => {
    const { client } = await start()
    const idFor = async (given: string) =>
      (await client.get('/health/live', { headers: { 'x-request-id': given } })).headers.get(
        'x-request-id',
      )
    expect(await idFor('7f:a.b-c_d')).toBe('7f:a.b-c_d')
    for (const given of ['a b', 'x'.repeat(101), '<script>', '']) {
      expect(await idFor(given)).toMatch(/^req_[\w-]{36}$/)
    }
  })
})

describe('versions', () => {
  it('[HT13] an ETag is the version; If-Match keeps changes of others, If-None-Match saves reading', async () => {
    const { client } = await start()
    const { body, headers } = await client.post('/api/memory', { content: 'tea' })
    const path = `/api/memory/${body.id}`
    expect(headers.get('etag')).toBe('"1"')
    const put = (match: string, content: string) =>
      client.call('PUT', path, { body: { content }, headers: { 'if-match': match } })
    expect((await put('"1"', 'green tea')).headers.get('etag')).toBe('"2"')
    const late = await put('"1"', 'black tea')
    expect([late.status, late.body.error.code]).toEqual([412, 'precondition_failed'])
    expect((await put('"1", "7"', 'black tea')).status).toBe(412)
    expect((await put('"1", W/"2"', 'black tea')).status).toBe(200)
    expect((await put('*', 'white tea')).headers.get('etag')).toBe('"4"')
    expect((await put('"other"', 'no tea')).status).toBe(412)
    expect((await put('4', 'no tea')).status).toBe(400)
    const field = await client.call('PUT', path, { body: { content: 'no', version: 1 } })
    expect(field.status).toBe(409)

    const get = (known: string) => client.get(path, { headers: { 'if-none-match': known } })
    const same = await get('"4"')
    expect([same.status, same.body, same.headers.get('etag')]).toEqual([304, '', '"4"'])
    expect((await get('*')).status).toBe(304)
    expect((await get('"3"')).body.memory.content).toBe('white tea')

    const remove = (match: string) =>
      client.call('DELETE', path, { headers: { 'if-match': match } })
    expect((await remove('"3"')).status).toBe(412)
    expect((await remove('"4"')).status).toBe(200)
    const pointless = { headers: { 'if-match': '"1"' } }
    expect((await client.post('/api/memory', { content: 'x' }, pointless)).status).toBe(400)
  })
})

describe('repeated requests', () => {
  it('[HT14] one Idempotency-Key is done once, for one key and one request', async () => {
    const { client, engine } = await start()
    const send = (content: string, idempotencyKey: string, key?: string) =>
      client.post(
        '/api/memory',
        { content },
        { headers: { 'idempotency-key': idempotencyKey }, ...(key === undefined ? {} : { key }) },
      )
    const first = await send('tea', 'k1')
    const again = await send('tea', 'k1')
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'))
    expect(first.headers.get('idempotency-replayed')).toBe(null)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect((await send('coffee', 'k1')).status).toBe(409)
    const other = await send('coffee', 'k1', await keyFor(engine, 'agent', 'default'))
    expect([other.status, other.headers.get('idempotency-replayed')]).toEqual([201, null])
    // What failed is not kept: the repaired request goes through.
    expect((await send('', 'k2')).status).toBe(400)
    expect((await send('water', 'k2')).status).toBe(201)
    for (const bad of ['', 'x'.repeat(201), 'a b']) expect((await send('x', bad)).status).toBe(400)
  })

  it('[HT14] equal concurrent requests are performed once', async () => {
    const { client, engine } = await start()
    const headers = { 'idempotency-key': 'same' }
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        client.post('/memories', { instanceId: 'i', content: 'tea' }, { headers }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.every((status) => status === 201 || status === 409)).toBe(true)
    expect(statuses).toContain(201)
    const { rows } = await engine.list({ owner: 'i' }, {})
    expect(rows.map(({ version, sourceCount }) => [version, sourceCount])).toEqual([[1, 1]])
  })

  it('[HT14] a response with a secret is not stored', async () => {
    const { client } = await start()
    const headers = { 'idempotency-key': 'k' }
    const made = await client.post('/api/keys', { name: 'a', home: 'a' }, { headers })
    expect([made.status, made.body.error.details[0].field]).toEqual([400, 'Idempotency-Key'])
  })
})

describe('compression', () => {
  it('[HT15] larger answers are compressed as the client likes', async () => {
    const { url } = await start()
    const get = (accepted: string) =>
      new Promise<{ coding: string | undefined; body: Buffer; vary: string | undefined }>(
        (resolve, reject) => {
          const headers = { 'accept-encoding': accepted }
          request(`${url}/openapi.json`, { headers }, async (response) => {
            const chunks: Buffer[] = []
            for await (const chunk of response) chunks.push(chunk)
            resolve({
              coding: response.headers['content-encoding'],
              body: Buffer.concat(chunks),
              vary: response.headers.vary,
            })
          })
            .on('error', reject)
            .end()
        },
      )
    const plain = await get('identity')
    expect([plain.coding, plain.vary]).toEqual([undefined, 'Accept-Encoding'])
    const brotli = await get('gzip, br')
    expect(brotli.coding).toBe('br')
    expect(brotliDecompressSync(brotli.body)).toEqual(plain.body)
    const gzip = await get('br;q=0, gzip;q=0.5')
    expect(gzip.coding).toBe('gzip')
    expect(gunzipSync(gzip.body)).toEqual(plain.body)
    expect(negotiateEncoding('*')).toBe('br')
    expect(negotiateEncoding('deflate, gzip;q=0')).toBe(null)
    expect((await fetch(`${url}/health/live`)).headers.get('content-encoding')).toBe(null)
  })
})

describe('health and metrics', () => {
  it('[HT16] readiness is the true state, and its reasons are for superadmins', async () => {
    const { engine, client } = await start()
    expect((await client.get('/health/ready', { key: null })).body).toEqual({
      status: 'ok',
      version: '9.9.9',
      reasons: [],
      codes: [],
    })
    const broken = {
      ...engine,
      status: () => Promise.reject(new Error('/home/ada/data is gone')),
      close: async () => {},
    }
    const { client: second, admin } = await start({ engine: broken })
    expect(admin).toBe('')
    const ready = await second.get('/health/ready', { key: null })
    expect([ready.status, ready.body.status, ready.body.codes]).toEqual([
      503,
      'unavailable',
      ['store_unreachable'],
    ])
    expect(JSON.stringify(ready.body)).not.toContain('/home')
    expect((await second.get('/health/live')).status).toBe(200)
  })

  it('[HT17] metrics need the key of a superadmin, unless opened on this machine', async () => {
    const metrics = async () => 'recollect_ready 1\n'
    const { client, engine } = await start({ metrics })
    expect((await client.get('/metrics', { key: null })).status).toBe(401)
    const key = await keyFor(engine, 'user', 'ada')
    expect((await client.get('/metrics', { key })).status).toBe(403)
    expect((await client.get('/metrics')).body).toBe('recollect_ready 1\n')
    const open = await start({ metrics, hasPublicMetrics: true })
    expect((await open.client.get('/metrics', { key: null })).status).toBe(200)
    expect((await (await start()).client.get('/metrics')).status).toBe(404)
  })
})

describe('mounts and reports', () => {
  it('[HT18] a mounted handler is behind the same checks, and knows the caller', async () => {
    const { client, url, admin, engine } = await start({
      mounts: [
        {
          path: '/mcp',
          handle: async (incoming, response, caller) => {
            response.writeHead(200, { 'content-type': 'text/plain' })
            response.end(`${incoming.method} ${incoming.url} ${caller.home}`)
          },
        },
      ],
    })
    const headers = { authorization: `Bearer ${await keyFor(engine, 'agent', 'ada')}` }
    const answer = await fetch(`${url}/mcp/x?y=1`, { method: 'POST', body: '{}', headers })
    expect(await answer.text()).toBe('POST /mcp/x?y=1 ada')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect((await fetch(`${url}/mcp`)).status).toBe(401)
    expect((await client.get('/mcpx')).status).toBe(404)
    const origin = { origin: 'http://evil.example', authorization: `Bearer ${admin}` }
    expect((await fetch(`${url}/mcp`, { headers: origin })).status).toBe(403)
  })

  it('[HT19] every request is reported by its template, never by its address', async () => {
    const reports: RequestReport[] = []
    const { client } = await start({ onRequest: (report) => reports.push(report) })
    await client.api()
    reports.length = 0
    await client.get('/api/memory/mem_secret1?owner=somebody')
    await client.get('/secret-address')
    await client.get('/api/keys', { key: null })
    expect(reports.map(({ route, status, method }) => [method, route, status])).toEqual([
      ['GET', '/api/memory/{id}', 404],
      ['GET', '(unknown)', 404],
      ['GET', '/api/keys', 401],
    ])
    expect(reports[0]).toMatchObject({
      keyId: expect.stringMatching(/^key_/),
      requestId: expect.any(String),
    })
    expect(reports[0]?.bytes).toBeGreaterThan(100)
    expect(reports[2]?.keyId).toBe(null)
    expect(JSON.stringify(reports)).not.toMatch(/secret|somebody/)
  })
})

describe('the description', () => {
  it('[HT10] is OpenAPI 3.1 without loose ends, and a page that needs nothing from elsewhere', async () => {
    const { client } = await start()
    const api = describeApi('1', [])
    const text = JSON.stringify(api)
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      expect(api.components.schemas).toHaveProperty(name)
    }
    const ids = Object.values(api.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
    const page = await client.get('/docs/api', { key: null })
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.body).toContain('/api/memory/{id}/history')
    expect(page.body).not.toMatch(/<script|src=|https?:\/\/(?!127\.0\.0\.1)/)
  })
})
