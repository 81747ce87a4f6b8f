/** The stream that pages listen to. */
import { getEventListeners } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { streamChanges } from '../../../src/api/http/messages/change-stream.ts'
import type { OwnerId } from '../../../src/domain/ids.ts'
import { keyFor, start } from './http-support.ts'

/** What is told from now on, as one text. */
async function listen(url: string, key: string): Promise<() => string> {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const { body, status } = await fetch(url.includes('/api/') ? url : `${url}/api/events`, {
    headers: { authorization: `Bearer ${key}` },
    signal: stop.signal,
  })
  expect(status).toBe(200)
  let output = ''
  const read = async () => {
    for await (const bytes of body ?? []) output += Buffer.from(bytes).toString()
  }
  read().catch(() => undefined)
  return () => output
}

it('[SU13] sends kinds, never text, and each owner only its own changes', async () => {
  const { engine, url, admin } = await start()
  const everything = await listen(url, admin)
  const ada = await listen(url, await keyFor(engine, 'user', 'ada'))
  await engine.remember({ owner: 'bo' }, { content: 'A secret' })
  await expect.poll(everything).toContain('"memory"')
  await engine.admin.settings.change('ada' as OwnerId, { 'recall.limit': 5 })
  await expect.poll(ada).toContain('"setting"')
  expect(ada()).not.toContain('"memory"')
  await engine.remember({ owner: 'ada' }, { content: 'Tea' })
  await expect.poll(ada).toContain('"memory"')
  expect(everything()).not.toMatch(/secret|Tea/)
})

/** Resolves when the stream has ended. */
async function untilEnd(url: string, headers: Record<string, string>): Promise<void> {
  const { body, status } = await fetch(`${url}/api/events`, { headers })
  expect(status).toBe(200)
  for await (const _ of body ?? []) void _
}

it('[HT60.1] ends at once when its key is revoked, and other streams continue', async () => {
  const { engine, url, admin } = await start()
  const { key, secret } = await engine.admin.keys.create({ name: 'page', defaultOwner: 'ada' })
  const others = await listen(url, await keyFor(engine, 'user', 'ada'))
  // More streams than failed attempts are answered without delay.
  const headers = { authorization: `Bearer ${secret}` }
  const ends = Promise.all(Array.from({ length: 6 }, () => untilEnd(url, headers)))
  const login = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key: secret }),
  })
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  const byCookie = untilEnd(url, { cookie })
  await engine.remember({ owner: 'ada' }, { content: 'Tea' })
  await expect.poll(others).toContain('"memory"')
  const revoked = await fetch(`${url}/api/keys/${key.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${admin}` },
  })
  expect(revoked.status).toBe(200)
  // The heartbeat, which would notice too, comes later than the test may last.
  await Promise.all([ends, byCookie])
  await engine.remember({ owner: 'ada' }, { content: 'Milk', category: 'episode' })
  await expect.poll(() => others().split('"memory"').length).toBeGreaterThan(2)
})

it('[HT60.1] ends when the key expires', async () => {
  const { engine, url } = await start()
  const { secret } = await engine.admin.keys.create({
    ...{ name: 'page', defaultOwner: 'ada' },
    expiresAt: Date.now() + 1_500,
  })
  await untilEnd(url, { authorization: `Bearer ${secret}` })
})

it('[HT60.2] shows one owner on request, and none that the key does not reach', async () => {
  const { engine, url, admin } = await start()
  const ada = await keyFor(engine, 'user', 'ada')
  for (const owner of ['bo', 'nobody', '']) {
    const response = await fetch(`${url}/api/events?owner=${owner}`, {
      headers: { authorization: `Bearer ${ada}` },
    })
    expect([owner, response.status]).toEqual([owner, 404])
  }
  const onlyBo = await listen(`${url}/api/events?owner=bo`, admin)
  await engine.remember({ owner: 'ada' }, { content: 'Tea' })
  await engine.admin.settings.change('bo' as OwnerId, { 'recall.limit': 5 })
  await expect.poll(onlyBo).toContain('"setting"')
  expect(onlyBo()).not.toContain('"memory"')
})

it('[SU13] is for keys, and a page that leaves leaves nothing behind', async () => {
  const { engine, url } = await start()
  expect((await fetch(`${url}/api/events`)).status).toBe(401)
  const stopping = new AbortController()
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const caller = { key: null, role: 'reader', home: 'ada', actsFor: [] } as const
  const isWelcome = async () => true
  const done = streamChanges({
    engine,
    response,
    caller,
    isAuthorized: isWelcome,
    signals: [stopping.signal],
  })
  expect(getEventListeners(stopping.signal, 'abort')).toHaveLength(1)
  response.emit('close')
  await done
  expect(getEventListeners(stopping.signal, 'abort')).toEqual([])
})
