/** The tools, through real clients of both generations over real HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatToolError } from '../../../src/api/mcp/tool-errors.ts'
import { OPERATIONS } from '../../../src/api/operations/index.ts'
import { AppError } from '../../../src/lib/errors.ts'
import { ADMIN, ANN, BEN, CLIENTS, type Host, openHost, type TestClient } from './mcp-support.ts'

const TOOLS = [
  'memory_add',
  'memory_clear',
  'memory_flush',
  'memory_forget',
  'memory_get',
  'memory_history',
  'memory_search',
  'memory_search_layer',
  'memory_status',
  'memory_update',
]
const TOOLS_MAX = 10
/** About two thousand tokens: what every conversation pays for having the tools. */
const SHOWN_CHARACTERS_MAX = 8_100

describe.each(Object.entries(CLIENTS))('%s', (_, connect) => {
  let host: Host
  let client: TestClient

  beforeAll(async () => {
    host = await openHost()
    client = await connect(host.url)
  })
  afterAll(async () => {
    await client.close()
    await host.close()
  })

  it('[MC1] lists the tools of the table', async () => {
    const tools = await client.tools()
    expect(tools.map(({ name }) => name).sort()).toEqual(TOOLS)
  })

  it('[MC2] goes through the life of a memory', async () => {
    const added = await client.call('memory_add', { content: 'Ann likes green tea', key: 'tea' })
    expect(added.isError).toBe(false)
    expect(added.structured).toMatchObject({ outcome: 'create', memory: { owner: 'ann' } })
    const { id } = added.structured as { id: string }
    expect(added.text).toContain(id)

    const found = await client.call('memory_search', { query: 'which tea does Ann like?' })
    expect(found.structured.results).toMatchObject([{ id, snippet: 'Ann likes green tea' }])
    expect(found.text).toContain(`[${id}] Ann likes green tea`)

    const updated = await client.call('memory_update', { id, content: 'Ann likes black tea' })
    expect(updated.structured).toMatchObject({ memory: { version: 2 } })

    const read = await client.call('memory_get', { id })
    expect(read.structured).toMatchObject({ memory: { content: 'Ann likes black tea' } })
    expect(read.text).toContain('Ann likes black tea')

    const history = await client.call('memory_history', { id })
    expect(history.text.split('\n')).toHaveLength(2)
    expect(history.text).toContain('Ann likes green tea')

    const status = await client.call('memory_status')
    expect(status.structured).toMatchObject({ memories: 1, version: '9.9.9' })
    expect(status.text).toContain('1 memory')

    const forgotten = await client.call('memory_forget', { query: 'black tea' })
    expect(forgotten.structured).toMatchObject({ forgotten: { id }, candidates: [] })
    expect((await client.call('memory_search', { query: 'tea' })).text).toBe('No matching memory.')
  })

  it('[MC2] clears with an exact count, and counts first on request', async () => {
    for (const city of ['Oslo', 'Rome', 'Kyoto']) {
      await client.call('memory_add', { content: `Ann travelled to ${city}`, type: 'episodic' })
    }
    const counted = await client.call('memory_clear', { type: 'episodic', dryRun: true })
    expect(counted.structured).toMatchObject({ matched: 3, deletedCount: 0 })
    expect(counted.text).toBe('3 memories would be forgotten; nothing was changed.')
    const cleared = await client.call('memory_clear', { type: 'episodic' })
    expect(cleared.structured).toMatchObject({ deletedCount: 3 })
  })

  it('[MC2] learns from the latest conversation before its context is lost', async () => {
    const none = await client.call('memory_flush')
    expect(none.text).toMatch(/^not_found: No session with learnable turns/)
    const turns = [{ user: 'Which ferry goes to Split?', assistant: 'The one at nine.' }]
    await host.engine.learning.ingest({ owner: 'ann', conversation: 'trip', turns })
    for (const given of [{}, { id: 'trip' }]) {
      const flushed = await client.call('memory_flush', given)
      expect(flushed.structured).toMatchObject({ outcome: 'skipped:no_model', pendingSignals: 1 })
      expect(flushed.text).toBe('Nothing was learned: skipped:no_model. Pending signals: 1.')
    }
    expect((await client.call('memory_flush', { id: 'other' })).isError).toBe(true)
  })

  it('[TU5] search marks a turn with its speaker and day, and get reads it', async () => {
    const said = 'The lighthouse of Vis is open on Sundays.'
    const turns = [{ user: 'When is the lighthouse open?', assistant: said }]
    const conversation = { owner: 'ann', conversation: 'vis', turns, skipExtraction: true }
    await host.engine.learning.ingest(conversation)
    const found = await client.call('memory_search', { query: 'lighthouse of Vis open Sundays' })
    const { results } = found.structured as { results: readonly { id: string; role: string }[] }
    const hit = results.find(({ role }) => role === 'assistant')
    expect(hit).toMatchObject({ source: 'transcript', sessionId: 'vis', snippet: said })
    const day = new Date().toISOString().slice(0, 10)
    expect(found.text).toContain(`[${hit?.id}] assistant said on ${day}: ${said}`)
    const read = await client.call('memory_get', { id: hit?.id })
    expect(read.structured).toMatchObject({ turn: { id: hit?.id, content: said } })
    expect(read.text).toBe(`${said}\n(${hit?.id}; assistant said this on ${day}, session vis)`)
    const strange = await client.call('memory_get', { id: hit?.id, user: 'ben' })
    expect(strange.isError).toBe(true)
    const only = await client.call('memory_search', {
      ...{ query: 'lighthouse of Vis open Sundays', sources: ['memories'] },
    })
    expect(only.structured).toMatchObject({ results: [] })
  })

  it('[MC2] lists candidates instead of guessing what to forget', async () => {
    await client.call('memory_add', { content: 'Ann owns a red bicycle' })
    await client.call('memory_add', { content: 'Ann owns a blue bicycle' })
    const response = await client.call('memory_forget', { query: 'bicycle' })
    expect(response.structured).toMatchObject({ forgotten: null })
    expect(response.structured.candidates).toHaveLength(2)
    expect(response.text).toContain('The query is ambiguous')
  })

  it('[MC4] answers failures with results that say what to do', async () => {
    const wrong = await client.call('memory_search', { query: 'tea', limit: 1000, colour: 'red' })
    expect(wrong.isError).toBe(true)
    expect(wrong.text).toMatch(/^invalid_input: /)
    expect(wrong.text).toContain('Unknown field "colour". Known fields: query, limit')
    const missing = await client.call('memory_get', { id: 'mem_01k3x00000000000000000000' })
    expect(missing.isError).toBe(true)
    expect(missing.text).toContain('memory_search')
    const nothing = await client.call('memory_clear', {})
    expect(nothing).toMatchObject({ isError: true })
    expect(nothing.text).toContain('all: true')
    expect(host.errors).toEqual([])
  })

  it('[MC11] advises only what fits the failure', async () => {
    const missing = await client.call('memory_get', { id: 'mem_01k3x00000000000000000000' })
    expect(missing.text).toContain('Find it with memory_search')
    const failures = [
      formatToolError(new AppError('not_found', 'Owner not found.')),
      formatToolError(new AppError('conflict', 'Another memory holds the same key.', { id: 'x' })),
    ]
    expect(failures.map(({ text }) => text)).toEqual([
      'not_found: Owner not found.',
      'conflict: Another memory holds the same key.',
    ])
    const changed = new AppError('conflict', 'It has changed.', { id: 'x', version: 3 })
    expect(formatToolError(changed).text).toContain('memory_get')
  })

  it('[MC12] returns scores as plain numbers', async () => {
    await client.call('memory_add', { content: 'Ann grows dahlias' })
    const { text } = await client.call('memory_search', { query: 'dahlias' })
    expect(text).toMatch(/^1\. \[mem_\w+\] Ann grows dahlias \(\d+\.\d\d\)$/m)
    expect(text).not.toContain('%')
  })

  it('[MC4] refuses unknown tools as the protocol says', async () => {
    await expect(client.call('memory_explode')).rejects.toThrow(/Unknown tool "memory_explode"/)
  })
})

