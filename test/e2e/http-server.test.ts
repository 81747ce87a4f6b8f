/** The server as a whole, from outside. */
import { expect, it } from 'vitest'
import { serve } from '../../src/app/serve.ts'
import { start } from '../api/http/http-support.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

it('[HT1] answers health for machines and a page for people, neither of which shows a memory', async () => {
  const { url, engine, client } = await start({ studioFolder: temporaryFolder() })
  const live = await fetch(`${url}/health/live`)
  expect([live.status, await live.json()]).toEqual([200, { status: 'ok' }])
  await engine.remember({ owner: '<script>', user: 'eve' }, { content: 'TOP SECRET' })
  const ready = await (await fetch(`${url}/health/ready`)).json()
  expect(ready).toMatchObject({ status: 'ok', version: '9.9.9' })
  const page = await client.get('/')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(page.body).toContain('9.9.9')
  expect(page.body).toContain('&#60;script&#62;')
  expect(page.body).not.toContain('<script>')
  expect(page.body).not.toContain('SECRET')
})

it('[HT1] reveals no names and counts without a key', async () => {
  const { engine, client } = await start({ studioFolder: temporaryFolder() })
  await engine.remember({ owner: 'ada-lovelace' }, { content: 'tea' })
  const page = await client.get('/', { key: null })
  expect([page.status, page.body.includes('9.9.9'), page.body.includes('/docs')]).toEqual([
    200,
    true,
    true,
  ])
  expect(page.body).not.toMatch(/ada-lovelace|Memories|schema/)
  const { secret } = await engine.admin.keys.create({
    name: 'eve',
    defaultOwner: 'eve',
    role: 'reader',
  })
  expect((await client.get('/', { key: secret })).body).not.toContain('ada-lovelace')
})

it('[HT2] refuses other methods and addresses, in one shape', async () => {
  const { client, url } = await start()
  const missing = await client.get('/nothing')
  expect([missing.status, missing.body]).toEqual([
    404,
    {
      error: {
        code: 'not_found',
        message: expect.any(String),
        details: [],
        retryable: false,
        requestId: missing.headers.get('x-request-id'),
      },
    },
  ])
  const posted = await fetch(url, { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})

it('[HT2] names a taken port, and keeps the key for the start that works', async () => {
  const { url, engine } = await start({ auth: 'off' })
  const port = Number(new URL(url).port)
  const second = serve({ host: '127.0.0.1', port, engine, version: '1' })
  await expect(second).rejects.toMatchObject({ code: 'unavailable', facts: { port } })
  expect(await engine.admin.keys.list()).toEqual([])
})

it('[HT29] names a certificate that cannot be read', async () => {
  const { engine } = await start()
  const tls = { certFile: 'no-such.crt', keyFile: 'no-such.key' }
  const serving = serve({ host: '127.0.0.1', port: 0, engine, version: '1', tls })
  await expect(serving).rejects.toMatchObject({ code: 'invalid_input' })
})

it('[HT3] closing twice is closing once', async () => {
  const { close } = await start()
  await Promise.all([close(), close()])
})
