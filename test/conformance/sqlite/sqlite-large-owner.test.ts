/** Owners so large that common words are no longer looked up for themselves. */
import { expect, it, onTestFinished } from 'vitest'
import type { Scope } from '../../../src/domain/scope.ts'
import { type DocumentKind, toDocumentId } from '../../../src/domain/search-document.ts'
import { openConnection } from '../../../src/storage/sqlite/connection/sqlite-driver.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts'
import { quoteFtsTerm, toOwnerToken } from '../../../src/storage/sqlite/store/row-codec.ts'
import type { DocumentFilter } from '../../../src/storage/store.ts'
import { turn } from '../../fakes/entries.ts'
import { ADA, instant, memory, owner, session, user } from '../../fakes/memories.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { create } from '../store/store.suite.ts'

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
  const hits = async (scope: Parameters<typeof store.searchText>[0], text: string) =>
    (await store.searchText(scope, { text, limit: 10, where: {} })).hits
  const all = { owner: owner('ada') }
  expect((await hits(all, 'tea umbrella'))[0]?.id).toBe(rows[7]?.id)
  expect(await hits(all, 'tea umbrella')).toHaveLength(10)
  expect(await hits(all, 'tea')).toHaveLength(10)
  expect(await hits({ ...all, user: user('eve') }, 'tea preference')).toHaveLength(10)
})

it('[ST38] finds turns of a large owner, also in one conversation and by filters', async () => {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  onTestFinished(() => store.close())
  const rows = Array.from({ length: 9_000 }, (_, n) =>
    turn({
      content: `tea of day ${n}${n === 7 ? ' umbrella' : ''}`,
      place: {
        owner: owner('ada'),
        user: n % 90 === 0 ? user('eve') : null,
        session: session(n < 8_500 ? 'long' : `s${n % 50}`),
      },
      role: n % 2 === 0 ? 'user' : 'assistant',
      saidAt: instant(n),
    }),
  )
  for (let start = 0; start < rows.length; start += 1_000) {
    await store.commit(
      rows
        .slice(start, start + 1_000)
        .map((row) => ({ op: 'put', table: 'turn', row, expect: 'absent' }) as const),
    )
  }
  const all = { owner: owner('ada') }
  const found = async (scope: Scope, text: string, filter: DocumentFilter = {}) => {
    const where = { ...filter, types: ['turn'] } as const
    const { hits } = await store.searchText(scope, { text, limit: 20, where })
    return hits.map((hit) => rows.findIndex((row) => toDocumentId(row.id) === hit.id))
  }
  expect((await found(all, 'tea umbrella'))[0]).toBe(7)
  expect(await found(all, 'tea umbrella')).toHaveLength(20)
  expect(await found({ ...all, user: user('eve') }, 'tea preference')).toHaveLength(20)
  // Ten turns of one conversation, all with the same score: the highest ids come first.
  const short = Array.from({ length: 10 }, (_, n) => 8_953 - 50 * n)
  expect(await found({ ...all, session: session('s3') }, 'tea')).toEqual(short)
  expect(await found({ ...all, session: session('s3') }, 'tea umbrella 8603')).toEqual([
    8_603,
    ...short.filter((n) => n !== 8_603),
  ])
  expect((await found({ ...all, session: session('long') }, 'umbrella'))[0]).toBe(7)
  expect(await found({ ...all, session: session('none') }, 'tea')).toEqual([])
  const ids = [5, 6, 7].flatMap((n) => rows[n]?.id ?? []).map(toDocumentId)
  expect(await found(all, 'umbrella tea', { ids })).toEqual([7, 6, 5])
  expect(await found(all, 'tea', { createdBefore: instant(3), trusts: ['user'] })).toEqual([2, 0])
})

it('[ST50] a search for memories reads no row of a turn, and the other way round', async () => {
  const path = temporaryFile('kinds.db')
  const store = await openSqliteStore({ path, now: Date.now })
  await store.commit([
    create(memory({ content: 'green tea', place: ADA })),
    { op: 'put', table: 'turn', row: turn({ content: 'green tea', place: ADA }), expect: 'absent' },
  ])
  await store.close()
  const connection = await openConnection(path, null)
  onTestFinished(() => connection.close())
  const held = (kind: DocumentKind) =>
    connection
      .prepare(
        `SELECT type FROM memory
         WHERE number IN (SELECT rowid FROM memory_terms WHERE memory_terms MATCH ?)`,
      )
      .all(`${quoteFtsTerm(toOwnerToken(kind, 1))} AND tea`)
      .map(({ type }) => type)
  expect(held('memory')).toEqual(['factual'])
  expect(held('turn')).toEqual(['turn'])
})
