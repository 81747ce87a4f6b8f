/** The texts that receipts cite: what the model read, and how erasure redacts it, over every store. */

import { describe, expect, it } from 'vitest'
import type { ReceiptBody } from '../../src/domain/entries/conversation-entries.ts'
import type { Entry } from '../../src/domain/entries/entry.ts'
import type { OwnerId } from '../../src/domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../../src/domain/limits.ts'
import { SHARED_OWNER } from '../../src/domain/scope.ts'
import { createRedactingStore } from '../../src/memory/deletion/redacting-store.ts'
import { pages } from '../../src/storage/access/row-pages.ts'
import { upgradeEntry } from '../../src/storage/entry-upgrade.ts'
import { type Change, type Store, TABLES } from '../../src/storage/store.ts'
import { turn as turnRow } from '../fakes/entries.ts'
import {
  ADA,
  ada,
  answerOf,
  type OpenStore,
  openConversations,
  outcomeOf,
  requestOf,
} from './conversations-support.ts'

const DAY = 86_400_000
const OBOE = 'Clara plays the oboe'
const QUESTION = 'Which instrument does Clara play?'

/** No pattern learns from it, so that the turn is all that holds it. */
const SAID = 'Wondering whether the bassoon of Clara survives the flight to Porto in winter'
const ABOUT_FLIGHT = 'Which instrument of Clara survives the flight to Porto?'
const SECRET = /oboe|bassoon/

/** Each word of the secret in anything that the store holds of an owner. */
async function secretsIn(store: Store, owner: OwnerId = ada): Promise<readonly string[]> {
  const found: string[] = []
  for (const table of TABLES) {
    for await (const page of pages(store, table, { owner }, { where: {} })) {
      const held = page.filter((row) => SECRET.test(JSON.stringify(row)))
      found.push(...held.map((row) => `${table} ${row.id}`))
    }
  }
  return found
}

async function textRows(store: Store, owner: OwnerId = ada): Promise<readonly Entry[]> {
  const where = { kinds: ['receipt-line'] } as const
  return (await store.find('entry', { owner }, { where, limit: 500 })).rows
}

export async function openCited(open: OpenStore, settings = {}) {
  const opened = await openConversations(open, {
    settings: { 'gateway.contextSources': 'both', ...settings },
  })
  const { engine, client } = opened
  const detail = async (id: string | null) => {
    const receipt = await engine.conversations.receipts.get(ADA, id ?? '')
    if (receipt === null) throw new Error('There is no receipt.')
    return receipt
  }
  return {
    ...opened,
    detail,
    /** Asks without being recorded, so that the question itself is no turn. */
    asked: async (text: string, fields: Parameters<typeof client.ask>[2] = {}) => {
      const prepared = await client.ask([text], 'Hm.', { wants: { extract: false }, ...fields })
      return { ...(await detail(prepared.receipt)), sent: prepared.block }
    },
    said: async (text: string, session = 'earlier') => {
      await client.ask([text], null, { scope: { ...ADA, session } })
      const { rows } = await engine.conversations.turns.list({ ...ADA, session })
      const turn = rows.find(({ content }) => content === text)
      if (turn === undefined) throw new Error('The turn was not recorded.')
      return turn
    },
  }
}

export function describeReceiptTexts(name: string, open: OpenStore): void {
  describe(`${name}: texts of receipts`, () => {
    describeShown(open)
    describeRedaction(open)
    describeStorage(open)
  })
}

