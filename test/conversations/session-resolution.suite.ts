/** How conversations that say the same are told apart, run over every store that can be opened here. */
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/storage/store.ts'
import {
  ADA,
  ada,
  answerOf,
  contentsOf,
  type OpenStore,
  openConversations,
  type RequestFields,
  transcript,
} from './conversations-support.ts'

const MINUTE = 60_000
const WELCOME = 'You are welcome!'

export function describeThreads(name: string, open: OpenStore): void {
  describe(`${name}: conversations that say the same`, () => describeSameWords(open))
  describe(`${name}: calls under one name`, () => describeCalls(open))
  describe(`${name}: answers that break off`, () => describeBroken(open))
  describe(`${name}: whose a response is`, () => describeResponses(open))
}

type Client = Awaited<ReturnType<typeof openConversations>>['client']

/** A client that sends all that was said, or the last so many exchanges of it. */
function talkOf(client: Client, { window = 1_000, ...fields }: Talk = {}) {
  const said: string[] = []
  return {
    said,
    say: async (words: string, answer = WELCOME) => {
      said.push(words)
      await client.ask(said.slice(-2 * window - 1), answer, fields)
      said.push(answer)
    },
    /** The last request again. */
    again: () => client.ask(said.slice(0, -1).slice(-2 * window - 1), said.at(-1) ?? '', fields),
  }
}
type Talk = RequestFields & { readonly window?: number }

/** What was said in each session, in order. */
async function sessionsIn(store: Store): Promise<readonly (readonly string[])[]> {
  const { rows } = await store.find('turn', { owner: ada }, { where: {}, limit: 1_000 })
  const begun = rows.toSorted((a, b) => a.saidAt - b.saidAt || a.position - b.position)
  return [...new Set(begun.map(({ place }) => place.session))].map((session) =>
    begun
      .filter(({ place }) => place.session === session)
      .sort((a, b) => a.position - b.position)
      .map(({ content }) => content.trim()),
  )
}

