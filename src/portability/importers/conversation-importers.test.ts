import { describe, expect, it } from 'vitest'
import { readChatgpt } from './chatgpt.ts'
import { readClaude } from './claude.ts'
import type { ImportRecord } from './foreign-record.ts'

const said = (records: Iterable<ImportRecord>) =>
  [...records].map((record) =>
    record.kind === 'turn' ? [record.role, record.content, record.position] : record,
  )

describe('ChatGPT', () => {
  const node = (id: string, parent: string | null, message: object | null) => ({
    [id]: {
      id,
      parent,
      children: [],
      message: message === null ? null : { id: `m-${id}`, ...message },
    },
  })
  const text = (role: string, ...parts: unknown[]) => ({
    author: { role, name: null },
    create_time: 1_700_000_000.25,
    content: { content_type: 'text', parts },
  })
  const conversation = {
    conversation_id: 'c1',
    title: 'Tea',
    create_time: 1_700_000_000,
    current_node: 'e',
    mapping: {
      ...node('root', null, null),
      ...node('hidden', 'root', {
        ...text('system', 'secret'),
        metadata: { is_visually_hidden_from_conversation: true },
      }),
      ...node('a', 'hidden', text('user', 'I like tea')),
      ...node('b', 'a', text('assistant', 'An answer that was replaced')),
      ...node('c', 'a', {
        ...text('assistant', 'thinking'),
        content: { content_type: 'thoughts', thoughts: [] },
      }),
      ...node(
        'd',
        'c',
        text('assistant', 'Noted.', { content_type: 'image_asset_pointer' }, 'And more.'),
      ),
      ...node('e', 'd', { ...text('user', 'Thanks'), create_time: null }),
    },
  }

  it('[PO26] imports the branch that was shown last, in order', () => {
    expect(said(readChatgpt([conversation]))).toEqual([
      ['user', 'I like tea', 0],
      ['assistant', 'Noted.\nAnd more.', 1],
      ['user', 'Thanks', 2],
    ])
    expect([...readChatgpt([conversation])][2]).toMatchObject({
      session: 'c1',
      name: 'c1:m-e',
      saidAt: 1_700_000_000_250,
    })
  })

  it('[PO26] finds the branch without a current node, and survives cycles', () => {
    const { current_node: _, ...unnamed } = conversation
    expect(said(readChatgpt([unnamed]))).toEqual(said(readChatgpt([conversation])))
    const circle = {
      ...node('a', 'b', text('user', 'one')),
      ...node('b', 'a', text('user', 'two')),
    }
    expect(said(readChatgpt([{ id: 'c', current_node: 'b', mapping: circle }]))).toHaveLength(2)
    const strange = { id: 'c', current_node: '__proto__', mapping: { constructor: null } }
    expect(said(readChatgpt([strange]))).toEqual([])
  })

  it('[PO26] loses no more than the message that could not be read', () => {
    const late = node('f', 'e', { ...text('user', 'late'), create_time: 'not a time' })
    const mapping = { ...conversation.mapping, ...late }
    const records = [...readChatgpt([{ ...conversation, mapping, current_node: 'f' }])]
    expect(records.map(({ kind }) => kind)).toEqual(['turn', 'turn', 'turn', 'fault'])
  })

  it('[PO26] reports the conversation that could not be read, and reads the others', () => {
    const records = [...readChatgpt([{ title: 'no messages' }, conversation, 'x'])]
    expect(records.map(({ kind, at }) => [kind, at])).toEqual([
      ['fault', 1],
      ['turn', 2],
      ['turn', 2],
      ['turn', 2],
      ['fault', 3],
    ])
  })
})

describe('Claude', () => {
  const conversation = {
    uuid: 'u1',
    name: 'Tea',
    created_at: '2026-01-01T00:00:00.000000Z',
    chat_messages: [
      {
        uuid: 'a',
        sender: 'human',
        text: 'I like tea',
        content: [{ type: 'text', text: 'I like tea' }],
        created_at: '2026-01-01T00:00:01.123456Z',
      },
      {
        uuid: 'b',
        sender: 'assistant',
        text: 'Noted. (a notice)',
        content: [
          { type: 'text', text: 'Noted.' },
          { type: 'tool_use', name: 'search', input: {} },
        ],
        created_at: '2026-01-01T00:00:02Z',
      },
      { uuid: 'c', sender: 'human', text: '', content: [] },
      { uuid: 'd', sender: 'human', text: 'Only the old field' },
    ],
  }

  it('[PO26] turns messages into turns', () => {
    expect(said(readClaude([conversation]))).toEqual([
      ['user', 'I like tea', 0],
      ['assistant', 'Noted.', 1],
      ['user', 'Only the old field', 3],
    ])
    expect([...readClaude({ conversations: [conversation] })][0]).toMatchObject({
      session: 'u1',
      name: 'u1:a',
      saidAt: Date.parse('2026-01-01T00:00:01.123Z'),
    })
  })

  it('[PO40] gives turns times in the order of the conversation, whichever of them are missing', () => {
    const times = (startedAt: string | null, ...given: readonly (string | null)[]) => {
      const messages = given.map((time) => ({ sender: 'human', text: 'x', created_at: time }))
      const conversation = { uuid: 'u1', created_at: startedAt, chat_messages: messages }
      return [...readClaude([conversation])].map((record) =>
        record.kind === 'turn' && record.saidAt !== null
          ? new Date(record.saidAt).toISOString().slice(0, 10)
          : null,
      )
    }
    const [one, two, three] = ['2026-01-01', '2026-01-02', '2026-01-03']
    expect(times(null, null, two, null, three)).toEqual([two, two, two, three])
    expect(times(one, null, two, null)).toEqual([one, two, two])
    expect(times(three, null, two)).toEqual([two, two])
    expect(times(three, one, two)).toEqual([one, two])
    expect(times(one, three, two)).toEqual([three, three])
    expect(times(null, null, null)).toEqual([null, null])
  })
})
