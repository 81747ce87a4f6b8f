import { request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/main/compose.ts'
import { serve } from '../../src/main/serve.ts'

async function start() {
  const engine = await createEngine()
  const serving = await serve({ host: '127.0.0.1', port: 0, engine, version: '9.9.9' })
  onTestFinished(async () => {
    await serving.close()
    await engine.close()
  })
  return { engine, ...serving }
}

it('[HT1] answers health for machines and a page for people', async () => {
  const { url, engine } = await start()
  const live = await fetch(`${url}/health/live`)
  expect([live.status, await live.json()]).toEqual([200, { status: 'ok' }])
  await engine.remember({ owner: '<script>', user: 'eve' }, { content: 'TOP SECRET' })
  const ready = await (await fetch(`${url}/health/ready`)).json()
  expect(ready).toMatchObject({ status: 'ok', version: '9.9.9', store: { rows: { memory: 1 } } })
  const page = await fetch(url)
  const html = await page.text()
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(html).toContain('9.9.9')
  expect(html).toContain('&#60;script&#62;')
  expect(html).not.toContain('<script>')
  expect(html).not.toContain('SECRET')
})

it('[HT2] refuses other names, methods and addresses, in one shape', async () => {
  const { url } = await start()
  const missing = await fetch(`${url}/nothing`)
  expect([missing.status, await missing.json()]).toMatchObject([
    404,
    { error: { code: 'not_found' } },
  ])
  const posted = await fetch(url, { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  const status = await new Promise((resolve, reject) => {
    request(url, { headers: { host: 'evil.example:80' } }, (response) =>
      resolve(response.statusCode),
    )
      .on('error', reject)
      .end()
  })
  expect(status).toBe(403)
})

it('[HT2] names a taken port', async () => {
  const { url, engine } = await start()
  const port = Number(new URL(url).port)
  const second = serve({ host: '127.0.0.1', port, engine, version: '1' })
  await expect(second).rejects.toMatchObject({ code: 'unavailable', facts: { port } })
})

it('[HT3] closing twice is closing once', async () => {
  const { close } = await start()
  await Promise.all([close(), close()])
})