function describeSameWords(open: OpenStore): void {
  it('[CV12] a conversation continues in its own session when another one ended with the same text', async () => {
    const { client, store, clock } = await openConversations(open)
    const rome = talkOf(client)
    const python = talkOf(client)
    await rome.say('Plan my trip to Rome', 'With pleasure.')
    await rome.say('thanks')
    clock.advance(MINUTE)
    await python.say('Fix my python bug', 'Done.')
    await python.say('thanks')
    await rome.say('And which hotel?', 'The Aurora.')
    await python.say('And the tests?', 'They pass.')
    await rome.say('thanks')
    await rome.say('And a restaurant?', 'Da Enzo.')
    expect(await sessionsIn(store)).toEqual([rome.said, python.said])
  })

  it('[CV12] so does one of which only the last exchanges are sent', async () => {
    const { client, store, clock } = await openConversations(open)
    const rome = talkOf(client, { window: 2 })
    const python = talkOf(client, { window: 7 })
    for (let n = 0; n < 9; n++) {
      await rome.say(`Rome ${n}`, `Sight ${n}`)
      await rome.say('thanks')
      clock.advance(MINUTE)
      await python.say(`Python ${n}`, `Fix ${n}`)
      await python.say('thanks')
    }
    expect(await sessionsIn(store)).toEqual([rome.said, python.said])
  })

  it('[CV12] a conversation that was never seen doesn’t join one because both said thanks', async () => {
    const { client, store, clock } = await openConversations(open)
    const rome = talkOf(client)
    await rome.say('Plan my trip to Rome', 'With pleasure.')
    await rome.say('thanks')
    clock.advance(MINUTE)
    const other = ['Write a poem', 'Roses are red.', 'thanks', WELCOME, 'Another one']
    await client.ask(other, 'Violets are blue.')
    expect(await sessionsIn(store)).toEqual([rome.said, [...other, 'Violets are blue.']])
  })

  it('[CV12] a summarized history continues after its last exchange', async () => {
    const { client, store } = await openConversations(open)
    const answer = `The Aurora, because ${'it has a quiet garden and '.repeat(5)}breakfast.`
    const rome = talkOf(client)
    await rome.say('Plan my trip to Rome', 'With pleasure.')
    await rome.say('Which hotel near the station?', answer)
    const summed = ['Summary: a trip to Rome', 'I see.', 'Which hotel near the station?', answer]
    await client.ask([...summed, 'Book it'], 'Booked.')
    expect(await sessionsIn(store)).toEqual([[...rome.said, 'Book it', 'Booked.']])
  })

  it('[CV10] a request that is repeated changes nothing where an exchange came twice', async () => {
    const { client, store } = await openConversations(open)
    const talk = talkOf(client)
    for (const words of ['start here', 'ok', 'ok', 'ok']) {
      await talk.say(words)
      for (let n = 0; n < 3; n++) await talk.again()
    }
    expect(await sessionsIn(store)).toEqual([talk.said])
  })

  it('[CV12] an opening message starts a new session once its conversation has continued', async () => {
    const { client, store, clock } = await openConversations(open)
    const first = talkOf(client)
    await first.say('Hello there', 'Hello, Ada.')
    await first.again()
    await first.say('I like it here', 'Good.')
    clock.advance(MINUTE)
    const second = talkOf(client)
    await second.say('Hello there', 'Hello, stranger.')
    await second.again()
    await second.say('Who am I?', 'I don’t know.')
    await first.say('So do I', 'Good.')
    expect(await sessionsIn(store)).toEqual([first.said, second.said])
  })

  it('[CV12] also where the provider keeps the conversation', async () => {
    const { client, store, clock } = await openConversations(open)
    const ask = (words: string, id: string, previous: string | null) =>
      client.ask([words], answerOf(`To ${id}`, { id }), {
        format: 'responses',
        asked: { previousResponseId: previous },
      })
    await ask('Hello there', 'resp_1', null)
    await ask('How are you?', 'resp_2', 'resp_1')
    clock.advance(MINUTE)
    await ask('Hello there', 'resp_3', null)
    expect(await sessionsIn(store)).toEqual([
      ['Hello there', 'To resp_1', 'How are you?', 'To resp_2'],
      ['Hello there', 'To resp_3'],
    ])
  })
}

function describeCalls(open: OpenStore): void {
  const CODING = 'You are a coding agent. Today is 2026-03-01, 12:41:07.'
  const TOPIC = 'Say whether this message begins a new topic.'

  /** As a coding agent asks: one name for all calls of a session, the whole history in each of the conversation. */
  const call = (instructions: string, fields: RequestFields['asked'] = {}): RequestFields => ({
    format: 'messages',
    asked: { conversationId: '12345678-1234', instructions, ...fields },
  })

  it('[CV24] calls with another system prompt neither answer nor join the conversation', async () => {
    const { client, store, clock } = await openConversations(open)
    await client.ask(['Fix the login bug'], 'I fixed auth.ts.', call(CODING))
    clock.advance(MINUTE)
    await client.ask(['Fix the login bug'], '{"isNewTopic":true}', call(TOPIC))
    await client.ask(['quota'], 'ok', call('', { outputTokensMax: 1 }))
    const later = CODING.replace('12:41:07', '12:42:55')
    await client.ask(['Fix the login bug'], 'I fixed auth.ts.', call(later)) // tried again
    await client.ask(
      ['Fix the login bug', 'I fixed auth.ts.', 'Now add a test'],
      'Done.',
      call(later),
    )
    expect(await sessionsIn(store)).toEqual([
      ['Fix the login bug', 'I fixed auth.ts.', 'Now add a test', 'Done.'],
      ['Fix the login bug', '{"isNewTopic":true}'],
    ])
  })

  it('[CV24] also where nothing names the conversation', async () => {
    const { client, store, clock } = await openConversations(open)
    await client.ask(['Hello there'], 'Hello, Ada.', { asked: { instructions: 'Be kind.' } })
    clock.advance(MINUTE)
    await client.ask(['Hello there'], 'A greeting', { asked: { instructions: 'Find a title.' } })
    expect(await sessionsIn(store)).toEqual([
      ['Hello there', 'Hello, Ada.'],
      ['Hello there', 'A greeting'],
    ])
  })

  it('[CV24] a session named by the client stores its own turns', async () => {
    const { client, store } = await openConversations(open)
    const scope = { ...ADA, session: 's1' }
    const ask = (words: string, answer: string, instructions: string, more = {}) =>
      client.ask([words], answer, { scope, asked: { instructions, ...more } })
    await ask('Fix the login bug', 'Let me look.', CODING)
    await ask('Fix the login bug', '{"isNewTopic":true}', TOPIC)
    const exchanges = [{ user: 'Fix the login bug', assistant: 'Let me look.' }]
    await ask('', 'I fixed auth.ts.', CODING, { exchanges, toolResults: ['auth.ts'] })
    await ask('Fix the login bug', '{"isNewTopic":false}', TOPIC)
    await ask('Now add a test', 'Done.', CODING)
    expect(await sessionsIn(store)).toEqual([
      [
        'Fix the login bug',
        'Let me look.\nI fixed auth.ts.',
        'Fix the login bug',
        '{"isNewTopic":false}',
        'Now add a test',
        'Done.',
      ],
    ])
  })

  it('[CV24] a call that leaves no room for an answer is no conversation', async () => {
    const { engine, client, store } = await openConversations(open)
    for (const outputTokensMax of [0, 1]) {
      await client.ask(['I prefer tea'], 'I', { asked: { outputTokensMax } })
    }
    expect([await transcript(store), await contentsOf(engine)]).toEqual([[], []])
    expect((await engine.conversations.receipts.list(ADA)).rows).toHaveLength(2)
  })
}

