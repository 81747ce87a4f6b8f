/** What every block holds, what fits into one, and what it costs, over every store that can be opened here. */

import { describe, expect, it } from 'vitest'
import type { ReceiptBody } from '../../src/domain/entries/conversation-entries.ts'
import type { Entry } from '../../src/domain/entries/entry.ts'
import type { ScopeInput } from '../../src/domain/scope.ts'
import { AppError } from '../../src/lib/errors.ts'
import { upgradeEntry } from '../../src/storage/entry-upgrade.ts'
import type { Store } from '../../src/storage/store.ts'
import { estimateTokens } from '../../src/text/tokens.ts'
import {
  ABOUT_DOG,
  DOG,
  EPISODE,
  openReading,
  remember,
  SMALL_TALK,
  told,
  who,
} from './context-support.ts'
import { ADA, ada, type OpenStore } from './conversations-support.ts'

export function describeGiven(name: string, open: OpenStore): void {
  describe(`${name}: who the person is`, () => describeIdentity(open))
  describe(`${name}: what fits`, () => describeFitting(open))
  describe(`${name}: what it costs`, () => describeCost(open))
}

function describeIdentity(open: OpenStore): void {
  it.each(['off', 'heuristic', 'llm'] as const)(
    '[PL4] is in every block, with the gate %s',
    async (relevanceGateMode) => {
      const reading = await openReading(open, { 'gateway.gateMode': relevanceGateMode })
      const [ada, oslo] = await remember(reading.engine, [
        who('The user is called Ada', { importance: 3 }),
        who('The user lives in Oslo', { importance: 9 }),
      ])
      expect(await reading.lines(SMALL_TALK)).toEqual([
        'Today is 2023-11-14, Tuesday (UTC).',
        '- The user is called Ada (2023-11-14)',
        '- The user lives in Oslo (2023-11-14)',
      ])
      expect(await reading.receipt()).toMatchObject({
        skipped: null,
        identityIds: [ada, oslo],
        injected: { memories: [ada, oslo] },
      })
    },
  )

  it('[PL4] is in the block once, also when the message asks for it', async () => {
    const reading = await openReading(open)
    await remember(reading.engine, [who('The user is called Ada'), DOG])
    const said = await told(reading, 'What is the user called, and the dog?')
    expect(said.match(/called Ada/g)).toHaveLength(1)
    expect(said).toMatch(/^- The user is called Ada .*\n- The dog/)
  })

  it('[PL4] holds nothing that is suspect, unpinned, disabled, over, or not yet so', async () => {
    const reading = await openReading(open)
    const { engine, clock } = reading
    const now = clock.now()
    const [, disabled = ''] = await remember(engine, [
      who('The user is called Mallory', { trust: 'suspect' }),
      who('The user is a pilot'),
      who('The user is a baker', { pinned: false }),
      who('The user is in Rome', { expiresAt: now + 60_000 }),
      who('The user is on leave', { validFrom: now - 9, validUntil: now + 60_000 }),
      who('The user is a mother', { validFrom: now + 86_400_000 }),
      { ...DOG, pinned: true },
    ])
    await engine.memories.disable(ADA, disabled)
    expect(await told(reading, SMALL_TALK)).toMatch(/^- The user is in Rome.*\n- .* on leave.*$/)
    clock.advance(60_000)
    expect(await reading.lines(`${SMALL_TALK} Again.`)).toEqual([])
    clock.advance(86_400_000)
    expect(await told(reading, SMALL_TALK)).toMatch(/^- The user is a mother \(2023-11-15\)$/)
  })

  it('[PL4] is never in a block for another user, or for a request without one', async () => {
    const { engine, lines } = await openReading(open)
    for (const user of ['bea', 'cem']) {
      await remember(engine, [who(`The user is called ${user}`)], { ...ADA, user })
    }
    const asked = (user?: string) =>
      lines(SMALL_TALK, user === undefined ? {} : { scope: { ...ADA, user } })
    expect((await asked('bea')).slice(1)).toEqual(['- The user is called bea (2023-11-14)'])
    expect((await asked('cem')).slice(1)).toEqual(['- The user is called cem (2023-11-14)'])
    expect(await asked('dov')).toEqual([])
    expect(await asked()).toEqual([])
    const found = async (scope: ScopeInput) =>
      (await engine.conversations.recallForPrompt(scope, SMALL_TALK)).memories.map(
        ({ content }) => content,
      )
    expect(await found({ ...ADA, user: 'bea' })).toEqual(['The user is called bea'])
    expect(await found(ADA)).toEqual([])
    expect(await found({ owner: 'bob', user: 'bea' })).toEqual([])
  })

  it('[PL4] changes appear in the next block', async () => {
    const reading = await openReading(open)
    const { engine } = reading
    expect(await told(reading, SMALL_TALK)).toBe('')
    const [id = ''] = await remember(engine, [who('The user is called Ada')])
    expect(await told(reading, `${SMALL_TALK} 1`)).toContain('called Ada')
    await engine.edit(ADA, id, { content: 'The user is called Eve' })
    expect(await told(reading, `${SMALL_TALK} 2`)).toContain('called Eve')
    await engine.edit(ADA, id, { pinned: false })
    expect(await told(reading, `${SMALL_TALK} 3`)).toBe('')
    await engine.edit(ADA, id, { pinned: true })
    expect(await told(reading, `${SMALL_TALK} 4`)).toContain('called Eve')
    await engine.memories.erase(ADA, id)
    expect(await told(reading, `${SMALL_TALK} 5`)).toBe('')
  })

  it('[PL9] changes of another process appear: removals soon, additions later', async () => {
    const reading = await openReading(open)
    const { clock, on, store } = reading
    const other = on({ ...store, close: async () => {} })
    const [id = ''] = await remember(other, [who('The user is called Ada')])
    expect(await told(reading, `${SMALL_TALK} 1`)).toContain('called Ada')
    await other.forget(ADA, id)
    clock.advance(3_000)
    expect(await told(reading, `${SMALL_TALK} 2`)).toBe('')
    await remember(other, [who('The user is called Eve')])
    clock.advance(61_000)
    expect(await told(reading, `${SMALL_TALK} 3`)).toContain('called Eve')
    await other.close()
  })
}

