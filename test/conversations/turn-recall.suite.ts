/** What was said in one session reaches the prompt of another: no extraction model, no key. */
import { describe, expect, it } from 'vitest'
import type { TurnId } from '../../src/domain/ids.ts'
import type { SettingValues } from '../../src/domain/settings/settings.ts'
import type { Embedder } from '../../src/models/embedder.ts'
import { openLocalEmbedder } from '../../src/models/embedders/local/local-embedder.ts'
import type { VectorIndex } from '../../src/storage/vector-index.ts'
import {
  ADA,
  type OpenStore,
  openConversations,
  type RequestFields,
} from './conversations-support.ts'

type Parts = {
  readonly settings?: SettingValues
  readonly embedder?: Embedder
  readonly vectors?: VectorIndex
}

const DAY_MS = 86_400_000

export function describeConversationRecall(name: string, open: OpenStore): void {
  const opened = async ({ settings, ...parts }: Parts = {}) => {
    const all = { 'gateway.contextSources': 'both', ...settings } as const
    const { engine, client, clock, store } = await openConversations(open, {
      ...parts,
      settings: all,
    })
    let requests = 0
    const inSession = (session: string, fields: RequestFields = {}): RequestFields => ({
      ...fields,
      requestId: `req_${++requests}`,
      scope: { ...ADA, ...fields.scope, session },
    })
    /** The lines of the block that a question gets in a session. */
    const asked = async (session: string, ...said: string[]) => {
      const { block } = await client.ask(said, 'I see.', inSession(session))
      return (block ?? '').split('\n').filter((line) => line.startsWith('- '))
    }
    const say = (session: string, said: string, answer = 'Noted.', fields: RequestFields = {}) =>
      client.ask([said], answer, inSession(session, fields))
    return { engine, client, clock, store, asked, say }
  }

  describe(`${name}: conversation recall`, () => {
    it('[CR10] quotes turns of an earlier session', async () => {
      const { asked, say, clock } = await opened()
      await say(
        'monday',
        'We repainted the kitchen last weekend, went for a sage green in the end.',
      )
      clock.advance(DAY_MS)
      expect(await asked('tuesday', 'Which colour did we pick for the kitchen?')).toEqual([
        '- user: We repainted the kitchen last weekend, went for a sage green in the end. (2023-11-14)',
      ])
    })

    it('[CR11] finds a turn by its words in the very next request', async () => {
      const { asked, say } = await opened()
      await say('one', 'The spare key hangs behind the boiler.')
      expect((await asked('two', 'Where is the spare key?')).join()).toContain('behind the boiler')
    })

    it('[CR13] searches a follow-up question together with the preceding message', async () => {
      const { asked, say } = await opened()
      await say('one', 'My dentist is Dr Okafor, her practice is at Bridge Street 4.')
      await say('one', 'The gym closes at ten on weekdays.')
      const talk = ['Who is my dentist?', 'I do not know.', 'And where is it?']
      expect((await asked('two', ...talk)).join()).toContain('Bridge Street 4')
      expect(await asked('three', 'And where is it?')).toEqual([])
    })

    it('[CR31] searches a follow-up question together with the answer before it', async () => {
      const { asked, say } = await opened()
      await say('one', 'The Pension Alecrim is at Bridge Street 4.')
      await say('one', 'The gym closes at ten on weekdays.')
      const talk = ['Any news for us?', 'The Pension Alecrim has a room.', 'And where is it?']
      expect((await asked('two', ...talk)).join()).toContain('Bridge Street 4')
    })

    it('[CR33] gives a conversion of units no block', async () => {
      const { asked, say } = await opened()
      await say('one', 'I ran 3 km along the river, that is almost 2 miles.')
      expect(await asked('two', 'convert 3 miles to km')).toEqual([])
    })

    it('[CR14] narrows a block to facts or to conversations', async () => {
      const both = ['Which tea do I prefer in the evening?', 'I prefer rooibos tea.'] as const
      const linesWith = async (recallSources: 'facts' | 'conversations') => {
        const { asked, say, engine } = await opened({
          settings: { 'gateway.contextSources': recallSources },
        })
        await say('one', 'Ann drank the last of the rooibos tea in the evening.')
        await engine.remember(ADA, { content: both[1] })
        return (await asked('two', both[0])).join()
      }
      const facts = await linesWith('facts')
      expect(facts).toContain('I prefer rooibos')
      expect(facts).not.toContain('Ann')
      const said = await linesWith('conversations')
      expect(said).toContain('Ann')
      expect(said).not.toContain('I prefer rooibos')
    })

    it('[CR15] gives small talk no block', async () => {
      const { asked, say } = await opened()
      await say('one', 'Thanks for the great help with my thesis, hello to Ann!')
      for (const message of ['Thanks!', 'Hello there!', 'Great, thank you so much.', 'ok']) {
        expect(await asked('two', message), message).toEqual([])
      }
    })

    it('[CR19] finds what a short question is about', async () => {
      const { asked, engine } = await opened()
      for (const drink of ['tea', 'coffee', 'milk', 'water', 'juice', 'cocoa', 'soda', 'cider']) {
        await engine.remember(ADA, { content: `There is ${drink} in my fridge` })
      }
      await engine.remember(ADA, { content: 'The dog of the user is called Rex' })
      expect((await asked('two', 'My dog’s name?')).join()).toContain('Rex')
    })

    it('[CR16] ranks facts and turns in one list that a parameter narrows', async () => {
      const { engine, say } = await opened()
      const { memory } = await engine.remember(ADA, { content: 'I drink oat milk' })
      await say('one', 'Oat milk is what they drink at the office too.')
      const kinds = async (query: object) =>
        (await engine.recall(ADA, { text: 'drink oat milk', ...query })).memories.map((each) =>
          each.memory.type === 'turn' ? 'turn' : 'fact',
        )
      expect(new Set(await kinds({}))).toEqual(new Set(['fact', 'turn']))
      expect(new Set(await kinds({ include: 'facts' }))).toEqual(new Set(['fact']))
      expect(new Set(await kinds({ include: 'conversations' }))).toEqual(new Set(['turn']))
      expect(new Set(await kinds({ ids: [memory.id] }))).toEqual(new Set(['fact']))
      expect(new Set(await kinds({ categories: [memory.category] }))).toEqual(new Set(['fact']))
      const { memories } = await engine.recall(ADA, { text: 'drink oat milk' })
      for (const { trail, score } of memories) {
        expect(trail.length).toBeGreaterThan(0)
        expect(score).toBeGreaterThan(0)
      }
    })

    it('[CR17] never recalls turns of other owners', async () => {
      const { asked, say } = await opened()
      await say('one', 'The safe opens with 4711.', 'Noted.', { scope: { ...ADA, user: 'eve' } })
      await say('one', 'The safe opens with 1234.', 'Noted.', { scope: { owner: 'bob' } })
      expect(await asked('two', 'What does the safe open with?')).toEqual([])
    })

    it('[CR18] never recalls a disabled turn', async () => {
      const { asked, say, engine, store } = await opened()
      await say('one', 'The spare key hangs behind the boiler.')
      const { rows } = await store.find('turn', ADA as never, { where: {}, limit: 9 }) // an owner alone
      for (const { id } of rows) await engine.conversations.turns.disable(ADA, id as TurnId)
      expect(await asked('two', 'Where is the spare key?')).toEqual([])
    })
  })
}

/** With the built-in model. */
export function describeRecallByMeaning(
  open: () => Promise<{ store: OpenStore; vectors: VectorIndex }>,
) {
  it('[CR12] finds a turn by its meaning once it is embedded', async () => {
    const { store, vectors } = await open()
    const embedder = openLocalEmbedder()
    const { engine, client, clock } = await openConversations(store, {
      embedder,
      vectors,
      settings: { 'gateway.contextSources': 'both' },
    })
    await client.ask(['Our cellar flooded, so the washing machine broke down.'], 'Oh no.', {
      scope: { ...ADA, session: 'one' },
    })
    await engine.admin.reindex()
    clock.advance(DAY_MS)
    const { block } = await client.ask(['What happened to our laundry appliance?'], '-', {
      scope: { ...ADA, session: 'two' },
    })
    expect(block).toContain('washing machine broke down')
    await embedder.close()
  })
}
