import { expect, it } from 'vitest'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { ADA, openConversations } from '../conversations/conversations-support.ts'
import { turn } from '../fakes/entries.ts'
import { ADA as AT_ADA, session } from '../fakes/memories.ts'
import { describeForgottenTurns } from './turn-suppression.suite.ts'

describeForgottenTurns('on the reference store', async () => createInMemoryStore())
describeForgottenTurns('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

const FACTS = 7
const TURNS_PER_FACT = 200

/** More turns than a store returns in one page. */
it('[TF2] undoing the deletion of facts with 1,400 turns enables all of them', async () => {
  const { engine, store } = await openConversations(async () => createInMemoryStore(), {})
  const statementOf = (number: number) => `The master of harbour${number} is called Greta.`
  const rows = Array.from({ length: FACTS * TURNS_PER_FACT }, (_, position) =>
    turn({
      place: { ...AT_ADA, session: session('long') },
      content: statementOf(position % FACTS),
      position,
    }),
  )
  await store.commit(rows.map((row) => ({ op: 'put', table: 'turn', row, expect: 'absent' })))
  for (let number = 0; number < FACTS; number++) {
    await engine.remember(ADA, { content: statementOf(number) })
  }
  const { change, turnsDisabled } = await engine.memories.clear(ADA, {})
  expect(turnsDisabled).toBe(rows.length)
  expect(await engine.undo(ADA, change ?? '')).toMatchObject({ turnsEnabled: rows.length })
  const where = { disabled: true }
  expect((await store.find('turn', AT_ADA, { where, limit: 1 })).rows).toEqual([])
})
