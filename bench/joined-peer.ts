/**
 * The peer: memories in a table, their text in FTS5 with its own tokenizer and stemmer, and the owner filtered by a
 * join. What most small systems do, measured on the same texts.
 */
import { DatabaseSync } from '@photostructure/sqlite'
import { type Timing, timed } from './harness.ts'
import { Texts } from './texts.ts'

export async function openJoinedPeer() {
  const database = new DatabaseSync(':memory:')
  database.exec(`
    CREATE TABLE memory (number INTEGER PRIMARY KEY, owner TEXT NOT NULL, status TEXT NOT NULL, content TEXT NOT NULL);
    CREATE INDEX memory_owner ON memory (owner);
    CREATE VIRTUAL TABLE memory_text USING fts5 (content, content = 'memory', content_rowid = 'number',
      tokenize = 'porter unicode61');
  `)
  const samples: { owner: string; content: string }[] = []
  const texts = new Texts(7)
  return {
    async fill(count: number, owners: number): Promise<void> {
      const row = database.prepare('INSERT INTO memory (owner, status, content) VALUES (?, ?, ?)')
      const text = database.prepare('INSERT INTO memory_text (rowid, content) VALUES (?, ?)')
      database.exec('BEGIN')
      for (let n = 0; n < count; n++) {
        const [owner, content] = [`owner-${n % owners}`, texts.next()]
        text.run(row.run(owner, 'active', content).lastInsertRowid, content)
        if (n % Math.max(1, Math.floor(count / 500)) === 0) samples.push({ owner, content })
      }
      database.exec('COMMIT')
    },
    search(runs: number, hits: number): Promise<Timing> {
      const statement = database.prepare(`
        SELECT memory.number, memory.content FROM memory_text
        JOIN memory ON memory.number = memory_text.rowid
        WHERE memory_text MATCH ? AND memory.owner = ? AND memory.status = 'active'
        ORDER BY rank LIMIT ${hits}`)
      const queries = samples.map(({ owner, content }) => ({
        owner,
        match: texts.queryFor(content, 6).split(' ').join(' OR '),
      }))
      return timed(runs, async (run) => {
        const query = queries[(run * 7) % queries.length]
        if (query !== undefined) statement.all(query.match, query.owner)
      })
    },
    close: () => database.close(),
  }
}