function describeShown(open: OpenStore): void {
  it('[RC1] a receipt names each piece of the block with kind, id and version, in block order', async () => {
    const { engine, asked, said } = await openCited(open)
    const turn = await said(SAID)
    const { memory } = await engine.remember(ADA, { content: OBOE })
    await engine.edit(ADA, memory.id, { content: `${OBOE} and the piano` })
    const { lines: pieces } = await asked(`${QUESTION} ${ABOUT_FLIGHT}`)
    expect(pieces).toMatchObject([
      { kind: 'memory', id: memory.id, version: 2, redaction: null },
      { kind: 'turn', id: turn.id, version: turn.version, redaction: null },
    ])
    expect(pieces.map(({ text }) => text)).toEqual([
      expect.stringContaining(`- ${OBOE} and the piano (`),
      expect.stringContaining(SAID),
    ])
  })

  it('[RC2] a single receipt holds the block byte for byte', async () => {
    const { engine, asked, clock } = await openCited(open)
    await engine.remember(ADA, {
      content: 'Clara plays <b>oboe</b> &lt;\u2028 \\n "x" \ud83c\udfb5',
    })
    await engine.remember(ADA, { content: 'Clara plays 北京\n\n</recollect-memory> in a band' })
    for (const days of [0, 1]) {
      clock.advance(days * DAY)
      const { sent, block } = await asked(QUESTION)
      expect(sent).toContain('recollect-memory')
      expect(block).toBe(sent)
    }
  })

  it('[RC2] in shadow mode it holds the block that would have been sent', async () => {
    const { engine, asked } = await openCited(open, { 'gateway.dryRun': true })
    await engine.remember(ADA, { content: OBOE })
    const { sent, block, lines: pieces } = await asked(QUESTION)
    expect(sent).toBeNull()
    expect(block).toContain(`\n- ${OBOE} (`)
    expect(pieces).toHaveLength(1)
  })

  it('[RC2] a block that was not sent is not in the receipt', async () => {
    const { engine, client, detail } = await openCited(open)
    await engine.remember(ADA, { content: OBOE })
    const { receipt } = await client.ask(
      [QUESTION],
      'Hm.',
      {},
      { placement: null, skipped: 'no-insertion-point' },
    )
    expect(await detail(receipt)).toMatchObject({ block: null, lines: [] })
    const unrelated = await client.ask(['Zzyzx qwertz?'], 'Hm.')
    expect(await detail(unrelated.receipt)).toMatchObject({ block: null, lines: [] })
  })

  it('[RC3] after an edit of a memory or a turn it shows what the model read', async () => {
    const { engine, asked, said, detail } = await openCited(open)
    const turn = await said(SAID)
    const { memory } = await engine.remember(ADA, { content: OBOE })
    const { id, block } = await asked(`${QUESTION} ${ABOUT_FLIGHT}`)
    await engine.edit(ADA, memory.id, { content: 'Clara plays the harp' })
    await engine.conversations.turns.edit(ADA, turn.id, {
      content: 'Wondering about the harp of Clara',
    })
    expect((await detail(id)).block).toBe(block)
    expect(block).toMatch(/oboe.*bassoon/s)
    const later = await asked(`${QUESTION} ${ABOUT_FLIGHT}`)
    expect(later.block).toContain('- Clara plays the harp (')
    expect(later.lines[0]).toMatchObject({ id: memory.id, version: 2 })
  })

  it('[RC3] an edit between the request and its receipt changes nothing of that', async () => {
    const { engine, store, detail } = await openCited(open)
    const { memory } = await engine.remember(ADA, { content: OBOE })
    const request = requestOf([QUESTION], { wants: { extract: false } })
    const prepared = await engine.conversations.prepare(request)
    await engine.edit(ADA, memory.id, { content: 'Clara plays the harp' })
    engine.conversations.recordOutcome(prepared, outcomeOf(prepared, answerOf('Hm.')))
    expect((await detail(prepared.receipt)).block).toBe(prepared.block)
    expect(await textRows(store)).toHaveLength(1)
  })

  it('[RC4] neither lists of receipts nor stored receipts hold text', async () => {
    const { engine, asked, said, store } = await openCited(open)
    await said(SAID)
    await engine.remember(ADA, { content: OBOE })
    const { id } = await asked(`${QUESTION} ${ABOUT_FLIGHT}`)
    const { rows } = await engine.conversations.receipts.list(ADA)
    expect(rows[0]?.lines).toHaveLength(2)
    expect(JSON.stringify(rows)).not.toMatch(SECRET)
    expect(JSON.stringify(await store.get('entry', { owner: ada }, id))).not.toMatch(SECRET)
  })

  it('[RC9] receipts of earlier versions have no pieces and no block', async () => {
    const { engine, asked, store, detail } = await openCited(open)
    await engine.remember(ADA, { content: OBOE })
    const { id, injected } = await asked(QUESTION)
    const entry = await store.get('entry', { owner: ada }, id)
    if (entry === null) throw new Error('The receipt is gone.')
    const { lines: _lines, frame: _frame, results: recalled, ...body } = entry.body as ReceiptBody // a receipt's
    const { row } = upgradeEntry({ ...entry, body: { ...body, recalled } }) ?? {}
    await store.commit([{ op: 'put', table: 'entry', row: row as Entry, expect: 'any' }])
    expect(await detail(id)).toMatchObject({ lines: [], block: null, injected })
    expect((await engine.conversations.receipts.list(ADA)).rows).toMatchObject([{ lines: [] }])
  })
}

