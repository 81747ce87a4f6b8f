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
  const { body, status } = await fetch(`${url}/api/events`, {
    headers: { authorization: `Bearer ${key}` },
    signal: stop.signal,
  })
  expect(status).toBe(200)
  let told = ''
  const read = async () => {
    for await (const bytes of body ?? []) told += Buffer.from(bytes).toString()
  }
  read().catch(() => undefined)
  return () => told
}

it('[SU13] tells kinds, never text, and each owner only its own', async () => {
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
