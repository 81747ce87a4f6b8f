/** Receipts, and what becomes of conversations when owners are erased and engines closed, over every store. */
import { describe, expect, it } from 'vitest'
import { NO_TOOL_MEMORY_IDS } from '../../src/conversations/receipts/receipt.ts'
import { instrumentEngine } from '../../src/engine/instrumentation.ts'
import { yieldToEventLoop } from '../../src/lib/event-loop.ts'
import { KeptTelemetry } from '../fakes/telemetry.ts'
import {
  ADA,
  ada,
  answerOf,
  type OpenStore,
  openConversations,
  outcomeOf,
  requestOf,
  transcript,
} from './conversations-support.ts'

const DAY = 86_400_000
const QUESTION = ['What do I drink?']

export function describeReceipts(name: string, open: OpenStore): void {
  describe(`${name}: receipts`, () => describeKeeping(open))
}

function describeKeeping(open: OpenStore): void {
  it('[CV19] a receipt contains everything that memory did, and is stored without text', async () => {
    const { engine, client } = await openConversations(open)
    const { memory } = await engine.remember(ADA, { content: 'I drink green tea' })
    const usage = { input: 100, output: 20, cached: 80 }
    const prepared = await client.send(
      ['What do I drink? I live in Lisbon.'],
      answerOf('Tea.', { id: 'resp_1', usage }),
      { scope: { ...ADA, user: null, session: 's1' } },
      {
        toolCalls: ['memory_search'],
        toolMemories: { ...NO_TOOL_MEMORY_IDS, found: [memory.id] },
      },
    )
    // What was recorded a moment ago is there already.
    const receipt = await engine.conversations.receipts.get(ADA, prepared.receipt ?? '')
    expect(receipt).toMatchObject({
      id: prepared.receipt,
      place: { owner: 'ada', user: null, session: 's1' },
      requestId: 'req_1',
      format: 'chat',
      model: 'openai/gpt',
      provider: 'openai',
      status: 200,
      skipped: null,
      error: null,
      results: [{ memory: memory.id }],
      injected: { placement: 'turn-end', memories: [memory.id], tokens: prepared.tokens },
      dryRun: null,
      toolCalls: ['memory_search'],
      memoryToolResults: { found: [memory.id], saved: [], updated: [], forgotten: [] },
      answer: 'complete',
      usage,
      timings: { firstByteMs: 5, totalMs: 9 },
    })
    expect(receipt?.results[0]?.trail.length).toBeGreaterThan(0)
    expect(receipt?.turns).toHaveLength(2)
    expect(receipt?.extracted).toHaveLength(1)
    expect(JSON.stringify(receipt)).not.toMatch(/Lisbon/)
    expect(
      await engine.conversations.receipts.get({ owner: 'bob' }, prepared.receipt ?? ''),
    ).toBeNull()
    expect((await engine.conversations.receipts.list(ADA, { session: 's2' })).rows).toEqual([])
    const { rows } = await engine.conversations.receipts.list(ADA, { session: 's1' })
    const { block: _block, lines: _pieces, ...told } = receipt ?? {}
    expect(rows).toMatchObject([told])
    expect(JSON.stringify(rows)).not.toMatch(/tea|Lisbon/i)
  })

  it('[CV19] says where there was no place for the memories', async () => {
    const { engine, client } = await openConversations(open)
    await engine.remember(ADA, { content: 'I drink green tea' })
    await client.ask(QUESTION, 'Tea.', {}, { placement: null, skipped: 'no-insertion-point' })
    expect((await engine.conversations.receipts.list(ADA)).rows).toMatchObject([
      { skipped: 'no-insertion-point', injected: null, results: [{}] },
    ])
  })

  it('[CV19] contains results also without a block, and how the response ended', async () => {
    const { engine, client } = await openConversations(open)
    const narrow = { contextWindow: 60, asked: { outputTokensMax: 20 } }
    const { memory } = await engine.remember(ADA, { content: 'I drink green tea' })
    const cut = answerOf('Te', { isComplete: false, isTruncated: true })
    const endings = [cut, answerOf('T', { isComplete: false }), null] as const
    for (const [n, ending] of endings.entries()) {
      await client.ask([`What do I drink, ${n}?`], ending, narrow)
    }
    const { rows } = await engine.conversations.receipts.list(ADA)
    const trail = expect.arrayContaining([expect.objectContaining({ stage: expect.any(String) })])
    const expected = {
      skipped: 'no-budget',
      injected: null,
      results: [{ memory: memory.id, trail }],
    }
    expect(rows).toMatchObject([
      { ...expected, answer: 'unparsed' },
      { ...expected, answer: 'interrupted' },
      { ...expected, answer: 'truncated' },
    ])
  })

  it('[CV19] keeps as many receipts as the settings say, and for as long', async () => {
    const { engine, client, store, clock } = await openConversations(open)
    await engine.admin.settings.change(ada, {
      'retention.receiptsMax': 5,
      'retention.receiptDays': 2,
    })
    for (let n = 0; n < 150; n++) await client.send([`Question ${n}`], '-')
    await engine.conversations.flush()
    const kept = async () =>
      (await store.find('entry', { owner: ada }, { where: { kinds: ['receipt'] }, limit: 500 }))
        .rows
    expect((await kept()).length).toBeLessThanOrEqual(105)
    const { rows, next } = await engine.conversations.receipts.list(ADA, { limit: 3 })
    expect(rows).toHaveLength(3)
    const rest = await engine.conversations.receipts.list(ADA, { limit: 3, after: next ?? '' })
    expect(rest).toMatchObject({ rows: [{}, {}], next: null })
    expect(rows[0]?.id && rows[0].id > (rest.rows[0]?.id ?? '')).toBe(true)
    clock.advance(3 * DAY)
    expect((await engine.conversations.receipts.list(ADA)).rows).toEqual([])
    expect(await kept()).toEqual([])
    await engine.admin.settings.change(ada, { 'retention.receiptsMax': 0 })
    await client.ask(['Another question'], '-')
    expect(await kept()).toEqual([])
  })

  it('[CV21] erasing an owner takes its conversations and receipts, also those still on their way', async () => {
    const { engine, client, store } = await openConversations(open)
    await client.ask(['I prefer tea'], 'Good.')
    await client.send(['I live in Lisbon'], 'Nice.')
    await engine.admin.eraseOwner('ada')
    await engine.conversations.flush()
    for (const table of ['memory', 'turn', 'entry'] as const) {
      expect((await store.find(table, { owner: ada }, { where: {}, limit: 9 })).rows).toEqual([])
    }
  })

  it('[CV21] exports contain turns, but neither receipts nor links', async () => {
    const { engine, client } = await openConversations(open)
    await client.ask(['I prefer tea'], 'Good.')
    const tables: string[] = []
    for await (const line of engine.admin.export(ADA)) tables.push(JSON.parse(line).table)
    expect(tables.filter(Boolean).sort()).toEqual(['memory', 'turn', 'turn'])
  })

  it('[CV21] closing waits for pending recordings', async () => {
    const store = await open()
    const { engine, client } = await openConversations(open, {
      store: { ...store, close: async () => {} },
    })
    await client.send(['I prefer tea'], 'Good.')
    await engine.close()
    expect(await transcript(store)).toHaveLength(2)
    await store.close()
  })

  it('[CV22] counts requests, injections and timeouts', async () => {
    const telemetry = new KeptTelemetry()
    const { engine } = await openConversations(open)
    const { conversations } = instrumentEngine(engine, telemetry)
    await engine.remember(ADA, { content: 'I drink green tea' })
    for (const [said, fields] of [
      [QUESTION, {}],
      [QUESTION, { placement: null, skipped: 'no-insertion-point' }],
      [['Who won the chess game?'], {}],
    ] as const) {
      const prepared = await conversations.prepare(requestOf(said))
      conversations.recordOutcome(prepared, outcomeOf(prepared, answerOf('-'), fields))
      conversations.recordOutcome(prepared, outcomeOf(prepared, answerOf('-'), fields))
    }
    const without = requestOf(QUESTION, { wants: { memory: false } })
    expect(conversations.prepareWithoutMemory(without)).toMatchObject({
      skipped: 'memory-disabled',
    })
    expect(conversations.prepareWithoutMemory(requestOf(QUESTION))).toBeNull()
    await yieldToEventLoop()
    const passed = (outcome: string) =>
      telemetry.counted('recollect_gateway_requests_total', { format: 'chat', outcome })
    const outcomes = ['injected', 'no-insertion-point', 'no-relevant-memories', 'memory-disabled']
    expect(outcomes.map(passed)).toEqual([1, 1, 1, 1])
    expect(telemetry.counted('recollect_contexts_injected_total')).toBe(1)
    expect(telemetry.counted('recollect_injected_tokens_total')).toBeGreaterThan(0)
    expect(telemetry.counted('recollect_conversations_dropped_total')).toBe(0)
    expect(
      telemetry.counted('recollect_operations_total', {
        operation: 'conversations.prepare',
        outcome: 'ok',
      }),
    ).toBe(3)
  })
}