describe('whose memories', () => {
  let host: Host
  let client: TestClient

  beforeAll(async () => {
    host = await openHost()
    client = await (CLIENTS['SDK 2, pinned'] as (url: URL) => Promise<TestClient>)(host.url)
  })
  afterAll(async () => {
    await client.close()
    await host.close()
  })

  it('[MC3] never come from the model', async () => {
    host.as(ANN)
    const { structured } = await client.call('memory_add', { content: 'Ann has a secret garden' })
    const { id } = structured as { id: string }
    host.as(BEN)
    for (const field of ['owner', 'apiKeyId', 'instanceId']) {
      for (const tool of TOOLS) {
        const answer = await client.call(tool, { [field]: 'ann', query: 'garden', id })
        expect(answer, `${tool} with ${field}`).toMatchObject({ isError: true })
        expect(answer.text).not.toContain('secret')
      }
    }
    for (const given of [{ query: 'garden' }, { query: 'garden', user: 'ann' }]) {
      expect((await client.call('memory_search', given)).structured.results).toEqual([])
    }
    for (const tool of ['memory_get', 'memory_history', 'memory_forget']) {
      expect((await client.call(tool, { id })).text).toMatch(/^not_found: /)
    }
    expect((await client.call('memory_update', { id, content: 'mine' })).text).toMatch(/^not_found/)
    expect((await client.call('memory_clear', { all: true })).structured.deletedCount).toBe(0)
    host.as(ANN)
    expect((await client.call('memory_get', { id })).structured).toMatchObject({
      memory: { content: 'Ann has a secret garden', version: 1 },
    })
  })

  it('[MC3] can be named by a superadmin', async () => {
    host.as(ADMIN)
    const search = (await client.tools()).find(({ name }) => name === 'memory_search')
    expect(search?.inputSchema.properties).toHaveProperty('owner')
    await client.call('memory_add', { content: 'Cleo collects stamps', owner: 'cleo' })
    const found = await client.call('memory_search', { query: 'stamps', owner: 'cleo' })
    expect(found.structured.results).toHaveLength(1)
    expect((await client.call('memory_search', { query: 'stamps' })).structured.results).toEqual([])
    host.as(ANN)
    const own = (await client.tools()).find(({ name }) => name === 'memory_search')
    expect(own?.inputSchema.properties).not.toHaveProperty('owner')
  })

  it('[MC3] stay those of one user where the key is one user’s', async () => {
    host.as({ ...ANN, user: 'kim' })
    await client.call('memory_add', { content: 'Kim plays the cello' })
    host.as({ ...ANN, user: 'lou' })
    const found = await client.call('memory_search', { query: 'cello' })
    expect(found.structured.results).toEqual([])
    const reached = await client.call('memory_search', { query: 'cello', user: 'kim' })
    expect(reached.text).toContain('Unknown field "user"')
  })

  it('[MC3] lists what the role covers, and answers the rest as forbidden', async () => {
    host.as({ ...ANN, role: 'reader' })
    const names = (await client.tools()).map(({ name }) => name).sort()
    expect(names).toEqual([
      'memory_get',
      'memory_history',
      'memory_search',
      'memory_search_layer',
      'memory_status',
    ])
    const refused = await client.call('memory_add', { content: 'No' })
    expect(refused.isError).toBe(true)
    expect(refused.text).toMatch(/^forbidden: /)
  })
})

