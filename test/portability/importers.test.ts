/** Files of other systems, from the disk into the engine. The databases have the layouts of the real ones. */
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { foreignDrivers } from '../../src/app/foreign-drivers.ts'
import { parseScope } from '../../src/domain/scope.ts'
import { exportLines, importLines } from '../../src/portability/export-import.ts'
import { type ImportSource, openImport } from '../../src/portability/import-source.ts'
import { openForeignDatabase } from '../../src/portability/importers/foreign-database.ts'
import { importRecords } from '../../src/portability/record-import.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteFile } from '../../src/storage/sqlite/connection/database-file.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'

const ADA = { owner: 'ada' }

type TakeOptions = {
  readonly from?: string
  readonly passphrase?: string
  readonly intoOwner?: string
  readonly keepOwners?: boolean
}

function openTarget() {
  const store = createInMemoryStore()
  const ports = { store, clock: new FakeClock(1_900_000_000_000), ids: countingIds(), settings: {} }
  const take = async (source: ImportSource['source'], options: TakeOptions = {}) => {
    const { from, passphrase, intoOwner, keepOwners = false } = options
    const opened = await openImport(
      { source, ...(from === undefined ? {} : { from }) },
      foreignDrivers,
    )
    const scope = parseScope({ owner: intoOwner ?? ADA.owner })
    try {
      const done =
        opened.kind === 'lines'
          ? await importLines(ports, opened.lines, {
              ...(intoOwner === undefined ? {} : { owner: scope.owner }),
              ...(passphrase === undefined ? {} : { passphrase }),
            })
          : await importRecords(ports, scope, opened.records, { keepOwners })
      return { ...done, format: opened.format }
    } finally {
      opened.close()
    }
  }
  const contents = async () =>
    (await store.find('memory', parseScope(ADA), { where: {}, limit: 99, order: 'oldest' })).rows
  const turns = async () =>
    (await store.find('turn', parseScope(ADA), { where: {}, limit: 99, order: 'oldest' })).rows
  return { store, ports, take, contents, turns }
}

function database(name: string, sql: string, options: { readonly isOpen?: boolean } = {}) {
  const path = temporaryFile(name)
  const connection = new DatabaseSync(path)
  connection.exec('PRAGMA journal_mode = WAL')
  connection.exec(sql)
  if (options.isOpen !== true) connection.close()
  return { path, close: () => connection.close() }
}