type Cited = Awaited<ReturnType<typeof openCited>>
type Ids = { readonly memory: string; readonly turn: string }

/** Every way in which a memory goes for good. */
const MEMORY_REMOVALS: Readonly<Record<string, (cited: Cited, ids: Ids) => Promise<unknown>>> = {
  erase: ({ engine }, { memory }) => engine.memories.erase(ADA, memory),
  'clear with erase': ({ engine }) =>
    engine.memories.clear(ADA, { contains: 'oboe' }, { erase: true }),
  'emptying the trash': async ({ engine }, { memory }) => {
    await engine.forget(ADA, memory)
    await engine.memories.emptyTrash(ADA, { days: 0 })
  },
  'consolidation of a trash that is past its time': async ({ engine, clock }, { memory }) => {
    await engine.forget(ADA, memory)
    clock.advance(200 * DAY)
    await engine.learning.consolidate(ADA)
  },
}

/** Every way in which a turn goes for good. */
const TURN_REMOVALS: Readonly<Record<string, (cited: Cited, ids: Ids) => Promise<unknown>>> = {
  'forgetting the turn': ({ engine }, { turn }) => engine.conversations.turns.delete(ADA, turn),
  'forgetting the session': ({ engine }) =>
    engine.conversations.sessions.delete({ ...ADA, session: 'earlier' }),
}

const REDACTED = { text: null, redaction: 'erased' }

