/** How conversations are known again and kept exactly once, run over every store that can be opened here. */
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/storage/store.ts'
import { failingAt } from '../fakes/faulty-store.ts'
import {
  ADA,
  ada,
  answerOf,
  clientOf,
  contentsOf,
  type OpenStore,
  openConversations,
  outcomeOf,
  requestOf,
  transcript,
} from './conversations-support.ts'

const MINUTE = 60_000

export function describeTranscripts(name: string, open: OpenStore): void {
  describe(`${name}: exactly once`, () => describeOnce(open))
  describe(`${name}: sessions`, () => describeSessions(open))
  describe(`${name}: a failing store`, () => describeFaults(open))
}

const sessionsOf = async (store: Store) => {
  const { rows } = await store.find('turn', { owner: ada }, { where: {}, limit: 1_000 })
  return new Set(rows.map(({ place }) => place.session)).size
}

function describeOnce(open: OpenStore): void {
  it('[CV10] the same request again changes nothing', async () => {
    const { engine, client, store } = await openConversations(open)
    for (let n = 0; n < 3; n++) await client.ask(['I prefer tea'], 'Good.')
    expect(await transcript(store)).toEqual(['1 user: I prefer tea', '1 assistant: Good.'])
    expect((await engine.list(ADA)).rows).toMatchObject([
      { content: 'I prefer tea', sourceCount: 1 },
    ])
    const { rows } = await engine.conversations.receipts.list(ADA)
    expect(rows.map(({ extracted }) => extracted.length)).toEqual([0, 0, 1])
    expect(new Set(rows.map(({ turns }) => turns.join())).size).toBe(1)
  })

  it('[CV10] so do requests at the same time, and from another process', async () => {
    const { engine, client, store, on } = await openConversations(open)
    const other = on({ ...store, close: async () => {} })
    const clients = [client, clientOf(other)]
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => clients[n % 2]?.ask(['I prefer tea'], 'Good.')),
    )
    expect(await transcript(store)).toEqual(['1 user: I prefer tea', '1 assistant: Good.'])
    expect(await contentsOf(engine)).toEqual(['I prefer tea'])
    await other.close()
  })

  it('[CV10] another answer to the same words takes the place of the first', async () => {
    const { engine, client, store } = await openConversations(open)
    await client.ask(['I prefer tea'], 'Good.')
    await client.ask(['I prefer tea'], 'Very well.')
    expect(await transcript(store)).toEqual(['1 user: I prefer tea', '1 assistant: Very well.'])
    expect((await engine.list(ADA)).rows).toMatchObject([{ sourceCount: 1 }])
    // Either answer may be gone on from.
    await client.ask(['I prefer tea', 'Good.', 'Why?'], 'It is warm.')
    await client.ask(['I prefer tea', 'Very well.', 'Why?'], 'It is warm.')
    expect(await transcript(store)).toHaveLength(4)
  })

  it('[CV11] a history that is sent again adds only what is new', async () => {
    const { engine, client, store } = await openConversations(open)
    const said: string[] = []
    for (let turn = 0; turn < 12; turn++) {
      said.push(turn === 3 ? 'I prefer tea' : `Question ${turn}`)
      await client.ask(said, ` Answer ${turn}\n`)
      said.push(`Answer ${turn}`) // trimmed, as clients do
    }
    const stored = await transcript(store)
    expect(stored).toHaveLength(24)
    expect(stored.map((line) => line.replace(/^1 \w+: /, '').trim())).toEqual(said)
    expect((await engine.list(ADA)).rows).toMatchObject([{ sourceCount: 1 }])
  })

  it('[CV11] a conversation that is first seen in the middle is recorded as a whole, and learned from once', async () => {
    const { engine, client, store } = await openConversations(open)
    const said = ['I live in Rome', 'Nice.', 'I own a dog', 'Great.', 'I prefer tea']
    await client.ask(said, 'Good.')
    await client.ask(said, 'Good.')
    await client.ask([...said, 'Good.', 'What else?'], 'Nothing.')
    expect(await transcript(store)).toEqual([
      '1 user: I live in Rome',
      '1 assistant: Nice.',
      '1 user: I own a dog',
      '1 assistant: Great.',
      '1 user: I prefer tea',
      '1 assistant: Good.',
      '1 user: What else?',
      '1 assistant: Nothing.',
    ])
    expect(await contentsOf(engine)).toEqual(['I live in Rome', 'I own a dog', 'I prefer tea'])
    const { rows } = await engine.list(ADA)
    expect(rows.map(({ sourceCount }) => sourceCount)).toEqual([1, 1, 1])
    expect((await engine.learning.signals.list(ADA)).rows).toHaveLength(4)
  })

  it('[CV40] the turns of a history of 29 messages list in the order of the conversation', async () => {
    const { engine, client, clock } = await openConversations(open)
    const said = Array.from({ length: 29 }, (_, n) => `Message ${n}`)
    const prepared = await engine.conversations.prepare(requestOf(said))
    clock.advance(5_000)
    engine.conversations.recordOutcome(prepared, outcomeOf(prepared, answerOf('Message 29')))
    await engine.conversations.flush()
    clock.advance(5_000)
    said.push('Message 29', 'Message 30')
    await client.ask(said, 'Message 31')
    const { rows } = await engine.conversations.turns.list(ADA, { limit: 100 })
    expect(rows.map(({ content }) => content)).toEqual([...said, 'Message 31'])
    const [first, answer] = [rows[0]?.saidAt ?? 0, rows[29]?.saidAt ?? 0]
    expect(answer - first).toBe(5_000)
    expect(rows[27]?.saidAt).toBe(first)
  })

  it('[CV40] an answer has the time of its end, however late it is recorded', async () => {
    const { engine, client, store, clock } = await openConversations(open)
    const slow = engine.conversations
    const first = await slow.prepare(requestOf(['Hello']))
    clock.advance(1_000)
    slow.recordOutcome(first, outcomeOf(first, answerOf('Hi.')))
    clock.advance(1_000) // nothing has been recorded yet: that begins with the next turn of the event loop
    await client.ask(['Hello', 'Hi.', 'Who are you?'], 'A model.')
    const { rows } = await store.find(
      'turn',
      { owner: ada },
      { where: {}, order: 'said', limit: 9 },
    )
    expect(rows.map(({ content }) => content)).toEqual(['Hello', 'Hi.', 'Who are you?', 'A model.'])
  })

  it('[CV41] a later history does not restore what was forgotten', async () => {
    const { engine, client, clock } = await openConversations(open)
    await client.ask(['I live in Rome'], 'Nice.')
    const [memory] = (await engine.list(ADA)).rows
    await engine.forget(ADA, memory?.id ?? '')
    clock.advance(MINUTE)
    const elsewhere = { scope: { ...ADA, session: 'elsewhere' } }
    const said = ['I live in Rome', 'Nice.', 'I own a dog', 'Great.', 'I prefer tea']
    await client.ask(said, 'Good.', elsewhere)
    expect(await contentsOf(engine)).toEqual(['I own a dog', 'I prefer tea'])
    // What is said now is new.
    await client.ask([...said, 'Good.', 'I live in Rome'], 'Again?', elsewhere)
    expect(await contentsOf(engine)).toEqual(['I live in Rome', 'I own a dog', 'I prefer tea'])
  })

  it('[CV11] records the last 200 exchanges of a very long history', async () => {
    const { client, store } = await openConversations(open)
    const said = Array.from({ length: 500 }, (_, n) => `line ${n}`)
    await client.ask([...said, 'And now?'], 'Now this.')
    const stored = await transcript(store)
    expect(stored).toHaveLength(400)
    expect(stored.at(-1)).toBe('1 assistant: Now this.')
    expect(stored[0]).toBe('1 user: line 102')
  })

  it('[CV11] unanswered messages are recorded and learned with the next request', async () => {
    const { engine, client, store } = await openConversations(open)
    await client.ask(['Hello'], 'Hi.')
    await client.ask(['Hello', 'Hi.', 'I prefer tea'], null, {}, { status: 502 })
    const exchanges = [
      { user: 'Hello', assistant: 'Hi.' },
      { user: 'I prefer tea', assistant: null },
      { user: 'Are you there?', assistant: null },
    ]
    await client.ask([], 'Yes.', { asked: { exchanges } })
    expect(await transcript(store)).toEqual([
      '1 user: Hello',
      '1 assistant: Hi.',
      '1 user: I prefer tea',
      '1 user: Are you there?',
      '1 assistant: Yes.',
    ])
    expect(await contentsOf(engine)).toEqual(['I prefer tea'])
  })

  it('[CV13] an answer in pieces, with tool calls in between, is one turn', async () => {
    const { engine, client, store } = await openConversations(open)
    const asked = (assistant: string | null, results: readonly string[]) => ({
      asked: { exchanges: [{ user: 'How warm is it?', assistant }], toolResults: results },
    })
    await client.ask([], 'Let me look.', asked(null, []))
    await client.ask([], '', asked('Let me look.', ['20']))
    await client.ask([], 'It is 20 degrees.', asked('Let me look.', ['20', 'C']))
    expect(await transcript(store)).toEqual([
      '1 user: How warm is it?',
      '1 assistant: Let me look.\nIt is 20 degrees.',
    ])
    await client.ask(['How warm is it?', 'Let me look. It is 20 degrees.', 'Thanks'], 'Welcome.')
    expect(await transcript(store)).toHaveLength(4)
    expect(await sessionsOf(store)).toBe(1)
    expect((await engine.conversations.receipts.list(ADA)).rows).toHaveLength(4)
  })
}