const OMNIROUTE = `
  CREATE TABLE memories (
    id TEXT PRIMARY KEY, api_key_id TEXT NOT NULL, session_id TEXT,
    type TEXT NOT NULL CHECK (type IN ('factual', 'episodic', 'procedural', 'semantic')),
    key TEXT, content TEXT NOT NULL, metadata TEXT,
    created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now')),
    expires_at TEXT, memory_id INTEGER, needs_reindex INTEGER DEFAULT 0
  );
  CREATE TABLE api_keys (id TEXT PRIMARY KEY, secret TEXT);
  INSERT INTO api_keys VALUES ('key-1', 'hush');
  INSERT INTO memories (id, api_key_id, session_id, type, key, content, metadata, created_at, updated_at) VALUES
    ('u1', 'key-1', 's1', 'factual', 'preference:tea', 'tea', '{"category":"preference"}', '2026-05-01T10:00:00.000Z', '2026-05-01T10:00:00.000Z'),
    ('u2', 'key-1', '', 'episodic', '', 'went to Bern', 'not json', '2026-05-02 10:00:00', '2026-05-02 10:00:00'),
    ('u3', 'key-2', NULL, 'factual', NULL, 'bad date', NULL, 'yesterday', 'yesterday'),
    ('u4', 'key-2', NULL, 'factual', NULL, '  ', NULL, '2026-05-02', '2026-05-02');
`
const OSAURUS = `
  PRAGMA user_version = 10;
  CREATE TABLE identity (id INTEGER PRIMARY KEY CHECK (id = 1), content TEXT NOT NULL, overrides TEXT NOT NULL DEFAULT '[]',
    token_count INTEGER NOT NULL, version INTEGER NOT NULL, model TEXT NOT NULL, generated_at TEXT NOT NULL);
  CREATE TABLE pinned_facts (id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, content TEXT NOT NULL, salience REAL NOT NULL DEFAULT 0.5,
    source_count INTEGER NOT NULL DEFAULT 1, source_episode_id INTEGER, last_used TEXT, use_count INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL DEFAULT 'active', created_at TEXT NOT NULL, tags_csv TEXT);
  CREATE TABLE episodes (id INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, conversation_id TEXT NOT NULL, summary TEXT NOT NULL,
    topics_csv TEXT, entities_csv TEXT, decisions TEXT, action_items TEXT, salience REAL NOT NULL DEFAULT 0.5, token_count INTEGER,
    model TEXT, conversation_at TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'active', created_at TEXT NOT NULL);
  CREATE TABLE transcript (id INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, conversation_id TEXT NOT NULL,
    chunk_index INTEGER NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL, token_count INTEGER, title TEXT, created_at TEXT NOT NULL);
  CREATE VIRTUAL TABLE transcript_fts USING fts5(content, content = 'transcript', content_rowid = 'id');
  INSERT INTO identity VALUES (1, 'A gardener.', '["Is called Ada"]', 3, 1, 'm', '2026-04-01T00:00:00Z');
  INSERT INTO pinned_facts (id, agent_id, content, salience, created_at) VALUES ('f1', 'a', 'Grows roses', 0.9, '2026-04-02T00:00:00Z');
  INSERT INTO episodes (agent_id, conversation_id, summary, decisions, conversation_at, created_at)
    VALUES ('a', 'c1', 'Planned the garden.', 'More roses', '2026-04-03T00:00:00Z', '2026-04-03T01:00:00Z');
  INSERT INTO transcript (agent_id, conversation_id, chunk_index, role, content, created_at) VALUES
    ('a', 'c1', 0, 'user', 'More roses?', '2026-04-03 00:00:00'), ('a', 'c1', 1, 'assistant', 'Yes.', '2026-04-03 00:00:05');
`
const OPENCLAW = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE files (path TEXT PRIMARY KEY, source TEXT NOT NULL DEFAULT 'memory', hash TEXT NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL);
  CREATE TABLE chunks (id TEXT PRIMARY KEY, path TEXT NOT NULL, source TEXT NOT NULL DEFAULT 'memory', start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL, hash TEXT NOT NULL, model TEXT NOT NULL, dims INTEGER, text TEXT NOT NULL, embedding TEXT NOT NULL, updated_at INTEGER NOT NULL);
  INSERT INTO chunks VALUES ('x', 'MEMORY.md', 'memory', 1, 4, 'h', 'm', 3, '# Notes', '[0,1,2]', 1770000000000),
    ('y', 'MEMORY.md', 'memory', 5, 9007199254740993, 'h2', 'm', 3, 'a huge line number', '[]', 1770000000000);
