import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readChatgpt } from './chatgpt.ts'
import { readClaude } from './claude.ts'
import { readMarkdown } from './markdown.ts'
import { readMem0 } from './mem0.ts'
import { parseOmnirouteMemory, readOmniroute } from './omniroute.ts'
import { OPENCLAW_TABLES } from './openclaw.ts'
import { OSAURUS_TABLES } from './osaurus.ts'
import { readGraph, readGraphLine } from './server-memory.ts'

const at = (iso: string) => Date.parse(iso)

describe('OmniRoute', () => {
  const MEMORY = {
    id: '0c6a7e0e-8d3b-4a58-9d83-0d3c2f4c6a11',
    apiKeyId: 'key-1',
    sessionId: 'session-1',
    type: 'episodic',
    key: 'decision:typescript',
    content: 'TypeScript',
    metadata: { category: 'decision', source: 'llm_response' },
    createdAt: '2026-05-01T10:00:00.000Z',
    updatedAt: '2026-05-02T10:00:00.000Z',
    expiresAt: null,
    accessCount: 3,
    lastAccessedAt: '2026-05-03T10:00:00.000Z',
  }

  it('[PO22] reads arrays, single objects and lists, with every field', () => {
    const expected = {
      kind: 'memory',
      name: MEMORY.id,
      owner: 'key-1',
      session: 'session-1',
      type: 'episodic',
      category: 'decision',
      key: 'decision:typescript',
      content: 'TypeScript',
      metadata: MEMORY.metadata,
      createdAt: at(MEMORY.createdAt),
      updatedAt: at(MEMORY.updatedAt),
      expiresAt: null,
      useCount: 3,
      lastUsedAt: at(MEMORY.lastAccessedAt),
    }
    for (const value of [[MEMORY], MEMORY, { data: [MEMORY], total: 1 }, { memory: MEMORY }]) {
      expect([...readOmniroute(value)]).toMatchObject([expected])
    }
  })

  it('[PO22] imports old types as facts and records them in the metadata', () => {
    for (const type of ['user', 'feedback', 'project', 'reference']) {
      const memory = parseOmnirouteMemory({ type, key: 'k', content: 'c' }, 1)
      expect(memory).toMatchObject({ type: 'factual', metadata: { type } })
    }
  })

  it('[PO22] derives a stable name for memories without an id', () => {
    const name = (content: string) => parseOmnirouteMemory({ key: 'k', content }, 1).name
    expect(name('a')).toBe(name('a'))
    expect(name('a')).not.toBe(name('b'))
  })
})

describe('Osaurus', () => {
  it('[PO23] reads facts with their salience, status and use', () => {
    const row = {
      id: 'F1',
      agent_id: 'agent',
      content: 'Works at Acme',
      salience: 0.82,
      source_count: 2,
      use_count: 4,
      last_used: '2026-05-02T10:00:00Z',
      status: 'disabled',
      created_at: '2026-05-01 10:00:00',
      tags_csv: 'work, acme',
    }
    expect(OSAURUS_TABLES.pinned_facts.read(row, 7)).toMatchObject({
      at: 7,
      name: 'fact:F1',
      owner: 'agent',
      content: 'Works at Acme',
      salience: 0.82,
      importance: 8,
      isDisabled: true,
      sourceCount: 2,
      useCount: 4,
      createdAt: at('2026-05-01T10:00:00Z'),
      lastUsedAt: at('2026-05-02T10:00:00Z'),
      metadata: { tags: ['work', 'acme'] },
    })
  })

  it('[PO23] reads episodes with decisions, and turns in order', () => {
    const episode = {
      id: 5,
      conversation_id: 'c1',
      summary: 'Talked about travel.',
      topics_csv: 'travel',
      entities_csv: 'Lisbon,Ada',
      decisions: 'Go in May\n',
      action_items: 'Book a flight',
      conversation_at: '2026-04-01',
    }
    expect(OSAURUS_TABLES.episodes.read(episode, 1)).toMatchObject({
      type: 'episodic',
      session: 'c1',
      content: 'Talked about travel.',
      category: 'episode',
      metadata: { topics: ['travel'], decisions: ['Go in May'], actionItems: ['Book a flight'] },
      entities: ['Lisbon', 'Ada'],
      createdAt: at('2026-04-01'),
    })
    const turn = {
      conversation_id: 'c1',
      chunk_index: 3,
      role: 'user',
      content: 'hi',
      created_at: 1_770_000_000,
    }
    expect(OSAURUS_TABLES.transcript.read(turn, 1)).toMatchObject({
      kind: 'turn',
      session: 'c1',
      position: 3,
      role: 'user',
      saidAt: 1_770_000_000_000,
    })
  })

  it('[PO23] pins identity sentences', () => {
    const row = {
      content: 'A story.',
      overrides: '["Is called Ada","Lives in Bern"]',
      generated_at: '',
    }
    expect(OSAURUS_TABLES.identity.read(row, 1)).toMatchObject([
      { content: 'Is called Ada', pinned: true },
      { content: 'Lives in Bern', pinned: true },
      { content: 'A story.', type: 'semantic' },
    ])
  })
})

