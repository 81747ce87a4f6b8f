/** `recollect/langchain` with the real packages. */
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { InMemoryStore } from '@langchain/langgraph-checkpoint'
import { describe, expect, it } from 'vitest'
import {
  RecollectChatHistory,
  RecollectRetriever,
  RecollectStore,
} from '../../src/integrations/langchain.ts'
import { KINDS, openMemoryOf } from './integration-support.ts'

describe.each(KINDS)('with %s', (kind) => {
  it('[IG2.1] the store does what the store of LangGraph does', async () => {
    const { memory } = await openMemoryOf(kind)
    const store = new RecollectStore({ memory })
    const reference = new InMemoryStore()
    const both = async <Result>(run: (each: typeof reference) => Promise<Result>) => {
      const [own, wanted] = [await run(store as never), await run(reference)] // both are stores
      const plain = (value: unknown) =>
        JSON.parse(
          JSON.stringify(value, (name, each) =>
            ['createdAt', 'updatedAt', 'score'].includes(name) ? undefined : each,
          ) ?? 'null',
        )
      expect(plain(own)).toEqual(plain(wanted))
    }
    const docs = ['docs', 'ada']
    await both((each) => each.put(docs, 'a', { title: 'Report', pages: 3, draft: true }))
    await both((each) => each.put(docs, 'b', { title: 'Report', pages: 9, tags: ['x', 'y'] }))
    await both((each) => each.put(['docs', 'ben', 'v1'], 'a', { title: 'Notes', pages: 1 }))
    await both((each) => each.put(['other'], 'a', { title: 'Report', pages: 3, draft: true }))
    await both((each) => each.get(docs, 'a'))
    await both((each) => each.get(docs, 'missing'))
    await both((each) => each.search(['docs']))
    await both((each) => each.search(['docs', 'ada'], { filter: { title: 'Report' } }))
    await both((each) => each.search(['docs'], { filter: { pages: { $gte: 3, $lt: 9 } } }))
    await both((each) => each.search(['docs'], { filter: { pages: { $ne: 3 } } }))
    await both((each) => each.search([], { limit: 2, offset: 1 }))
    await both((each) => each.listNamespaces())
    await both((each) => each.listNamespaces({ prefix: ['docs'], maxDepth: 2 }))
    await both((each) => each.listNamespaces({ prefix: ['docs', '*'], suffix: ['v1'] }))
    await both((each) => each.put(docs, 'a', { title: 'Report', pages: 4 }))
    await both((each) => each.get(docs, 'a'))
    await both((each) => each.delete(docs, 'a'))
    await both((each) => each.get(docs, 'a'))
    await both((each) => each.put(docs, 'a', { title: 'Report', pages: 4 }))
    await both((each) =>
      each.batch([
        { namespace: docs, key: 'c', value: { n: 1 } },
        { namespace: docs, key: 'a' },
        { namespacePrefix: ['other'] },
      ]),
    )
  })

  it('[IG2.2] the store finds by natural language, within namespace, filter and index', async () => {
    const { memory } = await openMemoryOf(kind)
    const store = new RecollectStore({ memory })
    await store.put(['users', 'ada'], 'tea', { text: 'Ada likes green tea', kind: 'drink' })
    await store.put(['users', 'ben'], 'tea', { text: 'Ben likes black tea', kind: 'drink' })
    await store.put(['users', 'ada'], 'secret', { text: 'green tea secret' }, false)
    await store.put(['users', 'ada'], 'part', { a: 'green tea', b: 'zebra' }, ['b'])
    const keys = async (prefix: string[], options: object) =>
      (await store.search(prefix, options)).map(({ namespace, key }) =>
        [...namespace, key].join('/'),
      )
    expect(await keys(['users'], { query: 'green tea' })).toContain('users/ada/tea')
    expect(await keys(['users', 'ben'], { query: 'tea' })).toEqual(['users/ben/tea'])
    expect(await keys(['users'], { query: 'green tea' })).not.toContain('users/ada/secret')
    expect(await keys(['users'], { query: 'zebra' })).toContain('users/ada/part')
    expect(await keys(['users'], { query: 'tea', filter: { kind: 'snack' } })).toEqual([])
    const [best] = await store.search(['users', 'ada'], { query: 'green tea' })
    expect(best?.score).toBeGreaterThan(0)
    await expect(store.search(['users'], { filter: { a: { $like: 'x' } } })).rejects.toThrow(
      '$like',
    )
  })

  it('[IG2.3] the store forgets items after their time to live', async () => {
    const { memory, engine } = await openMemoryOf(kind)
    const store = new RecollectStore({ memory, ttlMs: 60_000 })
    await store.put(['cache'], 'a', { text: 'short-lived' })
    const [row] = (await engine.list({ owner: 'default' })).rows
    expect(Number(row?.expiresAt) - Number(row?.createdAt)).toBeGreaterThan(50_000)
    expect(await store.get(['cache'], 'a')).toMatchObject({ value: { text: 'short-lived' } })
  })

  it('[IG2.4] the chat history keeps messages exactly, and what was said is recalled elsewhere', async () => {
    const { memory, engine } = await openMemoryOf(kind)
    const open = (session: string) => new RecollectChatHistory({ memory, user: 'ada', session })
    const messages = [
      new HumanMessage('We painted the kitchen sage green.'),
      new AIMessage({
        content: 'Let me look.',
        tool_calls: [{ id: 'call_1', name: 'look', args: { room: 'kitchen' } }],
      }),
      new ToolMessage({ tool_call_id: 'call_1', content: 'green' }),
      new AIMessage('It looks good.'),
      new AIMessage('It looks good.'),
    ]
    await open('monday').addMessages(messages)
    await open('monday').addUserMessage('ok')
    const read = await open('monday').getMessages()
    expect(read.map(({ type, content }) => [type, content])).toEqual([
      ...messages.map(({ type, content }) => [type, content]),
      ['human', 'ok'],
    ])
    expect(read[1]).toMatchObject({ tool_calls: [{ id: 'call_1', args: { room: 'kitchen' } }] })
    expect(await open('tuesday').getMessages()).toEqual([])
    const retriever = new RecollectRetriever({ memory, user: 'ada' })
    const found = await retriever.invoke('which color is the kitchen?')
    expect(found[0]?.pageContent).toBe('We painted the kitchen sage green.')
    expect(found[0]?.metadata).toMatchObject({ type: 'turn' })
    // The exact items stay out of recall.
    expect(found.map(({ pageContent }) => pageContent).join()).not.toContain('"type"')
    await open('monday').clear()
    expect(await open('monday').getMessages()).toEqual([])
    expect((await engine.list({ owner: 'default', user: 'ben' })).rows).toEqual([])
  })

  it('[IG2.5] the retriever returns documents with scores, and nothing when nothing is relevant', async () => {
    const { memory, engine } = await openMemoryOf(kind)
    await engine.remember({ owner: 'default' }, { content: 'The ferry to Split leaves at nine.' })
    const retriever = new RecollectRetriever({ memory, limit: 3, include: 'facts' })
    const [document] = await retriever.invoke('when does the ferry leave?')
    expect(document).toMatchObject({
      pageContent: 'The ferry to Split leaves at nine.',
      metadata: { type: 'memory', score: expect.any(Number) },
    })
    expect(await retriever.invoke('quantum chromodynamics')).toEqual([])
  })
})
