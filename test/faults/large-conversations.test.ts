/** Conversations beyond every usual size: recorded, listed, searched, quoted and removed, at a cost that does not grow with them. */
import { expect, it, onTestFinished } from 'vitest'
import { COMMIT_CHANGES_MAX, TURN_CHARACTERS_MAX } from '../../src/domain/limits.ts'
import type { Place } from '../../src/domain/scope.ts'
import type { Turn } from '../../src/domain/turn.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { COMMITTED } from '../conformance/store/store.suite.ts'
import { openConversations } from '../conversations/conversations-support.ts'
import { turn } from '../fakes/entries.ts'
import { ADA as AT_ADA, instant, session } from '../fakes/memories.ts'
import { repetitions } from '../support/thoroughness.ts'

const TURNS = repetitions({ usual: 4_000, thorough: 20_000 })
const ONE_WORD_TURNS = repetitions({ usual: 10_000, thorough: 100_000 })
const ADA = { owner: 'ada' }
const ALL_OF_ADA = { owner: AT_ADA.owner }
const LONG = { ...ADA, session: 'long' }
const SETTINGS = { 'gateway.contextSources': 'conversations' } as const
const ALL_TURNS = { types: ['turn'] } as const

const openSqlite = () => openSqliteStore({ path: ':memory:', now: Date.now })

async function commitTurns(store: Store, turns: readonly Turn[]): Promise<void> {
  for (let start = 0; start < turns.length; start += COMMIT_CHANGES_MAX) {
    const some = turns.slice(start, start + COMMIT_CHANGES_MAX)
    expect(
      await store.commit(some.map((row) => ({ op: 'put', table: 'turn', row, expect: 'absent' }))),
    ).toEqual(COMMITTED)
  }
}

function sessionOf(name: string, count: number, contentOf: (n: number) => string): readonly Turn[] {
  const place: Place = { ...AT_ADA, session: session(name) }
  return Array.from({ length: count }, (_, n) =>
    turn({
      place,
      role: n % 2 === 0 ? 'user' : 'assistant',
      content: contentOf(n),
      position: n,
      saidAt: instant(n),
    }),
  )
}

/** The same store; counts what it is asked for and the rows that it returns. */
function withCost(store: Store) {
  const cost = { calls: 0, rows: 0 }
  const note =
    <Result>(rowsOf: (result: Result) => number) =>
    (result: Result) => {
      cost.calls++
      cost.rows += rowsOf(result)
      return result
    }
  const counted: Store = {
    ...store,
    find: (...given) => store.find(...given).then(note(({ rows }) => rows.length)),
    get: (...given) => store.get(...given).then(note((row) => (row === null ? 0 : 1))),
    commit: (changes) => store.commit(changes).then(note(() => changes.length)),
  }
  return { counted, cost }
}

it(`[LT1] a session of ${TURNS} turns is read, searched, quoted and forgotten`, async () => {
  const { engine, client, store } = await openConversations(openSqlite, { settings: SETTINGS })
  const rows = sessionOf('long', TURNS, (n) => `We talked about matter${n} of the voyage.`)
  await commitTurns(store, rows)
  expect((await engine.conversations.sessions.list(ADA)).rows).toMatchObject([{ turns: TURNS }])
  const read: string[] = []
  for (let after: string | null = ''; after !== null; ) {
    const position = after === '' ? {} : { after }
    const page = await engine.conversations.turns.list(LONG, { limit: 200, ...position })
    read.push(...page.rows.map(({ id }) => id))
    after = page.next
  }
  expect(read).toEqual(rows.map(({ id }) => id))
  const { memories } = await engine.recall(ADA, { text: 'matter3211' })
  expect(memories.map(({ memory }) => memory.content)[0]).toContain('matter3211 ')
  const around = await store.findNeighbors(ALL_OF_ADA, [rows[2_000]?.id as never], 2) // its document goes by the same id
  expect([...around.values()]).toMatchObject([
    { before: [rows[1_999]?.id, rows[1_998]?.id], after: [rows[2_001]?.id, rows[2_002]?.id] },
  ])
  const query = { scope: LONG, wants: { extract: false } }
  const { block } = await client.ask(['What about matter3900?'], 'It was blue.', query)
  expect(block).toContain('matter3900 ')
  // Its cost grew with the square of the turns when each document was looked up by its words.
  expect(await store.checkIntegrity({ repair: true })).toEqual([])
  expect(await engine.conversations.sessions.delete(LONG)).toMatchObject({ turns: TURNS })
  expect((await engine.recall(ADA, { text: 'matter3211' })).memories).toEqual([])
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
})