it('[PO23] OpenClaw chunks keep path and lines, independent of the embedding model', () => {
  const row = {
    path: 'memory/2026-05-01.md',
    source: 'memory',
    start_line: 3,
    end_line: 9,
    hash: 'h',
    text: 'Note',
    updated_at: 1_770_000_000_000,
  }
  const read = (id: string) => OPENCLAW_TABLES.chunks.read({ ...row, id }, 1)
  expect(read('a')).toMatchObject({
    content: 'Note',
    type: 'semantic',
    metadata: { path: 'memory/2026-05-01.md', startLine: 3, endLine: 9 },
    updatedAt: 1_770_000_000_000,
  })
  expect(read('b').name).toBe(read('a').name)
})

describe('mem0', () => {
  const MEMORY = {
    id: 'm1',
    memory: 'Prefers tea',
    user_id: 'ada',
    run_id: 'r1',
    agent_id: 'helper',
    categories: ['food_preferences'],
    metadata: { type: 'preference' },
    created_at: '2026-01-01T00:00:00-08:00',
    updated_at: '2026-01-03T00:00:00-08:00',
    expiration_date: null,
  }
  const HISTORY = [
    {
      memory_id: 'm1',
      old_memory: null,
      new_memory: 'Likes tea',
      event: 'ADD',
      created_at: '2026-01-01T08:00:00Z',
    },
    {
      memory_id: 'm1',
      old_memory: 'Likes tea',
      new_memory: 'Prefers tea',
      event: 'UPDATE',
      created_at: '2026-01-01T08:00:00Z',
      updated_at: '2026-01-03T08:00:00Z',
    },
    {
      memory_id: 'm2',
      old_memory: null,
      new_memory: 'Gone',
      event: 'ADD',
      created_at: '2026-01-01T08:00:00Z',
    },
    {
      memory_id: 'm2',
      old_memory: 'Gone',
      new_memory: null,
      event: 'DELETE',
      created_at: '2026-01-02T08:00:00Z',
    },
  ]

  it('[PO24] reads lists in every wrapper', () => {
    for (const value of [[MEMORY], { results: [MEMORY] }, { memories: [MEMORY] }, MEMORY]) {
      expect([...readMem0(value)]).toMatchObject([
        {
          name: 'm1',
          content: 'Prefers tea',
          user: 'ada',
          session: 'r1',
          category: 'preference',
          metadata: { type: 'preference', agent_id: 'helper', categories: ['food_preferences'] },
          createdAt: at('2026-01-01T08:00:00Z'),
          updatedAt: at('2026-01-03T08:00:00Z'),
        },
      ])
    }
  })

  it('[PO24] reads the history with the memory, and rebuilds memories from a history', () => {
    const earlier = [{ content: 'Likes tea', since: at('2026-01-01T08:00:00Z') }]
    expect([...readMem0({ results: [MEMORY], history: HISTORY })]).toMatchObject([{ earlier }])
    expect([...readMem0([{ ...MEMORY, history: HISTORY.slice(0, 2) }])]).toMatchObject([
      { earlier },
    ])
    const rebuilt = [...readMem0(HISTORY)]
    expect(rebuilt).toMatchObject([{ name: 'm1', content: 'Prefers tea', earlier }])
    expect(rebuilt).toHaveLength(1)
  })
})