function describeRedaction(open: OpenStore): void {
  it.each(Object.keys(MEMORY_REMOVALS))('[RC5] a memory: %s', async (way) => {
    const cited = await openCited(open, { 'retention.receiptDays': 3_650 })
    const { engine, asked, store, detail } = cited
    const { memory } = await engine.remember(ADA, { content: OBOE })
    const { id, block } = await asked(QUESTION)
    await asked(`${QUESTION} Again.`)
    expect(block).toMatch(SECRET)
    await MEMORY_REMOVALS[way]?.(cited, { memory: memory.id, turn: '' })
    expect(await secretsIn(store)).toEqual([])
    expect((await detail(id)).lines).toMatchObject([
      { kind: 'memory', id: memory.id, version: 1, ...REDACTED },
    ])
  })

  it.each(Object.keys(TURN_REMOVALS))('[RC5] a turn: %s', async (way) => {
    const cited = await openCited(open)
    const { asked, said, store, detail } = cited
    const turn = await said(SAID)
    const { id, block } = await asked(ABOUT_FLIGHT)
    expect(block).toMatch(SECRET)
    await TURN_REMOVALS[way]?.(cited, { memory: '', turn: turn.id })
    expect(await secretsIn(store)).toEqual([])
    expect((await detail(id)).lines).toMatchObject([{ kind: 'turn', id: turn.id, ...REDACTED }])
  })

  it('[RC5] a turn: retention', async () => {
    const { engine, asked, store, clock, detail } = await openCited(open, {
      ...{ 'retention.receiptDays': 3_650, 'retention.turnDays': 7 },
    })
    const place = { owner: ada, user: null, session: null }
    const row = turnRow({ content: SAID, place, saidAt: clock.now() })
    await store.commit([{ op: 'put', table: 'turn', row, expect: 'absent' }])
    const { id, block } = await asked(ABOUT_FLIGHT)
    expect(block).toMatch(SECRET)
    clock.advance(400 * DAY)
    await engine.learning.consolidate(ADA)
    expect(await secretsIn(store)).toEqual([])
    expect((await detail(id)).lines).toMatchObject([{ id: row.id, ...REDACTED }])
  })

  it('[RC5] a turn: a conversation that is ingested again without it', async () => {
    const { engine, asked, store, detail } = await openCited(open)
    const ingest = (...said: readonly string[]) =>
      engine.learning.ingest({
        ...{ owner: 'ada', conversation: 'earlier', skipExtraction: true },
        turns: said.map((user) => ({ user })),
      })
    await ingest('Hello there, how is the weather in Porto today?', SAID)
    const { id, block } = await asked(ABOUT_FLIGHT)
    expect(block).toMatch(SECRET)
    await ingest('Hello there, how is the weather in Porto today?')
    expect(await secretsIn(store)).toEqual([])
    expect((await detail(id)).block).toContain('- [erased]')
  })

  it('[RC5] an owner: nothing is left of its receipts and their texts', async () => {
    const { engine, asked, said, store } = await openCited(open)
    await said(SAID)
    await engine.remember(ADA, { content: OBOE })
    await asked(`${QUESTION} ${ABOUT_FLIGHT}`)
    expect(await textRows(store)).toHaveLength(2)
    await engine.admin.eraseOwner('ada')
    expect(await secretsIn(store)).toEqual([])
    expect(await textRows(store)).toEqual([])
  })

  it('[RC5] shared memory that is erased is redacted in receipts of other owners', async () => {
    const { engine, asked, store, detail } = await openCited(open, {
      ...{ 'recall.sharedMemoryEnabled': true, 'recall.scope': 'global' },
    })
    const shared = { owner: SHARED_OWNER as string }
    const { memory } = await engine.remember(shared, { content: OBOE })
    const { id, block, sent } = await asked(QUESTION)
    expect(block).toMatch(SECRET)
    expect(block).toBe(sent)
    await engine.memories.erase(shared, memory.id)
    expect([...(await secretsIn(store)), ...(await secretsIn(store, SHARED_OWNER))]).toEqual([])
    expect((await detail(id)).lines).toMatchObject([{ id: memory.id, ...REDACTED }])
  })

  it('[RC5] as many turns as a commit holds', async () => {
    const { engine, asked, store } = await openCited(open)
    const place = { owner: ada, user: null, session: null }
    const rows = Array.from({ length: 1_200 }, () => turnRow({ place }))
    const cited = turnRow({ content: SAID, place })
    const puts = [...rows, cited].map(
      (row): Change => ({ op: 'put', table: 'turn', row, expect: 'absent' }),
    )
    await store.commit(puts)
    expect((await asked(ABOUT_FLIGHT)).block).toMatch(SECRET)
    const removals = [...rows, cited].map(
      ({ id }): Change => ({ op: 'remove', table: 'turn', scope: place, id, expect: 'any' }),
    )
    expect(removals.length * 2).toBeGreaterThan(COMMIT_CHANGES_MAX)
    expect(await createRedactingStore(store).commit(removals)).toEqual({ kind: 'committed' })
    expect(await secretsIn(store)).toEqual([])
    await engine.conversations.flush()
  })

  it('[RC6] a request that ends after the erasure brings nothing back', async () => {
    const { engine, store, detail, said } = await openCited(open)
    const turn = await said(SAID)
    const { memory } = await engine.remember(ADA, { content: OBOE })
    const request = requestOf([`${QUESTION} ${ABOUT_FLIGHT}`], { wants: { extract: false } })
    const prepared = await engine.conversations.prepare(request)
    expect(prepared.block).toMatch(/oboe.*bassoon/s)
    await engine.memories.erase(ADA, memory.id)
    await engine.conversations.turns.delete(ADA, turn.id)
    engine.conversations.recordOutcome(prepared, outcomeOf(prepared, answerOf('Hm.')))
    const { lines: pieces } = await detail(prepared.receipt)
    expect(pieces).toMatchObject([REDACTED, REDACTED])
    expect(await secretsIn(store)).toEqual([])
  })

  it('[RC6] a receipt that waits to be written brings nothing back', async () => {
    const { engine, client, store, detail } = await openCited(open)
    const { memory } = await engine.remember(ADA, { content: OBOE })
    const fields = { wants: { extract: false } }
    const { receipt } = await client.send([QUESTION], 'Hm.', fields)
    await engine.memories.erase(ADA, memory.id)
    await engine.conversations.flush()
    expect((await detail(receipt)).lines).toMatchObject([REDACTED])
    expect(await secretsIn(store)).toEqual([])
  })

  it('[RC6] an erasure between reading and writing of a receipt leaves no text', async () => {
    const inner = await open()
    let erase = async () => {}
    const store: Store = {
      ...inner,
      commit: async (changes) => {
        if (changes.some((change) => isTextPut(change))) await erase()
        return inner.commit(changes)
      },
    }
    const { engine, asked } = await openCited(async () => store)
    const { memory } = await engine.remember(ADA, { content: OBOE })
    erase = async () => {
      erase = async () => {}
      await engine.memories.erase(ADA, memory.id)
    }
    const { lines: pieces, sent } = await asked(QUESTION)
    expect(sent).toMatch(SECRET)
    expect(pieces).toMatchObject([REDACTED])
    expect(await secretsIn(store)).toEqual([])
  })

  it('[RC7] a redacted piece keeps its place, id and version, and the block shows a placeholder', async () => {
    const { engine, asked, detail } = await openCited(open)
    const { memory } = await engine.remember(ADA, { content: OBOE })
    await engine.remember(ADA, { content: 'Clara also has an instrument made of glass' })
    const { id, block, lines: pieces } = await asked(QUESTION)
    expect(pieces).toHaveLength(2)
    await engine.memories.erase(ADA, memory.id)
    const after = await detail(id)
    expect(after.block).toBe(block?.replace(/- Clara plays the oboe .*/, '- [erased]'))
    expect(after.lines).toEqual(
      pieces.map((piece) => (piece.id === memory.id ? { ...piece, ...REDACTED } : piece)),
    )
  })

  it('[RC8] the line of a memory in the trash is hidden until the memory is restored', async () => {
    const { engine, asked, detail } = await openCited(open)
    const { memory } = await engine.remember(ADA, { content: OBOE })
    const { id, block } = await asked(QUESTION)
    await engine.forget(ADA, memory.id)
    const hidden = await detail(id)
    expect(hidden.lines).toMatchObject([{ id: memory.id, text: null, redaction: 'forgotten' }])
    expect(hidden.block).toContain('\n- [forgotten]\n')
    await engine.restore(ADA, memory.id)
    expect((await detail(id)).block).toBe(block)
  })

  it('[RC10] erasing the history of a memory removes the lines that cite it, also of receipts to come', async () => {
    const { engine, asked, store, clock, detail } = await openCited(open, {
      ...{ 'retention.receiptDays': 3_650, 'gateway.gateMode': 'heuristic' },
    })
    const request = requestOf(['Who am I? Tell me.'], { wants: { extract: false } })
    const identity = { category: 'identity', pinned: true } as const
    await engine.remember(ADA, { content: 'Ada is a pilot', ...identity })
    const oboe = await engine.remember(ADA, { content: 'Ada plays the oboe', importance: 8 })
    const consolidate = async () => {
      clock.advance(DAY)
      await engine.learning.consolidate(ADA)
    }
    await consolidate()
    const { id, block } = await asked('Who am I?')
    expect(block).toMatch(/pilot.*oboe/)
    const prepared = await engine.conversations.prepare(request)
    expect(prepared.block).toMatch(/pilot.*oboe/)
    await engine.memories.erase(ADA, oboe.memory.id)
    await engine.remember(ADA, { content: 'Ada speaks Welsh', importance: 8 })
    await consolidate()
    engine.conversations.recordOutcome(prepared, outcomeOf(prepared, answerOf('Hm.')))
    expect((await detail(prepared.receipt)).block).not.toMatch(SECRET)
    expect((await detail(id)).block).not.toMatch(SECRET)
    expect(await secretsIn(store)).toEqual([])
  })
}

