/** What memory does before and after a request, run over every store that can be opened here. */
import { describe, expect, it } from 'vitest'
import { CONTEXT_SKIP_REASONS } from '../../src/conversations/conversations.ts'
import { FENCE_OPEN, renderBlock, renderMemoryLine } from '../../src/domain/context-block.ts'
import { createInMemoryVectorIndex } from '../../src/storage/in-memory/in-memory-vector-index.ts'
import { gate, scriptedEmbedder } from '../fakes/embedder.ts'
import {
  ADA,
  ada,
  answerOf,
  contentsOf,
  type OpenStore,
  openConversations,
  outcomeOf,
  type RequestFields,
  requestOf,
  transcript,
} from './conversations-support.ts'

const QUESTION = ['What do I drink?']
/** A tool has returned something since the question. */
const LOOP = { asked: { toolResults: ['42'] } }
const ONLY_BLOCK = `${FENCE_OPEN}\n- I drink green tea (2026-03-01)\n</recollect-memory>`

export function describeConversations(name: string, open: OpenStore): void {
  describe(`${name}: before a request`, () => describePreparing(open))
  describe(`${name}: learning`, () => describeLearning(open))
}

function describePreparing(open: OpenStore): void {
  it('[CV4] gives what answers the last words, with its cost', async () => {
    const { engine, client, clock } = await openConversations(open)
    const { memory } = await engine.remember(ADA, { content: 'I drink green tea' })
    await engine.remember(ADA, { content: 'My car is a red Volvo' })
    const prepared = await client.ask(['My car is old', 'Oh.', 'What do I drink?'], 'Tea.')
    expect(prepared).toMatchObject({
      block: renderBlock({
        today: clock.now(),
        lines: [{ document: memory, text: renderMemoryLine(memory) ?? '' }],
      }),
      count: 1,
      skipped: null,
    })
    expect(prepared.tokens).toBeGreaterThan(0)
    expect(prepared.receipt).toMatch(/^rcp_/)
    const recalled = await engine.recall(ADA, { text: 'drink', include: 'facts' })
    expect(recalled.memories).toHaveLength(1)
  })

  const WITHOUT: readonly (readonly [string, string, object, readonly string[], RequestFields])[] =
    [
      ['off', 'memory is off', { 'gateway.enabled': false }, QUESTION, {}],
      ['memory-disabled', 'the request wants none', {}, QUESTION, { wants: { memory: false } }],
      [
        'context-disabled',
        'the request wants none added',
        {},
        QUESTION,
        { wants: { inject: false } },
      ],
      [
        'context-disabled',
        'none are to be added',
        { 'gateway.contextEnabled': false },
        QUESTION,
        {},
      ],
      ['no-user-message', 'nobody says anything', {}, [], {}],
      ['no-user-message', 'what is said is only a block', {}, [ONLY_BLOCK], {}],
      ['no-budget', 'none may be added', { 'gateway.contextTokensMax': 0 }, QUESTION, {}],
      [
        'no-budget',
        'the window is full',
        {},
        QUESTION,
        { contextWindow: 100, asked: { characters: 400 } },
      ],
      [
        'no-budget',
        'the answer needs the rest',
        {},
        QUESTION,
        { contextWindow: 900, asked: { outputTokensMax: 890 } },
      ],
      ['no-relevant-memories', 'no memory is near', {}, ['Who won the chess game?'], {}],
      ['dry-run', 'it is only tried', { 'gateway.dryRun': true }, QUESTION, {}],
    ]
  it.each(WITHOUT)(
    '[CV4] gives nothing and says %s when %s',
    async (reason, _, settings, said, fields) => {
      const { engine, client } = await openConversations(open, {
        settings,
      })
      await engine.remember(ADA, { content: 'I drink green tea' })
      const prepared = await client.ask(said, 'Hm.', fields)
      expect(prepared).toMatchObject({ block: null, count: 0, tokens: 0, skipped: reason })
      expect(Object.keys(CONTEXT_SKIP_REASONS)).toContain(reason)
    },
  )

  it('[CV8] with memory off, nothing but settings is read, and nothing is left', async () => {
    for (const [settings, fields] of [
      [{ 'gateway.enabled': false }, {}],
      [{ 'gateway.enabled': true }, { wants: { memory: false } }],
    ] as const) {
      const store = await open()
      const touched: string[] = []
      const watchedStore = {
        ...store,
        find: ((table, scope, query) => {
          touched.push(table)
          return store.find(table, scope, query)
        }) as typeof store.find,
        commit: ((changes) => {
          touched.push('commit')
          return store.commit(changes)
        }) as typeof store.commit,
      }
      const { engine, client } = await openConversations(open, { store: watchedStore, settings })
      const prepared = await client.ask(['I prefer tea'], 'Good.', fields)
      expect(prepared.receipt).toBeNull()
      // As soon as settings are at hand, that can be told without waiting.
      expect(
        engine.conversations.prepareWithoutMemory(requestOf(['I prefer tea'], fields)),
      ).toEqual(prepared)
      expect(touched).toEqual([])
      expect((await engine.conversations.receipts.list(ADA)).rows).toEqual([])
    }
  })

  it('[CV5] the block fits the budget and the window, including its framing', async () => {
    const { engine, client } = await openConversations(open)
    for (let n = 1; n <= 9; n++) {
      await engine.remember(ADA, { content: `Tea number ${n} that I drink is called Leaf ${n}` })
    }
    const all = await client.ask(QUESTION, 'Tea.')
    expect(all.count).toBe(9)
    await engine.admin.settings.change(ada, { 'gateway.contextTokensMax': 100 })
    const few = await client.ask(['What tea do I drink?'], 'Tea.')
    expect(few.count).toBeGreaterThan(0)
    expect(few.count).toBeLessThan(9)
    expect(few.tokens).toBeLessThanOrEqual(100)
    // The fence alone is more.
    await engine.admin.settings.change(ada, { 'gateway.contextTokensMax': 1 })
    const least = await client.ask(['Which tea do I drink?'], 'Tea.')
    expect(least.skipped).toBe(null)
    expect(least.count).toBeGreaterThan(0)
    expect(least.tokens).toBeLessThanOrEqual(few.tokens)
    await engine.admin.settings.change(ada, { 'gateway.contextTokensMax': 800 })
    const narrow = { contextWindow: 60, asked: { outputTokensMax: 20 } }
    expect(await client.ask(['And what tea do I drink?'], 'Tea.', narrow)).toMatchObject({
      skipped: 'no-budget',
    })
    const countTokens = (text: string) => text.length
    expect((await client.ask(['Tea?'], 'Tea.', { countTokens })).tokens).toBeGreaterThan(150)
  })

  it('[CV6] gives the same bytes while the same words wait for an answer', async () => {
    const { engine, client, clock } = await openConversations(open)
    const { memory } = await engine.remember(ADA, { content: 'I drink green tea' })
    const first = await client.ask(QUESTION, null)
    await engine.remember(ADA, { content: 'I drink black coffee as well' })
    await engine.remember(ADA, { content: 'I drink green tea.' }) // said again
    clock.advance(60_000)
    expect((await client.ask(QUESTION, null, LOOP)).block).toBe(first.block)
    expect((await client.ask(['hm?', 'yes', 'What do I drink?'], null)).block).not.toBe(first.block)
    await engine.edit(ADA, memory.id, { content: 'I drink white tea' })
    const edited = await client.ask(QUESTION, null, LOOP)
    expect(edited.block).toContain('white tea')
    await engine.forget(ADA, memory.id)
    const forgotten = await client.ask(QUESTION, null, LOOP)
    expect(forgotten.block).not.toContain('white tea')
    await engine.remember(ADA, { content: 'I drink cold water' })
    clock.advance(11 * 60_000)
    expect((await client.ask(QUESTION, null, LOOP)).block).toContain('cold water')
  })

  it('[CV6] a block that is in use lasts, but not for ever', async () => {
    const { engine, client, clock } = await openConversations(open)
    await engine.remember(ADA, { content: 'I drink green tea' })
    const first = await client.ask(QUESTION, null)
    await engine.remember(ADA, { content: 'I drink cold water' })
    for (let minutes = 9; minutes < 120; minutes += 9) {
      clock.advance(9 * 60_000)
      expect((await client.ask(QUESTION, null, LOOP)).block).toBe(first.block)
    }
    clock.advance(9 * 60_000)
    expect((await client.ask(QUESTION, null, LOOP)).block).toContain('cold water')
  })

  it('[CV6] a tool loop without a block stays without one', async () => {
    const { engine, client } = await openConversations(open)
    const calling = answerOf('', { hasToolCalls: true })
    expect((await client.ask(QUESTION, calling)).block).toBeNull()
    await engine.remember(ADA, { content: 'I drink green tea' })
    expect((await client.ask(QUESTION, calling, LOOP)).block).toBeNull()
    expect((await client.ask(QUESTION, 'Tea.', LOOP)).block).toBeNull()
    expect((await client.ask(QUESTION, 'Tea.')).block).toContain('green tea')
  })

  it('[CV42] a message that is repeated is recalled afresh, whether it was answered or not', async () => {
    const { engine, client } = await openConversations(open)
    await engine.remember(ADA, { content: 'I drink green tea' })
    await client.ask(QUESTION, 'Tea.')
    await engine.remember(ADA, { content: 'I drink black coffee as well' })
    expect((await client.ask(QUESTION, null, {}, { status: 500 })).block).toContain('coffee')
    await engine.remember(ADA, { content: 'I drink cold water' })
    expect((await client.ask(QUESTION, 'Much.')).block).toContain('water')
  })

  it('[CV42] so is a tool loop that is repeated after its answer', async () => {
    const { engine, client } = await openConversations(open)
    await engine.remember(ADA, { content: 'I drink green tea' })
    const calling = answerOf('Let me see.', { hasToolCalls: true })
    const first = await client.ask(QUESTION, calling)
    await engine.remember(ADA, { content: 'I drink cold water' })
    const broken = answerOf('You dri', { isComplete: false })
    expect((await client.ask(QUESTION, broken, LOOP)).block).toBe(first.block)
    expect((await client.ask(QUESTION, 'Tea.', LOOP)).block).toBe(first.block)
    expect((await client.ask(QUESTION, 'Tea.', LOOP)).block).toContain('water')
  })

  it('[CV43] changed settings apply at once, also in a tool loop', async () => {
    const { engine, client } = await openConversations(open)
    await engine.remember(ADA, { content: 'I drink green tea' })
    await engine.remember(ADA, { content: 'I drink cold water' })
    const calling = answerOf('', { hasToolCalls: true })
    expect((await client.ask(QUESTION, calling)).block).toContain('green tea')
    await engine.admin.settings.change(ada, { 'recall.scope': 'session' })
    expect((await client.ask(QUESTION, calling, LOOP)).block).toBeNull()
    await engine.admin.settings.change(ada, { 'recall.scope': 'owner' })
    expect((await client.ask(QUESTION, calling, LOOP)).block).toContain('green tea')
  })

  it('[CV9] a request gets the memories of its user, and one without a user those without a user', async () => {
    const { engine, client } = await openConversations(open)
    await engine.remember({ ...ADA, user: 'kim' }, { content: 'I drink kombucha' })
    await engine.remember(ADA, { content: 'I drink green tea' })
    expect((await client.ask(QUESTION, '-')).block).not.toContain('kombucha')
    const kim = await client.ask(QUESTION, '-', { scope: { ...ADA, user: 'kim' } })
    expect(kim.block).toContain('kombucha')
    expect(kim.block).not.toContain('green tea')
  })

  it('[CV7] a store that hangs costs the memories, not the request', async () => {
    const store = await open()
    const held = gate()
    const { engine, client } = await openConversations(open, {
      store: {
        ...store,
        searchText: async (...given) => {
          await held.opened
          return store.searchText(...given)
        },
      },
      settings: { 'gateway.contextTimeoutMs': 20, 'recall.retrieverTimeoutMs': 5_000 },
    })
    const prepared = await client.send(QUESTION, 'Tea.')
    expect(prepared.block).toBeNull()
    expect(['timeout', 'failed']).toContain(prepared.skipped)
    held.open()
    await engine.conversations.flush()
  })

  it('[CV7] settings that can’t be read in time cost the memories, not the request', async () => {
    const store = await open()
    const held = gate()
    const { engine, client } = await openConversations(open, {
      store: {
        ...store,
        get: (async (...given) => {
          await held.opened
          return store.get(...given)
        }) as typeof store.get,
      },
      settings: { 'gateway.contextTimeoutMs': 20 },
    })
    expect(await client.send(['I prefer tea'], 'Good.')).toMatchObject({
      skipped: 'timeout',
      block: null,
    })
    held.open()
    await engine.conversations.flush()
    // What was said is kept all the same.
    expect(await transcript(store)).toEqual(['1 user: I prefer tea', '1 assistant: Good.'])
    expect((await engine.conversations.receipts.list(ADA)).rows).toMatchObject([
      { skipped: 'timeout', error: 'unavailable' },
    ])
  })

  it('[CV7] an embedder that hangs leaves what words find', async () => {
    const store = await open()
    const held = gate()
    const { engine, client } = await openConversations(open, {
      store,
      vectors: createInMemoryVectorIndex(store),
      embedder: scriptedEmbedder(() => held.opened),
      settings: { 'gateway.contextTimeoutMs': 4_000 },
    })
    await engine.remember(ADA, { content: 'I drink green tea' })
    expect((await client.send(QUESTION, 'Tea.')).block).toContain('green tea')
    held.open()
  })

  it('[CV7] a scope that is none, and a client that has left, are no errors', async () => {
    const { engine, client } = await openConversations(open)
    expect(await client.ask(QUESTION, '-', { scope: { owner: '@system' } })).toMatchObject({
      skipped: 'failed',
    })
    const signal = AbortSignal.abort()
    expect(await client.ask(QUESTION, '-', { signal })).toMatchObject({ skipped: 'failed' })
    expect((await engine.conversations.receipts.list(ADA)).rows).toMatchObject([
      { error: 'cancelled' },
    ])
  })

  it('[CV4] looks in the session where the settings say so', async () => {
    const { engine, client } = await openConversations(open, {
      settings: { 'recall.scope': 'session' },
    })
    await engine.remember(ADA, { content: 'I drink green tea' })
    const here = { scope: { ...ADA, session: 'here' } }
    await client.ask(['I prefer black coffee'], 'Noted.', here)
    const prepared = await client.ask(['Which coffee or tea do I prefer?'], '-', here)
    expect(prepared.block).toContain('black coffee')
    expect(prepared.block).not.toContain('green tea')
  })
}

