import { describe, expect, it } from 'vitest'
import { detectFormat, detectTableFormat, type ImportFormat } from './format-detection.ts'

const CASES: readonly (readonly [ImportFormat | null, string, string])[] = [
  [
    'recollect',
    'memories.json',
    '{"format":"recollect-export","version":2,"exportedAt":1}\n{"table":"memory"}',
  ],
  [
    'recollect-encrypted',
    'x',
    '{"format":"recollect-encrypted","version":1,"cipher":"aes-256-gcm"}\nAAAA',
  ],
  [
    'omniroute-json',
    'memories.json',
    '[{"id":"1","type":"factual","key":"a","content":"text","metadata":{}}]',
  ],
  ['omniroute-json', 'x.json', '{\n  "content": "one object",\n  "key": "k"\n}'],
  [
    'omniroute-json',
    'x.json',
    '{"data":[{"id":"1","apiKeyId":"k","content":"say \\"mapping\\": {"}]}',
  ],
  ['mem0', 'memories.json', '{"results":[{"id":"1","memory":"likes tea","user_id":"ada"}]}'],
  [
    'mem0',
    'memories.json',
    '[{"id":"1","memory":"has a \\"content\\": \\"field\\"","metadata":{"content":"x"}}]',
  ],
  [
    'mem0',
    'h.json',
    '[{"id":"h","memory_id":"1","old_memory":null,"new_memory":"a","event":"ADD"}]',
  ],
  [
    'server-memory',
    'memory.jsonl',
    '{"type":"entity","name":"Ada","entityType":"person","observations":[]}\n',
  ],
  ['server-memory', 'x', '{"type":"relation","from":"Ada","to":"Bob","relationType":"knows"}'],
  [
    'server-memory',
    'g.json',
    '{"entities":[{"name":"Ada","observations":["content"]}],"relations":[]}',
  ],
  [
    'chatgpt',
    'conversations.json',
    '[{"title":"t","create_time":1.5,"mapping":{"a":{"message":{"content":"x"}}}}]',
  ],
  [
    'claude',
    'conversations.json',
    '[{"uuid":"u","name":"n","chat_messages":[{"text":"x","content":"y"}]}]',
  ],
  ['markdown', 'notes.txt', 'Some words\n\n- a point\n'],
  ['markdown', 'NOTES.MD', 'no list at all'],
  ['markdown', 'x', '[a link](http://example.com)\n\n* a point'],
  [null, 'x.txt', 'no list at all'],
  [null, 'x.json', '{"some":"thing"}'],
  [null, 'x.json', '[1,2,3]'],
  [null, 'x', ''],
  [null, 'x.bin', '\0\0\0- binary'],
]

describe('formats', () => {
  it.each(CASES)('[PO18] %s is detected by its content (%s)', (format, name, text) => {
    expect(detectFormat(text, name)).toBe(format)
    expect(detectFormat(new TextEncoder().encode(text), name)).toBe(format)
    expect(detectFormat(`\ufeff${text}`, name)).toBe(format)
    // Only the beginning of a file is looked at, and it may be cut anywhere.
    expect(detectFormat(text + ' '.repeat(200_000), name)).toBe(format)
  })

  it('[PO18] detects databases by their tables', () => {
    expect(detectTableFormat(['memories', 'api_keys'])).toBe('omniroute-sqlite')
    expect(detectTableFormat(['identity', 'pinned_facts', 'episodes', 'transcript'])).toBe(
      'osaurus-sqlite',
    )
    expect(detectTableFormat(['meta', 'files', 'chunks'])).toBe('openclaw-sqlite')
    expect(detectTableFormat(['users'])).toBeNull()
  })
})