function describeSessions(open: OpenStore): void {
  it('[CV12] the session that the client names is the session', async () => {
    const { client, store, engine, clock } = await openConversations(open)
    const named = { scope: { ...ADA, session: 's1' } }
    await client.ask(['Hello'], 'Hi.', named)
    await client.ask(['Hello'], 'Hi.', named) // tried again
    await client.ask(['What now?'], 'Rest.', named) // without its history
    await client.ask(['Hello', 'Hi.', 'What now?', 'Rest.', 'And then?'], 'Sleep.', named)
    clock.advance(1_000)
    await client.ask(['Hello'], 'Hi.', { scope: { ...ADA, session: 's2' } })
    const stored = await transcript(store)
    expect(stored.map((line) => line.slice(2))).toEqual([
      'user: Hello',
      'assistant: Hi.',
      'user: What now?',
      'assistant: Rest.',
      'user: And then?',
      'assistant: Sleep.',
      'user: Hello',
      'assistant: Hi.',
    ])
    const { rows } = await engine.conversations.receipts.list(ADA, { session: 's2' })
    expect(rows).toHaveLength(1)
  })

  it('[CV12] a history that is cut off at its beginning belongs to the same session', async () => {
    const { client, store } = await openConversations(open)
    const said: string[] = []
    for (let turn = 0; turn < 10; turn++) {
      said.push(`Question ${turn}`)
      await client.ask(said.slice(-5), `Answer ${turn}`)
      said.push(`Answer ${turn}`)
    }
    expect((await transcript(store)).map((line) => line.replace(/^1 \w+: /, ''))).toEqual(said)
  })

  it('[CV12] a chain of responses is one session, with tools in between', async () => {
    const { client, store } = await openConversations(open)
    const after = (previous: string | null) => ({
      format: 'responses' as const,
      asked: { previousResponseId: previous },
    })
    await client.ask(['Hello'], answerOf('Hi.', { id: 'resp_1' }), after(null))
    await client.ask(
      ['How warm is it?'],
      answerOf('Let me look.', { id: 'resp_2' }),
      after('resp_1'),
    )
    for (let n = 0; n < 2; n++) {
      await client.ask([], answerOf('20 degrees.', { id: 'resp_3' }), after('resp_2'))
    }
    await client.ask(['Thanks'], answerOf('Welcome.', { id: 'resp_4' }), after('resp_3'))
    await client.ask(['Thanks'], answerOf('Welcome.', { id: 'resp_5' }), after('resp_3'))
    expect(await transcript(store)).toEqual([
      '1 user: Hello',
      '1 assistant: Hi.',
      '1 user: How warm is it?',
      '1 assistant: Let me look.\n20 degrees.',
      '1 user: Thanks',
      '1 assistant: Welcome.',
    ])
  })

  it('[CV12] a conversation that the provider keeps is one session', async () => {
    const { client, store } = await openConversations(open)
    const settings = { format: 'responses' as const, asked: { conversationId: 'conv_1' } }
    await client.ask(['Hello'], 'Hi.', settings)
    await client.ask(['How are you?'], 'Well.', settings)
    await client.ask(['How are you?'], 'Well.', settings) // tried again
    await client.ask(['Hello'], 'Hi.', { ...settings, asked: { conversationId: 'conv_2' } })
    expect(await transcript(store)).toHaveLength(6)
    expect(await sessionsOf(store)).toBe(2)
  })

  it('[CV12] the same opening words begin a new session after half an hour, and not before', async () => {
    const { client, store, clock } = await openConversations(open)
    await client.ask(['Hello'], 'Hi.')
    clock.advance(29 * MINUTE)
    await client.ask(['Hello'], 'Hi.')
    expect(await sessionsOf(store)).toBe(1)
    clock.advance(31 * MINUTE)
    // With tools at work it is still the same conversation.
    await client.ask(['Hello'], 'Hi.', { asked: { toolResults: ['1'] } })
    expect(await sessionsOf(store)).toBe(1)
    clock.advance(31 * MINUTE)
    await client.ask(['Hello'], 'Hi.')
    expect(await sessionsOf(store)).toBe(2)
    await client.ask(['Hello', 'Hi.', 'What now?'], 'Rest.')
    expect(await transcript(store)).toEqual([
      '1 user: Hello',
      '1 assistant: Hi.',
      '2 user: Hello',
      '2 assistant: Hi.',
      '2 user: What now?',
      '2 assistant: Rest.',
    ])
  })

  it('[CV12] users and owners have sessions of their own', async () => {
    const { client, store } = await openConversations(open)
    for (const scope of [ADA, { ...ADA, user: 'kim' }, { owner: 'bob' }]) {
      await client.ask(['Hello'], 'Hi.', { scope })
    }
    expect(await sessionsOf(store)).toBe(2)
    expect(await transcript(store, 'bob' as never)).toHaveLength(2)
  })
}