function isTextPut(change: Change): boolean {
  return change.op === 'put' && change.table === 'entry' && change.row.kind === 'receipt-line'
}

function describeStorage(open: OpenStore): void {
  it('[RC11] a line that many receipts cite is stored once, and erasing it changes one row', async () => {
    const inner = await open()
    const commits: (readonly Change[])[] = []
    const store: Store = {
      ...inner,
      commit: (changes) => {
        commits.push(changes)
        return inner.commit(changes)
      },
    }
    const { engine, client, detail } = await openCited(async () => store)
    const { memory } = await engine.remember(ADA, { content: OBOE })
    const sent: (string | null)[] = []
    for (let n = 0; n < 120; n++) {
      const fields = { wants: { extract: false } }
      sent.push((await client.send([`${QUESTION} ${n}`], 'Hm.', fields)).receipt)
    }
    await engine.conversations.flush()
    const [row, ...others] = await textRows(store)
    expect(others).toEqual([])
    expect(row).toMatchObject({ version: 1, body: { lines: [{ text: expect.any(String) }] } })
    commits.length = 0
    await engine.memories.erase(ADA, memory.id)
    const entries = commits.flat().filter((change) => 'table' in change && change.table === 'entry')
    expect(entries).toMatchObject([{ op: 'remove', id: row?.id }])
    for (const id of sent) expect((await detail(id)).lines).toMatchObject([REDACTED])
  })

  it('[RC11] concurrent writers that cite the same memory lose no line', async () => {
    const opened = await openCited(open)
    const { engine, on, store } = opened
    const { memory } = await engine.remember(ADA, { content: OBOE })
    const other = on({ ...store, close: async () => {} })
    const receipts = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const { conversations } = n % 2 === 0 ? engine : other
        const request = requestOf([`${QUESTION} ${n}`], { wants: { extract: false } })
        const prepared = await conversations.prepare(request)
        conversations.recordOutcome(prepared, outcomeOf(prepared, answerOf('Hm.')))
        await conversations.flush()
        return prepared
      }),
    )
    for (const { receipt, block } of receipts) {
      expect(await opened.detail(receipt)).toMatchObject({ block, lines: [{ id: memory.id }] })
    }
    await other.close()
  })

  it('[RC12] a line is stored while a receipt cites it, and expires within a day of the last one', async () => {
    const { engine, asked, store, clock, detail } = await openCited(open, {
      'retention.receiptDays': 10,
    })
    await engine.remember(ADA, { content: OBOE })
    await asked(QUESTION)
    clock.advance(8 * DAY)
    const { id, block } = await asked(QUESTION)
    clock.advance(9 * DAY)
    await engine.conversations.receipts.list(ADA)
    expect((await detail(id)).block).toBe(block)
    clock.advance(3 * DAY)
    await engine.conversations.receipts.list(ADA)
    expect(await textRows(store)).toEqual([])
  })
}
