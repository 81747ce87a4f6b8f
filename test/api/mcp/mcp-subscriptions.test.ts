/** Subscribed memories and confirmed deletes, with the official client over HTTP and streams. */
import { PassThrough } from 'node:stream'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { localCaller, serveStdio } from '../../../src/api/mcp/stdio-transport.ts'
import { createEngine } from '../../../src/app/composition.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { BEN, contextsOf, openHost, transportOver, VERSION } from './mcp-support.ts'

/** The newest revision that the client package offers. */
const NEWEST = '2026-07-28'
const INFO = { name: 'tests', version: '1' }
const MODERN = { versionNegotiation: { mode: { pin: NEWEST } } } as const

type Answer = { action: 'accept' | 'decline' | 'cancel'; content?: { confirm: boolean } }

function createClient(options: ConstructorParameters<typeof Client>[1], answer?: Answer) {
  const client = new Client(INFO, {
    ...options,
    ...(answer === undefined ? {} : { capabilities: { elicitation: { form: {} } } }),
  })
  const asked: string[] = []
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message)
      return answer
    })
  }
  const updated: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    updated.push(params.uri)
  })
  onTestFinished(() => client.close())
  return { client, asked, updated }
}

async function connectHttp(
  answer?: Answer,
  options: ConstructorParameters<typeof Client>[1] = MODERN,
) {
  const host = await openHost({ hasCompatibilityTools: true, hasExtendedTools: true })
  onTestFinished(() => host.close())
  const made = createClient(options, answer)
  await made.client.connect(new StreamableHTTPClientTransport(host.url))
  return { ...made, host, engine: host.engine }
}

async function connectStdio(options: ConstructorParameters<typeof Client>[1], answer?: Answer) {
  const engine = await createEngine({ embedding: false })
  onTestFinished(() => engine.close())
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const stop = new AbortController()
  const ended = serveStdio({
    contextOf: contextsOf(engine),
    version: VERSION,
    caller: localCaller('ann'),
    stdin,
    stdout,
    signal: stop.signal,
  })
  const made = createClient(options, answer)
  await made.client.connect(transportOver(stdin, stdout))
  return { ...made, engine, stop, ended }
}

async function remember(engine: Engine, drink = 'tea', owner = 'ann') {
  const { memory } = await engine.remember({ owner }, { content: `${owner} drinks ${drink}.` })
  const scope = { owner }
  let edits = 0
  return {
    uri: `recollect://memory/${memory.id}`,
    id: memory.id,
    edit: () => {
      edits += 1
      return engine.edit(scope, memory.id, { content: `${owner} drinks ${drink} no. ${edits}.` })
    },
    forget: () => engine.forget(scope, memory.id),
  }
}

const isListed = (list: readonly string[], count: number) =>
  vi.waitFor(() => expect(list).toHaveLength(count), { timeout: 10_000 })

/** How many listeners of the engine are left. */
function countListeners(engine: Engine) {
  let active = 0
  const { onChanged } = engine
  const counted: Engine = {
    ...engine,
    onChanged: (listener) => {
      active += 1
      const stop = onChanged(listener)
      return () => {
        active -= 1
        stop()
      }
    },
  }
  return { counted, active: () => active }
}

