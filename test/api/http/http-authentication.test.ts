/** Who gets in: keys, sessions, wrong attempts, rates, other hosts and other origins. */
import { request, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { serve } from '../../../src/app/serve.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { FakeClock } from '../../fakes/clock.ts'
import { patientStore } from '../gateway/support/faulty-parts.ts'
import { keyFor, start } from './http-support.ts'

const cookieOf = (headers: Headers) => headers.get('set-cookie')?.split(';')[0] ?? ''

/** A request with headers that `fetch` would not let us choose. */
function statusWith(url: string, headers: { readonly [name: string]: string }, method = 'GET') {
  return new Promise<number | undefined>((resolve, reject) => {
    request(url, { method, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

describe('keys', () => {
  it('[HT20] the first start makes a management key, the next ones do not', async () => {
    const { admin, engine, client } = await start()
    expect(admin).toMatch(/^rc_/)
    const { body } = await client.get('/api/session')
    expect(body).toMatchObject({ role: 'superadmin', home: 'default', expiresAt: null })
    const again = await start({ engine })
    expect(again.admin).toBe('')
  })

  it('[HT21] accepts a key as Bearer or X-Api-Key, and reveals nothing without one', async () => {
    const { client, admin } = await start()
    const bare = await client.get('/api/memory', { key: null })
    expect([bare.status, bare.body.error.code]).toEqual([401, 'unauthenticated'])
    expect(bare.headers.get('www-authenticate')).toMatch(/^Bearer/)
    const named = await client.get('/api/memory', { key: null, headers: { 'x-api-key': admin } })
    expect(named.status).toBe(200)
    for (const authorization of ['Basic YTpi', 'Bearer', `Bearer ${admin}x`, 'Bearer rc_x_y']) {
      const answer = await client.get('/api/memory', { key: null, headers: { authorization } })
      expect([authorization, answer.status]).toEqual([authorization, 401])
    }
    const two = await client.get('/api/memory', { headers: { 'x-api-key': 'rc_other_key' } })
    expect(two.status).toBe(401)
  })

  it('[HT22] a revoked key is refused at once, and soon when another process revoked it', async () => {
    const clock = new FakeClock()
    const { client, engine } = await start({ clock })
    const { body: made } = await client.post('/api/keys', { name: 'a', home: 'ada' })
    const asked = async (key: string) => (await client.get('/api/memory', { key })).status
    expect(await asked(made.secret)).toBe(200)
    await client.call('DELETE', `/api/keys/${made.key.id}`)
    expect(await asked(made.secret)).toBe(401)

    const { key, secret } = await engine.admin.keys.create({ name: 'b', defaultOwner: 'ada' })
    expect(await asked(secret)).toBe(200)
    await engine.admin.keys.revoke(key.id)
    clock.advance(5_000)
    expect(await asked(secret)).toBe(401)
  })

  it('[HT23] wrong keys are slowed and then refused, others are not', async () => {
    const clock = new FakeClock()
    const { client, admin, engine } = await start({ clock })
    expect((await client.get('/api/memory')).status).toBe(200)
    const begun = clock.now()
    const statuses: number[] = []
    for (let attempt = 0; attempt < 22; attempt++) {
      statuses.push((await client.get('/api/memory', { key: `rc_no_${attempt}` })).status)
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(20)
    expect(statuses.slice(20)).toEqual([429, 429])
    expect(clock.now() - begun).toBeGreaterThan(30_000)
    const blocked = await client.post('/api/session', { key: 'rc_no_x' }, { key: null })
    expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([
      429,
      expect.stringMatching(/^5\d$/),
    ])
    expect((await client.get('/api/memory', { key: admin })).status).toBe(200)
    clock.advance(60_000)
    const fresh = await keyFor(engine, 'reader', 'ada')
    expect((await client.get('/api/memory', { key: fresh })).status).toBe(200)
  })

  it('[HT24] limits the requests of a key per minute, and returns how many are left', async () => {
    const clock = new FakeClock()
    const { client, engine } = await start(
      { clock },
      { settings: { 'server.requestsPerMinute': 2 } },
    )
    const key = await keyFor(engine, 'reader', 'ada')
    const ask = () => client.get('/api/memory', { key })
    const told = ({ headers }: { headers: Headers }) =>
      ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`))
    expect(told(await ask())).toEqual(['2', '1', '30'])
    expect(told(await ask())).toEqual(['2', '0', '60'])
    const refused = await ask()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30'])
    expect(refused.body.error).toMatchObject({ code: 'too_many_requests', retryable: true })
    // Another key has its own account, and health needs none.
    expect((await client.get('/api/memory')).status).toBe(200)
    expect((await client.get('/health/live', { key })).status).toBe(200)
    clock.advance(30_000)
    expect((await ask()).status).toBe(200)
    expect((await ask()).status).toBe(429)
  })
})

describe('sessions', () => {
  it('[HT25] a key opens a session, whose cookie no script and no other site can use', async () => {
    const clock = new FakeClock()
    const { client, admin, url, engine } = await start({ clock })
    const opened = await client.post('/api/session', { key: admin }, { key: null })
    const cookie = opened.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/)
    expect(cookie).not.toContain(admin)
    const headers = { cookie: cookieOf(opened.headers) }
    const mine = await client.get('/api/session', { key: null, headers })
    expect(mine.body).toMatchObject({ role: 'superadmin', expiresAt: expect.any(String) })

    const write = (origin: { readonly origin?: string }) =>
      client.post(
        '/api/memory',
        { content: 'x' },
        { key: null, headers: { ...headers, ...origin } },
      )
    expect((await write({})).status).toBe(403)
    expect((await write({ origin: 'https://evil.example' })).status).toBe(403)
    expect((await write({ origin: url.replace('http:', 'https:') })).status).toBe(403)
    expect((await write({ origin: url })).status).toBe(201)

    const ended = await client.call('DELETE', '/api/session', {
      key: null,
      headers: { ...headers, origin: url },
    })
    expect([ended.status, ended.headers.get('set-cookie')]).toEqual([
      204,
      expect.stringContaining('Max-Age=0'),
    ])
    expect((await client.get('/api/session', { key: null, headers })).status).toBe(401)

    // A session ends with its time, and with its key.
    const second = await client.post('/api/session', { key: admin }, { key: null })
    const later = { key: null, headers: { cookie: cookieOf(second.headers) } }
    clock.advance(12 * 3_600_000)
    expect((await client.get('/api/session', later)).status).toBe(401)
    const { key, secret } = await engine.admin.keys.create({ name: 'c', defaultOwner: 'ada' })
    const third = await client.post('/api/session', { key: secret }, { key: null })
    const revoked = { key: null, headers: { cookie: cookieOf(third.headers) } }
    expect((await client.get('/api/session', revoked)).status).toBe(200)
    await client.call('DELETE', `/api/keys/${key.id}`)
    expect((await client.get('/api/session', revoked)).status).toBe(401)
  })

  it('[HT25] a key that is newer than the cache opens a lasting session', async () => {
    const { client, admin, engine } = await start({ clock: new FakeClock() })
    const first = await client.post('/api/session', { key: admin }, { key: null })
    const known = { key: null, headers: { cookie: cookieOf(first.headers) } }
    expect((await client.get('/api/session', known)).status).toBe(200)
    const { secret } = await engine.admin.keys.create({
      name: 'made elsewhere',
      defaultOwner: 'ada',
    })
    const second = await client.post('/api/session', { key: secret }, { key: null })
    const young = { key: null, headers: { cookie: cookieOf(second.headers) } }
    expect((await client.get('/api/session', young)).status).toBe(200)
  })

  it('[HT25] behind a proxy with TLS, cookies are for TLS only', async () => {
    const { client, admin } = await start({ trustProxy: true })
    const headers = { 'x-forwarded-proto': 'https' }
    const opened = await client.post('/api/session', { key: admin }, { key: null, headers })
    expect(opened.headers.get('set-cookie')).toMatch(/; Secure$/)
    expect(opened.headers.get('strict-transport-security')).toContain('max-age')
  })
})

describe('the outside', () => {
  it('[HT26] no address answers to a foreign name or to pages of a foreign origin', async () => {
    const { client, url, admin } = await start({ allowedHosts: ['memory.example'] })
    const api = (await client.api()) as { paths: { [path: string]: object } }
    for (const path of Object.keys(api.paths)) {
      const address = `${url}${path.replace(/\{\w+\}/, 'mem_1')}`
      const authorization = `Bearer ${admin}`
      expect(await statusWith(address, { host: 'evil.example', authorization })).toBe(403)
      expect(await statusWith(address, { origin: 'http://evil.example', authorization })).toBe(403)
      expect(await statusWith(address, { origin: 'null', authorization })).toBe(403)
    }
    const live = `${url}/health/live`
    for (const host of [
      'localhost:1',
      '127.0.0.1',
      '[::1]:80',
      'memory.example',
      'MEMORY.example:5',
    ]) {
      expect([host, await statusWith(live, { host })]).toEqual([host, 200])
    }
    for (const host of ['192.168.1.5', 'memory.example.evil.example', '127.0.0.1.evil.example']) {
      expect([host, await statusWith(live, { host })]).toEqual([host, 403])
    }
  })

  it('[HT27] allows other origins only when they are configured', async () => {
    const origin = 'https://app.example'
    const closed = await start()
    const refused = await closed.client.call('OPTIONS', '/api/memory', {
      headers: { origin, 'access-control-request-method': 'POST' },
    })
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      403,
      null,
    ])

    const mount = { path: '/aside', handle: async () => {} }
    const { client } = await start({ allowedOrigins: [origin], mounts: [mount] })
    const aside = await client.call('OPTIONS', '/aside/further', {
      key: null,
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,x-stainless-os',
      },
    })
    expect([aside.status, aside.headers.get('access-control-allow-headers')]).toEqual([
      204,
      'authorization,x-stainless-os',
    ])
    const preflight = await client.call('OPTIONS', '/api/memory', {
      key: null,
      headers: { origin, 'access-control-request-method': 'POST' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST')
    const answer = await client.get('/api/memory', { headers: { origin } })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
      200,
      origin,
    ])
    expect(answer.headers.get('access-control-allow-credentials')).toBe(null)
    expect(answer.headers.get('vary')).toContain('Origin')
    const other = await client.get('/api/memory', { headers: { origin: 'https://b.example' } })
    expect(other.status).toBe(403)
  })

  it('[HT28] keys can be off only on loopback', async () => {
    const { client, warnings, engine } = await start({ auth: 'off' })
    expect((await client.post('/api/memory', { content: 'x' })).status).toBe(201)
    expect(warnings).toHaveLength(1)
    const open = { host: '0.0.0.0', port: 0, engine, version: '1' }
    await expect(serve({ ...open, auth: 'off' })).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(serve({ ...open, hasPublicMetrics: true })).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })

  it('[HT29] being reachable for others without TLS is warned of', async () => {
    const open = await start({ host: '0.0.0.0' })
    expect(open.warnings).toEqual([expect.stringContaining('unencrypted')])
    expect((await start({ host: '0.0.0.0', trustProxy: true })).warnings).toEqual([])
    expect((await start()).warnings).toEqual([])
    // Bound to every address, it answers to addresses, but still not to any name.
    const live = `${open.url.replace('0.0.0.0', '127.0.0.1')}/health/live`
    expect(await statusWith(live, { host: '192.168.1.5:1' })).toBe(200)
    expect(await statusWith(live, { host: 'evil.example' })).toBe(403)
  })
})

describe('while the store is unavailable', () => {
  it.each(['fails', 'hangs'] as const)(
    '[HT58] a key that worked still works: %s',
    async (health) => {
      const clock = new FakeClock()
      const { part, become } = patientStore(createInMemoryStore())
      const engine = await createEngine({ store: part, embedding: false })
      const mount = {
        path: '/aside',
        handle: async (_: unknown, response: ServerResponse) => void response.end('reached'),
      }
      const { url, admin } = await start({ engine, clock, mounts: [mount] })
      onTestFinished(() => become('well'))
      const ask = async (key: string) => {
        const response = await fetch(`${url}/aside`, {
          headers: { authorization: `Bearer ${key}` },
        })
        return response.status
      }
      expect(await ask(admin)).toBe(200)
      become(health)
      clock.advance(60_000)
      expect(await ask(admin)).toBe(200)
      clock.advance(3_600_000)
      if (health === 'fails') expect(await ask(admin)).toBe(503)
      become('well')
      expect(await ask(admin)).toBe(200)
      expect(await ask('rc_unknown_key')).toBe(401)
    },
  )
})
