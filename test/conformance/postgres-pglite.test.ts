import { afterAll, expect, it, onTestFinished } from 'vitest'
import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { ADA, memory, owner, user } from '../fakes/memories.ts'
import { openFreshStore, startPglite } from '../support/postgres-servers.ts'
import { create, describeStore } from './store.suite.ts'

const server = await startPglite()
afterAll(() => server.stop())

// One backend stands behind all connections, so a second one could only get in the way.
const open = () => openFreshStore(server.url, { poolSize: 1 })

describeStore('postgres (PGlite)', open)

it('[ST13] postgres (PGlite): scores and orders as the reference store does', async () => {
  const [store, reference] = [await open(), createReferenceStore()]
  onTestFinished(() => store.close())
  const words = ['tea', 'milk', 'sugar', 'cup', 'kettle', 'leaf']
  const rows = Array.from({ length: 200 }, (_, n) =>
    memory({
      content: words.flatMap((word, at) => Array((n * (at + 3)) % (at + 2)).fill(word)).join(' '),
      place: n % 3 === 0 ? { ...ADA, user: user('eve') } : ADA,
      key: n % 7 === 0 ? `pot ${n}` : null,
      pinned: n % 2 === 0,
    }),
  )
  for (const each of [store, reference]) await each.commit(rows.map(create))
  for (const scope of [{ owner: owner('ada') }, ADA, { owner: owner('ada'), user: user('eve') }]) {
    for (const text of ['tea', 'tea milk kettle', 'leaf pot nothing', words.join(' ')]) {
      for (const where of [{}, { pinned: true }]) {
        const query = { text, limit: 50, where }
        const expected = await reference.matchText(scope, query)
        const hits = await store.matchText(scope, query)
        expect(hits.map((hit) => hit.id)).toEqual(expected.map((hit) => hit.id))
        hits.forEach((hit, n) => {
          expect(hit.score).toBeCloseTo(expected[n]?.score ?? 0, 9)
          expect(hit.coverage).toBeCloseTo(expected[n]?.coverage ?? 0, 9)
        })
      }
    }
  }
})
