/** Moving in from agent frameworks and from the data exports of assistants. */
import { writeFileSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { createCli } from '../e2e/cli/cli-host.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { createJson } from './moving-support.ts'

/** A ZIP archive with deflated entries, as the systems write them. */
function createZip(name: string, files: { readonly [name: string]: unknown }): string {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [entry, value] of Object.entries(files)) {
    const bytes = Buffer.from(JSON.stringify(value))
    const data = deflateRawSync(bytes)
    const title = Buffer.from(entry)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(8, 8)
    local.writeUInt32LE(data.length, 18)
    local.writeUInt32LE(bytes.length, 22)
    local.writeUInt16LE(title.length, 26)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    central.writeUInt16LE(8, 10)
    central.writeUInt32LE(data.length, 20)
    central.writeUInt32LE(bytes.length, 24)
    central.writeUInt16LE(title.length, 28)
    central.writeUInt32LE(offset, 42)
    locals.push(local, title, data)
    directory.push(central, title)
    offset += local.length + title.length + data.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  const path = temporaryFile(name)
  writeFileSync(path, Buffer.concat([...locals, central, end]))
  return path
}

async function take(path: string, ...options: readonly string[]) {
  const cli = createCli()
  const { json, err } = await cli(['import', path, '--json', ...options])
  expect(err).toBe('')
  const { json: list } = await cli(['list', '--json'])
  const { json: sessions } = await cli(['sessions', '--json'])
  return { json, memories: list.data, sessions: sessions.sessions }
}

it('[PO49] Others: Letta agent files: blocks, messages and passages', async () => {
  const text = (value: string) => [{ type: 'text', text: value }]
  const { json, memories, sessions } = await take(
    createJson('agent.af', {
      agents: [
        {
          ...{ id: 'agent-0', name: 'Sam', block_ids: ['block-0', 'block-1'], memory_blocks: [] },
          messages: [
            {
              id: 'message-0',
              role: 'system',
              content: text('You are Sam.'),
              created_at: '2026-05-01T10:00:00Z',
            },
            {
              id: 'message-1',
              role: 'user',
              content: text('{"type":"user_message","message":"I moved to Bern."}'),
              created_at: '2026-05-01T10:00:01Z',
            },
            {
              id: 'message-2',
              role: 'user',
              content: text('{"type":"heartbeat"}'),
              created_at: '2026-05-01T10:00:02Z',
            },
            {
              id: 'message-3',
              role: 'assistant',
              content: text('Nice!'),
              created_at: '2026-05-01T10:00:03Z',
            },
          ],
        },
      ],
      blocks: [
        { id: 'block-0', label: 'human', value: 'The user is called Ada.' },
        { id: 'block-1', label: 'persona', value: 'I am Sam.' },
      ],
    }),
  )
  expect(json).toMatchObject({
    format: 'letta',
    failed: 0,
    counts: { memories: 1, turns: 2, signals: 1 },
  })
  expect(memories).toMatchObject([
    { content: 'The user is called Ada.', category: 'identity', pinned: true },
  ])
  expect(sessions).toMatchObject([{ id: 'letta:agent-0' }])
  const passages = createJson('passages.json', [
    { id: 'passage-1', text: 'Ada likes maps.', tags: ['maps'] },
  ])
  expect((await take(passages, '--from', 'letta')).memories).toMatchObject([
    { content: 'Ada likes maps.' },
  ])
})

it('[PO49] Others: Hindsight transfer archives: facts with documents, entities and times', async () => {
  const fact = {
    fact_type: 'world',
    entities: ['Alice', 'Google'],
    tags: ['work'],
    context: 'career',
  }
  const path = createZip('bank.zip', {
    'manifest.json': {
      schema_version: 1,
      source_bank_id: 'bank-1',
      document_count: 1,
      fact_count: 2,
    },
    'documents/000000.json': {
      id: 'notes',
      facts: [
        {
          ...fact,
          text: 'Alice works at Google.',
          source_id: 'f1',
          occurred_start: '2026-04-01T00:00:00Z',
          mentioned_at: '2026-05-01T00:00:00Z',
        },
        {
          ...fact,
          fact_type: 'experience',
          text: 'The agent booked a flight.',
          mentioned_at: '2026-05-02T00:00:00Z',
        },
      ],
    },
    'observations.json': [{ text: 'Alice is an engineer.', proof_count: 3 }],
  })
  const { json, memories } = await take(path)
  expect(json).toMatchObject({ format: 'hindsight', imported: 3, failed: 0 })
  expect(memories).toContainEqual(
    expect.objectContaining({
      content: 'Alice works at Google.',
      entities: ['Alice', 'Google'],
      validFrom: '2026-04-01T00:00:00.000Z',
    }),
  )
})

it('[PO49] Others: Zep and Graphiti graphs: facts with validity, and thread messages', async () => {
  const edge = { source_node_uuid: 'n1', target_node_uuid: 'n2', name: 'WORKS_AT', episodes: [] }
  const path = createJson('graph.json', {
    nodes: [
      { uuid: 'n1', name: 'Alice' },
      { uuid: 'n2', name: 'Acme' },
    ],
    edges: [
      {
        ...edge,
        uuid: 'e1',
        fact: 'Alice works at Acme.',
        created_at: '2026-05-01T00:00:00Z',
        valid_at: '2026-01-01T00:00:00Z',
      },
      {
        ...edge,
        uuid: 'e2',
        fact: 'Alice lives in Oslo.',
        created_at: '2026-05-01T00:00:00Z',
        invalid_at: '2026-02-01T00:00:00Z',
      },
    ],
    threads: [
      {
        thread_id: 't1',
        messages: [
          {
            uuid: 'm1',
            role: 'user',
            content: 'Hi, I am Alice.',
            created_at: '2026-05-01T00:00:00Z',
          },
        ],
      },
    ],
  })
  const { json, memories } = await take(path)
  expect(json).toMatchObject({ format: 'zep', imported: 3, failed: 0, counts: { turns: 1 } })
  expect(memories).toMatchObject([{ content: 'Alice works at Acme.', entities: ['Alice', 'Acme'] }])
})

it('[PO49] Others: LangMem and LangGraph store dumps, by user of the namespace', async () => {
  const times = { created_at: '2026-05-01T00:00:00Z', updated_at: '2026-05-01T00:00:00Z' }
  const path = createJson('store.json', {
    items: [
      {
        namespace: ['memories', 'user-1'],
        key: 'a',
        value: { kind: 'Memory', content: { content: 'Prefers dark mode' } },
        ...times,
      },
      {
        namespace: ['profiles', 'user-1'],
        key: 'b',
        value: { kind: 'Profile', content: { name: 'Ada', city: 'Bern' } },
        ...times,
      },
    ],
  })
  const { json, memories } = await take(path)
  expect(json).toMatchObject({ format: 'langmem', imported: 2, failed: 0 })
  expect(
    memories.map(({ content, user }: { content: string; user: string }) => [content, user]).sort(),
  ).toEqual([
    ['Prefers dark mode', 'user-1'],
    ['name: Ada\ncity: Bern', 'user-1'],
  ])
})

it('[PO26] Others: ChatGPT and Claude exports are imported from their ZIP archive', async () => {
  const chatgpt = createZip('chatgpt.zip', {
    'user.json': {},
    'conversations.json': [
      {
        ...{ id: 'c', current_node: 'n' },
        mapping: {
          n: {
            parent: null,
            message: {
              id: 'm',
              author: { role: 'user' },
              content: { content_type: 'text', parts: ['hello'] },
            },
          },
        },
      },
    ],
  })
  expect((await take(chatgpt)).json).toMatchObject({ format: 'chatgpt', imported: 1 })
  const claude = createZip('claude.zip', {
    'projects.json': [],
    'conversations.json': [
      { uuid: 'u', name: 'x', chat_messages: [{ uuid: 'm', sender: 'human', text: 'hi' }] },
    ],
  })
  expect((await take(claude)).json).toMatchObject({ format: 'claude', imported: 1 })
})
