/** Owners so large that common words are no longer looked up for themselves. */
import { expect, it, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { ADA, memory, owner, user } from '../fakes/memories.ts'
import { create } from './store.suite.ts'

it('[ST13] one missing or common word does not lose a hit, nor does a small user in a large owner', async () => {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  onTestFinished(() => store.close())
  const eve = { ...ADA, user: user('eve') }
  const rows = Array.from({ length: 9_000 }, (_, n) =>
    memory({
      content: `tea of day ${n}${n === 7 ? ' umbrella' : ''}`,
      place: n % 90 === 0 ? eve : ADA,
    }),
  )
  for (let start = 0; start < rows.length; start += 1_000) {
    await store.commit(rows.slice(start, start + 1_000).map(create))
  }
  const hits = async (scope: Parameters<typeof store.matchText>[0], text: string) =>
    (await store.matchText(scope, { text, limit: 10, where: {} })).hits
  const all = { owner: owner('ada') }
  expect((await hits(all, 'tea umbrella'))[0]?.id).toBe(rows[7]?.id)
  expect(await hits(all, 'tea umbrella')).toHaveLength(10)
  expect(await hits(all, 'tea')).toHaveLength(10)
  expect(await hits({ ...all, user: user('eve') }, 'tea preference')).toHaveLength(10)
})