function describeFaults(open: OpenStore): void {
  const SAID = ['I prefer tea', "Fine, I'll use pnpm for this repository.", 'What do I drink?']

  it.each(['before', 'after'] as const)(
    '[CV18] whichever call of the store fails %s its effect, requests are answered and nothing is half recorded',
    async (when) => {
      const live = async (call: number) => {
        const store = await open()
        const broken = failingAt(store, { call, when })
        const { engine, client } = await openConversations(open, { store: broken })
        await client.ask(SAID.slice(0, 1), answerOf('Fine, I', { isComplete: false }))
        const first = await client.ask(SAID.slice(0, 1), SAID[1] ?? '')
        const second = await client.ask(SAID, 'Tea.')
        const { rows } = await engine.conversations.receipts.list(ADA).catch(() => ({ rows: null }))
        return {
          calls: broken.calls(),
          skipped: [first.skipped, second.skipped],
          transcript: await transcript(store),
          memories: await contentsOf(engine).catch(() => null),
          receipts: rows?.length,
        }
      }
      const undisturbed = await live(0)
      expect(undisturbed).toMatchObject({
        memories: ["I'll use pnpm for this repository", 'I prefer tea'].sort(),
        receipts: 3,
      })
      for (let call = 1; call <= undisturbed.calls; call++) {
        const { skipped, memories, ...disturbed } = await live(call)
        expect(disturbed.transcript, `call ${call}`).toEqual(undisturbed.transcript)
        if (memories !== null) expect(memories, `call ${call}`).toEqual(undisturbed.memories)
        for (const reason of skipped) {
          expect([null, 'failed', 'no-relevant-memories'], `call ${call}`).toContain(reason)
        }
      }
    },
  )

  it('[CV18] a store that keeps failing loses turns, and reports the loss', async () => {
    const store = await open()
    let isBroken = true
    const { engine, client } = await openConversations(open, {
      store: {
        ...store,
        commit: async (changes) => {
          if (isBroken) throw new Error('no')
          return store.commit(changes)
        },
      },
    })
    await client.ask(['I prefer tea'], 'Good.')
    isBroken = false
    const prepared = await engine.conversations.prepare(requestOf(['Hello']))
    const lost = engine.conversations.recordOutcome(prepared, outcomeOf(prepared, answerOf('Hi.')))
    expect(lost).toBeGreaterThan(0)
    await engine.conversations.flush()
    expect(await transcript(store)).toEqual(['1 user: Hello', '1 assistant: Hi.'])
  })
}