it('[MC1] the tools are few, short, annotated and strict', async () => {
  const host = await openHost()
  const client = await (CLIENTS['SDK 1'] as (url: URL) => Promise<TestClient>)(host.url)
  const tools = await client.tools()
  expect(tools.length).toBeLessThanOrEqual(TOOLS_MAX)
  const shown = tools.map(({ name, description, inputSchema }) => [name, description, inputSchema])
  expect(JSON.stringify(shown).length).toBeLessThan(SHOWN_CHARACTERS_MAX)
  for (const tool of tools) {
    const operation = OPERATIONS.find(({ mcp }) => mcp?.tool === tool.name)
    expect(operation, tool.name).toBeDefined()
    expect(tool.description?.length).toBeGreaterThan(20)
    expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    expect(Object.keys(tool.inputSchema.properties ?? {}).sort()).toEqual(
      [...(operation?.mcp?.fields ?? [])].sort(),
    )
    expect(tool.outputSchema).toMatchObject({ type: 'object' })
    expect(tool.annotations).toEqual({
      readOnlyHint: operation?.access === 'read',
      destructiveHint: operation?.isDestructive ?? false,
      idempotentHint: operation?.access === 'read' || (operation?.isIdempotent ?? false),
      openWorldHint: false,
    })
  }
  await client.close()
  await host.close()
})

it('[MC13] conversations and upkeep have tools of their own, on request', async () => {
  const host = await openHost({ hasExtendedTools: true })
  const client = await (CLIENTS['SDK 2, pinned'] as (url: URL) => Promise<TestClient>)(host.url)
  const names = (await client.tools()).map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(TOOLS))
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => /^(key|owner|settings|review|files|system)_/.test(name))).toEqual(
    [],
  )
  const turns = [{ user: 'Which ferry goes to Split?', assistant: 'The one at nine.' }]
  const fields = { conversation_id: 'trip', turns }
  for (const [tool, input, told] of [
    ['memory_ingest', fields, { turns_ingested: 2, distillation: 'skipped:no_model' }],
    ['agent_list', {}, { agents: [{ id: 'ann' }] }],
    ['session_list', {}, { sessions: [{ id: 'trip', pendingSignals: 1 }] }],
    ['signal_forget', { sessionId: 'trip' }, { signals: [{ status: 'forgotten' }] }],
    ['job_list', { kind: 'distill' }, { jobs: [{ owner: 'ann' }] }],
    ['memory_consolidate', { dryRun: true }, { report: { isDryRun: true } }],
    ['memory_summarize', { dryRun: true }, { candidates: [] }],
  ] as const) {
    expect((await client.call(tool, input)).structured, tool).toMatchObject(told)
  }
  const other = await client.call('memory_ingest', { ...fields, agent_id: 'ben' })
  expect(other.text).toContain('Unknown field "agent_id"')
  await client.close()
  await host.close()
})
