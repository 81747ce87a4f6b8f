/** The documentation site under `/docs`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { start } from './http-support.ts'

function writeSite(): string {
  const folder = temporaryFolder()
  for (const name of ['assets/chunks', 'guides']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'index.html'), '<title>Home</title>')
  writeFileSync(join(folder, 'guides', 'rest.html'), '<title>REST</title>')
  writeFileSync(join(folder, 'assets', 'app.Dy1mrEY-.js'), 'export {}')
  writeFileSync(join(folder, 'assets', 'code.css'), 'code {}')
  writeFileSync(join(folder, 'assets', 'map.C50H7mSd.png'), Buffer.from([0x89, 0x50, 0xff, 0xfe]))
  writeFileSync(join(folder, 'secret.txt'), 'not served')
  return folder
}

it('[HT59.1] serves pages with and without their ending, and assets as they are', async () => {
  const { url } = await start({ docsFolder: writeSite() })
  const read = async (path: string) => (await fetch(url + path)).text()
  expect(await read('/docs')).toContain('Home')
  expect((await fetch(`${url}/docs`, { redirect: 'manual' })).status).toBe(308)
  expect(await read('/docs/')).toContain('Home')
  expect(await read('/docs/guides/rest.html')).toContain('REST')
  expect(await read('/docs/guides/rest')).toContain('REST')
  const image = await fetch(`${url}/docs/assets/map.C50H7mSd.png`)
  expect(image.headers.get('content-type')).toBe('image/png')
  expect(new Uint8Array(await image.arrayBuffer())).toEqual(Uint8Array.of(0x89, 0x50, 0xff, 0xfe))
  for (const path of ['/docs/secret.txt', '/docs/../package.json', '/docs/guides/none'])
    expect((await fetch(url + path)).status, path).toBe(404)
})

it('[HT59.1] allows neither inline code nor other hosts, and keeps only hashed names', async () => {
  const { url } = await start({ docsFolder: writeSite() })
  const { headers } = await fetch(`${url}/docs/`)
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self'")
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
  const cached = async (path: string) => (await fetch(url + path)).headers.get('cache-control')
  expect(await cached('/docs/assets/app.Dy1mrEY-.js')).toContain('immutable')
  expect(await cached('/docs/assets/code.css')).toBe('no-cache')
  expect(await cached('/docs/')).toBe('no-cache')
})

it('[HT59.2] without a built site, says how to build it and links the API reference', async () => {
  const { url } = await start({ docsFolder: temporaryFolder() })
  const page = await fetch(`${url}/docs`)
  expect(page.status).toBe(200)
  const text = await page.text()
  expect(text).toContain('npm run docs:build')
  expect(text).toContain('href="/docs/api"')
  expect((await fetch(`${url}/docs/api`)).status).toBe(200)
})
