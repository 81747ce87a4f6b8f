/** Turns in spite of faults: without a model, without vectors, moved by a file, and removed. */
import { describe, expect, it } from 'vitest'
import { parseScope } from '../../src/domain/scope.ts'
import { AppError } from '../../src/lib/errors.ts'
import type { Embedder } from '../../src/models/embedder.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../../src/storage/in-memory/in-memory-vector-index.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Store } from '../../src/storage/store.ts'
import type { VectorIndex } from '../../src/storage/vector-index.ts'
import { ADA, openConversations } from '../conversations/conversations-support.ts'
import { scriptedEmbedder } from '../fakes/embedder.ts'
import { expectSound } from '../support/doctor.ts'
import { until, untilIndexed } from './recall-support.ts'

const SPACE = { signature: 'reference:terms:64', dimensions: 64 }
const KEY = 'The spare key hangs behind the boiler.'
const QUESTION = 'Where is the spare key?'
const BOB = { owner: 'bob' }
const ADA_ALONE = { ...ADA, user: null }
const ADA_AS_EVE = { ...ADA, user: 'eve' }

type Opened = { readonly store: Store; readonly vectors: VectorIndex }

const openReference = async (): Promise<Opened> => {
  const store = createInMemoryStore()
  return { store, vectors: createInMemoryVectorIndex(store) }
}
const openSqlite = async (): Promise<Opened> => {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  return { store, vectors: store.vectors }
}

async function opened(open: () => Promise<Opened>, embedder: Embedder = createHashingEmbedder()) {
  const { store, vectors } = await open()
  const { engine, client } = await openConversations(async () => store, {
    embedder,
    vectors,
    settings: { 'gateway.contextSources': 'conversations', 'learning.extractionMode': 'manual' },
  })
  let requests = 0
  const say = (session: string, said: string, scope: object = ADA) =>
    client.ask([said], 'Noted.', {
      requestId: `req_${++requests}`,
      scope: { ...ADA, ...scope, session },
    })
  const asked = async () =>
    (await client.ask([QUESTION], '-', { wants: { extract: false } })).block ?? ''
  const vectorsOf = (scope: object) => vectors.count(SPACE, parseScope({ ...ADA, ...scope }))
  const hits = async (scope: object, text = 'boiler') => {
    const where = { types: ['turn'] } as const
    return (await store.searchText(parseScope({ ...ADA, ...scope }), { text, limit: 50, where }))
      .hits.length
  }
  return { engine, client, store, vectors, say, asked, vectorsOf, hits }
}

describe.each([
  ['reference', openReference],
  ['sqlite', openSqlite],
] as const)('%s', (_, open) => {
  it('[LT6] with the model down, turns are found by their words, and get vectors when it is back', async () => {
    let isUp = false
    const embedder = scriptedEmbedder(() => {
      if (!isUp) throw new AppError('unavailable', 'no power')
    })
    const { engine, say, asked, vectorsOf } = await opened(open, embedder)
    await say('one', KEY)
    expect(await asked()).toContain('behind the boiler')
    expect((await engine.status()).index).toMatchObject({ turns: 2, vectors: 0, withoutVector: 2 })
    isUp = true
    await until(async () => {
      await asked()
      return (await vectorsOf(ADA)) === 2
    })
    expect((await engine.status()).index).toMatchObject({ withoutVector: 0, reason: null })
  })

  it('[LT7] missing vectors of turns are reported and embedded again', async () => {
    const { engine, store, say, vectors, vectorsOf } = await opened(open)
    await say('one', KEY)
    await say('two', 'The ferry to Oslo leaves at nine.')
    await engine.admin.reindex()
    const listed = await vectors.list(SPACE, parseScope(ADA), { limit: 9 })
    expect(listed).toHaveLength(4)
    await vectors.remove(
      SPACE,
      parseScope(ADA),
      listed.slice(1).map(({ id }) => id),
    )
    expect((await engine.status()).index).toMatchObject({ turns: 4, vectors: 1, withoutVector: 3 })
    expect(await engine.admin.checkIntegrity({ repair: true })).toEqual([])
    expect(await engine.admin.reindex()).toMatchObject({ turns: 4, vectors: 4, withoutVector: 0 })
    expect(await vectors.list(SPACE, parseScope(ADA), { limit: 9 })).toEqual(listed)
    expect(await vectorsOf(ADA)).toBe(4)
    await expectSound(store)
  })

  it('[LT8] imported turns are found by words at once, and by meaning once they are embedded', async () => {
    const from = await opened(open)
    await from.say('one', KEY)
    await from.say('one', KEY, ADA_AS_EVE)
    const to = await opened(open)
    await to.engine.admin.import(from.engine.admin.export(null))
    expect(await to.hits(ADA_ALONE)).toBe(1)
    expect(await to.hits(ADA_AS_EVE)).toBe(1)
    expect(await to.asked()).toContain('behind the boiler')
    await to.engine.admin.reindex()
    await untilIndexed(to.engine)
    expect(await to.vectorsOf(ADA_ALONE)).toBe(await from.vectorsOf(ADA_ALONE))
    const { retrievers: legs } = await to.engine.recall(ADA, {
      text: 'boiler',
      include: 'conversations',
    })
    expect(legs.vector.hits).toBeGreaterThan(0)
    await expectSound(to.store)
  })

  it('[LT9] a turn, a session and an owner leave neither words nor vectors behind, and are counted', async () => {
    const { engine, store, say, vectorsOf, hits } = await opened(open)
    for (const scope of [ADA_ALONE, ADA_AS_EVE, BOB]) {
      await say('one', KEY, scope)
      await say('one', 'A second spare key hangs behind the boiler too.', scope)
      await say('two', 'The boiler was repaired in May.', scope)
    }
    await engine.admin.reindex()
    const left = async (scope: object) => [await hits(scope), await vectorsOf(scope)]
    expect([await left(ADA_ALONE), await left(ADA_AS_EVE), await left(BOB)]).toEqual([
      [3, 6],
      [3, 6],
      [3, 6],
    ])
    const [turn] = (await engine.conversations.turns.list({ ...ADA_ALONE, session: 'one' })).rows
    expect((await engine.conversations.turns.delete(ADA_ALONE, turn?.id ?? '')).turn.content).toBe(
      KEY,
    )
    expect(await left(ADA_ALONE)).toEqual([2, 5])
    expect(
      await engine.conversations.sessions.delete({ ...ADA_ALONE, session: 'one' }),
    ).toMatchObject({
      turns: 3,
    })
    expect(await left(ADA_ALONE)).toEqual([1, 2])
    await expectSound(store)
    expect(await left(ADA_AS_EVE)).toEqual([3, 6])
    const before = await engine.admin.eraseOwner('ada', { dryRun: true })
    expect(await engine.admin.eraseOwner('ada')).toEqual(before)
    expect(before.rows).toMatchObject({ turn: 8 })
    expect([await left(ADA_ALONE), await left(ADA_AS_EVE), await left(BOB)]).toEqual([
      [0, 0],
      [0, 0],
      [3, 6],
    ])
    await expectSound(store)
  })
})