describe('subscriptions', () => {
  it('[MC14.3] a change of a subscribed memory is told over HTTP, to its owner only', async () => {
    const { counted, active } = countListeners(await createEngine({ embedding: false }))
    const host = await openHost({ engine: counted })
    onTestFinished(() => host.close())
    const ann = createClient(MODERN)
    await ann.client.connect(new StreamableHTTPClientTransport(host.url))
    const tea = await remember(counted)
    const other = await remember(counted, 'coffee')
    const bens = await remember(counted, 'tea', 'ben')
    expect(ann.client.getServerCapabilities()?.resources).toEqual({ subscribe: true })
    const all = { resourceSubscriptions: [tea.uri, bens.uri] }
    const subscription = await ann.client.listen(all)
    host.as(BEN)
    const ben = createClient(MODERN)
    await ben.client.connect(new StreamableHTTPClientTransport(host.url))
    await ben.client.listen(all)
    expect(active()).toBe(2)
    await other.edit()
    await bens.edit()
    await isListed(ben.updated, 1)
    await tea.edit()
    await tea.forget()
    await isListed(ann.updated, 2)
    expect(ann.updated).toEqual([tea.uri, tea.uri])
    expect(ben.updated).toEqual([bens.uri])
    await subscription.close()
    await ben.client.close()
    await vi.waitFor(() => expect(active()).toBe(0), { timeout: 10_000 })
  })

  it.each([
    ['the first era', { versionNegotiation: { mode: 'legacy' } } as const],
    [`revision ${NEWEST}`, MODERN],
  ])('[MC14.3] a change of a subscribed memory is told over streams, in %s', async (_, options) => {
    const { client, updated, engine, stop, ended } = await connectStdio(options)
    const isModern = options === MODERN
    const tea = await remember(engine)
    const other = await remember(engine, 'coffee')
    const bens = await remember(engine, 'tea', 'ben')
    if (isModern) {
      const subscription = await client.listen({ resourceSubscriptions: [tea.uri, bens.uri] })
      await Promise.all([other.edit(), bens.edit(), tea.edit()])
      await isListed(updated, 1)
      await subscription.close()
    } else {
      await client.subscribeResource({ uri: tea.uri })
      await expect(client.subscribeResource({ uri: bens.uri })).rejects.toThrow(
        'Resource not found',
      )
      await Promise.all([other.edit(), bens.edit(), tea.edit()])
      await isListed(updated, 1)
      await client.unsubscribeResource({ uri: tea.uri })
    }
    await tea.edit()
    await client.listTools() // would arrive after a notification
    expect(updated).toEqual([tea.uri])
    stop.abort()
    await ended
    await tea.edit()
  })

  it('[MC14.3] the first era over HTTP has no stream to tell changes on, and is not offered them', async () => {
    const { client } = await connectHttp(undefined, { versionNegotiation: { mode: 'legacy' } })
    expect(client.getServerCapabilities()?.resources).toEqual({})
  })

  it('[MC5] the newest revision is negotiated', async () => {
    const { client } = await connectHttp(undefined, { versionNegotiation: { mode: 'auto' } })
    expect(client.getNegotiatedProtocolVersion()).toBe(NEWEST)
  })
})

const YES: Answer = { action: 'accept', content: { confirm: true } }

async function isLeft(engine: Engine): Promise<boolean> {
  return (await engine.list({ owner: 'ann' }, { limit: 10 })).rows.length > 0
}

describe('confirmation', () => {
  it.each<[string, Answer]>([
    ['declines', { action: 'decline' }],
    ['cancels', { action: 'cancel' }],
    ['leaves the box empty', { action: 'accept', content: { confirm: false } }],
  ])('[MC15] nothing is deleted when the user %s', async (_, answer) => {
    const connected = [
      await connectHttp(answer),
      await connectStdio(MODERN, answer),
      await connectStdio({ versionNegotiation: { mode: 'legacy' } }, answer),
    ]
    for (const { client, asked, engine } of connected) {
      await remember(engine)
      const result = await client.callTool({ name: 'memory_clear', arguments: { all: true } })
      expect(result).toMatchObject({ isError: true })
      expect(JSON.stringify(result)).toContain('nothing was deleted')
      expect(asked).toEqual([expect.stringContaining('forgets all memories')])
      expect(await isLeft(engine)).toBe(true)
    }
  })

  it('[MC15] what the user confirms is deleted', async () => {
    const connected = [
      await connectHttp(YES),
      await connectStdio(MODERN, YES),
      await connectStdio({ versionNegotiation: { mode: 'legacy' } }, YES),
    ]
    for (const { client, asked, engine } of connected) {
      await remember(engine)
      const result = await client.callTool({ name: 'memory_clear', arguments: { all: true } })
      expect(result).toMatchObject({ structuredContent: { deletedCount: 1 } })
      expect(asked).toHaveLength(1)
      expect(await isLeft(engine)).toBe(false)
    }
  })

  it('[MC15] clients that cannot ask, dry runs and single memories are not asked about', async () => {
    for (const { client, engine } of [
      await connectHttp(),
      await connectStdio({ versionNegotiation: { mode: 'legacy' } }),
    ]) {
      await remember(engine)
      await client.callTool({ name: 'memory_clear', arguments: { all: true } })
      expect(await isLeft(engine)).toBe(false)
    }
    const { client, asked, engine } = await connectHttp(YES)
    const { id } = await remember(engine)
    await client.callTool({ name: 'memory_clear', arguments: { all: true, dryRun: true } })
    await client.callTool({ name: 'memory_forget', arguments: { id } })
    expect(await isLeft(engine)).toBe(false)
    expect(asked).toEqual([])
  })

  it('[MC15] permanent deletes and tools of other systems are asked about', async () => {
    const { client, asked, engine } = await connectHttp({ action: 'decline' })
    await remember(engine)
    await client.callTool({ name: 'omniroute_memory_clear', arguments: {} })
    await client.callTool({ name: 'session_forget', arguments: { id: 'talk' } })
    expect(asked).toEqual([
      expect.stringContaining('forgets all memories'),
      expect.stringContaining('cannot be undone'),
    ])
    expect(await isLeft(engine)).toBe(true)
  })
})