describe('server-memory', () => {
  it('[PO25] creates a memory for each entity and relation', () => {
    const entity = {
      type: 'entity',
      name: 'Ada',
      entityType: 'person',
      observations: ['Likes tea', 'Is 36'],
    }
    expect(readGraphLine(entity, 1)).toMatchObject([
      {
        key: 'entity:Ada',
        content: 'Ada (person): Likes tea; Is 36',
        category: 'entity',
        entities: ['Ada'],
        metadata: { entityType: 'person', observations: ['Likes tea', 'Is 36'] },
      },
    ])
    const relation = { type: 'relation', from: 'Ada', to: 'Acme', relationType: 'works_at' }
    expect(readGraphLine(relation, 2)).toMatchObject([
      { content: 'Ada works at Acme', category: 'relationship', entities: ['Ada', 'Acme'] },
    ])
    expect(readGraphLine({ ...entity, observations: [] }, 3)).toMatchObject([
      { content: 'Ada (person)' },
    ])
    const { type: _, ...bare } = entity
    expect([...readGraph({ entities: [bare], relations: [] })]).toMatchObject(
      readGraphLine(entity, 1),
    )
  })

  it('[PO25] reports items that are neither entity nor relation', () => {
    expect(readGraphLine(null, 4)).toMatchObject([{ kind: 'fault', at: 4 }])
    expect(readGraphLine({ type: 'other' }, 5)).toMatchObject([{ kind: 'fault', at: 5 }])
    expect(readGraphLine({ type: 'entity', name: 'x', observations: [1] }, 6)).toMatchObject([
      { kind: 'fault' },
    ])
  })
})

describe('Markdown', () => {
  const read = (text: string) => [...readMarkdown(text)]

  it('[PO27] creates a memory for each list item with its indented block', () => {
    const text = [
      '# About me',
      'Some words that are no point.',
      '- lives in Bern',
      '  in a small flat',
      '* has two cats:',
      '  - Mia',
      '    - black',
      '  - Tom',
      '1. first',
      '2) second',
      'goes on',
      '',
      'A paragraph.',
      '- - -',
      '## Preferences ##',
      '- [x] tea',
      '- [ ] coffee',
      '```',
      '- code',
      '```',
      '# Other',
      '+ last',
    ].join('\r\n')
    expect(read(text).map(({ content }) => content)).toEqual([
      'lives in Bern\nin a small flat',
      'has two cats:\n- Mia\n  - black\n- Tom',
      'first',
      'second\ngoes on',
      'tea',
      'coffee',
      'last',
    ])
    expect(read(text)[0]).toMatchObject({
      at: 3,
      category: 'fact',
      metadata: { headings: ['About me'] },
    })
    expect(read(text)[4]).toMatchObject({
      category: 'preference',
      metadata: { headings: ['About me', 'Preferences'], isDone: true },
    })
    expect(read(text)[6]?.metadata).toEqual({ headings: ['Other'] })
  })

  it('[PO27] reads any text in reasonable time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('- a', '  - b', '# h', '', '```', 'text', '\t* c', '---')),
        (lines) => {
          const found = read(lines.join('\n'))
          expect(found.every(({ content }) => content.trim() !== '')).toBe(true)
        },
      ),
    )
    read(`# ${' '.repeat(1_000_000)}x\n${'- '.repeat(500_000)}x`)
  })
})

it('[PO29] a time without a text form is invalid', () => {
  const nameless = [[Object.create(null)]]
  const [read] = readMem0([{ memory: 'I like tea', created_at: nameless }])
  expect(read).toMatchObject({ kind: 'fault' })
})

it('[PO29] no value breaks a parser: it is read or reported as a fault', () => {
  const names = [
    'id',
    'memory',
    'content',
    'mapping',
    'message',
    'parts',
    'chat_messages',
    'text',
    'created_at',
    'history',
    'current_node',
    'parent',
    '__proto__',
    'constructor',
  ]
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      fc.jsonValue(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 5 }),
    ),
  }))
  fc.assert(
    fc.property(value, (input) => {
      for (const read of [readOmniroute, readMem0, readChatgpt, readClaude, readGraph]) {
        for (const record of read(input)) expect(['memory', 'turn', 'fault']).toContain(record.kind)
      }
    }),
    { numRuns: 300 },
  )
})