function describeLearning(open: OpenStore): void {
  it('[CV15] learns from the user, with the session as provenance', async () => {
    const { engine, client, store } = await openConversations(open)
    await client.ask(['I prefer tea. My name is Ada.'], 'Nice to meet you.')
    expect(await contentsOf(engine)).toEqual(['I prefer tea', 'My name is Ada'])
    const { rows: turns } = await store.find('turn', { owner: ada }, { where: {}, limit: 9 })
    const spoken = turns.find(({ role }) => role === 'user')
    const { rows } = await engine.list(ADA)
    expect(rows).toMatchObject([
      { trust: 'user', place: { session: spoken?.place.session } },
      { trust: 'user', provenance: { source: 'gateway', turns: [spoken?.id] } },
    ])
  })

  it('[CV15] learns only decisions from the model, with less trust', async () => {
    const { engine, client } = await openConversations(open)
    const said = "I like your plan. I'll use pnpm for this repository."
    await client.ask(['Set the project up, please'], said)
    const { rows } = await engine.list(ADA)
    expect(rows).toMatchObject([
      {
        content: "I'll use pnpm for this repository",
        category: 'decision',
        trust: 'assistant',
        provenance: { speaker: 'assistant' },
      },
    ])
    expect(rows[0]?.key).toMatch(/^assistant:decision:/)
    const next = await client.ask(['Do you use pnpm for this repository?'], '-')
    expect(next.block).toContain("- assistant: I'll use pnpm for this repository (")
  })

  it('[CV15] no statement of the model overrides one of the user', async () => {
    const { engine, client } = await openConversations(open)
    await client.ask(['I decided to use npm for this repository'], 'Fine.')
    await client.ask(
      ['I decided to use npm for this repository', 'Fine.', 'Go on'],
      'I decided to use pnpm for this repository.',
    )
    const { rows } = await engine.list(ADA, { statuses: ['active', 'superseded'] })
    const own = rows.find(({ trust }) => trust === 'user')
    expect(own).toMatchObject({
      status: 'active',
      content: 'I decided to use npm for this repository',
    })
    for (const { trust, status } of rows) if (trust === 'assistant') expect(status).toBe('active')
  })

  it('[CV15] learns from tool results only when configured, and once', async () => {
    const { engine, client } = await openConversations(open)
    const loop = { asked: { toolResults: ['I live in Berlin.'] } }
    await client.ask(['Look me up'], 'Done.', loop)
    expect(await contentsOf(engine)).toEqual([])
    await engine.admin.settings.change(ada, { 'learning.toolResultsEnabled': true })
    await client.ask(['Look me up'], 'Done.', loop)
    await client.ask(['Look me up'], 'Done again.', loop)
    expect((await engine.list(ADA)).rows).toMatchObject([
      { content: 'I live in Berlin', trust: 'tool', sourceCount: 1 },
    ])
  })

  it('[CV14] records nothing of unanswered requests', async () => {
    const { engine, client, store } = await openConversations(open)
    await client.ask(['I prefer tea'], null, {}, { status: 500 })
    await client.ask(['I prefer tea'], null, {}, { status: null })
    expect(await transcript(store)).toEqual([])
    expect(await contentsOf(engine)).toEqual([])
  })

  it('[CV14] nothing is recorded or learned where it is not wanted', async () => {
    const { engine, client, store } = await openConversations(open)
    await client.ask(['I prefer tea'], 'Good.', { wants: { extract: false } })
    await engine.admin.settings.change(ada, { 'learning.enabled': false })
    await client.ask(['I prefer coffee'], 'Good.')
    expect([await transcript(store), await contentsOf(engine)]).toEqual([[], []])
    expect((await engine.conversations.receipts.list(ADA)).rows).toHaveLength(2)
  })

  it('[CV16] what a model repeats of its memories is no new memory', async () => {
    const { engine, client } = await openConversations(open)
    await engine.remember(ADA, { content: 'The team decided to use pnpm for this repository' })
    const response = await client.ask(
      ['What do we use for this repository?'],
      "I'll use pnpm for this repository. I decided to write the release notes in Portuguese.",
    )
    expect(response.count).toBe(1)
    expect(await contentsOf(engine)).toEqual(['The team decided to use pnpm for this repository'])
  })

  it('[CV16] 200 turns in which everything is sent back leave as many memories as there are facts', async () => {
    const { engine, client, store } = await openConversations(open)
    const facts = ['I prefer green tea.', 'My sister is called Mia.', 'I live in Lisbon.']
    const said: string[] = []
    let echo = ''
    let count = 0
    for (let turn = 0; turn < 200; turn++) {
      const words = facts[turn] ?? `Which tea do I prefer, and where do I live, number ${turn}?`
      const quoting = `You told me: ${invented(turn)}`
      const { block } = await client.send([...said, words + echo], quoting)
      // The client keeps what it sent, block and all, quotes it again, and the model quotes what it was given.
      if (block !== null) count++
      echo = block === null ? '' : `\n\n${block}`
      said.push(words + echo, quoting)
    }
    await engine.conversations.flush()
    expect(count).toBeGreaterThan(150)
    expect(await contentsOf(engine)).toEqual(facts.map((fact) => fact.slice(0, -1)).sort())
    const { rows } = await engine.list(ADA)
    expect(rows.map(({ sourceCount }) => sourceCount)).toEqual([1, 1, 1])
    const stored = await transcript(store)
    expect(stored).toHaveLength(400)
    expect(stored.join()).not.toMatch(/recollect-memory|invented/)
  })

  it('[CV16] a returned block, escaped or as bare lines, is no new memory', async () => {
    const { engine, client } = await openConversations(open)
    const known = [
      { content: 'I live in Oslo' },
      { content: "I'll use pnpm for this repository", provenance: { speaker: 'assistant' } },
    ]
    for (const draft of known) await engine.remember(ADA, draft)
    const question = 'Where do I live, in Oslo, and do you use pnpm for this repository?'
    const { block, count } = await client.ask([question], 'Yes.')
    expect(count).toBe(2)
    const text = `${question}\n\n${block}`
    // The person's own line first: what follows one of the assistant's would be taken for the assistant's.
    const lines = block?.split('\n').slice(2, -1).toReversed().join('\n')
    expect(lines).toMatch(/^- I live in Oslo \(\d{4}/)
    for (const echo of [
      `Sum up: ${JSON.stringify({ text })}`,
      `Sum up: ${JSON.stringify({ text }).replaceAll('<', '\\u003c').replaceAll('/', '\\/')}`,
      `See ${text.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}`,
      `You told me:\n${lines}`,
      `You told me:\n> ${lines?.replaceAll('\n', '\n> ')}\nI own a dog`,
    ]) {
      await client.ask([echo], 'Yes.')
    }
    expect(await contentsOf(engine)).toEqual(known.map(({ content }) => content).sort())
  })

  it('[CV17] shadow recalls, records and learns, and gives nothing', async () => {
    const { engine, client } = await openConversations(open, {
      settings: { 'gateway.dryRun': true },
    })
    const { memory } = await engine.remember(ADA, { content: 'I drink green tea' })
    await client.ask(['What do I drink? I live in Lisbon.'], 'Tea.')
    const { rows } = await engine.conversations.receipts.list(ADA)
    expect(rows).toMatchObject([
      { skipped: 'dry-run', injected: null, dryRun: { memories: [memory.id] } },
    ])
    expect(rows[0]?.dryRun?.tokens).toBeGreaterThan(0)
    expect(await contentsOf(engine)).toContain('I live in Lisbon')
  })

  it('[CV16] pending work does not learn what was forgotten since', async () => {
    const { engine, client, clock } = await openConversations(open)
    await client.ask(['I prefer tea'], 'Good.')
    const prepared = await engine.conversations.prepare(
      requestOf(['I prefer tea', 'Good.', 'I prefer tea']),
    )
    clock.advance(1_000)
    const { rows } = await engine.list(ADA)
    await engine.forget(ADA, rows[0]?.id ?? '')
    engine.conversations.recordOutcome(prepared, outcomeOf(prepared, answerOf('You said so.')))
    await engine.conversations.flush()
    expect(await contentsOf(engine)).toEqual([])
  })
}

function invented(turn: number): string {
  return `${FENCE_OPEN}\n- I prefer invented number ${turn}\n</recollect-memory>`
}
