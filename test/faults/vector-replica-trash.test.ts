/** The trash and the vector replica: points go with a memory, and return with it. */
import { expect, it, onTestFinished } from 'vitest'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { start } from '../api/http/http-support.ts'
import { startQdrant } from '../support/qdrant/fake-server.ts'
import { MANY, openTiered, SPACE } from './vector-replica-support.ts'

it('[VT10] OmniRoute: Qdrant points go when a memory goes to the trash, and return when it is restored', async () => {
  const qdrant = await startQdrant({})
  onTestFinished(() => qdrant.stop())
  const { client, engine } = await start({}, { embedding: createHashingEmbedder() })
  const contents = ['The red lamp is in the hall.', 'The kayak is in the shed.', 'Tea at five.']
  for (const content of contents) await engine.remember({ owner: 'default' }, { content })
  await engine.admin.reindex()
  await client.call('PUT', '/api/settings/qdrant', { body: { enabled: true, url: qdrant.url } })
  const points = async () => {
    const counts = qdrant.collectionNames().map(async (name) => {
      const response = await fetch(`${qdrant.url}/collections/${name}/points/count`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"exact":true}',
      })
      const { result } = (await response.json()) as { readonly result: { readonly count: number } } // Qdrant's format
      return result.count
    })
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  }
  const problems = async () => (await client.get('/api/doctor')).body.problems
  const found = async () => {
    const query = { query: 'kayak shed', strategy: 'semantic', limit: 5 }
    const { body } = await client.post('/api/memory/search', query)
    return body.results.map(
      ({ memory }: { readonly memory: { readonly content: string } }) => memory.content,
    )
  }
  await expect
    .poll(async () => (await client.get('/api/status')).body.vectors.state, { timeout: 15_000 })
    .toBe('active')
  await expect.poll(points, { timeout: 10_000 }).toBe(3)
  const { body } = await client.get('/api/memory?q=kayak')
  const { id } = body.data[0]
  expect((await client.call('DELETE', `/api/memory/${id}`)).status).toBe(200)
  await expect.poll(points, { timeout: 10_000 }).toBe(2)
  expect(await found()).not.toContain(contents[1])
  expect(await problems()).toEqual([])
  expect((await client.post(`/api/memory/${id}/restore`, {})).status).toBe(200)
  await expect.poll(points, { timeout: 10_000 }).toBe(3)
  expect((await found())[0]).toBe(contents[1])
  expect(await problems()).toEqual([])
  expect(qdrant.mistakes).toEqual([])
}, 60_000)

it('[VT10] a memory in the trash has no point, is no difference, and is found by searches of the trash', async () => {
  const opened = await openTiered()
  const [row] = await opened.remember(1, 77)
  if (row === undefined) throw new Error('One memory was written.')
  await opened.tiers.settle()
  const forgotten = { ...row, status: 'forgotten' as const, version: row.version + 1 }
  await opened.tiered.store.commit([
    { op: 'put', table: 'memory', row: forgotten, expect: { version: row.version } },
  ])
  await opened.tiers.settle()
  expect(await opened.faulty.inner.count(SPACE)).toBe(MANY)
  expect(await opened.tiered.store.checkIntegrity({ repair: false })).toEqual([])
  const trash = await opened.search({ statuses: ['forgotten'] })
  expect(trash.map(({ id }) => id)).toEqual([row.id])
  expect(opened.tiers.status().state).toBe('active')
})