it(`[LT2] recording in a session of ${TURNS} turns reads and writes as much as in one of 20`, async () => {
  const costOf = async (turns: number) => {
    const { counted, cost } = withCost(createInMemoryStore())
    const { client } = await openConversations(async () => counted, { settings: SETTINGS })
    await commitTurns(
      counted,
      sessionOf('long', turns, (n) => `Matter ${n} of the voyage.`),
    )
    await client.ask(['Where is the harbour of Oslo?'], 'In the south.', { scope: LONG })
    const before = { ...cost }
    const said = ['Where is the harbour of Oslo?', 'In the south.', 'And the station?']
    await client.ask(said, 'Beside it.', { requestId: 'req_2', scope: LONG })
    return { calls: cost.calls - before.calls, rows: cost.rows - before.rows }
  }
  expect(await costOf(TURNS)).toEqual(await costOf(20))
})

it(`[LT3] ${ONE_WORD_TURNS} turns of one word are stored, found and inspected`, async () => {
  const store = await openSqlite()
  onTestFinished(() => store.close())
  const words = ['yes', 'no', 'thanks', 'harbour']
  const rows = sessionOf('long', ONE_WORD_TURNS, (n) => words[n % words.length] ?? '')
  await commitTurns(store, [...rows, turn({ content: 'lighthouse' })])
  for (const [text, hits] of [
    ['harbour', 10],
    ['lighthouse', 1],
    ['lighthouse harbour no', 10],
  ] as const) {
    const found = await store.searchText(ALL_OF_ADA, { text, limit: 10, where: ALL_TURNS })
    expect(found.hits).toHaveLength(hits)
  }
  expect((await store.listSessions(ALL_OF_ADA, { limit: 2 })).rows).toMatchObject([
    { turns: ONE_WORD_TURNS },
  ])
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
})

it.each([
  ['the reference store', async () => createInMemoryStore()],
  ['SQLite', openSqlite],
])('[LT4] of a turn of 1 MB, %s keeps and finds the first 500,000 characters', async (_, open) => {
  const { engine, client, store } = await openConversations(open, { settings: SETTINGS })
  const filler = 'We walked along the shore and talked. '
  const text = `${filler.repeat(13_000)}The zeppelin lands in Lisbon. ${filler.repeat(14_000)}`
  const oneWord = 'x'.repeat(1_000_000)
  for (const [index, said] of [text, oneWord, '😀'.repeat(500_000)].entries()) {
    const scope = { ...ADA, session: `s${index}` }
    await client.ask([said], 'Noted.', { requestId: `req_${index}`, scope })
    const { rows } = await engine.conversations.turns.list(scope)
    expect(rows.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(rows[0]?.content).toBe(said.slice(0, TURN_CHARACTERS_MAX))
    await client.ask([said], 'Noted.', { requestId: `again_${index}`, scope })
    expect((await engine.conversations.turns.list(scope)).rows).toHaveLength(2)
  }
  const scope = { ...ADA, session: 'later' }
  const { block } = await client.ask(['Where does the zeppelin land?'], 'I see.', { scope })
  expect(block).toContain('The zeppelin lands in Lisbon.')
  expect(block?.length).toBeLessThan(1_000)
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
})