`

describe('databases', () => {
  it('[PO22] reads OmniRoute rows or reports why not', async () => {
    const { take, contents, store } = openTarget()
    const { path } = database('storage.sqlite', OMNIROUTE)
    const result = await take(path)
    expect(result).toMatchObject({ format: 'omniroute-sqlite', imported: 2, skipped: 1, failed: 1 })
    expect(result.failures).toMatchObject([
      { line: 3, message: expect.stringContaining('yesterday') },
    ])
    expect(await contents()).toMatchObject([
      {
        content: 'tea',
        key: 'preference:tea',
        category: 'preference',
        place: { session: 's1' },
        createdAt: Date.parse('2026-05-01T10:00:00Z'),
        metadata: { imported: { id: 'u1', owner: 'key-1' } },
      },
      { content: 'went to Bern', key: null, type: 'episodic', place: { session: null } },
    ])
    expect(await take(path)).toMatchObject({ imported: 0, skipped: 3, failed: 1 })
    await take(path, { keepOwners: true })
    expect((await store.listPlaces()).map(({ owner }) => owner)).toEqual(['ada', 'key-1'])
  })

  it('[PO23] reads Osaurus facts, episodes, transcript and identity', async () => {
    const { take, contents, turns } = openTarget()
    const result = await take(database('memory.sqlite', OSAURUS).path)
    expect(result).toMatchObject({ format: 'osaurus-sqlite', imported: 6, failed: 0 })
    expect((await contents()).map(({ content }) => content).sort()).toEqual([
      'A gardener.',
      'Grows roses',
      'Is called Ada',
      'Planned the garden.',
    ])
    expect(await turns()).toMatchObject([
      { place: { session: 'c1' }, role: 'user', content: 'More roses?', position: 0 },
      { role: 'assistant', content: 'Yes.', position: 1 },
    ])
  })

  it('[PO23] reads OpenClaw chunks with path and lines', async () => {
    const { take, contents } = openTarget()
    const result = await take(database('main.sqlite', OPENCLAW).path)
    expect(result).toMatchObject({ format: 'openclaw-sqlite', imported: 2, failed: 0 })
    expect((await contents()).find(({ content }) => content === '# Notes')).toMatchObject({
      metadata: { path: 'MEMORY.md', startLine: 1, endLine: 4 },
      updatedAt: 1_770_000_000_000,
      provenance: { source: 'import' },
    })
  })

  it('[PO28] changes neither the file nor its folder, and sees the latest writes', async () => {
    const { path, close } = database('live.sqlite', OMNIROUTE, { isOpen: true })
    const state = () =>
      readdirSync(dirname(path)).map((name) => [
        name,
        readFileSync(join(dirname(path), name)).toString('hex'),
      ])
    const before = state()
    expect(before.length).toBeGreaterThan(1)
    expect(await openTarget().take(path)).toMatchObject({ imported: 2 })
    expect(state()).toEqual(before)
    close()
    const closed = state()
    expect(await openTarget().take(path)).toMatchObject({ imported: 2 })
    expect(state()).toEqual(closed)
  })

  it('[PO28] reports encrypted, damaged, missing and unknown databases', async () => {
    const { take } = openTarget()
    const noise = temporaryFile('memory.sqlite')
    writeFileSync(noise, Buffer.from(Array.from({ length: 8_192 }, (_, n) => (n * 7_919) % 251)))
    await expect(take(noise, { from: 'osaurus-sqlite' })).rejects.toMatchObject({ code: 'locked' })
    const { path } = database('cut.sqlite', OMNIROUTE)
    truncateSync(path, 5_000)
    await expect(take(path)).rejects.toMatchObject({ code: 'damaged' })
    await expect(take(`${path}-not`)).rejects.toMatchObject({ code: 'not_found' })
    await expect(openForeignDatabase(`${path}-not`)).rejects.toMatchObject({ code: 'not_found' })
    const other = database('other.sqlite', 'CREATE TABLE users (id)').path
    await expect(take(other)).rejects.toThrow('of an unknown kind')
    const view = database(
      'view.sqlite',
      `CREATE VIEW memories AS SELECT 1 AS id, 'x' AS content`,
    ).path
    await expect(take(view)).rejects.toThrow('of an unknown kind')
    const bare = database('bare.sqlite', 'CREATE TABLE memories (id TEXT)').path
    await expect(take(bare)).rejects.toThrow('no column content')
    const own = temporaryFile('own.db')
    const store = await openSqliteFile({ path: own, now: Date.now })
    await expect(take(own)).rejects.toThrow('currently in use')
    await store.close()
  })
})

describe('files', () => {
  const file = (name: string, text: string | Uint8Array) => {
    const path = temporaryFile(name)
    writeFileSync(path, text)
    return path
  }

  it('[PO18] imports each format, detected by its content', async () => {
    const { take, contents, turns } = openTarget()
    const message = {
      id: 'm',
      author: { role: 'user' },
      content: { content_type: 'text', parts: ['hi'] },
    }
    const cases = {
      'omniroute-json': '\ufeff[{"key":"k","content":"from omniroute"}]',
      mem0: '{"results":[{"id":"1","memory":"from mem0"}]}',
      'server-memory':
        '{"type":"entity","name":"Ada","observations":["from the graph"]}\n\nnot json\n',
      chatgpt: JSON.stringify([
        { id: 'c', current_node: 'n', mapping: { n: { message, parent: null } } },
      ]),
      claude: '[{"uuid":"u","chat_messages":[{"uuid":"m","sender":"human","text":"hello"}]}]',
      markdown: '# Facts\n- from markdown\n',
    }
    for (const [format, text] of Object.entries(cases)) {
      expect(await take(file('file', text))).toMatchObject({ format, imported: 1 })
      expect(await take(file('again', text))).toMatchObject({ format, imported: 0, skipped: 1 })
    }
    expect((await contents()).map(({ content }) => content).sort()).toEqual([
      'Ada (unknown): from the graph',
      'from markdown',
      'from mem0',
      'from omniroute',
    ])
    expect((await turns()).map(({ content }) => content).sort()).toEqual(['hello', 'hi'])
  })

  it('[PO18] follows an explicit format and reports undetectable content', async () => {
    const { take } = openTarget()
    const odd = file('odd.json', '[{"note":"x","content":"text"}]')
    expect(await take(odd, { from: 'mem0' })).toMatchObject({ format: 'mem0', failed: 1 })
    await expect(take(odd, { from: 'word' })).rejects.toThrow('The format must be one of')
    await expect(take(file('x.bin', 'nothing known'))).rejects.toThrow('could not be detected')
    await expect(take(file('x.zip', Buffer.from('PK\x03\x04rest')))).rejects.toThrow(
      'cannot be read',
    )
    await expect(take(temporaryFolder())).rejects.toMatchObject({ code: 'invalid_input' })
  })

  it('[PO14] imports own exports, encrypted or not, from files and streams', async () => {
    const source = openTarget()
    await source.take(file('list.md', '- one\n- two\n'))
    for (const passphrase of [undefined, 'open sesame']) {
      const lines: string[] = []
      const sealing = passphrase === undefined ? {} : { passphrase }
      for await (const line of exportLines(source.ports, null, sealing)) lines.push(line)
      const bytes = new TextEncoder().encode(lines.join('\n'))
      const format = passphrase === undefined ? 'recollect' : 'recollect-encrypted'
      const target = openTarget()
      expect(await target.take(file('x', bytes), sealing)).toMatchObject({ format, imported: 2 })
      async function* stream() {
        for (let start = 0; start < bytes.length; start += 100)
          yield bytes.subarray(start, start + 100)
      }
      const streamed = { bytes: stream(), name: 'Standard input' }
      const moved = await target.take(streamed, { ...sealing, intoOwner: 'grace' })
      expect(moved.imported + moved.failed).toBe(2)
    }
  })

  it('[PO29] refuses input that is too large, truncated or not text', async () => {
    const { take } = openTarget()
    const large = file('conversations.json', '[{"mapping":{')
    truncateSync(large, 100 * 1024 * 1024 + 1)
    await expect(take(large)).rejects.toMatchObject({ code: 'too_large' })
    await expect(take(file('cut.json', '[{"content":"x"}'))).rejects.toThrow('not valid JSON')
    const wrong = Buffer.from([...Buffer.from('- a '), 0xff, 0xfe])
    await expect(take(file('a.md', wrong))).rejects.toThrow('UTF-8')
    const deep = `[{"content":"x","metadata":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}]`
    expect(await take(file('deep.json', deep))).toMatchObject({ imported: 0, failed: 1 })
    const opened = await openImport({ source: file('b.md', '- never read') }, foreignDrivers)
    opened.close()
  })
})