function describeBroken(open: OpenStore): void {
  const half = (text: string, id: string | null = null) => answerOf(text, { id, isComplete: false })

  it('[CV14] a truncated answer is not recorded, and nothing is learned before a complete one', async () => {
    const { engine, client, store } = await openConversations(open)
    await client.ask(['I live in Quito'], half("I'll use pnpm for th"))
    expect(await transcript(store)).toEqual(['1 user: I live in Quito'])
    expect(await contentsOf(engine)).toEqual([])
    for (let n = 0; n < 2; n++) await client.ask(['I live in Quito'], 'Nice.')
    expect(await transcript(store)).toEqual(['1 user: I live in Quito', '1 assistant: Nice.'])
    expect((await engine.list(ADA)).rows).toMatchObject([
      { content: 'I live in Quito', sourceCount: 1 },
    ])
  })

  it('[CV14] learns when the conversation continues after a truncated answer', async () => {
    const { engine, client, store } = await openConversations(open)
    await client.ask(['I live in Quito'], half('Quito is the cap'))
    const said = ['I live in Quito', 'Quito is the cap', 'I prefer tea']
    await client.ask(said, half('Te'))
    expect(await contentsOf(engine)).toEqual([])
    await client.ask([...said, 'Te', 'Go on'], 'Tea is fine.')
    expect(await transcript(store)).toEqual([
      '1 user: I live in Quito',
      '1 assistant: Quito is the cap',
      '1 user: I prefer tea',
      '1 assistant: Te',
      '1 user: Go on',
      '1 assistant: Tea is fine.',
    ])
    expect(await contentsOf(engine)).toEqual(['I live in Quito', 'I prefer tea'])
  })

  it('[CV14] learns at once when the answer only reached its length limit, which is not recorded', async () => {
    const { engine, client, store } = await openConversations(open)
    const cut = answerOf('We decided to use pnpm for th', { isComplete: false, isTruncated: true })
    await client.ask(['I live in Quito'], cut)
    expect(await transcript(store)).toEqual(['1 user: I live in Quito'])
    expect(await contentsOf(engine)).toEqual(['I live in Quito'])
    await client.ask(['I live in Quito'], 'Nice.')
    expect(await transcript(store)).toEqual(['1 user: I live in Quito', '1 assistant: Nice.'])
    expect((await engine.list(ADA)).rows).toMatchObject([{ sourceCount: 1 }])
  })

  it('[CV14] half an answer doesn’t take the place of a whole one', async () => {
    const { client, store } = await openConversations(open)
    await client.ask(['Hello'], 'Hello, Ada.')
    await client.ask(['Hello'], half('Hel'))
    expect(await transcript(store)).toEqual(['1 user: Hello', '1 assistant: Hello, Ada.'])
  })

  it('[CV14] nothing is learned from tools with half an answer either', async () => {
    const { engine, client } = await openConversations(open, {
      settings: { 'learning.toolResultsEnabled': true },
    })
    const loop = { asked: { toolResults: ['I live in Berlin.'] } }
    await client.ask(['Look me up'], half('Y'), loop)
    expect(await contentsOf(engine)).toEqual([])
    await client.ask(['Look me up'], 'Done.', loop)
    expect(await contentsOf(engine)).toEqual(['I live in Berlin'])
  })

  it('[CV12] a chain continues after a truncated response', async () => {
    const { client, store } = await openConversations(open)
    const after = (previous: string | null) => ({
      format: 'responses' as const,
      asked: { previousResponseId: previous },
    })
    await client.ask(['Hello'], answerOf('Hi.', { id: 'resp_1' }), after(null))
    await client.ask(['Tell me all'], half('It beg', 'resp_2'), after('resp_1'))
    await client.ask([], half('an', 'resp_3'), after('resp_2'))
    await client.ask(['Go on'], answerOf('It ended.', { id: 'resp_4' }), after('resp_3'))
    expect(await sessionsIn(store)).toEqual([['Hello', 'Hi.', 'Tell me all', 'Go on', 'It ended.']])
  })
}

