/** The names that users of other systems have in their prompts, with the shapes that they expect. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ADMIN, ANN, BEN, CLIENTS, type Host, openHost, type TestClient } from './mcp-support.ts'

const NAMES = [
  'add_observations',
  'create_entities',
  'create_relations',
  'delete_entities',
  'delete_observations',
  'delete_relations',
  'memory_append',
  'memory_recall',
  'memory_store',
  'omniroute_memory_add',
  'omniroute_memory_clear',
  'omniroute_memory_search',
  'open_nodes',
  'read_graph',
  'saveMemory',
  'searchMemory',
  'search_memory',
  'search_nodes',
]

let host: Host
let client: TestClient

beforeAll(async () => {
  host = await openHost({ hasCompatibilityTools: true })
  // The first generation checks answers against the output schemas, too.
  client = await (CLIENTS['SDK 1'] as (url: URL) => Promise<TestClient>)(host.url)
  await client.tools()
})
beforeEach(async () => {
  for (const owner of ['ann', 'ben'])
    await host.engine.memories.clear({ owner }, { includeExpired: true })
  host.as(ANN)
})
afterAll(async () => {
  await client.close()
  await host.close()
})

it('[MC7] the set is added to the default tools', async () => {
  const names = (await client.tools()).map(({ name }) => name)
  expect(names.filter((name) => NAMES.includes(name)).sort()).toEqual([...NAMES].sort())
  expect(names).toHaveLength(NAMES.length + 10)
})

it('[MC7] no tool of the set takes a field that it does not know', async () => {
  for (const name of NAMES) {
    const answer = await client.call(name, { owner: 'ben', instanceId: 'ben' })
    expect(answer, name).toMatchObject({ isError: true })
    expect(answer.text).toContain('Unknown field "owner".')
  }
})

it('[TU4] tools that answer with memories never answer with turns', async () => {
  const turns = [{ user: 'Where is the submarine museum?', assistant: 'In the old harbour.' }]
  const said = { owner: 'ann', conversation: 'museum', turns, skipExtraction: true }
  await host.engine.learning.ingest(said)
  const query = 'submarine museum'
  expect((await client.call('memory_recall', { query })).structured).toMatchObject({ count: 0 })
  expect((await client.call('searchMemory', { query })).structured).toMatchObject({ found: 0 })
  expect((await client.call('omniroute_memory_search', { query })).structured).toMatchObject({
    data: { count: 0 },
  })
  expect((await client.call('search_nodes', { query })).structured).toMatchObject({ entities: [] })
  await client.call('memory_store', { text: 'Ann visited the submarine museum' })
  expect((await client.call('memory_recall', { query })).structured).toMatchObject({
    memories: [{ text: 'Ann visited the submarine museum' }],
  })
})

it('[TU5] a turn that the search of files finds is read by its path', async () => {
  const turns = [{ user: 'Where is the airship hangar?', assistant: 'Behind the station.\nSouth.' }]
  const said = { owner: 'ann', conversation: 'hangar', turns, skipExtraction: true }
  await host.engine.learning.ingest(said)
  const input = { query: 'behind the station', sources: ['transcript'], maxResults: 1 }
  const found = await client.call('memory_search', input)
  const [place] = found.structured.results as readonly { path: string; endLine: number }[]
  expect(place).toMatchObject({ path: expect.stringMatching(/^turn_/), startLine: 1, endLine: 2 })
  const read = await client.call('memory_get', { path: place?.path, from: 2 })
  expect(read.structured).toMatchObject({ text: 'South.' })
})

describe('omniroute_memory_…', () => {
  const draft = { type: 'factual', key: 'tea', content: 'Ann drinks oolong', metadata: { n: 1 } }

  it('[MC7] adds, searches and clears', async () => {
    const added = await client.call('omniroute_memory_add', { ...draft, apiKeyId: 'ann' })
    expect(added.structured).toMatchObject({
      success: true,
      data: { memory: { key: 'tea', apiKeyId: 'ann' }, message: 'Memory created successfully' },
    })
    const again = await client.call('omniroute_memory_add', {
      ...draft,
      content: 'Ann drinks mate',
    })
    expect(again.structured).toMatchObject({ data: { message: 'Memory updated successfully' } })
    const found = await client.call('omniroute_memory_search', { query: 'mate', type: 'factual' })
    expect(found.structured).toMatchObject({
      success: true,
      data: { count: 1, memories: [{ content: 'Ann drinks mate' }] },
    })
    const newest = await client.call('omniroute_memory_search', { limit: 5 })
    expect(newest.structured).toMatchObject({ data: { count: 1, totalTokens: 4 } })
    const short = await client.call('omniroute_memory_search', { maxTokens: 1 })
    expect(short.structured).toMatchObject({ data: { count: 1 } })
    const cleared = await client.call('omniroute_memory_clear', {})
    expect(cleared.structured).toEqual({
      success: true,
      data: { deletedCount: 1, message: 'Cleared 1 memory' },
    })
  })

  it('[MC7] clears more than a page, truly counted', async () => {
    for (let at = 0; at < 60; at++) {
      await host.engine.remember({ owner: 'ann' }, { content: `Number ${at}`, key: `n${at}` })
    }
    const early = await client.call('omniroute_memory_clear', { olderThan: '2020-01-01T00:00:00Z' })
    expect(early.structured).toMatchObject({ data: { deletedCount: 0 } })
    const cleared = await client.call('omniroute_memory_clear', { type: 'factual' })
    expect(cleared.structured).toMatchObject({ data: { deletedCount: 60 } })
  })

  it('[MC3] an owner in a prompt reaches no other owner, except for superadmins', async () => {
    await client.call('omniroute_memory_add', draft)
    host.as({ ...BEN, actsFor: ['ann'] })
    for (const [tool, given] of [
      ['omniroute_memory_search', {}],
      ['omniroute_memory_add', draft],
      ['omniroute_memory_clear', {}],
    ] as const) {
      const answer = await client.call(tool, { ...given, apiKeyId: 'ann' })
      expect(answer.text).toMatch(/^not_found: Owner not found/)
    }
    const layers = { scope: 'pinned', query: 'oolong', agent_id: 'ann' }
    expect((await client.call('search_memory', layers)).isError).toBe(true)
    host.as(ADMIN)
    const found = await client.call('omniroute_memory_search', { apiKeyId: 'ann' })
    expect(found.structured).toMatchObject({ data: { count: 1 } })
  })
})

describe('tools of assistants', () => {
  it('[MC7] memory_store and memory_recall', async () => {
    const stored = await client.call('memory_store', {
      text: 'Ann prefers window seats',
      category: 'preference',
    })
    expect(stored.structured).toMatchObject({
      action: 'created',
      memory: { category: 'preference', importance: 0.7 },
    })
    const again = await client.call('memory_store', { text: 'Ann prefers window seats' })
    expect(again.structured).toMatchObject({ action: 'duplicate', id: stored.structured.id })
    const recalled = await client.call('memory_recall', { query: 'window seats' })
    expect(recalled.structured).toMatchObject({ count: 1 })
    expect(recalled.text).toMatch(/^1\. \[preference\] Ann prefers window seats \(\d{1,3}%\)$/)
    expect((await client.call('memory_recall', { query: 'volcano' })).text).toBe(
      'No relevant memories found.',
    )
  })

  it('[LD4] search_memory answers each layer as a list in words', async () => {
    await client.call('memory_store', { text: 'Ann rides a tandem' })
    const metadata = { topics: ['bicycles', 'trips'], decisions: ['Buy a tandem'] }
    await host.engine.remember(
      { owner: 'ann' },
      { content: 'Ann looked at a tandem.', category: 'episode', metadata, validFrom: 0 },
    )
    const turns = [{ user: 'Is a tandem fast?', assistant: 'Rather.' }]
    const said = { owner: 'ann', conversation: 'c', turns, skipExtraction: true }
    await host.engine.learning.ingest(said)
    const today = new Date().toISOString().slice(0, 10)
    const told = async (scope: string, more: object = {}) =>
      (await client.call('search_memory', { scope, query: 'tandem', ...more })).text
    expect(await told('pinned')).toBe('Pinned facts:\n- Ann rides a tandem (salience 0.50)')
    expect(await told('episodes')).toBe(
      'Episodes:\n- [1970-01-01] Ann looked at a tandem. (topics: bicycles, trips; decisions: Buy a tandem)',
    )
    expect(await told('transcript', { days: 1 })).toBe(
      `Transcript:\n- [${today}] user: Is a tandem fast?`,
    )
    for (const [scope, none] of [
      ['pinned', 'No pinned facts found.'],
      ['episodes', 'No episodes found.'],
      ['transcript', 'No matching turn.'],
    ] as const) {
      expect(await told(scope, { query: 'volcano' })).toBe(none)
    }
    const own = await client.call('memory_search_layer', { scope: 'transcript', query: 'tandem' })
    expect(own.structured).toMatchObject({
      scope: 'transcript',
      results: [{ content: 'Is a tandem fast?', role: 'user', session_id: 'c' }],
    })
    expect(await told('pinned', { days: 3 })).toMatch(
      /^invalid_input: `days` must be omitted with scope `pinned`/,
    )
    expect(await told('dreams')).toMatch(/^invalid_input: scope: /)
    const empty = await client.call('search_memory', { scope: 'pinned' })
    expect(empty.text).toMatch(/^invalid_input: query: /)
  })

  it('[MC7] searchMemory and saveMemory', async () => {
    const saved = await client.call('saveMemory', { content: 'Ann was born in Bergen' })
    expect(saved.structured).toMatchObject({ saved: true, events: [{ event: 'ADD' }] })
    const found = await client.call('searchMemory', { query: 'Bergen', limit: null })
    expect(found.structured).toMatchObject({
      found: 1,
      results: [{ content: 'Ann was born in Bergen', type: 'memory' }],
    })
  })
})

describe('the graph of the official memory server', () => {
  const ada = { name: 'Ada', entityType: 'person', observations: ['Likes chess', 'Speaks Greek'] }
  const acme = { name: 'Acme', entityType: 'company', observations: [] }
  const works = { from: 'Ada', to: 'Acme', relationType: 'works_at' }

  beforeEach(async () => {
    await client.call('create_entities', { entities: [ada, acme] })
    await client.call('create_relations', { relations: [works] })
  })

  const graph = async () => (await client.call('read_graph')).structured

  it('[MC8] creates new entities and keeps existing ones', async () => {
    expect(await graph()).toEqual({ entities: [ada, acme], relations: [works] })
    const again = await client.call('create_entities', {
      entities: [
        { ...ada, observations: [] },
        { name: 'Bo', entityType: 'cat', observations: [] },
      ],
    })
    expect(again.structured).toEqual({
      entities: [{ name: 'Bo', entityType: 'cat', observations: [] }],
    })
    const twice = await client.call('create_relations', { relations: [works, works] })
    expect(twice.structured).toEqual({ relations: [] })
    const dangling = await client.call('create_relations', {
      relations: [{ ...works, to: 'Nobody' }],
    })
    expect(dangling.text).toMatch(/^not_found: Entity with name Nobody not found/)
  })

  it('[MC8] adds and deletes observations', async () => {
    const added = await client.call('add_observations', {
      observations: [{ entityName: 'Ada', contents: ['Likes chess', 'Owns a boat'] }],
    })
    expect(added.structured).toEqual({
      results: [{ entityName: 'Ada', addedObservations: ['Owns a boat'] }],
    })
    const deleted = await client.call('delete_observations', {
      deletions: [
        { entityName: 'Ada', observations: ['Speaks Greek'] },
        { entityName: 'Nobody', observations: ['x'] },
      ],
    })
    expect(deleted.structured).toEqual({
      success: true,
      message: 'Deleted 1 of 2 observations. Entities not found: Nobody',
    })
    expect((await graph()).entities).toEqual([
      { ...ada, observations: ['Likes chess', 'Owns a boat'] },
      acme,
    ])
    const missing = await client.call('add_observations', {
      observations: [
        { entityName: 'Ada', contents: ['Never said'] },
        { entityName: 'Nobody', contents: ['x'] },
      ],
    })
    expect(missing.isError).toBe(true)
    expect(JSON.stringify(await graph())).not.toContain('Never said')
  })

  it('[MC8] loses no concurrent observation', async () => {
    const contents = Array.from({ length: 8 }, (_, at) => `Fact ${at}`)
    const answers = await Promise.all(
      contents.map((content) =>
        client.call('add_observations', {
          observations: [{ entityName: 'Acme', contents: [content] }],
        }),
      ),
    )
    expect(answers.filter(({ isError }) => isError)).toEqual([])
    const { entities } = (await client.call('open_nodes', { names: ['Acme'] })).structured as {
      entities: readonly { observations: readonly string[] }[]
    }
    expect([...(entities[0]?.observations ?? [])].sort()).toEqual(contents)
  })

  it('[MC8] deletes relations, and entities with theirs', async () => {
    const relations = await client.call('delete_relations', { relations: [works] })
    expect(relations.text).toBe('Relations deleted successfully')
    expect(await graph()).toMatchObject({ relations: [] })
    await client.call('create_relations', { relations: [works] })
    const entities = await client.call('delete_entities', { entityNames: ['Ada', 'Nobody'] })
    expect(entities.structured).toEqual({
      success: true,
      message: 'Deleted 1 of 2 entities. Not found: Nobody',
    })
    expect(await graph()).toEqual({ entities: [acme], relations: [] })
    await client.call('create_entities', { entities: [ada] })
    expect((await graph()).entities).toEqual([acme, ada])
  })

  it('[MC8] finds by name, type and observation, and opens by name', async () => {
    for (const query of ['ADA', 'pers', 'speaks greek']) {
      expect((await client.call('search_nodes', { query })).structured).toEqual({
        entities: [ada],
        relations: [works],
      })
    }
    const response = await client.call('search_nodes', { query: 'who likes playing chess?' })
    expect(response.structured).toMatchObject({ entities: [ada] })
    const opened = await client.call('open_nodes', { names: ['Acme', 'Nobody'] })
    expect(opened.structured).toEqual({ entities: [acme], relations: [works] })
    expect((await client.call('search_nodes', { query: 'zebra' })).structured).toEqual({
      entities: [],
      relations: [],
    })
  })

  it('[MC8] its nodes are memories that recall finds', async () => {
    const found = await client.call('memory_search', { query: 'who speaks Greek?' })
    expect(found.text).toContain('Ada (person): Likes chess; Speaks Greek')
    const related = await client.call('memory_search', { query: 'who works at Acme?' })
    expect(related.text).toContain('Ada works at Acme')
  })

  it('[MC8] belongs to its owner', async () => {
    host.as(BEN)
    expect(await graph()).toEqual({ entities: [], relations: [] })
    const answer = await client.call('delete_entities', { entityNames: ['Ada'] })
    expect(answer.text).toContain('Not found: Ada')
    host.as(ANN)
    expect((await graph()).entities).toHaveLength(2)
  })

  it('[MC8] takes names of any length, and metadata of strangers', async () => {
    const long = { name: 'N'.repeat(900), entityType: 'thing', observations: ['is long'] }
    await client.call('create_entities', { entities: [long] })
    const loop = { from: long.name, to: long.name, relationType: 'equals' }
    await client.call('create_relations', { relations: [loop] })
    expect((await client.call('open_nodes', { names: [long.name] })).structured).toEqual({
      entities: [long],
      relations: [loop],
    })
    await host.engine.remember(
      { owner: 'ann' },
      { content: 'A stranger', category: 'entity', metadata: { graph: 'entity', name: 7 } },
    )
    expect((await graph()).entities).toHaveLength(3)
  })
})
