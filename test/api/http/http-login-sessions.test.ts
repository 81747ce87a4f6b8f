/** Sessions of people in a browser, beyond one process. */
import { expect, it } from 'vitest'
import { AppError } from '../../../src/lib/errors.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { FakeClock } from '../../fakes/clock.ts'
import { start } from './http-support.ts'

async function signIn(url: string, key: string): Promise<string> {
  const { headers, status } = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ key }),
  })
  expect(status).toBe(200)
  return headers.get('set-cookie')?.split(';')[0] ?? ''
}

const statusOf = async (url: string, cookie: string) =>
  (await fetch(`${url}/api/session`, { headers: { cookie } })).status

it('[SU15] every server on the same store knows a session, also one that was started later', async () => {
  const { engine, url, admin } = await start()
  const cookie = await signIn(url, admin)
  const later = await start({ engine })
  expect(await statusOf(later.url, cookie)).toBe(200)
  expect(await statusOf(later.url, `${cookie.slice(0, -1)}x`)).toBe(401)
})

it('[SU15] signing out ends it for good, and nothing that is stored opens the door', async () => {
  const { engine, url, admin } = await start()
  const cookie = await signIn(url, admin)
  const [, secret = ''] = cookie.split('=')
  let exported = ''
  for await (const line of engine.admin.export(null)) exported += line
  expect(exported).not.toContain(secret)
  await fetch(`${url}/api/session`, { method: 'DELETE', headers: { cookie, origin: url } })
  expect(await statusOf(url, cookie)).toBe(401)
  expect(await statusOf((await start({ engine })).url, cookie)).toBe(401)
})

it('[SU15] a key has so many sessions, and the oldest go first', async () => {
  const { url, admin, engine } = await start()
  const first = await signIn(url, admin)
  for (let time = 0; time < 49; time++) await signIn(url, admin)
  // Another server goes by what is stored.
  const other = await start({ engine })
  const before = await signIn(url, admin)
  expect(await statusOf(other.url, first)).toBe(401)
  expect(await statusOf(other.url, before)).toBe(200)
})

it('[SU15] where nothing can be written, people can still sign in and look', async () => {
  const store = createInMemoryStore()
  const { engine, url, admin } = await start({}, { store })
  const { commit } = store
  store.commit = async (changes) => {
    if (changes.some((change) => change.op === 'put' && change.table === 'entry')) {
      throw new AppError('unavailable', 'The disk is full.')
    }
    return commit(changes)
  }
  const cookie = await signIn(url, admin)
  expect(await statusOf(url, cookie)).toBe(200)
  expect(await engine.admin.keys.list()).toHaveLength(1)
})

/** Follows no redirect, as the browser's first request. */
const visit = (url: string) => fetch(url, { redirect: 'manual' })

it('[SU20] the link printed at the start signs one browser in, once', async () => {
  const { url, signInUrl } = await start()
  const first = await visit(signInUrl ?? '')
  expect(first.status).toBe(303)
  expect(first.headers.get('location')).toBe('/')
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
  expect(await statusOf(url, cookie)).toBe(200)
  const second = await visit(signInUrl ?? '')
  expect([second.status, second.headers.get('set-cookie')]).toEqual([303, null])
})

it('[SU20] the link expires, and a made-up token opens nothing', async () => {
  const clock = new FakeClock()
  const { url, signInUrl } = await start({ clock })
  const forged = await visit(`${url}/studio/sign-in?token=made-up`)
  expect([forged.status, forged.headers.get('set-cookie')]).toEqual([303, null])
  clock.advance(16 * 60_000)
  expect((await visit(signInUrl ?? '')).headers.get('set-cookie')).toBeNull()
})

it('[SU20] there is no link without keys, behind a proxy, or beyond this machine', async () => {
  expect((await start({ auth: 'off' })).signInUrl).toBeNull()
  expect((await start({ trustProxy: true })).signInUrl).toBeNull()
  expect((await start({ host: '0.0.0.0', allowedHosts: ['127.0.0.1'] })).signInUrl).toBeNull()
})

it('[SU20] /studio leads to the Studio', async () => {
  const { url } = await start()
  expect((await visit(`${url}/studio`)).headers.get('location')).toBe('/')
})