function describeResponses(open: OpenStore): void {
  it('[CV25] distinguishes responses of an owner, of others, and unknown ones', async () => {
    const { engine, client } = await openConversations(open)
    const { conversations } = engine
    const responses = { format: 'responses' as const }
    await client.ask(['Hello'], answerOf('Hi.', { id: 'resp_1' }), {
      ...responses,
      scope: { ...ADA, user: 'kim' },
    })
    await client.ask(['Hello'], answerOf('Hi.', { id: 'resp_2', isComplete: false }), responses)
    await client.ask(['Hello'], answerOf('Hi.', { id: 'chatcmpl_1' }))
    // Who brings an id a second time doesn't get it.
    const bob = { owner: 'bob' }
    await client.ask(['Hello'], answerOf('Hi.', { id: 'resp_1' }), { ...responses, scope: bob })
    const whose = (scope: { readonly owner: string }) =>
      Promise.all(
        ['resp_1', 'resp_2', 'resp_3', 'chatcmpl_1'].map((id) =>
          conversations.getResponseOwner(scope, id),
        ),
      )
    expect(await whose(ADA)).toEqual(['own', 'own', 'unknown', 'unknown'])
    expect(await whose({ ...ADA, user: 'kim' } as never)).toEqual(await whose(ADA))
    expect(await whose(bob)).toEqual(['foreign', 'foreign', 'unknown', 'unknown'])
    await engine.admin.eraseOwner('ada')
    expect(await whose(bob)).toEqual(['foreign', 'foreign', 'unknown', 'unknown'])
  })

  it('[CV25] also for a response that has just ended, and no longer than links are stored', async () => {
    const { engine, client, clock, store } = await openConversations(open)
    const responses = { format: 'responses' as const }
    const { conversations } = engine
    await client.send(['Hello'], answerOf('Hi.', { id: 'resp_1' }), responses)
    expect(await conversations.getResponseOwner(ADA, 'resp_1')).toBe('own')
    clock.advance(31 * 24 * 60 * MINUTE)
    expect(await conversations.getResponseOwner(ADA, 'resp_1')).toBe('unknown')
    await conversations.receipts.list(ADA)
    const { rows } = await store.find(
      'entry',
      { owner: '@system' as never },
      { where: { kinds: ['response-owner'] }, limit: 9 },
    )
    expect(rows).toEqual([])
  })
}