function describeFitting(open: OpenStore): void {
  it('[PL7] gives whole items within the budget, and who the person is within half of it', async () => {
    const reading = await openReading(open, { 'gateway.contextTokensMax': 200 })
    const { engine, client } = reading
    for (let n = 10; n < 30; n++) await remember(engine, [who(`The user knows person number ${n}`)])
    for (let n = 10; n < 30; n++) await remember(engine, [{ content: `Tea ${n} is green tea` }])
    const { block, tokens } = await client.ask(['Which tea is green tea?'], 'All.')
    expect(tokens).toBeLessThanOrEqual(200)
    const lines = block?.split('\n').slice(2, -1) ?? []
    const known = lines.filter((line) => /^- The user knows person number \d\d \(/.test(line))
    const teas = lines.filter((line) => /^- Tea \d\d is green tea \(/.test(line))
    expect([...known, ...teas]).toEqual(lines)
    expect(known.length).toBeGreaterThan(0)
    expect(teas.length).toBeGreaterThan(0)
    expect(estimateTokens(known.join('\n'))).toBeLessThanOrEqual(100)
    await engine.admin.settings.change(ada, { 'gateway.contextTokensMax': 16_000 })
    const { block: large } = await client.ask(['What tea is green tea?'], 'All.')
    expect(large?.match(/The user knows/g)).toHaveLength(12)
  })

  it('[PL7] keeps the most important of too many, in the order in which they were learned', async () => {
    const reading = await openReading(open, { 'gateway.contextTokensMax': 4_000 })
    for (let n = 10; n < 30; n++) {
      const importance = n % 2 === 0 ? 9 : 2
      await remember(reading.engine, [who(`The user knows person number ${n}`, { importance })])
    }
    const numbers = (await told(reading, SMALL_TALK)).match(/(?<=number )\d+/g)?.map(Number)
    expect(numbers).toEqual([10, 12, 14, 16, 18, 20, 22, 24, 26, 27, 28, 29])
  })

  it('[PL7] fetches as many facts as the budget plans for', async () => {
    const reading = await openReading(open, {
      'gateway.gateMode': 'heuristic',
      'gateway.contextTokensMax': 100,
    })
    const { engine, client } = reading
    for (let n = 10; n < 30; n++) {
      await remember(engine, [{ content: `Neighbour ${n} called my dog` }])
    }
    const countTokens = () => 1
    expect((await client.ask([ABOUT_DOG], 'Rex.', { countTokens })).count).toBe(3)
    await engine.admin.settings.change(ada, { 'gateway.contextTokensMax': 4_000 })
    expect((await client.ask([`So ${ABOUT_DOG}`], 'Rex.', { countTokens })).count).toBe(15)
  })

  it('[PL7] without room for the whole best memory, a part of it follows the identity', async () => {
    const reading = await openReading(open)
    await remember(reading.engine, [
      who('The user is called Ada'),
      { content: `The tea is ${'very '.repeat(400)}green` },
    ])
    const narrow = { contextWindow: 320, asked: { outputTokensMax: 20 } }
    const lines = await reading.lines('Which tea is green?', narrow)
    expect(lines.slice(1)).toEqual([
      '- The user is called Ada (2023-11-14)',
      expect.stringMatching(/^- The tea is very .*very … \(2023-11-14\)$/),
    ])
  })

  it('[PL7] counts the use of what was found, a moment later', async () => {
    const reading = await openReading(open)
    const { engine, store } = reading
    const [dog = ''] = await remember(engine, [DOG])
    expect(await told(reading, ABOUT_DOG)).toContain('Rex')
    await engine.memories.recordUse(ADA, [])
    const { rows } = await store.find('memory', { owner: ada }, { where: {}, limit: 9 })
    expect(rows).toMatchObject([{ id: dog, useCount: 1, lastUsedAt: reading.clock.now() }])
  })

  it('[PL6] the same memories give the same bytes on the same day, and only the day differs on another', async () => {
    const blocks: string[] = []
    for (const later of [0, 3_600_000, 86_400_000]) {
      const reading = await openReading(open)
      await remember(reading.engine, [who('The user is called Ada'), DOG, EPISODE])
      reading.clock.advance(later)
      blocks.push((await reading.lines('What is the dog called, on the trip?')).join('\n'))
    }
    expect(blocks[1]).toBe(blocks[0])
    expect(blocks[2]).toBe(
      blocks[0]?.replace('Today is 2023-11-14, Tuesday', 'Today is 2023-11-15, Wednesday'),
    )
  })

  it('[CV6] a block in a tool loop stays the same past midnight', async () => {
    const reading = await openReading(open)
    await remember(reading.engine, [who('The user is called Ada')])
    reading.clock.advance(105 * 60_000) // 23:58
    const loop = { asked: { isMidAnswer: true } }
    const asked = () => reading.client.send([SMALL_TALK], null, loop, { status: 500 })
    const { block } = await asked()
    reading.clock.advance(5 * 60_000)
    expect((await asked()).block).toBe(block)
    expect((await reading.lines(`${SMALL_TALK} Now.`))[0]).toContain('2023-11-15')
  })
}

function describeCost(open: OpenStore): void {
  it('[PL8] receipts contain decision and block, and those of earlier versions can be read', async () => {
    const reading = await openReading(open, {
      'gateway.dryRun': true,
      'gateway.gateMode': 'heuristic',
    })
    const { engine, store } = reading
    const [always, dog] = await remember(engine, [who('The user is called Ada'), DOG])
    await reading.lines(ABOUT_DOG)
    const receipt = await reading.receipt()
    expect(receipt).toMatchObject({
      skipped: 'dry-run',
      gate: { mode: 'heuristic', by: 'heuristic', section: 'pinned' },
      identityIds: [always],
      excerptIds: [],
      results: [{ memory: dog }],
      dryRun: { memories: [always, dog] },
    })
    expect(receipt.gate?.reason).not.toMatch(/dog|Rex|Ada/)
    const entry = await store.get('entry', { owner: ada }, receipt.id)
    if (entry === null) throw new Error('The receipt is gone.')
    const {
      gate: _gate,
      identityIds: _identity,
      excerptIds: _excerpts,
      results: recalled,
      ...body
    } = entry.body as ReceiptBody // a receipt's
    const { row } = upgradeEntry({ ...entry, body: { ...body, recalled } }) ?? {}
    await store.commit([{ op: 'put', table: 'entry', row: row as Entry, expect: 'any' }])
    expect(await reading.receipt()).toEqual({
      ...receipt,
      gate: null,
      identityIds: [],
      excerptIds: [],
    })
  })

  async function counted() {
    const store = await open()
    const calls: string[] = []
    const counting: Store = {
      ...store,
      find: (table, scope, query) => {
        const isIdentity = 'categories' in query.where && table === 'memory'
        if (isIdentity) calls.push(String(query.where.categories))
        return store.find(table, scope, query)
      },
    }
    return { calls, ...(await openReading(open, {}, { store: counting })) }
  }

  it('[PL9] reads an identity once while nothing changes', async () => {
    const { calls, engine, lines, clock } = await counted()
    for (let n = 0; n < 20; n++) {
      clock.advance(1_000)
      await lines(`How tall is mountain number ${n}?`)
    }
    expect(calls).toEqual(['identity', 'preference'])
    await remember(engine, [DOG])
    await lines(SMALL_TALK)
    expect(calls).toEqual(['identity', 'preference'])
  })

  it('[PL11] injects what can be read when the rest fails', async () => {
    const store = await open()
    let fails: (categories: unknown) => boolean = () => false
    const failing: Store = {
      ...store,
      find: async (table, scope, query) => {
        const asked = 'categories' in query.where ? query.where.categories : undefined
        if (table === 'memory' && fails(asked)) throw new AppError('unavailable', 'Down.')
        return store.find(table, scope, query)
      },
      searchText: async (scope, query) => {
        if (fails('text')) throw new AppError('unavailable', 'Down.')
        return store.searchText(scope, query)
      },
    }
    const reading = await openReading(open, {}, { store: failing })
    await remember(reading.engine, [DOG, who('The user is called Ada')])
    fails = (asked) => Array.isArray(asked) && asked.includes('identity')
    expect(await told(reading, ABOUT_DOG)).toContain('Rex')
    expect(await reading.receipt()).toMatchObject({ degraded: ['identity'], identityIds: [] })
    fails = (asked) => asked === 'text'
    expect(await told(reading, `${ABOUT_DOG} Well?`)).toMatch(/^- The user is called Ada \(.*\)$/)
    expect(await reading.receipt()).toMatchObject({ degraded: ['recall'], skipped: null })
    fails = () => true
    reading.clock.advance(61_000)
    expect(await reading.lines(`${ABOUT_DOG} Now?`)).toEqual([])
    fails = () => false
    expect(await reading.receipt()).toMatchObject({ skipped: 'failed' })
  })
}
