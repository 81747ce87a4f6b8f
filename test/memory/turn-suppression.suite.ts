/** Forgetting a fact takes the turns that state it out of recall, and restoring the fact brings them back. */
import { describe, expect, it } from 'vitest'
import { NO_TOOL_MEMORY_IDS } from '../../src/conversations/receipts/receipt.ts'
import type { MemoryId } from '../../src/domain/ids.ts'
import type { SettingValues } from '../../src/domain/settings/settings.ts'
import {
  ADA,
  answerOf,
  type OpenStore,
  openConversations,
  outcomeOf,
  type RequestFields,
  requestOf,
} from '../conversations/conversations-support.ts'

const SISTER = "My sister's name is Anna."
const QUESTION = 'What is the name of my sister?'
const ANSWER = 'A lovely name. Is your sister Anna older than you?'

type Forgetting = {
  readonly forgotten?: readonly MemoryId[]
  /** Between forgetting and recording. */
  readonly afterwards?: () => Promise<unknown>
}

export function describeForgottenTurns(name: string, open: OpenStore): void {
  const opened = async (settings: SettingValues = {}) => {
    const { engine, client, store } = await openConversations(open, {
      settings: { 'gateway.contextSources': 'both', ...settings },
    })
    let requests = 0
    const inSession = (session: string, fields: RequestFields = {}): RequestFields => ({
      ...fields,
      requestId: `req_${++requests}`,
      scope: { ...ADA, ...fields.scope, session },
    })
    const say = (session: string, said: string, answer = 'Noted.', fields: RequestFields = {}) =>
      client.ask([said], answer, inSession(session, fields))
    /** The block that the question gets, which is not recorded itself. */
    const asked = async (question = QUESTION) =>
      (await client.ask([question], '-', inSession('later', { wants: { extract: false } })))
        .block ?? ''
    const turns = async (session: string) =>
      (await engine.conversations.turns.list({ ...ADA, session })).rows
    const disabledIn = async (session: string) =>
      (await turns(session)).filter(({ disabled }) => disabled).map(({ content }) => content)
    const fact = async (content = 'Anna') => {
      const { rows } = await engine.list({ ...ADA, user: null })
      const found = rows.find((each) => each.content.includes(content))
      if (found === undefined) throw new Error(`Nothing was learned about ${content}.`)
      return found
    }
    return { engine, client, store, say, asked, turns, disabledIn, fact }
  }

  describe(`${name}: turns of forgotten facts`, () => {
    it('[TF1] forgetting a fact excludes its turn from later prompts', async () => {
      const { engine, say, asked, disabledIn, fact } = await opened()
      await say('one', SISTER)
      expect(await asked()).toContain('Anna')
      const { id, provenance } = await fact()
      expect(provenance.turns).toHaveLength(1)
      expect(await engine.forget(ADA, id)).toMatchObject({ status: 'forgotten', turnsDisabled: 1 })
      expect(await asked()).not.toContain('Anna')
      expect(await disabledIn('one')).toEqual([SISTER])
      expect(await engine.forget(ADA, id)).toMatchObject({ turnsDisabled: 0 })
    })

    it('[TF1] bulk deletion does the same, and a dry run does nothing', async () => {
      const { engine, say, asked, disabledIn } = await opened()
      await say('one', SISTER)
      await say('two', 'I live in Berlin.')
      expect(await engine.memories.clear(ADA, {}, { dryRun: true })).toMatchObject({
        turnsDisabled: 0,
      })
      expect(await disabledIn('one')).toEqual([])
      expect(await engine.memories.clear(ADA, {})).toMatchObject({ forgotten: 2, turnsDisabled: 2 })
      expect(await asked()).not.toContain('Anna')
      expect(await asked('Where do I live?')).not.toContain('Berlin')
    })

    it('[TF2] restoring the fact, or undoing the change, enables the turn again', async () => {
      const { engine, say, asked, disabledIn, fact, store } = await opened()
      await say('one', SISTER)
      const { id } = await fact()
      const { change } = await engine.forget(ADA, id)
      expect(await engine.undo(ADA, change)).toMatchObject({ turnsEnabled: 1 })
      expect(await disabledIn('one')).toEqual([])
      expect(await asked()).toContain('Anna')
      await engine.forget(ADA, id)
      expect(await engine.restore(ADA, id)).toMatchObject({ status: 'active', turnsEnabled: 1 })
      expect(await disabledIn('one')).toEqual([])
      const cleared = await engine.memories.clear(ADA, {})
      expect(await engine.undo(ADA, cleared.change ?? '')).toMatchObject({ turnsEnabled: 1 })
      const kinds = ['turn-suppression'] as const
      const { rows } = await store.find('entry', ADA as never, { where: { kinds }, limit: 9 }) // an owner alone
      expect(rows).toEqual([])
    })

    it('[TF2] a turn that a person disabled stays disabled, before and after', async () => {
      const { engine, say, turns, disabledIn, fact } = await opened()
      await say('one', SISTER)
      const { id } = await fact()
      const [turn] = await turns('one')
      await engine.conversations.turns.disable(ADA, turn?.id ?? '')
      const before = await engine.forget(ADA, id)
      expect(before.turnsDisabled).toBe(0)
      expect(await engine.undo(ADA, before.change)).toMatchObject({ turnsEnabled: 0 })
      expect(await disabledIn('one')).toEqual([SISTER])
      await engine.conversations.turns.restore(ADA, turn?.id ?? '')
      await engine.forget(ADA, id)
      await engine.conversations.turns.disable(ADA, turn?.id ?? '')
      expect(await engine.restore(ADA, id)).toMatchObject({ turnsEnabled: 0 })
      expect(await disabledIn('one')).toEqual([SISTER])
    })

    it('[TF2] a turn of several forgotten facts is enabled with the last of them', async () => {
      const { engine, say, disabledIn, fact } = await opened()
      const both = "My sister's name is Anna. I live in Berlin."
      await say('one', both)
      const [anna, berlin] = [await fact('Anna'), await fact('Berlin')]
      await engine.forget(ADA, anna.id)
      expect(await engine.get(ADA, berlin.id)).toMatchObject({ status: 'active' })
      expect(await engine.forget(ADA, berlin.id)).toMatchObject({ turnsDisabled: 0 })
      expect(await engine.restore(ADA, anna.id)).toMatchObject({ turnsEnabled: 0 })
      expect(await disabledIn('one')).toEqual([both])
      expect(await engine.restore(ADA, berlin.id)).toMatchObject({ turnsEnabled: 1 })
    })

    it('[TF3] answers and restatements are disabled, too, and other turns stay enabled', async () => {
      const { engine, say, asked, disabledIn, fact } = await opened()
      await say('one', SISTER, ANSWER)
      await say('two', 'Anna, as you know, is the name of my sister.', 'Yes.')
      await say('three', 'My sister plays the name game with Tom.', 'Fun.')
      const { id } = await fact()
      expect(await engine.forget(ADA, id)).toMatchObject({ turnsDisabled: 3 })
      expect(await disabledIn('one')).toEqual([SISTER, ANSWER])
      expect(await disabledIn('two')).toHaveLength(1)
      expect(await disabledIn('three')).toEqual([])
      expect(await asked()).not.toContain('Anna')
    })

    it('[TF3] a fact without a turn disables those that state it', async () => {
      const { engine, say, asked } = await opened()
      await say('one', 'Remember that the spare key hangs behind the boiler.')
      const { memory } = await engine.remember(ADA, {
        content: 'The spare key hangs behind the boiler',
      })
      expect(await engine.forget(ADA, memory.id)).toMatchObject({ turnsDisabled: 1 })
      expect(await asked('Where is the spare key?')).toBe('')
    })

    it('[TF4] only turns that support the fact are disabled', async () => {
      const { engine, say, turns, disabledIn } = await opened()
      await say('one', 'We flew to Porto and Clara brought her oboe.', 'Nice.')
      await say('one', 'The hotel had a sauna on the roof.', 'Nice.')
      await say('one', 'On Sunday it rained all day.', 'Oh.')
      const all = (await turns('one')).map(({ id }) => id)
      const about = (content: string) =>
        engine.remember(ADA, { content, provenance: { source: 'distillation', turns: all } })
      const { memory } = await about('Clara took her oboe along to Porto.')
      expect(await engine.forget(ADA, memory.id)).toMatchObject({ turnsDisabled: 1 })
      expect(await disabledIn('one')).toEqual(['We flew to Porto and Clara brought her oboe.'])
      // A paraphrase: the turn that shares most words with it.
      const rain = await about('The weather was bad for the whole last Sunday of the holiday trip.')
      expect(await engine.forget(ADA, rain.memory.id)).toMatchObject({ turnsDisabled: 1 })
      expect(await disabledIn('one')).toHaveLength(2)
    })

    it('[TF5] an erased fact leaves its turn disabled, and receipts without its line', async () => {
      const { engine, client, say, asked, disabledIn, fact } = await opened({
        'gateway.contextSources': 'conversations',
      })
      await say('one', SISTER)
      const prepared = await client.ask([QUESTION], '-', { wants: { extract: false } })
      const lines = async () =>
        JSON.stringify(await engine.conversations.receipts.get(ADA, prepared.receipt ?? ''))
      expect(await lines()).toContain('Anna')
      expect(await engine.memories.erase(ADA, (await fact()).id)).toMatchObject({
        memories: 1,
        turnsDisabled: 1,
      })
      expect(await disabledIn('one')).toEqual([SISTER])
      expect(await lines()).not.toContain('Anna')
      expect(await asked()).toBe('')
    })

    it('[TF5] the same for erasure from the trash and in bulk', async () => {
      const { engine, client, say, disabledIn, fact } = await opened({
        'gateway.contextSources': 'conversations',
      })
      await say('one', SISTER)
      await say('two', 'I live in Berlin.')
      const ask = async (question: string) => {
        const { receipt } = await client.ask([question], '-', { wants: { extract: false } })
        return async () =>
          JSON.stringify(await engine.conversations.receipts.get(ADA, receipt ?? ''))
      }
      const [sister, home] = [await ask(QUESTION), await ask('Where do I live?')]
      expect([await sister(), await home()].join()).toMatch(/Anna.*Berlin/s)
      await engine.forget(ADA, (await fact()).id)
      expect(await engine.memories.emptyTrash(ADA, { days: 0 })).toMatchObject({
        memories: 1,
        turnsDisabled: 0,
      })
      expect(await sister()).not.toContain('Anna')
      expect(await engine.memories.clear(ADA, {}, { erase: true })).toMatchObject({
        erased: 1,
        turnsDisabled: 1,
      })
      expect(await home()).not.toContain('Berlin')
      expect([await disabledIn('one'), await disabledIn('two')].flat()).toHaveLength(2)
    })

    it('[TF6] superseding, eviction and undoing a learned fact disable no turn', async () => {
      const { engine, say, disabledIn, fact } = await opened()
      await say('one', 'I live in Berlin.')
      const berlin = await fact('Berlin')
      await say('two', 'I live in Munich now.')
      expect((await engine.get(ADA, berlin.id))?.status).toBe('superseded')
      expect(await disabledIn('one')).toEqual([])
      await say('three', SISTER)
      const anna = await fact()
      await engine.undo(ADA, anna.change)
      expect((await engine.get(ADA, anna.id))?.status).toBe('forgotten')
      expect(await disabledIn('three')).toEqual([])
    })

    it('[TF7] turns of other users and owners do not change', async () => {
      const { engine, say, fact } = await opened()
      const eve = { ...ADA, user: 'eve' }
      await say('one', SISTER)
      await say('one', SISTER, 'Noted.', { scope: eve })
      await say('one', SISTER, 'Noted.', { scope: { owner: 'bob' } })
      expect(await engine.forget(ADA, (await fact()).id)).toMatchObject({ turnsDisabled: 1 })
      for (const scope of [eve, { owner: 'bob' }]) {
        const { rows } = await engine.conversations.turns.list({ ...scope, session: 'one' })
        expect(rows.map(({ disabled }) => disabled)).toEqual([false, false])
      }
    })

    /** A conversation in which the model's tool forgets the fact before it answers, as the gateway has it. */
    const openForgetting = async () => {
      const opening = await opened()
      const { engine, client, say, fact } = opening
      await say('one', SISTER)
      const { id } = await fact()
      const request = 'Please forget that the name of my sister is Anna.'
      const answer = 'Done. That the name of your sister is Anna is forgotten.'
      const tell = async (
        said: string,
        answered: string | null,
        fields: RequestFields = {},
        { forgotten = [id], afterwards }: Forgetting = {},
      ) => {
        const scope = { ...ADA, session: 'two' }
        const prepared = await engine.conversations.prepare(
          requestOf([said], { scope, requestId: `req_two_${answered}`, ...fields }),
        )
        await Promise.all(forgotten.map((each) => engine.forget(ADA, each)))
        await afterwards?.()
        const outcome = { toolMemories: { ...NO_TOOL_MEMORY_IDS, forgotten } }
        const events = answered === null ? null : answerOf(answered)
        engine.conversations.recordOutcome(prepared, outcomeOf(prepared, events, outcome))
        await engine.conversations.flush()
      }
      return { ...opening, id, request, answer, tell, client }
    }

    it('[TF9] the exchange in which a tool forgets a fact is not quoted', async () => {
      const { engine, id, request, answer, tell, asked, disabledIn, turns } = await openForgetting()
      await tell(request, answer)
      expect(await disabledIn('two')).toEqual([request, answer])
      expect(await asked()).not.toContain('Anna')
      const { rows } = await engine.list(ADA)
      expect(rows).toEqual([])
      expect(await engine.restore(ADA, id)).toMatchObject({ turnsEnabled: 3 })
      expect((await turns('two')).map(({ disabled }) => disabled)).toEqual([false, false])
    })

    it('[TF9] other turns of the exchange and later exchanges stay enabled', async () => {
      const { tell, disabledIn, id, engine } = await openForgetting()
      await tell('Forget what I told you about her.', 'It is forgotten.')
      await tell('My cat is named Oscar.', 'A fine name.', {}, { forgotten: [] })
      expect(await disabledIn('two')).toEqual([])
      expect(await engine.restore(ADA, id)).toMatchObject({ turnsEnabled: 1 })
    })

    it('[TF9] the same for an answer that continues after other tools, and for a retried request', async () => {
      const { request, answer, tell, disabledIn } = await openForgetting()
      await tell(request, null)
      expect(await disabledIn('two')).toEqual([request])
      await tell(request, answer, { asked: { isMidAnswer: true } }, { forgotten: [] })
      expect(await disabledIn('two')).toEqual([request, answer])
    })

    it('[TF9] a fact restored before the exchange is recorded disables no turn', async () => {
      const { engine, id, request, answer, tell, disabledIn } = await openForgetting()
      const afterwards = () => engine.restore(ADA, id)
      await tell(request, answer, {}, { afterwards })
      expect(await disabledIn('two')).toEqual([])
    })

    it('[TF8] a corrected fact is used, and its source turn is not', async () => {
      const { engine, say, asked, fact } = await opened()
      await say('one', SISTER)
      await engine.edit(ADA, (await fact()).id, { content: "My sister's name is Hanna" })
      const block = await asked()
      expect(block).toContain('Hanna')
      expect(block).not.toContain(' Anna')
    })

    it('[TF8] also if the turn says much more than the corrected fact', async () => {
      const { engine, say, asked, fact } = await opened()
      await say(
        'one',
        `${SISTER} She studied marine biology in Bergen, keeps two rabbits, repairs bicycles and ` +
          'sings in a choir that travels through Scandinavia every summer with a brass band.',
      )
      await engine.edit(ADA, (await fact()).id, { content: 'Her name is Hanna' })
      const block = await asked('Tell me the name of my sister Hanna, please')
      expect(block).toContain('Hanna')
      expect(block).not.toContain(' Anna')
    })
  })
}
